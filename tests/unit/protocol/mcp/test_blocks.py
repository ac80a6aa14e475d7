"""Blocks of a kind that a session's revision lacks become texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rpcgw.protocol.mcp.blocks import degraded
from rpcgw.protocol.mcp.revisions import REVISIONS

TEXT: dict[str, Any] = {"type": "text", "text": "x"}
IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "", "mimeType": "audio/wav"}
RESOURCE = {"type": "resource", "resource": {"uri": "test://x", "text": "x"}}
LINK = {"type": "resource_link", "uri": "test://x", "name": "x"}
TOLD = LINK | {"title": "An X", "description": "What it is."}


@pytest.mark.parametrize(
    ("revision", "texts"),
    [
        pytest.param("2024-11-05", {"audio", "resource_link"}, id="the first knows neither sounds nor links"),
        pytest.param("2025-03-26", {"resource_link"}, id="the second knows sounds"),
        pytest.param("2025-06-18", set(), id="the third knows all"),
        pytest.param("2025-11-25", set(), id="the last with sessions knows all"),
        pytest.param("2026-07-28", set(), id="the stateless one knows all"),
    ],
)
def test_what_a_revision_can_take(revision: str, texts: set[str]) -> None:
    """Order and everything known stay; the rest is still there, as words."""
    blocks: list[dict[str, Any]] = [TEXT, IMAGE, AUDIO, RESOURCE, LINK]
    row = next(row for row in REVISIONS if row.name == revision)
    shown = json.loads(degraded(json.dumps(blocks).encode(), row))
    assert [block["type"] for block in shown] == [
        "text" if block["type"] in texts else block["type"] for block in blocks
    ]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        pytest.param(LINK, "x: test://x", id="a bare link"),
        pytest.param(TOLD, "An X: test://x\nWhat it is.", id="a link that tells more"),
        pytest.param(
            AUDIO, "[a sound of the type audio/wav, which this revision of the protocol cannot carry]", id="a sound"
        ),
    ],
)
def test_the_words_for_it(block: dict[str, object], text: str) -> None:
    """A model can still do something with them."""
    assert json.loads(degraded(json.dumps([block]).encode(), REVISIONS[0])) == [{"type": "text", "text": text}]
