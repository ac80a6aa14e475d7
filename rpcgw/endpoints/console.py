"""GET `/` and `/console/<group>`: what is served where, and pages on which methods are tried.

A page holds no secret: a token is typed into it, and stays in its memory. It may load what the daemon itself serves and
nothing else, run no script of its own text, and be framed by nobody (CSP Level 3). Who may read a group's documents may
have its page; the overview names paths only, and is open to whoever passes the guards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any, Final

import msgspec

from rpcgw.access.admit import Policy, admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.endpoints.entity import entity
from rpcgw.endpoints.tryouts import Face, Path, faces, methods_of
from rpcgw.exchange import Entrance, Head, HeaderFields, Inbound, Rejected, Reply
from rpcgw.gateway.model import Gateway, McpRoute, RpcRoute
from rpcgw.kernel.ports import Clock, Observer
from rpcgw.kernel.scopes import named
from rpcgw.kernel.switches import EVERYTHING, Offered
from rpcgw.texts.negotiate import negotiate
from rpcgw.texts.pages import LANGUAGES

SECURITY: Final[HeaderFields] = (
    (
        "Content-Security-Policy",
        (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: 'self'; "
            "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
        ),
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)
_HTML: Final[HeaderFields] = (("Content-Type", "text/html; charset=utf-8"), *SECURITY)
_JSON: Final[HeaderFields] = (("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff"))
_FOREVER: Final[HeaderFields] = (
    ("Cache-Control", "public, max-age=31536000, immutable"),
    ("X-Content-Type-Options", "nosniff"),
)
_METHODS: Final = ("GET", "HEAD")
_LARGEST_BODY: Final = 1024
_KEPT: Final = 32
"""How many pages are kept once they are made: one for each group, version and language that is asked for."""

Answer = Callable[[Principal, Inbound], Awaitable[Reply]]


@record(frozen=True, slots=True)
class Asset:
    """A static file; `name` changes with the content, so that it can be kept for ever."""

    name: str
    body: bytes
    media_type: str


@record(frozen=True, slots=True)
class Pages:
    """What pages are made with: `render(template, values)`, and the static files by the names that templates know."""

    render: Callable[[str, Mapping[str, Any]], bytes]
    assets: Mapping[str, Asset]


def entrances(
    gateway: Gateway, pages: Pages, clock: Clock, observer: Observer, switches: Offered = EVERYTHING
) -> tuple[Entrance, ...]:
    """The overview, where no route stands at `/`; the pages of the groups and their files, unless they are off."""
    shown = faces(gateway)
    routes: list[RpcRoute | McpRoute] = [*gateway.rpc, *gateway.mcp]
    if not routes:
        return ()
    anybody = Policy(routes[0].readers.guards, methods=_METHODS)
    refuse = refuser(observer, _rejected)
    make = partial(_entrance, clock=clock, refuse=refuse)
    language = partial(_language, default=gateway.settings.translations.default_locale)
    found = [
        make("console_file", f"/console/static/{asset.name}", anybody, partial(_file, asset))
        for asset in pages.assets.values()
    ]
    if "" not in {route.endpoint.prefix.rstrip("/") for route in routes}:
        found.append(make("overview", "/", anybody, _overview(gateway, pages, shown, language)))
    if gateway.settings.console.enabled:
        for face in shown:
            page = _page(gateway, pages, face, language, switches)
            found += [
                make("console", pattern, face.readers, partial(page, version))
                for version in face.versions
                for pattern in face.patterns(version)
            ]
    return tuple(found)


def _entrance(
    name: str,
    pattern: str,
    policy: Policy,
    answer: Answer,
    *,
    clock: Clock,
    refuse: Callable[[Rejected, Head], Reply],
) -> Entrance:
    return Entrance(
        name=name,
        pattern=pattern,
        methods=policy.methods,
        max_body_bytes=_LARGEST_BODY,
        admit=admitter(policy, clock, refuse),
        too_large=partial(refuse, too_large(_LARGEST_BODY, "fixed: a page is asked for without a body")),
        refuse=refuse,
        answer=answer,
    )


def _language(header: str | None, *, default: str) -> str:
    """The language of a page's own words."""
    return negotiate(header, tuple(LANGUAGES), default if default in LANGUAGES else "en")


