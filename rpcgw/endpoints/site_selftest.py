"""GET `<prefix>/selftest`, in the environment `dev` only: what a browser makes of the tools of a page.

`?path=` and `?locale=` choose the page, as for its configuration.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rpcgw.access.admit import admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.endpoints.console import SECURITY, Pages
from rpcgw.endpoints.site_files import LARGEST_BODY, paths, rejected
from rpcgw.endpoints.webmcp import Services, configuration
from rpcgw.exchange import Entrance, HeaderFields, Inbound, Reply
from rpcgw.gateway.model import SiteServed
from rpcgw.protocol.webmcp import page
from rpcgw.texts.negotiate import negotiate
from rpcgw.texts.usage import LANGUAGES

ENVIRONMENT: Final = "dev"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_FIELDS: Final[HeaderFields] = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Security-Policy", _POLICY),
    ("Permissions-Policy", "tools=(self)"),
    ("Cache-Control", "no-store"),
    *SECURITY[1:],
)


@record(frozen=True, slots=True)
class Made:
    """What the page is made with, and what configurations are made with."""

    pages: Pages
    services: Services


def entrance(served: SiteServed, made: Made) -> Entrance:
    """The page."""
    site, services = served.site, made.services
    refuse = refuser(services.observer, rejected)
    return Entrance(
        name=f"{site.route}_webmcp_selftest",
        pattern=f"{site.prefix}/selftest",
        methods=served.readers.methods,
        max_body_bytes=LARGEST_BODY,
        admit=admitter(served.readers, services.clock, refuse),
        too_large=partial(refuse, too_large(LARGEST_BODY, "fixed: a page is asked for without a body")),
        answer=partial(_selftest, served, made),
    )


async def _selftest(served: SiteServed, made: Made, _: Principal, inbound: Inbound) -> Reply:
    site = served.site
    asked = page.asked(inbound.head.query) or page.Asked()
    config = await configuration(served, made.services, asked, inbound.head)
    words = negotiate(inbound.head.headers.get("accept-language"), tuple(LANGUAGES), "en")
    values: dict[str, Any] = {
        "words": words,
        "say": LANGUAGES[words],
        "assets": paths(served, made.pages),
        "runtime": f"{site.prefix}/{made.services.script.name}",
        "path": asked.path,
        "locale": config["locale"],
        "tools": config["tools"],
        "block": Markup(page.block(page.encoded(config)).decode()),
    }
    return Reply(200, made.pages.render("selftest.html", values), _FIELDS)


class Markup(str):
    """HTML that is escaped already."""

    __slots__ = ()

    def __html__(self) -> str:
        return self
