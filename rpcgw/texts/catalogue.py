"""Catalogues: texts by method, each for one language and for one group or all (T-04). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from rpcgw.api.locales import canonical
from rpcgw.api.records import record

BASE = ""
"""The group of catalogues that hold for all groups."""


@record(frozen=True, slots=True)
class MethodTexts:
    """What a catalogue says of one method; None and absence leave it to the next in line (T-05)."""

    title: str | None = None
    description: str | None = None
    result: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)

    def over(self, lower: MethodTexts) -> MethodTexts:
        """These texts, and those of `lower` where these say nothing."""
        return MethodTexts(
            self.title if self.title is not None else lower.title,
            self.description if self.description is not None else lower.description,
            self.result if self.result is not None else lower.result,
            {**lower.params, **self.params},
        )


@record(frozen=True, slots=True)
class Catalogue:
    """The texts of one language, for one group (`BASE`: for all)."""

    group: str
    locale: str
    methods: Mapping[str, MethodTexts]

    @staticmethod
    def of(group: str, locale: str, methods: Mapping[str, Mapping[str, Any]]) -> Catalogue:
        """A catalogue made of plain mappings with `title`, `description`, `result` and `params`."""
        texts = {name: MethodTexts(**given) for name, given in methods.items()}
        return Catalogue(group, canonical(locale), texts)


class Catalogues:
    """All catalogues. Immutable after construction; a look-up is two dict look-ups.

    Args:
        layers: Catalogues by origin, the strongest first: the operator's own, then those of plugins. Where two layers
            speak of the same method in the same language and group, the stronger wins field by field.
    """

    __slots__ = ("_methods",)

    def __init__(self, *layers: Iterable[Catalogue]) -> None:
        self._methods: dict[tuple[str, str], dict[str, MethodTexts]] = {}
        for layer in layers:
            for catalogue in layer:
                cell = self._methods.setdefault((catalogue.group, catalogue.locale), {})
                for name, texts in catalogue.methods.items():
                    cell[name] = cell[name].over(texts) if name in cell else texts

    def texts(self, group: str, locale: str, method: str) -> MethodTexts | None:
        """What exactly this group's (or the base) catalogue of this language says of a method."""
        return self._methods.get((group, locale), {}).get(method)

    def has(self, group: str, locale: str) -> bool:
        """Whether there is a catalogue of exactly this group (or the base one) in this language."""
        return (group, locale) in self._methods

    def locales(self, group: str) -> frozenset[str]:
        """The languages that some catalogue of a group, or of all groups, is written in."""
        return frozenset(locale for owner, locale in self._methods if owner in (group, BASE))
