"""An answer in one piece as bytes, and the quick way out for them past aiohttp's responses.

It says what aiohttp's own response would say, without building it: the fields that an endpoint sends over and over are
made into bytes once. Only `prepare` and `write_eof` of aiohttp's response are replaced, both public. Anything unusual
(HEAD, a connection of HTTP/1.0 that is kept) goes the long way.
"""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter

from rpcgw.exchange import HeaderFields

CLOSE: HeaderFields = (("Connection", "close"),)
_UNFIT = re.compile(r"[\r\n\0]")
_BODILESS = frozenset({204, 304})
"""Statuses whose answers have no body, and say nothing of its length (RFC 9110, section 8.6)."""


class Opening:
    """What an answer begins with: its status and fields, and the same as bytes, up to Content-Length.

    Raises:
        ValueError: A field holds what would end it.
    """

    __slots__ = ("_made", "closing", "fields", "start", "status")

    def __init__(self, status: int, fields: HeaderFields) -> None:
        self.status = status
        self.fields = fields
        self.start = _head(status, fields)
        self.closing = _head(status, fields + CLOSE)
        self._made = (0, 0, b"")

    def whole(self, body: bytes, *, last: bool) -> bytes:
        """All of an answer in one piece; the `last` one on its connection says so."""
        if self.status in _BODILESS:
            return b"%bDate: %b\r\n\r\n" % (self.closing if last else self.start, _date())
        second, length = int(time.time()), len(body)
        if last:
            return _measured(self.closing, length, second) + body
        made = self._made
        if made[0] != second or made[1] != length:  # most answers are as long as the one before, and in its second
            made = self._made = second, length, _measured(self.start, length, second)
        return made[2] + body

    def chunked(self, *, last: bool) -> bytes:
        """What goes before the chunks of a stream."""
        return b"%bTransfer-Encoding: chunked\r\nDate: %b\r\n\r\n" % (self.closing if last else self.start, _date())


class Written(web.StreamResponse):
    """What aiohttp is told of an answer that is out already; one that is the `last` on its connection ends it."""

    def __init__(self, *, last: bool) -> None:
        super().__init__()
        self._last = last

    @property
    def keep_alive(self) -> bool:
        """Whether the connection stays."""
        return not self._last

    async def prepare(self, _: web.BaseRequest) -> AbstractStreamWriter | None:
        """Nothing is left to write."""
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to write."""


def is_ordinary(request: web.BaseRequest) -> bool:
    """Whether its answer can be written the quick way.

    That is in HTTP/1.1, whoever asked (RFC 9110, section 6.2), but for clients of HTTP/1.0 that want to go on.
    """
    return request.method != "HEAD" and (request.version == HttpVersion11 or not request.keep_alive)


def _head(status: int, fields: HeaderFields) -> bytes:
    if any(_UNFIT.search(text) for field in fields for text in field):
        raise ValueError("a header field holds a line break")
    lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in fields), ""]
    return "\r\n".join(lines).encode("utf-8")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _measured(start: bytes, length: int, second: int) -> bytes:
    """All that goes before a body of this length."""
    return b"%bContent-Length: %d\r\nDate: %b\r\n\r\n" % (start, length, _date_of(second))


def _date() -> bytes:
    """The time as HTTP says it (RFC 9110, section 5.6.7)."""
    return _date_of(int(time.time()))


@lru_cache(maxsize=2)
def _date_of(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
