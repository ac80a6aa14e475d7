"""Titles and descriptions in the language that a client prefers. Pure: catalogues come in as plain mappings."""

from rpcgw.texts.catalogue import Catalogue, Catalogues, MethodTexts
from rpcgw.texts.fallback import Texts
from rpcgw.texts.negotiate import negotiate

__all__ = ["Catalogue", "Catalogues", "MethodTexts", "Texts", "negotiate"]
