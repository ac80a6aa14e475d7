"""A site's pages: their configuration, and the script that reads it.

Whoever may see the site may see its tools: no token is asked for. Only of tools that call methods with scopes each
visitor sees those that they could call. Host and Origin are checked as everywhere.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from rpcgw.access.admit import admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.endpoints.console import Asset
from rpcgw.endpoints.entity import entity
from rpcgw.exchange import Entrance, Head, HeaderFields, Inbound, Rejected, Reply, settled
from rpcgw.gateway.model import SiteServed
from rpcgw.kernel.method import Method
from rpcgw.kernel.ports import Clock, Observer
from rpcgw.kernel.scopes import NONE, is_usable
from rpcgw.kernel.switches import EVERYTHING, Offered
from rpcgw.protocol.webmcp import page as pages
from rpcgw.protocol.webmcp.assembling import May, Omitted, tools
from rpcgw.protocol.webmcp.site import Site, context
from rpcgw.protocol.webmcp.tokens import sign

VARY: Final = "Cookie, Accept-Language"
"""The door adds Origin."""
_LARGEST_BODY: Final = 1024
_PATIENCE: Final = 5.0
"""Seconds that a data processor may take."""
_NOSNIFF: Final[HeaderFields] = (("X-Content-Type-Options", "nosniff"),)
_JSON: Final[HeaderFields] = (("Content-Type", "application/json"), *_NOSNIFF)
_HTML: Final[HeaderFields] = (("Content-Type", "text/html; charset=utf-8"), *_NOSNIFF)
_FOREVER: Final[HeaderFields] = (("Cache-Control", "public, max-age=31536000, immutable"),)
_NO_PAGE: Final = Reply(400, b'{"error":"path must be the path of a page, such as /blog/"}', _JSON)

Answer = Callable[[Principal, Inbound], Awaitable[Reply]]
Messages = Callable[[str], Mapping[str, str]]


@record(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside.

    `processors` are made data processors by the `id` of what made them; `secret` signs the tokens of calls; `messages`
    are the script's own words in a language; `script` is the script itself. `switches` say which methods are off.
    """

    clock: Clock
    observer: Observer
    processors: Mapping[int, Any]
    secret: bytes
    messages: Messages
    script: Asset
    switches: Offered = EVERYTHING


def entrances(served: SiteServed, services: Services) -> tuple[Entrance, ...]:
    """The paths of a site's pages and of the script."""
    make = partial(_entrance, served, services)
    return (
        make("config", "config.json", partial(_config, served, services)),
        make("block", "config.html", partial(_block, served, services)),
        make("script", "webmcp.js", partial(_script, services.script)),
        make("script", services.script.name, partial(_kept_script, services.script)),
    )


async def configuration(served: SiteServed, services: Services, asked: pages.Asked, head: Head) -> dict[str, Any]:
    """A page's configuration, as whoever sent the head may have it."""
    site = served.site
    locale = asked.locale or site.locale
    may = await _may(served, services, head)
    data = await _looked_up(site, services, asked, locale)
    page = context(site, asked.path, locale, asked.query, data)
    found = []
    for tool in tools(site, page, partial(sign, secret=services.secret), may, services.clock.now()):
        if isinstance(tool, Omitted):
            cause = {} if tool.error is None else {"exception": tool.error}
            services.observer.event(
                "webmcp.omitted", site=site.name, tool=tool.tool, path=asked.path, reason=tool.reason, **cause
            )
        else:
            found.append(tool)
    return pages.page(site, asked, locale, found, services.messages(locale))


async def _may(served: SiteServed, services: Services, head: Head) -> May:
    """What a visitor may call: judged by the token that came with the request for the page, where one did."""
    granted: dict[str, frozenset[str]] = {}
    for group, policy in served.viewers.items():
        who = await settled(admitter(policy, services.clock, refuser(services.observer, _rejected))(head))
        granted[group] = NONE if isinstance(who, Reply) else who.scopes

    def may(group: str, method: Method) -> bool:
        return is_usable(method, granted.get(group, NONE), services.switches.off(group))

    return may


async def _looked_up(site: Site, services: Services, asked: pages.Asked, locale: str) -> Mapping[str, Any]:
    """What the data processors find, one after another; each sees what the earlier ones found."""
    data: dict[str, Any] = {}
    for made_by in site.processors:
        page = context(site, asked.path, locale, asked.query, dict(data))
        try:
            async with asyncio.timeout(_PATIENCE):
                found = services.processors[id(made_by)].process(page)
                data |= await found if inspect.isawaitable(found) else found
        except Exception as error:  # noqa: BLE001 -- the author's code; tools that need no data stand without it
            name = type(services.processors[id(made_by)]).__qualname__
            services.observer.event("webmcp.no_data", site=site.name, processor=name, path=asked.path, exception=error)
    return data


async def _config(served: SiteServed, services: Services, _: Principal, inbound: Inbound) -> Reply:
    asked = pages.asked(inbound.head.query)
    if asked is None:
        return _NO_PAGE
    body = pages.encoded(await configuration(served, services, asked, inbound.head))
    return entity(body, _JSON, inbound.head, private=True, vary=_vary(served))


async def _block(served: SiteServed, services: Services, _: Principal, inbound: Inbound) -> Reply:
    asked = pages.asked(inbound.head.query)
    if asked is None:
        return _NO_PAGE
    config = await configuration(served, services, asked, inbound.head)
    body = pages.block(pages.encoded(config)) if config["tools"] else b""
    return entity(body, _HTML, inbound.head, private=True, vary=_vary(served))


def _vary(served: SiteServed) -> str:
    """What a page's tools depend on: where some ask for scopes, whose token came, in whichever header."""
    own = {tokens.header.title() for policy in served.viewers.values() for tokens in policy.tokens.values()}
    return ", ".join((VARY, *sorted({"Authorization", *own}))) if own else VARY


async def _script(script: Asset, _: Principal, inbound: Inbound) -> Reply:
    """The script under its stable name: asked for anew each time."""
    fields = (("Content-Type", script.media_type), *_NOSNIFF)
    return entity(script.body, fields, inbound.head, private=False, vary="")


async def _kept_script(script: Asset, _: Principal, inbound: Inbound) -> Reply:
    """The script under the name of its content: kept for ever."""
    reply = await _script(script, _, inbound)
    return Reply(reply.status, reply.body, (*(f for f in reply.headers if f[0] != "Cache-Control"), *_FOREVER))


def _entrance(served: SiteServed, services: Services, name: str, path: str, answer: Answer) -> Entrance:
    refuse = refuser(services.observer, _rejected)
    site = served.site
    return Entrance(
        name=f"{site.route}_webmcp_{name}",
        pattern=f"{site.prefix}/{path}",
        methods=served.readers.methods,
        max_body_bytes=_LARGEST_BODY,
        admit=admitter(served.readers, services.clock, refuse),
        too_large=partial(refuse, too_large(_LARGEST_BODY, "fixed: a page is asked for without a body")),
        answer=answer,
        origins=served.readers.guards.pages(),
        expose=("ETag",),
    )


def _rejected(verdict: Rejected) -> Reply:
    return Reply(verdict.status, msgspec.json.encode({"error": verdict.message}), _JSON + verdict.headers)
