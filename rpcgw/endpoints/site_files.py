"""GET `<prefix>/static/...`: the files of the pages on a site's tools, under names that change with their content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from rpcgw.access.admit import admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.endpoints.console import Asset, Pages
from rpcgw.exchange import Entrance, HeaderFields, Inbound, Rejected, Reply
from rpcgw.gateway.model import SiteServed
from rpcgw.kernel.ports import Clock, Observer

FILES: Final = ("console.css", "usage.css", "selftest.js")
LARGEST_BODY: Final = 1024
NOSNIFF: Final[HeaderFields] = (("X-Content-Type-Options", "nosniff"),)
_FOREVER: Final[HeaderFields] = (("Cache-Control", "public, max-age=31536000, immutable"), *NOSNIFF)


def paths(served: SiteServed, pages: Pages) -> Mapping[str, str]:
    """Where each file stands, by its name."""
    return {name: f"{served.site.prefix}/static/{pages.assets[name].name}" for name in FILES}


def entrances(served: SiteServed, pages: Pages, clock: Clock, observer: Observer) -> tuple[Entrance, ...]:
    """Every file; they hold no secret, and are open to whoever sees the site."""
    refuse = refuser(observer, rejected)
    return tuple(
        Entrance(
            name=f"{served.site.route}_webmcp_file",
            pattern=path,
            methods=served.readers.methods,
            max_body_bytes=LARGEST_BODY,
            admit=admitter(served.readers, clock, refuse),
            too_large=partial(refuse, too_large(LARGEST_BODY, "fixed: a page is asked for without a body")),
            answer=partial(_file, pages.assets[name]),
        )
        for name, path in paths(served, pages).items()
    )


def rejected(verdict: Rejected) -> Reply:
    """A refusal, as JSON."""
    fields: HeaderFields = (("Content-Type", "application/json"), *NOSNIFF)
    return Reply(verdict.status, msgspec.json.encode({"error": verdict.message}), fields + verdict.headers)


async def _file(asset: Asset, _: Principal, inbound: Inbound) -> Reply:
    del inbound
    return Reply(200, asset.body, (("Content-Type", asset.media_type), *_FOREVER))
