"""Which settings a reload cannot change. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "server.bind": "the addresses of the start are served until then",
    "metrics.bind": "metrics are scraped where they were at the start until then",
}
"""What holds meanwhile, by setting."""


def needing_restart(in_effect: Mapping[str, str], wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """The settings whose new value waits for a restart, each with what holds until then.

    Both arguments are `Needs.fixed`: that of the generation that the daemon began with, and that of a later one.
    """
    names = sorted({*in_effect, *wanted})
    return [
        (name, TEXTS.get(name, "its old value holds until then"))
        for name in names
        if in_effect.get(name) != wanted.get(name)
    ]
