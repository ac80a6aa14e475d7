"""Content blocks: what a procedure returns where an agent is to see more than a value.

A method whose return annotation names one of these classes, a list or union of them, or `ToolResult`, answers with
blocks (MCP 2026-07-28, Tools, Tool Result). It promises no output schema; on `/rpc` its result is the array of the
blocks' JSON. A method that fails raises, as any other does: that is an error on every surface.
"""

from __future__ import annotations

from collections.abc import Sequence

from rpcgw.api.records import record


@record(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@record(frozen=True, slots=True)
class Image:
    """A picture; `mime_type` such as `image/png`."""

    data: bytes
    mime_type: str


@record(frozen=True, slots=True)
class Audio:
    """A sound; `mime_type` such as `audio/wav`. Sessions of 2024-11-05 see a text in its place."""

    data: bytes
    mime_type: str


@record(frozen=True, slots=True)
class EmbeddedResource:
    """A document that comes along: its `text`, or its `data`, exactly one of the two.

    Raises:
        ValueError: Both are given, or neither.
    """

    uri: str
    text: str | None = None
    data: bytes | None = None
    mime_type: str | None = None

    def __post_init__(self) -> None:
        """Hold to exactly one of the two."""
        if (self.text is None) is (self.data is None):
            raise ValueError("an embedded resource has a text or data, exactly one of them")


@record(frozen=True, slots=True)
class ResourceLink:
    """A document that stays where it is. `size` in bytes. Sessions before 2025-06-18 see a text in its place."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


Block = Text | Image | Audio | EmbeddedResource | ResourceLink


@record(frozen=True, slots=True)
class ToolResult:
    """Blocks, and beside them a value for programs: `structured` has to be a JSON object, None is none.

    `/rpc` answers with the blocks alone.
    """

    content: Block | Sequence[Block] = ()
    structured: object = None
