"""Content blocks as a session's revision can take them. Pure.

A strict client refuses a whole result over one block of a kind that its revision lacks; so it sees a text instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rpcgw.kernel.codec import decode, encode
from rpcgw.protocol.mcp.revisions import BLOCKS, Revision

_Block = dict[str, Any]


def degraded(blocks: bytes, revision: Revision) -> bytes:
    """An array of blocks, those that the revision does not know as texts."""
    if revision.blocks >= BLOCKS:
        return blocks
    return encode([block if block["type"] in revision.blocks else _as_text(block) for block in decode(blocks)])


def _as_text(block: _Block) -> _Block:
    return {"type": "text", "text": _TEXTS[block["type"]](block)}


def _sound(block: _Block) -> str:
    return f"[a sound of the type {block['mimeType']}, which this revision of the protocol cannot carry]"


def _link(block: _Block) -> str:
    named = f"{block.get('title', block['name'])}: {block['uri']}"
    return f"{named}\n{block['description']}" if "description" in block else named


_TEXTS: Final[Mapping[str, Callable[[_Block], str]]] = {"audio": _sound, "resource_link": _link}
