"""Requests as bytes that are sent again and again, and answers cut out of what comes back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length:"
_BODILESS = frozenset({204, 304})


class NotFramedError(ValueError):
    """An answer whose length is not said by a Content-Length, as in a stream; or something that is no HTTP/1.1."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, its head as it came; `size` is its length in bytes, head included."""

    status: int
    head: bytes
    body: bytes

    @property
    def size(self) -> int:
        """The length of all of it in bytes."""
        return len(self.head) + len(_HEAD_END) + len(self.body)

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
        NotFramedError: Its end cannot be told (RFC 9112 section 6.3, the chunked coding included).
    """
    end = data.find(_HEAD_END)
    if end < 0:
        return None
    head = data[:end]
    status = _status(head)
    begin = end + len(_HEAD_END)
    length = 0 if status in _BODILESS else _length(head)
    body = data[begin : begin + length]
    return Answered(status, head, body) if len(body) == length else None


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
        raise NotFramedError("the answer has no Content-Length: it is a stream")
    return int(value)
