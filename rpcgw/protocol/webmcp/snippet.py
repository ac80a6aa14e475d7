"""What the owner of a site puts into its pages and its server: the script's tag, and the headers it needs. Pure."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from hashlib import sha384
from html import escape

from rpcgw.api.records import record
from rpcgw.api.webmcp import Module, Search, ToolProvider
from rpcgw.protocol.webmcp.site import Declared, Site


@record(frozen=True, slots=True)
class Snippet:
    """`tag` belongs into every page, `block` before it where a server includes files; `headers` are the site's."""

    tag: str
    block: str
    headers: tuple[tuple[str, str], ...]


def integrity(script: bytes) -> str:
    """A script's digest as browsers compare it (Subresource Integrity)."""
    return f"sha384-{base64.b64encode(sha384(script).digest()).decode()}"


def snippet(site: Site, name: str, script: bytes) -> Snippet:
    """The snippet of a site; `name` is the script's file, named by its content."""
    elsewhere = "://" in site.reached
    crossorigin = ' crossorigin="anonymous"' if elsewhere else ""
    tag = (
        f'<script src="{escape(f"{site.reached}/{name}")}" integrity="{integrity(script)}"{crossorigin} '
        f'data-config="{escape(f"{site.reached}/config.json")}" defer></script>'
    )
    block = f'<!--#include virtual="{site.prefix}/config.html?path=$DOCUMENT_URI" -->'
    origin = _origin(site.reached) if elsewhere else "'self'"
    fetched = dict.fromkeys([origin, *_origins(site, Search)])
    loaded = dict.fromkeys([origin, *_origins(site, Module)])
    policy = f"script-src {' '.join(loaded)}; connect-src {' '.join(fetched)}"
    return Snippet(tag, block, (("Content-Security-Policy", policy), ("Permissions-Policy", "tools=(self)")))


def _origins(site: Site, kind: type[Search | Module]) -> Iterator[str]:
    """Where tools of a kind load from: `'self'` for the site itself; of a plugin's tools, any of the targets."""
    for provider in site.providers:
        if not isinstance(provider, Declared):
            yield from ("'self'", *sorted(site.addresses.targets))
            continue
        url = _loaded(provider, kind)
        if url is not None:
            absolute = "://" in url and _origin(url) != site.addresses.own
            yield _origin(url) if absolute else "'self'"


def _loaded(provider: ToolProvider, kind: type[Search | Module]) -> str | None:
    """What a tool in YAML loads, if it is of the kind."""
    primitive = provider.tool.primitive if isinstance(provider, Declared) else None
    if isinstance(primitive, Search) and kind is Search:
        return primitive.index_url
    return primitive.url if isinstance(primitive, Module) and kind is Module else None


def _origin(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"
