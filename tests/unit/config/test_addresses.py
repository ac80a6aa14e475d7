"""Hosts, ports, origins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.config.addresses import fault


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        pytest.param("a.example", "", id="a name"),
        pytest.param("a.example:65535", "", id="a name and a port"),
        pytest.param("[::1]:80", "", id="an IPv6 address and a port"),
        pytest.param("a:65536", "has a port above 65535", id="a port that is too large"),
        pytest.param("[::g]", "holds no IPv6 address in its brackets", id="no IPv6 address"),
        pytest.param("a:b", "is no host, or host and port", id="a port that is none"),
        pytest.param("::1", "is no host, or host and port", id="an IPv6 address without brackets"),
    ],
)
def test_fault(authority: str, expected: str) -> None:
    """What is wrong with an address is said in words."""
    assert fault(authority) == expected


@given(st.text(alphabet="a1:.[]-@%f", max_size=30))
def test_never_raises(authority: str) -> None:
    """Any text gets a verdict."""
    assert isinstance(fault(authority), str)
