"""Which pages may send beacons and calls, by what the browser says of them."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from rpcgw.access.senders import Senders, compile_senders
from rpcgw.exchange import Head

SITE = "https://www.example.org"
KNOWN = compile_senders([SITE], "https://gw.example")
OPEN = compile_senders([], None)


def refused(senders: Senders, *fields: tuple[str, str], host: str = "gw.example") -> bool:
    head = Head("POST", "/webmcp/event", "", CIMultiDict([("Host", host), *fields]), "192.0.2.1")
    return bool(senders.refuses(head))


def site(value: str) -> tuple[str, str]:
    return ("Sec-Fetch-Site", value)


def origin(value: str) -> tuple[str, str]:
    return ("Origin", value)


TABLE = [
    pytest.param(KNOWN, [site("same-origin")], True, id="same origin, and it does not say which"),
    pytest.param(KNOWN, [site("same-origin"), origin(SITE)], True, id="the site, same origin"),
    pytest.param(KNOWN, [site("same-site"), origin(SITE)], True, id="the site, another port"),
    pytest.param(KNOWN, [site("cross-site"), origin(SITE)], True, id="the site, another host"),
    pytest.param(KNOWN, [origin(SITE)], True, id="the site, an old browser"),
    pytest.param(KNOWN, [origin("HTTPS://WWW.EXAMPLE.ORG:443")], True, id="the site, spelt otherwise"),
    pytest.param(KNOWN, [site("same-origin"), origin("https://gw.example")], True, id="the daemon's own address"),
    pytest.param(KNOWN, [site("same-origin"), origin("http://127.0.0.1:8080")], True, id="this machine"),
    pytest.param(KNOWN, [site("same-origin"), origin("https://other.example")], False, id="another site behind the daemon"),
    pytest.param(KNOWN, [site("cross-site"), origin("http://127.0.0.1:8080")], False, id="another page of this machine"),
    pytest.param(KNOWN, [site("same-site")], False, id="a sibling that does not say which"),
    pytest.param(KNOWN, [site("same-site"), origin("https://blog.example.org")], False, id="a sibling"),
    pytest.param(KNOWN, [site("cross-site"), origin("https://evil.example")], False, id="a foreign page"),
    pytest.param(KNOWN, [site("none")], False, id="typed by hand"),
    pytest.param(KNOWN, [site("same-origin"), site("cross-site")], False, id="two answers"),
    pytest.param(KNOWN, [site("")], False, id="an empty answer"),
    pytest.param(KNOWN, [origin("null"), site("same-origin")], False, id="a sandbox"),
    pytest.param(KNOWN, [origin(SITE), origin(SITE)], False, id="two origins"),
    pytest.param(KNOWN, [origin("https://www.example.org.evil.example")], False, id="a name that begins like the site's"),
    pytest.param(KNOWN, [], False, id="no browser"),
    pytest.param(OPEN, [site("same-origin"), origin("https://any.example")], True, id="no origins configured: the daemon's own"),
    pytest.param(OPEN, [origin("https://gw.example")], True, id="no origins configured: the host's, in an old browser"),
    pytest.param(OPEN, [origin("https://gw.example:444")], False, id="no origins configured: another port of the host"),
    pytest.param(OPEN, [origin("https://evil.example")], False, id="no origins configured: another host"),
    pytest.param(OPEN, [site("same-site"), origin("https://a.gw.example")], False, id="no origins configured: a sibling"),
    pytest.param(OPEN, [], False, id="no origins configured: no browser"),
]  # fmt: skip


@pytest.mark.parametrize(("senders", "fields", "good"), TABLE)
def test_senders(senders: Senders, fields: list[tuple[str, str]], good: bool) -> None:
    """The site's own pages may send; no other page may, and nobody who does not say what they are."""
    assert refused(senders, *fields) is not good


def test_an_old_browser_on_this_machine() -> None:
    """Without `Sec-Fetch-Site` a page of this machine is the site's only where it was asked under the same name."""
    here = "127.0.0.1:8080"
    assert not refused(KNOWN, origin("http://127.0.0.1:8080"), host=here)
    assert refused(KNOWN, origin("http://127.0.0.1:9090"), host=here)
    assert refused(KNOWN, origin("https://gw.test"), host="gw.test")
