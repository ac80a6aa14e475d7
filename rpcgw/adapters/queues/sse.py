"""Server-Sent Events, read piece by piece (WHATWG HTML, section 9.2.6). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rpcgw.api.records import record

_LINE = re.compile(rb"\r\n|\n|\r")


@record(frozen=True, slots=True)
class Event:
    """One event; `id` is the last one that the stream named."""

    data: str
    id: str = ""
    name: str = "message"


class Events:
    """What a stream has said so far. `retry` is the pause, in seconds, that it asks for before a new connection."""

    def __init__(self, longest: int = 16_777_216) -> None:
        self._longest = longest
        self._rest = b""
        self._size = 0
        self._data: list[str] = []
        self._name = ""
        self.last_id = ""
        self.retry: float | None = None

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that a piece completes.

        Raises:
            ValueError: An event is longer than is taken.
        """
        whole = self._rest + piece
        # A carriage return at the end may be half of a line break.
        end = len(whole) - 1 if whole.endswith(b"\r") else len(whole)
        *lines, rest = _LINE.split(whole[:end])
        self._rest = rest + whole[end:]
        for line in lines:
            event = self._line(line.decode("utf-8", "replace"))
            if event is not None:
                yield event
        self._check(len(self._rest))

    def restart(self) -> None:
        """A new connection begins: what the former one left incomplete is void."""
        self._rest = b""
        self._dispatched()

    def _check(self, more: int) -> None:
        if self._size + more > self._longest:
            raise ValueError(f"an event is longer than {self._longest} bytes")

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._dispatched()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._check(len(value))
            self._size += len(value)
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id" and "\0" not in value:
            self.last_id = value
        elif field == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1000
        return None

    def _dispatched(self) -> Event | None:
        data, name = self._data, self._name
        self._data, self._name, self._size = [], "", 0
        return Event("\n".join(data), self.last_id, name or "message") if data else None
