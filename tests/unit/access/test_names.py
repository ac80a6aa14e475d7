"""Hosts and origins as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.access.names import is_loopback, is_loopback_origin, normal_origin, origin_of, split_authority


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("api.example.com", ("api.example.com", ""), id="a name"),
        pytest.param("API.Example.COM:8443", ("api.example.com", "8443"), id="any case, with a port"),
        pytest.param("localhost:", ("localhost", ""), id="an empty port"),
        pytest.param("localhost.:80", ("localhost", "80"), id="a dot at the end"),
        pytest.param("[::1]:8080", ("[::1]", "8080"), id="IPv6 in brackets"),
        pytest.param("::1", None, id="IPv6 without brackets"),
        pytest.param("[::1", None, id="a bracket that stays open"),
        pytest.param("a b", None, id="a space"),
        pytest.param("user@host", None, id="user information"),
        pytest.param("host/path", None, id="a path"),
        pytest.param("host:80:80", None, id="two ports"),
        pytest.param("host:port", None, id="a port in letters"),
        pytest.param("host:123456", None, id="a port of six digits"),
        pytest.param("", None, id="nothing"),
        pytest.param("хост", None, id="letters that are not ASCII"),
    ],
)
def test_split_authority(text: str, expected: tuple[str, str] | None) -> None:
    """Host and port are told apart, and what is neither is refused."""
    assert split_authority(text) == expected


@given(st.text())
def test_any_text_is_an_authority_or_not(text: str) -> None:
    """No text makes the parsers raise."""
    split_authority(text)
    normal_origin(text)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("[::1]", True),
        ("[0:0:0:0:0:0:0:1]", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("[::2]", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("notlocalhost", False),
    ],
)
def test_is_loopback(host: str, expected: bool) -> None:
    """Only names and addresses that always mean this machine are loopback."""
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("https://App.Example.com", "https://app.example.com", id="any case"),
        pytest.param("https://app.example.com:443", "https://app.example.com", id="the scheme's own port is left out"),
        pytest.param("http://app.example.com:443", "http://app.example.com:443", id="another scheme's port stays"),
        pytest.param("http://[::1]:80", "http://[::1]", id="IPv6"),
        pytest.param("chrome-extension://abcdef", "chrome-extension://abcdef", id="a browser extension"),
        pytest.param("null", None, id="null is no origin"),
        pytest.param("*", None, id="a star is no origin"),
        pytest.param("https://app.example.com/", None, id="an origin has no path"),
        pytest.param("https://user@app.example.com", None, id="an origin has no user"),
        pytest.param("app.example.com", None, id="an origin has a scheme"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_normal_origin(text: str, expected: str | None) -> None:
    """Origins that mean the same are the same text."""
    assert normal_origin(text) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://localhost:5173", True),
        ("https://127.0.0.1", True),
        ("http://[::1]:3000", True),
        ("http://localhost.evil.example", False),
        ("chrome-extension://localhost", False),
    ],
)
def test_is_loopback_origin(origin: str, expected: bool) -> None:
    """A page of this machine is a web page at a loopback host."""
    assert is_loopback_origin(origin) is expected


def test_origin_of_a_url() -> None:
    """A URL's path and user are no part of its origin."""
    assert origin_of("https://user:pw@API.example.com:443/gateway?x=1") == "https://api.example.com"
