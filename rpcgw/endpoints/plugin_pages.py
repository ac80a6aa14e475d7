"""GET of the web pages that plugins bring along: the same bytes for everybody, with an entity tag.

They may load what the daemon itself serves and nothing else, and have the tools of web pages for themselves only (CSP
Level 3; Permissions Policy, feature `tools`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import msgspec

from rpcgw.access.admit import admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.endpoints.entity import entity
from rpcgw.exchange import Entrance, HeaderFields, Inbound, Rejected, Reply
from rpcgw.gateway.pages import PluginPage
from rpcgw.kernel.ports import Clock, Observer

_FIELDS: Final[HeaderFields] = (
    ("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"),
    ("Permissions-Policy", "tools=(self)"),
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
)
_LARGEST_BODY: Final = 1024


def entrances(pages: Iterable[PluginPage], clock: Clock, observer: Observer) -> tuple[Entrance, ...]:
    """Every page."""
    refuse = refuser(observer, _rejected)
    return tuple(
        Entrance(
            name=f"{page.plugin}_page",
            pattern=page.path,
            methods=page.readers.methods,
            max_body_bytes=_LARGEST_BODY,
            admit=admitter(page.readers, clock, refuse),
            too_large=partial(refuse, too_large(_LARGEST_BODY, "fixed: a page is asked for without a body")),
            answer=partial(_page, page),
        )
        for page in pages
    )


async def _page(page: PluginPage, _: Principal, inbound: Inbound) -> Reply:
    return entity(page.body, (("Content-Type", page.media_type), *_FIELDS), inbound.head, private=False, vary="")


def _rejected(verdict: Rejected) -> Reply:
    fields: HeaderFields = (("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff"))
    return Reply(verdict.status, msgspec.json.encode({"error": verdict.message}), fields + verdict.headers)
