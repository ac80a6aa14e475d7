"""What the owner of a site is told to put into its pages."""

from __future__ import annotations

import base64
from hashlib import sha384

from rpcgw.api.webmcp import Manifest, Module, Search
from rpcgw.protocol.webmcp.site import Addresses, Declared, Site
from rpcgw.protocol.webmcp.snippet import integrity, snippet

SCRIPT = b"// script"
SEARCH = Declared(Manifest("s", "d", Search("https://shop.example/i.json", ["t"])))
MODULE = Declared(Manifest("m", "d", Module("/m.mjs")))


def site(reached: str = "/webmcp", *providers: Declared) -> Site:
    addresses = Addresses("https://www.example", frozenset({"https://shop.example"}))
    return Site("main", "main", "/webmcp", reached, "/", "en", providers, addresses=addresses)


def test_integrity() -> None:
    """The digest is the one that browsers compare."""
    assert integrity(SCRIPT) == "sha384-" + base64.b64encode(sha384(SCRIPT).digest()).decode()


def test_the_daemon_s_own_origin() -> None:
    """Nothing but the site itself has to be allowed."""
    made = snippet(site(), "webmcp.1.js", SCRIPT)
    assert made.tag == (
        f'<script src="/webmcp/webmcp.1.js" integrity="{integrity(SCRIPT)}" '
        'data-config="/webmcp/config.json" defer></script>'
    )
    assert made.block == '<!--#include virtual="/webmcp/config.html?path=$DOCUMENT_URI" -->'
    assert made.headers == (
        ("Content-Security-Policy", "script-src 'self'; connect-src 'self'"),
        ("Permissions-Policy", "tools=(self)"),
    )


def test_another_origin() -> None:
    """The daemon's origin is allowed, and what tools load from; a script from elsewhere needs CORS to be checked."""
    made = snippet(site("https://gw.example/webmcp", SEARCH, MODULE), "webmcp.1.js", SCRIPT)
    assert 'src="https://gw.example/webmcp/webmcp.1.js"' in made.tag
    assert 'crossorigin="anonymous"' in made.tag
    policy = "script-src https://gw.example 'self'; connect-src https://gw.example https://shop.example"
    assert made.headers[0] == ("Content-Security-Policy", policy)
