"""A document on the wire: its entity tag, 304 where the client has it, compressed where the client takes that. Pure.

Sources: RFC 9110 sections 8.8.3 (ETag), 13.1.2 (If-None-Match).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Final

from rpcgw.endpoints.coding import takes_gzip
from rpcgw.exchange import Head, HeaderFields, Reply

SMALLEST_COMPRESSED: Final = 1024
_KEPT: Final = 128


@lru_cache(maxsize=_KEPT)
def etag_of(body: bytes) -> str:
    """A strong entity tag of these bytes, in quotes."""
    return f'"{sha256(body).hexdigest()[:32]}"'


def known(head: Head) -> Iterator[str]:
    """The entity tags that the client has already; the comparison is the weak one."""
    for line in head.headers.getall("if-none-match", []):
        yield from (tag.strip().removeprefix("W/") for tag in line.split(","))


def entity(body: bytes, fields: HeaderFields, head: Head, *, private: bool, vary: str) -> Reply:
    """A document in answer to GET; kept by clients, asked about each time, by shared caches too unless `private`.

    `fields` describe it (its media type, its language); `vary` names the headers that chose it.
    """
    large = len(body) >= SMALLEST_COMPRESSED
    zipped = large and takes_gzip(head.headers)
    sent, coding = (_gzipped(body), (("Content-Encoding", "gzip"),)) if zipped else (body, ())
    etag = etag_of(sent)
    common: HeaderFields = (
        ("ETag", etag),
        ("Cache-Control", "private, no-cache" if private else "no-cache"),
        ("Vary", ", ".join(filter(None, (vary, "Accept-Encoding" if large else "")))),
    )
    if {etag, "*"} & set(known(head)):
        return Reply(304, headers=common)
    return Reply(200, sent, (*fields, *coding, *common))


@lru_cache(maxsize=_KEPT)
def _gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)
