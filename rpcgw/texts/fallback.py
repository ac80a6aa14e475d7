"""Which text a client sees: each field falls back on its own (T-05, T-06). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from rpcgw.api.locales import canonical, lineage
from rpcgw.texts.catalogue import BASE, Catalogues, MethodTexts
from rpcgw.texts.negotiate import negotiate


class Texts:
    """Titles and descriptions of methods, by group and language.

    The order is T-05's: the group in the client's language, the group in the default language, then the base catalogue
    in both, then what the code says. A regional language stands before its parent at each step (`pt-BR`, then `pt`).
    """

    __slots__ = ("_catalogues", "_spoken", "default_locale")

    def __init__(self, catalogues: Catalogues, default_locale: str = "en") -> None:
        self._catalogues = catalogues
        self.default_locale = canonical(default_locale)
        self._spoken = lru_cache(maxsize=256)(self._order)

    def available(self, group: str) -> frozenset[str]:
        """The languages that a group can be described in; the default language always."""
        return self._catalogues.locales(group) | {self.default_locale}

    def negotiate(self, group: str, accept_language: str | None) -> str:
        """The language for a client, from its `Accept-Language` (T-03)."""
        return negotiate(accept_language, self.available(group), self.default_locale)

    def title(self, group: str, method: str, locale: str, code: str | None = None) -> str:
        """A method's title; `code` is what its mark says. Where nobody says one, it is the name (T-06)."""
        return self._first(group, method, locale, lambda texts: texts.title) or code or method

    def description(
        self, group: str, method: str, locale: str, code: str | None = None, *, code_title: str | None = None
    ) -> str:
        """A method's description; `code` is its docstring. Where nobody says one, it is the title (T-06)."""
        found = self._first(group, method, locale, lambda texts: texts.description)
        return found or code or self.title(group, method, locale, code_title)

    def parameter(self, group: str, method: str, name: str, locale: str, code: str | None = None) -> str | None:
        """A parameter's description; `code` is what the docstring says. None where nobody says one."""
        return self._first(group, method, locale, lambda texts: texts.params.get(name)) or code or None

    def result(self, group: str, method: str, locale: str, code: str | None = None) -> str | None:
        """The result's description; `code` is what the docstring says. None where nobody says one."""
        return self._first(group, method, locale, lambda texts: texts.result) or code or None

    def _first(self, group: str, method: str, locale: str, field: Callable[[MethodTexts], str | None]) -> str | None:
        if not self._spoken(group, locale):
            return None
        return next((text for texts in self._chain(group, method, locale) if (text := field(texts))), None)

    def _chain(self, group: str, method: str, locale: str) -> Iterator[MethodTexts]:
        for owner, language in self._spoken(group, locale):
            texts = self._catalogues.texts(owner, language, method)
            if texts is not None:
                yield texts

    def _order(self, group: str, locale: str) -> list[tuple[str, str]]:
        """The catalogues that there are, as owner and language, in the order in which they are asked."""
        languages = dict.fromkeys((*lineage(canonical(locale)), *lineage(self.default_locale)))
        asked = ((owner, language) for owner in (group, BASE) for language in languages)
        return [pair for pair in asked if self._catalogues.has(*pair)]
