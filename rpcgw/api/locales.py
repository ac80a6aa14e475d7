"""Languages by their BCP 47 tags. Pure."""

from __future__ import annotations


def canonical(locale: str) -> str:
    """A locale as BCP 47 writes it: `pt-BR` for `pt_br`, `zh-Hant-TW` for `zh_hant_tw`."""
    language, *rest = locale.replace("_", "-").split("-")
    return "-".join([language.lower(), *(_subtag(part) for part in rest)])


def _subtag(part: str) -> str:
    return part.title() if len(part) == 4 else part.upper()


def lineage(locale: str) -> tuple[str, ...]:
    """A locale and what it falls back on: `pt-BR`, `pt`."""
    parts = locale.split("-")
    return tuple("-".join(parts[:end]) for end in range(len(parts), 0, -1))
