"""What an agent calls itself: cleaned, and kept by name only where many say the same. Pure.

A free text could carry a person's name or worse, so what is not well known counts as `other`. The hint is the caller's
own word: it is counted, and nothing is ever decided by it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

LONGEST: Final = 64
UNKNOWN: Final = "unknown"
OTHER: Final = "other"
KNOWN: Final = (
    "ChatGPT",
    "GPTBot",
    "OAI-SearchBot",
    "Claude-User",
    "ClaudeBot",
    "Claude",
    "Anthropic",
    "PerplexityBot",
    "Perplexity",
    "Gemini",
    "Copilot",
    "Bytespider",
    "Playwright",
    "Puppeteer",
)
"""Agents that are kept by name; the first that a hint contains counts."""


def cleaned(hint: str) -> str:
    """A hint of letters, digits, single spaces and `._-/()`, at most 64 characters; `unknown` where nothing is left."""
    kept = "".join(sign if sign.isalnum() or sign in " ._-/()" else " " for sign in hint)
    return " ".join(kept.split())[:LONGEST].rstrip() or UNKNOWN


@lru_cache(maxsize=1024)
def counted(hint: str, further: tuple[str, ...] = ()) -> str:
    """The name that a hint is counted under: a well-known agent's, one of `further`, `other` or `unknown`."""
    clean = cleaned(hint)
    if clean == UNKNOWN:
        return UNKNOWN
    folded = clean.casefold()
    return next((name for name in (*further, *KNOWN) if name.casefold() in folded), OTHER)
