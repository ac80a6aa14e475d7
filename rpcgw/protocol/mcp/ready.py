"""Answers that are ready but for the id of their request, as text and as gzip. Pure.

The id comes last, so that all before it is the same for everybody: it is compressed once, and the checksum goes on from
where it stood (RFC 1951: blocks that end at a byte; RFC 1952: the checksum and the length come at the end).
"""

from __future__ import annotations

import zlib
from functools import cached_property, lru_cache
from typing import Final

SMALLEST_COMPRESSED: Final = 1024
"""Bytes from which on compressing is worth its while."""
_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Gzip: deflated, no flags, no time, made on an unknown system."""
_RAW: Final = -zlib.MAX_WBITS
_BEST: Final = 9
_STORED: Final = 0
_WORD: Final = 0xFFFFFFFF


class Ready:
    """An answer without its id: `start` is its text up to that."""

    def __init__(self, start: bytes) -> None:
        self.start = start

    def text(self, identifier: bytes) -> bytes:
        """The whole answer; `identifier` is the id in JSON."""
        return b"%b%b}" % (self.start, identifier)

    def gzip(self, identifier: bytes) -> bytes:
        """The same, compressed."""
        rest = identifier + b"}"
        last = zlib.compressobj(_STORED, wbits=_RAW)
        ending = last.compress(rest) + last.flush()
        checksum = zlib.crc32(rest, self._checksum).to_bytes(4, "little")
        size = (len(self.start) + len(rest) & _WORD).to_bytes(4, "little")
        return b"".join((self._deflated, ending, checksum, size))

    @property
    def is_large(self) -> bool:
        """Whether it is worth compressing."""
        return len(self.start) >= SMALLEST_COMPRESSED

    @cached_property
    def _deflated(self) -> bytes:
        whole = zlib.compressobj(_BEST, wbits=_RAW)
        return _HEADER + whole.compress(self.start) + whole.flush(zlib.Z_FULL_FLUSH)

    @cached_property
    def _checksum(self) -> int:
        return zlib.crc32(self.start)


@lru_cache(maxsize=256)
def ready(members: bytes, closing: bytes) -> Ready:
    """The answer whose result has these members, without braces, and then those of `closing`."""
    return Ready(b'{"jsonrpc":"2.0","result":{%b%b},"id":' % (members, closing))
