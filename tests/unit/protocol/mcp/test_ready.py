"""Answers that are ready but for their id: the text and the gzip are the same answer, whatever reads it."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.protocol.mcp.ready import SMALLEST_COMPRESSED, Ready, ready

MEMBERS = json.dumps({"tools": [{"name": f"tool-{number}"} for number in range(500)]}).encode()[1:-1]


@given(st.text(max_size=5000), st.integers() | st.text(max_size=300))
def test_gzip_is_the_text_compressed(said: str, identifier: int | str) -> None:
    """For any beginning and any id: read at once, with its checksum and its length, or piece by piece."""
    made = Ready(b'{"jsonrpc":"2.0","result":%b,"id":' % json.dumps(said).encode())
    own = json.dumps(identifier).encode()
    assert json.loads(made.text(own)) == {"jsonrpc": "2.0", "result": said, "id": identifier}
    assert gzip.decompress(made.gzip(own)) == made.text(own)
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    packed = made.gzip(own)
    pieces = [reader.decompress(packed[at : at + 7]) for at in range(0, len(packed), 7)]
    assert b"".join(pieces) == made.text(own)
    assert reader.eof


def test_what_is_ready_is_made_once() -> None:
    """The same members give the same answer, and not its bytes anew."""
    assert ready(MEMBERS, b"") is ready(MEMBERS, b"")
    assert ready(MEMBERS, b',"ttlMs":0') is not ready(MEMBERS, b"")
    assert len(ready(MEMBERS, b"").gzip(b"1")) < len(MEMBERS) / 5


@pytest.mark.parametrize(("size", "large"), [(10, False), (SMALLEST_COMPRESSED, True)])
def test_only_what_is_large_is_worth_compressing(size: int, large: bool) -> None:
    """A short answer grows by it."""
    assert Ready(b"x" * size).is_large is large
