"""GET `<prefix>/usage`: who used a site's tools, as a page, as JSON (`?format=json`) and as CSV (`?format=csv`).

Whoever may call the gateway may look: with a token, typed as the password of HTTP Basic or sent like any other. Nothing
of it is kept by caches; the page runs no script and is framed by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, urlencode

import msgspec

from rpcgw.access.admit import admitter, refuser, too_large
from rpcgw.access.basic import CHALLENGE, typed
from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.endpoints.console import SECURITY, Pages
from rpcgw.endpoints.site_files import LARGEST_BODY, paths
from rpcgw.exchange import Entrance, HeaderFields, Inbound, Rejected, Reply
from rpcgw.gateway.model import SiteServed
from rpcgw.kernel.ports import Clock, Observer, StoreError
from rpcgw.protocol.webmcp.beacons import OUTCOMES
from rpcgw.protocol.webmcp.report import HEIGHT, WIDTH, as_csv, as_json, chart, time_of
from rpcgw.protocol.webmcp.statistics import DAYS, OPEN, Answered, Query, Use, asked, figures
from rpcgw.texts.negotiate import negotiate
from rpcgw.texts.usage import LANGUAGES

_NO_STORE: Final[HeaderFields] = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))
_PAGE_SECURITY: Final[HeaderFields] = (
    (
        "Content-Security-Policy",
        (
            "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; "
            "base-uri 'none'"
        ),
    ),
    *SECURITY[1:],
)


class Log(Protocol):
    """The usage log. Both raise `StoreError` where it cannot be read."""

    async def read(self, query: Query) -> Answered:
        """What there is for a query."""

    async def rows(self, query: Query) -> list[Use]:
        """The calls of a query, the newest first."""


@record(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside; `locale` is the language of visitors who ask for none."""

    log: Log
    pages: Pages
    clock: Clock
    observer: Observer
    locale: str


def entrance(served: SiteServed, services: Services) -> Entrance:
    """The dashboard."""
    refuse = refuser(services.observer, partial(_rejected, challenge=bool(served.owners.tokens)))
    return Entrance(
        name=f"{served.site.route}_webmcp_usage",
        pattern=f"{served.site.prefix}/usage",
        methods=served.owners.methods,
        max_body_bytes=LARGEST_BODY,
        admit=typed(admitter(served.owners, services.clock, refuse)),
        too_large=partial(refuse, too_large(LARGEST_BODY, "fixed: a page is asked for without a body")),
        answer=partial(_usage, services, paths(served, services.pages)),
    )


async def _usage(services: Services, styles: Mapping[str, str], _: Principal, inbound: Inbound) -> Reply:
    given = parse_qs(inbound.head.query)

    def first(name: str) -> str | None:
        return next(iter(given.get(name, [])), None)

    query, form = asked(first), _FORMATS.get(first("format") or "", _page)
    try:
        return await form(services, styles, query, inbound)
    except StoreError:
        words, say = _words(services, inbound)
        fields: HeaderFields = (("Content-Type", "text/plain; charset=utf-8"), ("Content-Language", words))
        return Reply(503, say["log_away"].encode(), (*fields, ("Retry-After", "5"), *_NO_STORE))


async def _page(services: Services, styles: Mapping[str, str], query: Query, inbound: Inbound) -> Reply:
    found = await services.log.read(query)
    shown = figures(found.groups, query, services.clock.now())
    words, say = _words(services, inbound)
    chosen = {"days": query.days, "site": query.site, "tool": query.tool, "client": query.client}
    values = {
        "words": words,
        "say": say,
        "assets": styles,
        "query": query,
        "found": found,
        "figures": shown,
        "chart": chart(shown.by_day),
        "width": WIDTH,
        "height": HEIGHT,
        "all_days": DAYS,
        "outcomes": [(outcome, say[f"outcome_{outcome}"]) for outcome in (*OUTCOMES, OPEN)],
        "pairs": lambda names: [(name, name) for name in names],
        "time_of": time_of,
        "link": urlencode({**chosen, "outcome": query.outcome}),
    }
    fields: HeaderFields = (("Content-Type", "text/html; charset=utf-8"), ("Content-Language", words))
    body = services.pages.render("usage.html", values)
    return Reply(200, body, (*fields, ("Vary", "Accept-Language"), *_PAGE_SECURITY, *_NO_STORE[:1]))


async def _json(services: Services, _: Mapping[str, str], query: Query, __: Inbound) -> Reply:
    found = await services.log.read(query)
    shown = as_json(query, found, figures(found.groups, query, services.clock.now()))
    return Reply(200, msgspec.json.encode(shown), (("Content-Type", "application/json"), *_NO_STORE))


async def _csv(services: Services, _: Mapping[str, str], query: Query, __: Inbound) -> Reply:
    text = as_csv(await services.log.rows(query))
    named = ("Content-Disposition", 'attachment; filename="usage.csv"')
    return Reply(200, text.encode(), (("Content-Type", "text/csv; charset=utf-8"), named, *_NO_STORE))


_FORMATS: Final = {"json": _json, "csv": _csv}


def _words(services: Services, inbound: Inbound) -> tuple[str, Mapping[str, str]]:
    default = services.locale if services.locale in LANGUAGES else "en"
    words = negotiate(inbound.head.headers.get("accept-language"), tuple(LANGUAGES), default)
    return words, LANGUAGES[words]


def _rejected(verdict: Rejected, *, challenge: bool) -> Reply:
    """A wrong token is asked for again: a browser would otherwise keep it until it is closed."""
    again = challenge and verdict.status in {401, 403} and verdict.guard in {"no token", "wrong token", "expired token"}
    fields: Any = (("Content-Type", "application/json"), *_NO_STORE, *verdict.headers, *(CHALLENGE if again else ()))
    return Reply(401 if again else verdict.status, msgspec.json.encode({"error": verdict.message}), fields)
