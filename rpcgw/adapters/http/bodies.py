"""Reading a request's body within a limit. Sizes are bytes of the content after inflating (RFC 9110, section 8.4)."""

from __future__ import annotations

import asyncio

from aiohttp import StreamReader, web
from aiohttp.http_exceptions import HttpProcessingError

from rpcgw.exchange import HeaderFields, Headers

CODINGS = frozenset({"gzip", "deflate", "identity"})
"""The codings that aiohttp takes off by itself, without extra libraries."""
ACCEPTED: HeaderFields = (("Accept-Encoding", ", ".join(sorted(CODINGS))),)
"""What goes with a 415 for any other (RFC 9110, section 12.5.3)."""


class TooLarge(Exception):
    """The body, declared or received, exceeds the limit."""


class Unreadable(Exception):
    """The body is not in the transfer or content coding that its head declares."""


class UnknownCoding(Exception):
    """The content coding is none of `CODINGS`."""


class UnknownTransfer(Exception):
    """The transfer coding is another than `chunked` alone."""


class TooSlow(Exception):
    """The body did not come in time."""


async def read(request: web.BaseRequest, limit: int, seconds: float) -> bytes:
    """The body, at most `limit` bytes of it; one byte more is refused, and so is a declared length above it.

    Raises:
        TooLarge, TooSlow, Unreadable, UnknownCoding, UnknownTransfer: see there.
        ConnectionError: the peer left before the body's end.
    """
    check(request.headers)
    content, coding = request.content, request.headers.get("Content-Encoding")
    # A body that is still to come may be refused unseen; most are here already.
    if not content.is_eof() and coding is None and (request.content_length or 0) > limit:
        raise TooLarge
    if content.is_eof():
        return await _whole(content, limit)
    try:
        async with asyncio.timeout(seconds):
            return await _whole(content, limit)
    except TimeoutError as error:
        raise TooSlow from error


def check(fields: Headers) -> None:
    """See that a head names no coding that is not ours to take off.

    Raises:
        UnknownCoding, UnknownTransfer: It does.
    """
    transfer = fields.get("Transfer-Encoding")
    if transfer is not None and transfer.strip().lower() != "chunked":
        raise UnknownTransfer(transfer)
    coding = fields.get("Content-Encoding")
    if coding is not None and coding.strip().lower() not in CODINGS:
        raise UnknownCoding(coding)


def is_here(content: StreamReader) -> bool:
    """Whether all of a body is here, and can be read."""
    return content.is_eof() and content.exception() is None


def at_hand(request: web.BaseRequest, limit: int, *, coded: bool) -> bytes:
    """A body that `is_here`; as `read` gives it. `coded` where its head names a coding.

    Raises:
        TooLarge, UnknownCoding, UnknownTransfer: see there.
    """
    if coded:
        check(request.headers)
    body = request.content.read_nowait()
    if len(body) > limit:
        raise TooLarge
    return body


async def _whole(content: StreamReader, limit: int) -> bytes:
    piece = await _next(content)
    if content.at_eof():
        if len(piece) > limit:
            raise TooLarge
        return piece
    return await _rest(content, piece, limit)


async def _rest(content: StreamReader, piece: bytes, limit: int) -> bytes:
    pieces = [piece]
    size = len(piece)
    while size <= limit:
        piece = await _next(content)
        pieces.append(piece)
        size += len(piece)
        if content.at_eof() and size <= limit:
            return b"".join(pieces)
    raise TooLarge


async def _next(content: StreamReader) -> bytes:
    try:
        return await content.readany()
    except ConnectionError:
        raise
    except (web.RequestPayloadError, HttpProcessingError) as error:
        raise Unreadable(str(error)) from error
    except (RuntimeError, asyncio.IncompleteReadError) as error:
        raise ConnectionResetError("the peer left before the body's end") from error
