"""Server-Sent Events, however they are cut into pieces."""

from __future__ import annotations

import pytest

from rpcgw.adapters.queues.sse import Event, Events


def read(text: bytes, step: int) -> list[Event]:
    events = Events()
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    return [event for piece in pieces for event in events.feed(piece)]


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"data: a\n\n", [Event("a")], id="one line"),
        pytest.param(b"data:a\n\n", [Event("a")], id="without the blank"),
        pytest.param(b"data:  a\n\n", [Event(" a")], id="one blank is taken off"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [Event("a"), Event("b"), Event("c")], id="every line break"),
        pytest.param(b"data: a\ndata: b\n\n", [Event("a\nb")], id="several lines"),
        pytest.param(b"id: 7\ndata: a\n\ndata: b\n\n", [Event("a", "7"), Event("b", "7")], id="an id holds on"),
        pytest.param(b"id: 7\ndata: a\n\nid\ndata: b\n\n", [Event("a", "7"), Event("b", "")], id="an empty id ends it"),
        pytest.param(b"event: x\ndata: a\n\ndata: b\n\n", [Event("a", "", "x"), Event("b")], id="a name holds once"),
        pytest.param(b": hello\n\nevent: x\n\ndata: a\n\n", [Event("a")], id="comments, and events without data"),
        pytest.param("data: ї\n\n".encode(), [Event("ї")], id="letters of two bytes"),
        pytest.param(b"data: a\n", [], id="what is not complete"),
    ],
)  # fmt: skip
def test_read(text: bytes, expected: list[Event], step: int) -> None:
    """The events are the same, wherever the stream was cut."""
    assert read(text, step) == expected


@pytest.mark.parametrize(
    ("text", "retry"),
    [
        pytest.param(b"retry: 1500\n", 1.5, id="milliseconds"),
        pytest.param(b"retry: soon\n", None, id="a word"),
    ],
)
def test_retry(text: bytes, retry: float | None) -> None:
    """A stream may say how long to wait before the next connection."""
    events = Events()
    assert list(events.feed(text)) == []
    assert events.retry == retry


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"data: " + b"x" * 50, id="a line"),
        pytest.param(b"data: " + b"x" * 51 + b"\n", id="a line that ends"),
        pytest.param(b"data: 12345678\n" * 8, id="many lines"),
    ],
)
def test_without_end(text: bytes) -> None:
    """An event that does not end is an error, not memory."""
    with pytest.raises(ValueError, match="longer than 50 bytes"):
        list(Events(longest=50).feed(text))


def test_a_new_connection() -> None:
    """What a broken connection left incomplete is void; the last id is kept."""
    events = Events()
    assert list(events.feed(b"id: 1\ndata: half\nda")) == []
    events.restart()
    assert list(events.feed(b"data: whole\n\n")) == [Event("whole", "1")]


def test_many_events() -> None:
    """Each event may be so long, however many there were."""
    events = Events(longest=50)
    assert len([event for _ in range(10) for event in events.feed(b"data: 0123456789012345\n\n")]) == 10
