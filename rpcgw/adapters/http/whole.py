"""The quick way out: an answer in one piece to an ordinary request, written in one go.

It says what aiohttp's own response would say, without building it: the fields that an endpoint sends over and over are
made into bytes once. Only `prepare` and `write_eof` of aiohttp's response are replaced, both public. Anything unusual
(HTTP/1.0, HEAD, a connection that is to close, a page's origin, work that follows the answer) goes the long way.
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

_UNFIT = re.compile(r"[\r\n\0]")


class Whole(web.StreamResponse):
    """An answer that is ready: `head` ends before Content-Length."""

    def __init__(self, status: int, head: bytes, body: bytes) -> None:
        super().__init__(status=status)
        self._ready = (head, body)

    @property
    def keep_alive(self) -> bool:
        """The connection stays: others go the long way."""
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write all of it; waits where the reader is slower than this."""
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the peer has left")
        head, body = self._ready
        transport.write(b"%bContent-Length: %d\r\nDate: %b\r\n\r\n%b" % (head, len(body), _date(), body))
        if transport.get_write_buffer_size():
            await request.writer.drain()
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to write."""


def is_ordinary(request: web.Request) -> bool:
    """Whether a request can be answered the quick way."""
    return (
        request.version == HttpVersion11
        and request.method != "HEAD"
        and request.keep_alive
        and "Origin" not in request.headers
    )


@lru_cache(maxsize=256)
def head(status: int, fields: HeaderFields) -> bytes:
    """The status line and the fields as bytes.

    Raises:
        ValueError: A field holds what would end it.
    """
    if any(_UNFIT.search(text) for field in fields for text in field):
        raise ValueError("a header field holds a line break")
    lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in fields), ""]
    return "\r\n".join(lines).encode("utf-8")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _date() -> bytes:
    return _date_of(int(time.time()))


@lru_cache(maxsize=2)
def _date_of(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
