"""Where webhooks may go: URLs against the allow-list, and addresses."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from rpcgw.access.webhooks import compile_policy, is_public, parse_callback

FORM = "must be an absolute http or https URL, without credentials and fragment"
ELSEWHERE = "is not among the addresses that webhooks may go to"
PRIVATE = "is an address that webhooks must not go to"
POLICY = compile_policy(
    [
        "https://hooks.example.com/rpc/",
        "https://odd.example.com:8443",
        "https://*.partners.example.com/in",
        "http://127.0.0.1:9000/",
        "http://[::1]:9000/",
        "http://203.0.113.7/",
        "http://8.8.4.4/",
    ],
    allow_private=False,
)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        pytest.param("https://hooks.example.com/rpc/", "", id="an entry itself"),
        pytest.param("https://hooks.example.com/rpc", "", id="an entry without its last slash"),
        pytest.param("https://hooks.example.com/rpc/a/b?c=d", "", id="below an entry"),
        pytest.param("HTTPS://Hooks.Example.com:443/rpc/a", "", id="in other letters, with the default port"),
        pytest.param("https://hooks.example.com./rpc/a", "", id="with the root's dot"),
        pytest.param("https://hooks.example.com/rpcs", ELSEWHERE, id="beside an entry's path"),
        pytest.param("https://hooks.example.com/", ELSEWHERE, id="above an entry"),
        pytest.param("http://hooks.example.com/rpc/", ELSEWHERE, id="in plain text where TLS is asked for"),
        pytest.param("https://hooks.example.com:8443/rpc/", ELSEWHERE, id="at another port"),
        pytest.param("https://odd.example.com:8443/any", "", id="at an entry's own port"),
        pytest.param("https://a.partners.example.com/in/x", "", id="a name below a wildcard"),
        pytest.param("https://a.b.partners.example.com/in", "", id="far below a wildcard"),
        pytest.param("https://partners.example.com/in", ELSEWHERE, id="the wildcard's own domain"),
        pytest.param("https://evilpartners.example.com/in", ELSEWHERE, id="a name that ends like the wildcard"),
        pytest.param("https://evil.com/?https://hooks.example.com/rpc/", ELSEWHERE, id="an entry in the query"),
        pytest.param("https://hooks.example.com.evil.com/rpc/", ELSEWHERE, id="an entry as a part of the name"),
        pytest.param("http://127.0.0.1:9000/x", "", id="an address that an entry names"),
        pytest.param("http://[0:0::1]:9000/x", "", id="an address in another spelling"),
        pytest.param("http://127.0.0.1:9001/x", ELSEWHERE, id="such an address at another port"),
        pytest.param("http://127.0.0.2:9000/x", ELSEWHERE, id="another address of loopback"),
        pytest.param("http://8.8.4.4/", "", id="a public address that an entry names"),
        pytest.param("https://ann:pw@hooks.example.com/rpc/", FORM, id="credentials"),
        pytest.param("https://hooks.example.com@evil.com/rpc/", FORM, id="an entry as a user"),
        pytest.param("https://hooks.example.com/rpc/#x", FORM, id="a fragment"),
        pytest.param("https://hooks.example.com/rpc/../admin", FORM, id="a way up"),
        pytest.param("https://hooks.example.com/rpc/%2e%2E/admin", FORM, id="an encoded way up"),
        pytest.param("https://hooks.example.com/rpc/..%2Fadmin", FORM, id="a way up with an encoded slash"),
        pytest.param("https://hooks.example.com/rpc/..%5Cadmin", FORM, id="a way up with a backslash"),
        pytest.param("https://hooks.example.com\\@evil.com/rpc/", FORM, id="a backslash"),
        pytest.param("https://hooks.example.com/rpc/\r\nX: y", FORM, id="a line break"),
        pytest.param("https://hooks.exämple.com/rpc/", FORM, id="letters that are no ASCII"),
        pytest.param("https://*.partners.example.com/in", FORM, id="a wildcard for a callback"),
        pytest.param("https://hooks.example.com:0/rpc/", FORM, id="the port 0"),
        pytest.param("https://hooks.example.com:70000/rpc/", FORM, id="a port above all"),
        pytest.param("https:///rpc/", FORM, id="no host"),
        pytest.param("//hooks.example.com/rpc/", FORM, id="no scheme"),
        pytest.param("/rpc/", FORM, id="a path"),
        pytest.param("ftp://hooks.example.com/rpc/", FORM, id="another scheme"),
        pytest.param("https://[1:2]/rpc/", FORM, id="half an IPv6 address"),
        pytest.param("https://hooks.example.com/rpc/" + "x" * 2000, FORM, id="a URL without end"),
        pytest.param("", FORM, id="nothing"),
    ],
)
def test_urls(url: str, reason: str) -> None:
    """A callback is compared with the allow-list by scheme, host, port and path."""
    assert POLICY.refuses(url) == reason


@pytest.mark.parametrize(
    ("allow_private", "url", "reason"),
    [
        pytest.param(False, "http://shop.example.com/x", "", id="a name may be any"),
        pytest.param(False, "http://10.0.0.1/x", ELSEWHERE, id="a wildcard stands for names, not for addresses"),
        pytest.param(True, "http://10.0.0.1/x", ELSEWHERE, id="and private ones change nothing in that"),
    ],
)
def test_any_host(allow_private: bool, url: str, reason: str) -> None:
    """`*` stands for every name."""
    assert compile_policy(["http://*"], allow_private=allow_private).refuses(url) == reason


def test_nothing_is_allowed_by_default() -> None:
    """Without an allow-list there are no webhooks."""
    assert compile_policy([], allow_private=True).refuses("https://a.example/") == "webhooks are not allowed here"


def test_bad_entries() -> None:
    """A wildcard inside a name, or no URL, is the operator's mistake."""
    for entry in ("https://a.*.example.com/", "hooks.example.com", "https://u@h/"):
        with pytest.raises(ValueError, match="is no absolute"):
            compile_policy([entry], allow_private=False)


