"""What may be wrong with a tool of a page: the findings of checks, and what each code of them means. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rpcgw.api.problems import Level
from rpcgw.api.records import record

Path = tuple[str | int, ...]
"""Where in a manifest: fields and indices; `primitive` stands for the primitive."""

CODES: Mapping[str, str] = MappingProxyType(
    {
        "webmcp-address": "A tool of a page writes to something that is no mail address.",
        "webmcp-budget": "A tool of a page is longer than browsers like it to be (warning).",
        "webmcp-call": "A tool of a page calls a method that nobody serves, or that visitors may not call (warning).",
        "webmcp-data": "What a tool of a page works with does not fit together.",
        "webmcp-description": "A tool of a page does not say what it does.",
        "webmcp-duplicate": "Two tools of one site have one name.",
        "webmcp-keyword": "A schema has a keyword that browsers are about to refuse (warning).",
        "webmcp-name": "A tool of a page has a name that browsers do not take, or not its provider's.",
        "webmcp-placeholder": "A template names something that is never known there (warning).",
        "webmcp-provider": "What a plugin gives as a tool of web pages is none, or fails.",
        "webmcp-schema": "A schema of a tool of a page is none, or not one of an object.",
        "webmcp-unknown-tool": "A tool is switched off that no plugin brings (warning).",
        "webmcp-url": "A tool of a page leads to where it must not lead.",
    }
)


@record(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a manifest, and where."""

    path: Path
    code: str
    text: str
    hint: str = ""
    level: Level = "error"


def warning(path: Path, code: str, text: str, hint: str = "") -> Finding:
    """Something that deserves a second look."""
    return Finding(path, code, text, hint, "warning")
