"""Bytes on a connection that two readers could take apart differently, by name: what request smuggling is made of.

Where they name a path, it is `/call`, which takes POST. `SMUGGLED` is what an attacker wants to be read as a request of
its own (RFC 9112, section 11.2).
"""

from __future__ import annotations

from typing import Final

SMUGGLED: Final = b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nsmuggled"
HEAD: Final = b"POST /call HTTP/1.1\r\nHost: localhost\r\n"


def request(body: bytes = b"{}", *fields: bytes, first: bytes = HEAD, length: bool = True) -> bytes:
    """A POST with further fields; without `length` it says nothing of its body."""
    lines = [b"Content-Length: %d" % len(body)] if length else []
    return first + b"".join(line + b"\r\n" for line in (*lines, *fields)) + b"\r\n" + body


def chunks(*pieces: bytes) -> bytes:
    """A chunked body."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


ORDINARY: Final = request(b"ordinary")

STREAMS: Final[dict[str, bytes]] = {
    "one request": ORDINARY,
    "three requests": ORDINARY * 3,
    "an empty body": request(b""),
    "a request of aiohttp's between two": ORDINARY
    + request(b"x", first=HEAD.replace(b"/call", b"/call?a=b"))
    + ORDINARY,
    "GET between two": ORDINARY + b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + ORDINARY,
    "CL.TE": request(b"0\r\n\r\n" + SMUGGLED, b"Transfer-Encoding: chunked"),
    "TE.CL": request(chunks(SMUGGLED), b"Content-Length: 4", b"Transfer-Encoding: chunked", length=False),
    "TE before CL": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + chunks(SMUGGLED),
    "chunked alone": request(chunks(b"ab", b"c"), b"Transfer-Encoding: chunked", length=False) + ORDINARY,
    "chunked with extensions": request(b"2;a=b\r\nab\r\n0\r\n\r\n", b"Transfer-Encoding: chunked", length=False),
    "chunked with trailers": request(b"2\r\nab\r\n0\r\nX: y\r\n\r\n", b"Transfer-Encoding: chunked", length=False),
    "a chunk whose size overflows": request(
        b"10000000000000002\r\nab\r\n0\r\n\r\n", b"Transfer-Encoding: chunked", length=False
    ),
    **{
        f"a transfer coding written as {coding!r}": request(
            chunks(SMUGGLED), coding, b"Content-Length: 4", length=False
        )
        for coding in (
            b"Transfer-Encoding : chunked",
            b"Transfer-Encoding:chunked",
            b"Transfer-Encoding:\tchunked",
            b"Transfer-Encoding: xchunked",
            b"Transfer-Encoding: chunked, identity",
            b"Transfer-Encoding: identity, chunked",
            b"Transfer-Encoding: \x0bchunked",
            b"Transfer-Encoding: chunked\x00",
            b"Transfer-Encoding:\r\n chunked",
            b"X: y\nTransfer-Encoding: chunked",
            b"X: y\rTransfer-Encoding: chunked",
            b"Transfer_Encoding: chunked",
            b"transfer-encoding: CHUNKED",
            b" Transfer-Encoding: chunked",
            b"\x00Transfer-Encoding: chunked",
        )
    },
    **{
        f"lengths {lengths!r}": request(b"12345678" + SMUGGLED, *lengths, length=False)
        for lengths in (
            (b"Content-Length: 8", b"Content-Length: 0"),
            (b"Content-Length: 0", b"Content-Length: 8"),
            (b"Content-Length: 8", b"content-length: 8"),
            (b"Content-Length: 8, 8",),
            (b"Content-Length: 8,0",),
            (b"Content-Length: +8",),
            (b"Content-Length: -8",),
            (b"Content-Length: 08",),
            (b"Content-Length: 0x8",),
            (b"Content-Length: 8.0",),
            (b"Content-Length: 8_0",),
            (b"Content-Length: 8 8",),
            (b"Content-Length: 8\t",),
            (b"Content-Length:  8",),
            (b"Content-Length : 8",),
            (b"Content-Length",),
            (b"Content-Length:",),
            (b"Content-Length: \xb2",),
            (b"Content-Length: 8;",),
            (b'Content-Length: "8"',),
            (b"Content-Length: 18446744073709551624",),
            (b"Content-Length: 4294967304",),
            (b"Content\x00-Length: 8",),
            (b"Content-Length: 8\x00",),
            (b"Content_Length: 8",),
            (b"X: y\nContent-Length: 8",),
            (b"X: y\rContent-Length: 8",),
            (b"X: y\r\n Content-Length: 8",),
        )
    },
    "no length at all": HEAD + b"\r\n" + SMUGGLED,
    "a bare LF after the head": HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 8\n\n" + SMUGGLED,
    "a bare LF as the blank line": HEAD + b"Content-Length: 0\r\n\n" + SMUGGLED,
    "CR CR LF": HEAD + b"Content-Length: 0\r\r\n\r\n" + SMUGGLED,
    "a blank line that is not blank": HEAD + b"Content-Length: 0\r\n \r\n" + SMUGGLED,
    "a NUL in a value": request(b"{}", b"X: a\x00b") + SMUGGLED,
    "a folded field": request(b"{}", b"X: a\r\n b") + SMUGGLED,
    "a field twice": request(b"{}", b"X: a", b"X: b") + ORDINARY,
    "Host twice": request(b"{}", b"Host: other") + ORDINARY,
    "no Host": request(b"{}", first=b"POST /call HTTP/1.1\r\n") + ORDINARY,
    "two blanks in the request line": request(first=HEAD.replace(b" /call", b"  /call")) + SMUGGLED,
    "a tab in the request line": request(first=HEAD.replace(b" /call", b"\t/call")) + SMUGGLED,
    "a blank after the protocol": request(first=HEAD.replace(b"1.1", b"1.1 ", 1)) + SMUGGLED,
    "HTTP/1.0": request(first=HEAD.replace(b"HTTP/1.1", b"HTTP/1.0")) + SMUGGLED,
    "HTTP/1.10": request(first=HEAD.replace(b"HTTP/1.1", b"HTTP/1.10")) + SMUGGLED,
    "HTTP/0.9": b"POST /call\r\n\r\n" + SMUGGLED,
    "an absolute target": request(first=HEAD.replace(b"/call", b"http://localhost/call")) + ORDINARY,
    "a target with a fragment": request(first=HEAD.replace(b"/call", b"/call#a")) + ORDINARY,
    "a target with an escaped letter": request(first=HEAD.replace(b"/call", b"/c%61ll")) + ORDINARY,
    "a target with dots": request(first=HEAD.replace(b"/call", b"/x/../call")) + ORDINARY,
    "a target with two slashes": request(first=HEAD.replace(b"/call", b"//call")) + ORDINARY,
    "a target with a blank at its end": request(first=HEAD.replace(b"/call", b"/call ")) + ORDINARY,
    "empty lines before the request": b"\r\n\r\n" + ORDINARY,
    "empty lines between requests": ORDINARY + b"\r\n\r\n" + ORDINARY,
    "an expectation": request(b"{}", b"Expect: 100-continue") + ORDINARY,
    "an expectation of another kind": request(b"{}", b"Expect: a miracle") + ORDINARY,
    "an upgrade to WebSocket": request(b"{}", b"Connection: Upgrade", b"Upgrade: websocket") + SMUGGLED,
    "an upgrade to HTTP/2": request(
        b"{}", b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"
    )
    + SMUGGLED,
    "HTTP/2 by prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SMUGGLED,
    "CONNECT": b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "a last request": request(b"{}", b"Connection: close") + SMUGGLED,
    "a connection that hides its length": request(b"{}", b"Connection: Content-Length") + ORDINARY,
    "a body in gzip that is none": request(b"{}", b"Content-Encoding: gzip") + ORDINARY,
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + SMUGGLED,
    "a head that does not end": HEAD + b"X: " + b"y" * 9000,
    "fields that do not end": HEAD + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"\r\n",
    "a body that does not come": HEAD + b"Content-Length: 100\r\n\r\nfew",
    "a request within a body": request(SMUGGLED),
    "bytes beyond ASCII in a value": request(b"{}", b"X: \xff\xfe") + ORDINARY,
    "bytes beyond ASCII in a name": request(b"{}", b"X\xff: a") + ORDINARY,
    "nothing": b"",
}