async def _file(asset: Asset, _: Principal, inbound: Inbound) -> Reply:
    del inbound
    return Reply(200, asset.body, (("Content-Type", asset.media_type), *_FOREVER))


# -- the overview


def _overview(gateway: Gateway, pages: Pages, shown: Sequence[Face], language: Callable[[str | None], str]) -> Answer:
    settings = gateway.settings
    health = [Path("/livez", "alive"), Path("/readyz?verbose", "ready")]
    if settings.metrics.enabled:
        health.append(Path(settings.metrics.path, "metrics"))
    described = {
        "project": settings.docs.project_name,
        "description": settings.docs.project_description,
        "groups": [face.described(console=settings.console.enabled) for face in shown],
        "health": [asdict(path) for path in health],
    }
    plain = msgspec.json.encode(described)

    @lru_cache(maxsize=len(LANGUAGES))
    def page(words: str) -> bytes:
        return pages.render("overview.html", {**described, **_common(pages, words)})

    async def answer(_: Principal, inbound: Inbound) -> Reply:
        head = inbound.head
        if _wants_json(head):
            return entity(plain, _JSON, head, private=False, vary="Accept, Accept-Language")
        words = language(head.headers.get("accept-language"))
        fields = (*_HTML, ("Content-Language", words))
        return entity(page(words), fields, head, private=False, vary="Accept, Accept-Language")

    return answer


def _wants_json(head: Head) -> bool:
    """Whether JSON is named and HTML is not."""
    accepted = ",".join(head.headers.getall("accept", [])).lower()
    return "application/json" in accepted and "text/html" not in accepted


# -- a group's page


def _page(
    gateway: Gateway, pages: Pages, face: Face, language: Callable[[str | None], str], switches: Offered
) -> Callable[[int, Principal, Inbound], Awaitable[Reply]]:
    negotiated = gateway.wording.negotiator(face.group)

    table = gateway.table
    scopes = named(method for v in face.versions for method in (table.methods(face.group, v) or {}).values())

    @lru_cache(maxsize=_KEPT)
    def made(version: int, locale: str, words: str, granted: frozenset[str], off: frozenset[str]) -> bytes:
        docs = gateway.settings.docs
        values = {
            "project": docs.project_name,
            "face": face,
            "version": version,
            "locale": locale,
            "rpc": face.at(face.rpc, version),
            "mcp": face.at(face.mcp, version),
            "server": face.server if version == 1 else f"{face.server}-v{version}",
            "methods": methods_of(gateway, face, version, locale, granted, off=off),
        }
        return pages.render("console.html", {**values, **_common(pages, words)})

    async def answer(version: int, principal: Principal, inbound: Inbound) -> Reply:
        asked = inbound.head.headers.get("accept-language")
        locale, words = negotiated(asked), language(asked)
        fields = (*_HTML, ("Content-Language", words if words == locale else f"{words}, {locale}"))
        private = face.protected_doc or bool(scopes)
        page = made(version, locale, words, principal.scopes & scopes, switches.off(face.group))
        return entity(page, fields, inbound.head, private=private, vary="Accept-Language")

    return answer


def _common(pages: Pages, words: str) -> dict[str, Any]:
    assets = {key: f"/console/static/{asset.name}" for key, asset in pages.assets.items()}
    return {"words": words, "say": LANGUAGES[words], "assets": assets}


def _rejected(verdict: Rejected) -> Reply:
    return Reply(verdict.status, msgspec.json.encode({"error": verdict.message}), _JSON + verdict.headers)
