"""The head of an HTTP/1.1 request, read so strictly that no two readers can understand it differently. Pure.

Whatever is unusual is not refused but left alone: None means that somebody else is to read it. What is accepted has one
`Content-Length` of plain digits, no transfer coding, no field twice, no folded line, no control character and no byte
beyond ASCII, so that where its body ends is beyond doubt (RFC 9112, sections 6.3 and 11.2: request smuggling).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

END: Final = b"\r\n\r\n"
"""What a head ends with."""
LONGEST: Final = 8000
"""Bytes of the longest head that is read here."""
_MOST_LINES: Final = 64
_METHOD: Final = "POST "
_PROTOCOL: Final = " HTTP/1.1"
_PLAIN: Final = bytes([9, *range(32, 127)])
_BLANKS: Final = " \t"
_LONGEST_LENGTH: Final = 10
"""Digits of the longest Content-Length: more could overflow somewhere."""
_LAST: Final = "close"
_CONNECTIONS: Final = frozenset({"keep-alive", _LAST})
_UNUSUAL: Final = frozenset(
    {"content-encoding", "expect", "http2-settings", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Fields that change what a request is, or what its answer must say."""


class Fields:
    """`rpcgw.exchange.Headers` of which each is there once; names are in lower case, and nothing is ever changed."""

    __slots__ = ("get", "getall")

    def __init__(self, values: dict[str, str]) -> None:
        self.get = values.get
        self.getall = {name: [value] for name, value in values.items()}.get


class Request:
    """What a head says: the target as it was sent, the fields, and how many bytes of body follow.

    `lead` is the head with its `END`, and `memo` is `rpcgw.exchange.Head.memo`. The `last` one on a connection says so:
    nothing that comes after it is a request (RFC 9112, section 9.6).
    """

    __slots__ = ("fields", "last", "lead", "length", "memo", "target")

    def __init__(self, lead: bytes, target: str, fields: Fields, length: int) -> None:
        self.last = (fields.get("connection") or "").lower() == _LAST
        self.lead = lead
        self.target = target
        self.fields = fields
        self.length = length
        self.memo: dict[object, Any] = {}


def first(data: bytes | bytearray) -> Request | int | None:
    """The request that bytes begin with, whose body may still be to come.

    A number is how many bytes are needed to say more; None says that somebody else is to read them.
    """
    end = data.find(END)
    if end < 0:
        may_become = len(data) <= LONGEST and _METHOD.startswith(bytes(data[: len(_METHOD)]).decode("latin-1"))
        return len(data) + 1 if may_become else None
    # What is remembered is bounded in bytes, too.
    return read(bytes(data[: end + len(END)])) if end <= LONGEST else None


@lru_cache(maxsize=256)
def read(lead: bytes) -> Request | None:
    """The request that a head (with its `END`) begins, or None where somebody else is to read it.

    A client's heads are alike from call to call; the last ones are remembered.
    """
    head = lead.removesuffix(END)
    if head.translate(None, _PLAIN) != b"\r\n" * head.count(b"\r\n"):
        return None
    first, *lines = head.decode("ascii").split("\r\n")
    if len(lines) > _MOST_LINES or not (first.startswith(_METHOD) and first.endswith(_PROTOCOL)):
        return None
    values = _values(lines)
    length = None if values is None else _length(values)
    if values is None or length is None:
        return None
    return Request(lead, first[len(_METHOD) : -len(_PROTOCOL)], Fields(values), length)


def _values(lines: list[str]) -> dict[str, str] | None:
    """The fields by lower-case name, or None where one of them is unusual."""
    values: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name, value = name.lower(), value.removeprefix(" ")
        # Letters, digits and hyphens only: any other token is as good (RFC 9110, section 5.6.2), but rare.
        if not colon or not name.replace("-", "a").isalnum() or name in values or value.strip(_BLANKS) != value:
            return None
        values[name] = value
    if values.keys() & _UNUSUAL or values.get("connection", "keep-alive").lower() not in _CONNECTIONS:
        return None
    return values


def _length(values: dict[str, str]) -> int | None:
    """How long the body is; None where that, or whom the request is for, is not said plainly."""
    text = values.get("content-length", "")
    if "host" not in values or not text.isdigit() or len(text) > _LONGEST_LENGTH or str(int(text)) != text:
        return None
    return int(text)
