"""Host and Origin guards: one table each."""

from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.access.guards import Guards, compile_guards
from rpcgw.exchange import Head

GUARDS = compile_guards(
    "https://api.example.com/gateway", ["intra.example.com", "odd.example.com:8443"], ["https://app.example.com"]
)


def head(*fields: tuple[str, str], unix: bool = False) -> Head:
    return Head("POST", "/rpc", "", CIMultiDict(fields), "127.0.0.1", unix)


def status(guards: Guards, *fields: tuple[str, str], unix: bool = False) -> int | None:
    refused = guards.check(head(*fields, unix=unix))
    return refused.status if refused else None


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        pytest.param("localhost", None, id="localhost"),
        pytest.param("LOCALHOST:8080", None, id="localhost in capitals, with a port"),
        pytest.param("tool.localhost:1", None, id="a name under localhost"),
        pytest.param("127.0.0.1:8080", None, id="the IPv4 loopback address"),
        pytest.param("127.1.2.3", None, id="another loopback address"),
        pytest.param("[::1]:8080", None, id="the IPv6 loopback address"),
        pytest.param("api.example.com", None, id="the public URL's host"),
        pytest.param("API.example.com:9999", None, id="the public URL's host on any port"),
        pytest.param("intra.example.com:1234", None, id="an allowed host on any port"),
        pytest.param("odd.example.com:8443", None, id="an allowed host on its port"),
        pytest.param("odd.example.com", 421, id="an allowed host with a port, on another port"),
        pytest.param("evil.example.com", 421, id="a stranger"),
        pytest.param("127.0.0.1.evil.example.com", 421, id="a stranger dressed as loopback"),
        pytest.param("localhost.evil.example.com:80", 421, id="a stranger dressed as localhost"),
        pytest.param("0.0.0.0:8080", 421, id="the address that means every address"),
        pytest.param("192.168.1.5", 421, id="an address of the network"),
        pytest.param("", 400, id="an empty Host"),
        pytest.param("localhost:http", 400, id="a port that is no number"),
        pytest.param("localhost@evil.example.com", 400, id="user information"),
        pytest.param("::1", 400, id="IPv6 without brackets"),
    ],
)
def test_host(host: str, expected: int | None) -> None:
    """A Host passes only if it is a loopback name, the public host or an allowed one."""
    assert status(GUARDS, ("Host", host)) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        pytest.param("http://localhost:5173", None, id="a page of this machine"),
        pytest.param("HTTPS://LOCALHOST", None, id="a page of this machine in capitals"),
        pytest.param("http://127.0.0.1:3000", None, id="by its address"),
        pytest.param("http://[::1]:3000", None, id="by its IPv6 address"),
        pytest.param("https://api.example.com", None, id="the public URL's origin"),
        pytest.param("https://api.example.com:443", None, id="the public URL's origin with its port"),
        pytest.param("https://app.example.com", None, id="an allowed origin"),
        pytest.param("http://api.example.com", 403, id="the public host, another scheme"),
        pytest.param("https://api.example.com:8443", 403, id="the public host, another port"),
        pytest.param("https://intra.example.com", 403, id="an allowed host is no allowed origin"),
        pytest.param("https://evil.example.com", 403, id="a stranger"),
        pytest.param("http://localhost.evil.example.com", 403, id="a stranger dressed as localhost"),
        pytest.param("null", 403, id="null"),
        pytest.param("", 403, id="an empty Origin"),
        pytest.param("file://", 403, id="a file"),
    ],
)
def test_origin(origin: str, expected: int | None) -> None:
    """An Origin that is present passes only if it is of loopback, public or allowed."""
    assert status(GUARDS, ("Host", "localhost"), ("Origin", origin)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param([], 400, id="no Host"),
        pytest.param([("Host", "localhost"), ("host", "localhost")], 400, id="Host twice"),
        pytest.param([("Host", "localhost")], None, id="no Origin"),
        pytest.param(
            [("Host", "localhost"), ("Origin", "http://localhost"), ("origin", "http://localhost")],
            403,
            id="Origin twice",
        ),
        pytest.param([("Host", "evil.example"), ("Origin", "https://evil.example")], 421, id="Host is looked at first"),
    ],
)
def test_fields(fields: list[tuple[str, str]], expected: int | None) -> None:
    """Host stands exactly once, Origin at most once."""
    assert status(GUARDS, *fields) == expected


def test_unix_socket_has_no_host_check() -> None:
    """On a unix socket any Host passes, and none does too."""
    assert status(GUARDS, ("Host", "whatever"), unix=True) is None
    assert status(GUARDS, unix=True) is None


def test_unix_socket_has_an_origin_check() -> None:
    """A page that comes through a proxy's unix socket is still a page."""
    assert status(GUARDS, ("Origin", "https://evil.example.com"), unix=True) == 403


@pytest.mark.parametrize(
    ("fields", "setting"),
    [
        ([("Host", "evil.example.com")], "server.allowed_hosts"),
        ([("Host", "localhost"), ("Origin", "https://evil.example.com")], "cors.allowed_origins"),
    ],
)
def test_log_names_the_setting(fields: list[tuple[str, str]], setting: str) -> None:
    """The operator is told which setting to change; the client is not."""
    refused = GUARDS.check(head(*fields))
    assert refused is not None
    assert setting in refused.log
    assert setting not in refused.message


def test_log_is_short() -> None:
    """A caller cannot fill the log."""
    refused = GUARDS.check(head(("Host", "x" * 8000)))
    assert refused is not None
    assert len(refused.log) < 400


def test_nothing_configured_allows_loopback_only() -> None:
    """Without settings only this machine is spoken to."""
    assert status(Guards(), ("Host", "localhost:8080"), ("Origin", "http://localhost:8080")) is None
    assert status(Guards(), ("Host", "api.example.com")) == 421


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param({"allowed_hosts": ["https://x.example"]}, "server.allowed_hosts", id="a URL is no host"),
        pytest.param({"allowed_hosts": ["*"]}, "server.allowed_hosts", id="a star is no host"),
        pytest.param({"allowed_origins": ["*"]}, "cors.allowed_origins", id="a star is no origin"),
        pytest.param({"allowed_origins": ["x.example"]}, "cors.allowed_origins", id="a host is no origin"),
        pytest.param({"public_url": "x.example"}, "server.public_url", id="a host is no URL"),
    ],
)
def test_settings_that_mean_nothing(arguments: dict[str, Any], named: str) -> None:
    """A value that could never match anything is refused, by the name of its setting."""
    with pytest.raises(ValueError, match=named):
        compile_guards(**arguments)


def test_pages_are_what_the_guard_lets_through() -> None:
    """CORS gets the named origins, public_url's, and loopback ones on any port; each of them passes the guard."""
    pages = GUARDS.pages()
    assert {"https://api.example.com", "https://app.example.com", "http://localhost:*", "http://[::1]:*"} <= set(pages)
    for page in pages:
        assert status(GUARDS, ("Host", "localhost"), ("Origin", page.replace("*", "3000"))) is None
