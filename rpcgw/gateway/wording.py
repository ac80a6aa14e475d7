"""Texts as protocols ask for them: of a compiled method, so that its docstring and its mark end the chain (T-05)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import lru_cache, partial

from rpcgw.api.records import record
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.gateway.languages import languages
from rpcgw.kernel.messages import Texts as Messages
from rpcgw.kernel.method import Method
from rpcgw.texts import Catalogue, Catalogues, Texts


@record(frozen=True, slots=True)
class MethodWording:
    """Titles and descriptions of compiled methods in a language."""

    texts: Texts
    languages: Mapping[str, Messages] = field(default_factory=dict)
    """What the product itself says to clients, by locale; English where there is none."""

    def title(self, group: str, method: Method, locale: str) -> str:
        """What a method is called; its name where nobody says (T-06)."""
        return self.texts.title(group, method.name, locale, method.title)

    def description(self, group: str, method: Method, locale: str) -> str:
        """What a method does; its title where nobody says (T-06)."""
        return self.texts.description(group, method.name, locale, method.description or None, code_title=method.title)

    def parameter(self, group: str, method: Method, name: str, locale: str) -> str:
        """What a catalogue says of a parameter; empty where none does."""
        return self.texts.parameter(group, method.name, name, locale) or ""

    def result(self, group: str, method: Method, locale: str) -> str:
        """What a catalogue says of the result; empty where none does."""
        return self.texts.result(group, method.name, locale) or ""

    def negotiator(self, group: str) -> Callable[[str | None], str]:
        """A function from `Accept-Language` to a locale of the group; the latest headers are remembered."""
        return lru_cache(maxsize=256)(partial(self.texts.negotiate, group))


def wording(layers: Iterable[Iterable[CatalogueFile]], default_locale: str) -> MethodWording:
    """Wording over catalogue files, the strongest layer first: the operator's own, then those of plugins."""
    files = [list(layer) for layer in layers]
    catalogues = Catalogues(*([Catalogue.of(f.group, f.locale, f.methods) for f in layer] for layer in files))
    return MethodWording(Texts(catalogues, default_locale), languages(files, default_locale))
