"""The form of a value's file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.adapters.stores.entry import EXPIRY_OFFSET, Entry, pack, pack_expiry, unpack

WHOLE = pack("ufo_mcp_mcp_abc", b"value", 1_800_000_000.25)


@given(st.text(), st.binary(), st.integers(0, 2**33).map(float))
def test_what_is_packed_is_unpacked(key: str, value: bytes, expiry: float) -> None:
    """Any key and value survive, the expiry to the microsecond."""
    assert unpack(pack(key, value, expiry)) == Entry(key, value, expiry)


@pytest.mark.parametrize("size", range(len(WHOLE)))
def test_a_truncated_file_is_none(size: int) -> None:
    """Whatever is missing at the end is noticed."""
    assert unpack(WHOLE[:size]) is None


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_is_noticed_anywhere(bit: int) -> None:
    """No bit of the file may change, the expiry's included."""
    for place in range(len(WHOLE)):
        damaged = bytearray(WHOLE)
        damaged[place] ^= 1 << bit
        assert unpack(bytes(damaged)) is None, f"byte {place}"


def test_bytes_at_the_end_are_noticed() -> None:
    """A longer file is not a value and something else."""
    assert unpack(WHOLE + b"\0") is None


def test_the_expiry_is_replaced_in_place() -> None:
    """Twelve bytes change the expiry and nothing else."""
    touched = WHOLE[:EXPIRY_OFFSET] + pack_expiry(5.0) + WHOLE[EXPIRY_OFFSET + 12 :]
    assert unpack(touched) == Entry("ufo_mcp_mcp_abc", b"value", 5.0)
