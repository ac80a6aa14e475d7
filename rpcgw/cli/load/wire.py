"""Requests as bytes that are sent again and again, and answers cut out of what comes back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from rpcgw.api.records import record

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length:"
_CHUNKED = b"\r\ntransfer-encoding: chunked"
_BODILESS = frozenset({204, 304})


class NotFramedError(ValueError):
    """An answer whose end cannot be told, or something that is no HTTP/1.1."""


@record(frozen=True, slots=True)
class Asked:
    """A request: what goes over the wire is made from it once."""

    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"

    def raw(self, host: str) -> bytes:
        """The whole request; `host` is what the `Host` field says."""
        named = {"Host": host, **self.headers}
        if self.body or self.method == "POST":
            named |= {"Content-Type": "application/json", "Content-Length": str(len(self.body))}
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@record(frozen=True, slots=True)
class Answered:
    """An answer: its head as it came, its body without chunks; `size` is how many bytes came, head included."""

    status: int
    head: bytes
    body: bytes
    size: int

    def header(self, name: str) -> str | None:
        """The first value of a header field; None where there is none."""
        wanted = name.lower().encode() + b":"
        for line in self.head.split(b"\r\n")[1:]:
            if line.lower().startswith(wanted):
                return line[len(wanted) :].strip().decode("latin-1")
        return None


def first(data: bytes) -> Answered | None:
    """The answer that `data` begins with; None while it is not there as a whole.

    Raises:
        NotFramedError: Its end cannot be told (RFC 9112 section 6.3).
    """
    end = data.find(_HEAD_END)
    if end < 0:
        return None
    head = data[:end]
    status = _status(head)
    begin = end + len(_HEAD_END)
    if status not in _BODILESS and _CHUNKED in head.lower():
        return _chunked(status, head, data, begin)
    length = 0 if status in _BODILESS else _length(head)
    body = data[begin : begin + length]
    return Answered(status, head, body, begin + length) if len(body) == length else None


def _chunked(status: int, head: bytes, data: bytes, at: int) -> Answered | None:
    """An answer in chunks (RFC 9112 section 7.1); trailer fields are not taken."""
    parts: list[bytes] = []
    while True:
        line_end = data.find(b"\r\n", at)
        if line_end < 0:
            return None
        size = _chunk_size(data[at:line_end])
        begin, end = line_end + 2, line_end + 2 + size
        if len(data) < end + 2:
            return None
        if data[end : end + 2] != b"\r\n":
            raise NotFramedError(f"a chunk of {size} bytes does not end where it should")
        at = end + 2
        if size == 0:
            return Answered(status, head, b"".join(parts), at)
        parts.append(data[begin:end])


def _chunk_size(line: bytes) -> int:
    try:
        return int(line.partition(b";")[0], 16)
    except ValueError:
        raise NotFramedError(f"{line[:40]!r} is no size of a chunk") from None


def _status(head: bytes) -> int:
    version, _, rest = head.partition(b" ")
    code = rest[:3]
    if version != b"HTTP/1.1" or not code.isdigit():
        raise NotFramedError(f"this is no HTTP/1.1: {head[:80]!r}")
    return int(code)


def _length(head: bytes) -> int:
    at = head.lower().find(_LENGTH)
    value = head[at + len(_LENGTH) :].partition(b"\r\n")[0].strip() if at >= 0 else b""
    if not value.isdigit():
        raise NotFramedError("the answer ends with its connection: it has no Content-Length, and no chunks")
    return int(value)
