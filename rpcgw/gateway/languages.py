"""What the product says to clients, in each language that it serves, and what catalogues get wrong of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter

from rpcgw.api.locales import canonical, lineage
from rpcgw.api.problems import Place, Problem
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.kernel.language import ENGLISH
from rpcgw.kernel.messages import Texts
from rpcgw.texts.messages import PRODUCT

Layers = Sequence[Sequence[CatalogueFile]]


def languages(layers: Layers, default_locale: str) -> Mapping[str, Texts]:
    """Texts by locale, for each locale of a catalogue and the default one; whole tables, English where nobody says.

    The strongest layer first, as for methods: the operator's, then plugins'; then the product's own. A regional
    language stands before its parent, and both before the default language.
    """
    default = canonical(default_locale)
    locales = {default, *(canonical(file.locale) for layer in layers for file in layer)}
    made = {locale: _texts(locale, default, layers) for locale in locales}
    return {locale: texts for locale, texts in made.items() if texts != ENGLISH}


def _texts(locale: str, default: str, layers: Layers) -> Texts:
    texts = dict(ENGLISH)
    spoken = lineage(locale) if "en" in lineage(locale) else (*lineage(locale), *lineage(default))
    for language in reversed(dict.fromkeys(spoken)):
        texts |= PRODUCT.get(language, {})
        if language == "en":
            texts |= ENGLISH
        for layer in reversed(layers):
            for file in layer:
                if canonical(file.locale) == language:
                    texts |= {key: text for key, text in file.messages.items() if key in ENGLISH}
    return texts


def message_problems(files: Iterable[CatalogueFile]) -> Iterator[Problem]:
    """Messages that nobody says, and facts in them that there are none of."""
    for file in files:
        for key, text in file.messages.items():
            place = file.places.get(f"rpcgw.messages.{key}", Place(file.file))
            if key not in ENGLISH:
                yield Problem(place, "unknown-message", f'the product says nothing by the key "{key}"', level="warning")
            elif unknown := sorted(_facts(text) - _facts(ENGLISH[key])):
                known = ", ".join(sorted(_facts(ENGLISH[key]))) or "none"
                said = f'"{key}" has no {", ".join(f"{{{name}}}" for name in unknown)}; English is said instead'
                yield Problem(place, "message-facts", said, f"there is: {known}", "warning")


def _facts(text: str) -> set[str]:
    """The names in braces; one that cannot be read is a fact that there is none of."""
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return {text}
