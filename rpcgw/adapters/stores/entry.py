"""How one value lies in a file. Pure.

    magic 8 | expiry 8 | check of the expiry 4 | size of the key 4 | check of the body 4 | key | value

The expiry is in microseconds since the epoch. It stands apart with a check of its own, so that a touch writes twelve
bytes in place. The body is the size, the key and the value: every byte of the file is covered by a check.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

MAGIC = b"rpcgwv1\n"
EXPIRY_OFFSET = len(MAGIC)

_HEADER = struct.Struct("<8sQIII")
_SIZE = struct.Struct("<I")
_EXPIRY = struct.Struct("<QI")
_LATEST = 1e13


class Entry(NamedTuple):
    """A value with its key, and when it ends (seconds since the epoch)."""

    key: str
    value: bytes
    expiry: float


def pack_expiry(expiry: float) -> bytes:
    """What a touch writes at `EXPIRY_OFFSET`."""
    micros = int(min(max(expiry, 0.0), _LATEST) * 1e6)
    return _EXPIRY.pack(micros, zlib.crc32(micros.to_bytes(8, "little")))


def pack(key: str, value: bytes, expiry: float) -> bytes:
    """A whole file."""
    name = key.encode("utf-8", "surrogatepass")
    size = _SIZE.pack(len(name))
    check = zlib.crc32(value, zlib.crc32(name, zlib.crc32(size)))
    return b"".join((MAGIC, pack_expiry(expiry), size, _SIZE.pack(check), name, value))


def unpack(raw: bytes) -> Entry | None:
    """The entry of a whole file; None where it is truncated, damaged or something else."""
    if len(raw) < _HEADER.size:
        return None
    magic, micros, expiry_check, size, check = _HEADER.unpack_from(raw)
    body = memoryview(raw)[_HEADER.size :]
    if magic != MAGIC or expiry_check != zlib.crc32(raw[8:16]) or size > len(body):
        return None
    if check != zlib.crc32(body, zlib.crc32(_SIZE.pack(size))):
        return None
    try:
        key = str(body[:size], "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return Entry(key, bytes(body[size:]), micros / 1e6)
