"""Whose request it is, by address."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from rpcgw.access.addresses import compile_proxies, counted_as, is_here
from rpcgw.exchange import Head

PROXIES = compile_proxies(["10.0.0.0/8", "2001:db8:1::/48"])
LOCAL = compile_proxies(["unix"])


def head(peer: str, *forwarded: str, unix: bool = False) -> Head:
    return Head("POST", "/rpc", "", CIMultiDict([("X-Forwarded-For", value) for value in forwarded]), peer, unix)


@pytest.mark.parametrize(
    ("asked", "client"),
    [
        pytest.param(head("203.0.113.9", "1.1.1.1"), "203.0.113.9", id="a stranger's word counts for nothing"),
        pytest.param(head("10.0.0.1", "203.0.113.9"), "203.0.113.9", id="a proxy's does"),
        pytest.param(head("10.0.0.1"), "10.0.0.1", id="a proxy that says nothing"),
        pytest.param(
            head("10.0.0.1", "1.1.1.1, 203.0.113.9"), "203.0.113.9", id="what the client wrote before it does not"
        ),
        pytest.param(head("10.0.0.1", "203.0.113.9, 10.0.0.2"), "203.0.113.9", id="two proxies"),
        pytest.param(head("10.0.0.1", "203.0.113.9", "10.0.0.2"), "203.0.113.9", id="in two fields"),
        pytest.param(head("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3", id="a client in the proxies' own network"),
        pytest.param(head("10.0.0.1", "203.0.113.9:4711"), "203.0.113.9", id="with its port"),
        pytest.param(head("10.0.0.1", "[2001:db8::9]:4711"), "2001:db8::9", id="IPv6 with its port"),
        pytest.param(head("::ffff:10.0.0.1", "203.0.113.9"), "203.0.113.9", id="a proxy on a socket for both kinds"),
        pytest.param(head("2001:db8:1::5", "203.0.113.9"), "203.0.113.9", id="a proxy by IPv6"),
        pytest.param(head("10.0.0.1", "unknown, 10.0.0.2"), "10.0.0.2", id="what is no address ends it"),
        pytest.param(head("10.0.0.1", "<script>"), "10.0.0.1", id="from the start, if need be"),
        pytest.param(head("", "203.0.113.9", unix=True), "", id="a unix socket that nobody trusts"),
    ],
)
def test_the_client_behind_proxies(asked: Head, client: str) -> None:
    """Read from the end, and only as far as trusted proxies have written it."""
    assert PROXIES.client_of(asked) == client


def test_whoever_comes_over_a_unix_socket_may_be_trusted() -> None:
    """A proxy on the same host."""
    assert LOCAL.client_of(head("", "203.0.113.9", unix=True)) == "203.0.113.9"
    assert LOCAL.client_of(head("10.0.0.1", "203.0.113.9")) == "10.0.0.1"


def test_a_long_list_is_read_to_a_bound() -> None:
    """Nobody makes it take long."""
    assert PROXIES.client_of(head("10.0.0.1", ",".join(["10.9.9.9"] * 10_000))) == "10.9.9.9"


@pytest.mark.parametrize(
    ("peer", "counted"),
    [
        pytest.param("203.0.113.9", "203.0.113.9", id="IPv4 as it is"),
        pytest.param("2001:db8:0:1:aaaa::1", "2001:db8:0:1::/64", id="IPv6 by its network"),
        pytest.param("fe80::1%eth0", "fe80::/64", id="without its scope"),
        pytest.param("::ffff:203.0.113.9", "203.0.113.9", id="IPv4 in IPv6's clothes"),
        pytest.param("", "unix", id="a unix socket"),
    ],
)
def test_what_an_address_counts_as(peer: str, counted: str) -> None:
    """One customer of a network counts once."""
    assert counted_as(peer) == counted


@pytest.mark.parametrize(
    ("peer", "here"),
    [("127.0.0.1", True), ("::1", True), ("", True), ("::ffff:127.0.0.1", True), ("10.0.0.1", False), ("x", False)],
)
def test_this_machine(peer: str, here: bool) -> None:
    """Loopback addresses and unix sockets."""
    assert is_here(peer) is here