@pytest.mark.parametrize(
    ("address", "port", "expected"),
    [
        pytest.param("8.8.8.8", 443, True, id="a public address"),
        pytest.param("127.0.0.1", 9000, True, id="loopback where an entry names it"),
        pytest.param("127.0.0.1", 80, False, id="loopback at another port"),
        pytest.param("::1", 9000, True, id="IPv6 loopback where an entry names it"),
        pytest.param("10.1.2.3", 443, False, id="a private network"),
        pytest.param("fe80::1%eth0", 443, False, id="link-local, with its scope"),
        pytest.param("nonsense", 443, False, id="no address"),
    ],
)
def test_addresses(address: str, port: int, expected: bool) -> None:
    """A connection is made to public addresses, and to those that an entry names."""
    assert POLICY.admits(address, port) is expected


def test_private_addresses_where_allowed() -> None:
    """`allow_private` opens this machine and its networks."""
    assert compile_policy(["http://*"], allow_private=True).admits("10.1.2.3", 80)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param("1.1.1.1", True, id="IPv4"),
        pytest.param("2606:4700::1111", True, id="IPv6"),
        pytest.param("::ffff:1.1.1.1", True, id="IPv4 as IPv6"),
        pytest.param("127.0.0.1", False, id="loopback"),
        pytest.param("::ffff:127.0.0.1", False, id="loopback as IPv6"),
        pytest.param("0.0.0.0", False, id="this host"),
        pytest.param("10.0.0.1", False, id="10/8"),
        pytest.param("172.16.0.1", False, id="172.16/12"),
        pytest.param("192.168.0.1", False, id="192.168/16"),
        pytest.param("169.254.169.254", False, id="link-local, where clouds keep credentials"),
        pytest.param("100.64.0.1", False, id="shared by carriers"),
        pytest.param("192.0.2.1", False, id="documentation"),
        pytest.param("224.0.0.1", False, id="multicast"),
        pytest.param("240.0.0.1", False, id="reserved"),
        pytest.param("255.255.255.255", False, id="broadcast"),
        pytest.param("::", False, id="IPv6, this host"),
        pytest.param("::1", False, id="IPv6 loopback"),
        pytest.param("::127.0.0.1", False, id="IPv4-compatible"),
        pytest.param("fe80::1", False, id="IPv6 link-local"),
        pytest.param("fd00::1", False, id="IPv6 private"),
        pytest.param("ff02::1", False, id="IPv6 multicast"),
        pytest.param("64:ff9b::7f00:1", False, id="loopback by NAT64"),
        pytest.param("2002:7f00:1::", False, id="loopback by 6to4"),
        pytest.param("2001:0:7f00:1::", False, id="Teredo"),
    ],
)
def test_public(address: str, expected: bool) -> None:
    """Only what is reached over the public internet is public."""
    assert is_public(ip_address(address)) is expected


def test_parsed() -> None:
    """A callback taken apart: host in lower case, the default port filled in."""
    target = parse_callback("HTTPS://Hooks.Example.com/a?b")
    assert target is not None
    assert (target.scheme, target.host, target.port, target.path) == ("https", "hooks.example.com", 443, "/a")
