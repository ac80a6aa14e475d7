"""`Accept-Language` -> locale. Pure.

Quality values are RFC 9110 section 12.5.4 and 12.4.2; the match is the look-up of RFC 4647 section 3.4 (`uk-UA` falls
back to `uk`), and each step also finds what is more exact (`pt` finds `pt-BR` where there is no `pt`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_PART = re.compile(
    r"\s*(?P<range>\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*"
    r"(?:;\s*[Qq]\s*=\s*(?P<weight>0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?"
)
MAX_RANGES = 50
"""More languages than anybody speaks; the rest of a longer header is not looked at."""


def negotiate(header: str | None, available: Collection[str], default: str) -> str:
    """The available locale that a client likes best.

    Args:
        header: The field's value as it came, or None.
        available: Locales in BCP 47 form.
        default: The answer where there is no header, nothing in it is readable, or nothing matches.
    """
    if not header:
        return default
    ranges = sorted(_ranges(header), key=lambda pair: -pair[1])
    excluded = [wanted for wanted, weight in ranges if weight == 0]
    named = [wanted for wanted, _ in ranges if wanted != "*"]
    choices = [default, *sorted(set(available) - {default})]
    open_to = [locale for locale in choices if not _is_excluded(locale, excluded, named)]
    for wanted, weight in ranges:
        if weight > 0:
            match = _any(open_to, named) if wanted == "*" else _lookup(wanted, open_to)
            if match is not None:
                return match
    return default


def _ranges(header: str) -> Iterator[tuple[str, float]]:
    """The readable parts in order, in lower case, with their weights; what is malformed says nothing."""
    for part in header.split(",", MAX_RANGES)[:MAX_RANGES]:
        match = _PART.fullmatch(part)
        if match is not None:
            yield match["range"].lower(), float(match["weight"] or 1)


def _lookup(wanted: str, locales: Collection[str]) -> str | None:
    """RFC 4647 section 3.4: cut the range from its end until something fits, single letters with what follows them."""
    by_name = {locale.lower(): locale for locale in locales}
    parts = wanted.split("-")
    while parts:
        name = "-".join(parts)
        if name in by_name:
            return by_name[name]
        regional = next((locale for lower, locale in by_name.items() if lower.startswith(f"{name}-")), None)
        if regional is not None:
            return regional
        parts.pop()
        if parts and len(parts[-1]) == 1:
            parts.pop()
    return None


def _any(locales: Collection[str], named: Collection[str]) -> str | None:
    """What `*` stands for: the first locale that no other range names."""
    return next((locale for locale in locales if not any(_covers(wanted, locale) for wanted in named)), None)


def _is_excluded(locale: str, excluded: Collection[str], named: Collection[str]) -> bool:
    """Whether the most exact range that fits a locale has the weight 0."""
    covering = [wanted for wanted in named if _covers(wanted, locale)]
    most_exact = max(covering, key=len) if covering else "*"
    return most_exact in excluded


def _covers(wanted: str, locale: str) -> bool:
    lower = locale.lower()
    return lower == wanted or lower.startswith(f"{wanted}-")
