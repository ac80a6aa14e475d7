"""What a page is asked for with, and what it gets. Pure; docs/reference/webmcp-payload.md describes the JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, quote

from rpcgw.api.records import record
from rpcgw.protocol.webmcp.site import Site

LONGEST_PATH: Final = 2048
_PATH: Final = re.compile(r"/[^\x00-\x20\x7f\\#?]*")
_LOCALE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

Json = dict[str, Any]


@record(frozen=True, slots=True)
class Asked:
    """A page: its path, its query by name, its language ("" where it does not say)."""

    path: str = "/"
    query: Mapping[str, str] = field(default_factory=dict)
    locale: str = ""


def asked(query: str) -> Asked | None:
    """What `?path=...&locale=...` asks for; None where the path is none. Without a path it is the site's first page."""
    given = parse_qs(query, keep_blank_values=True)
    target = given.get("path", ["/"])[0]
    path, _, inner = target.partition("?")
    if len(target) > LONGEST_PATH or not _PATH.fullmatch(path) or path.startswith("//"):
        return None
    locale = given.get("locale", [""])[0].replace("_", "-")
    first: dict[str, str] = {}
    for name, value in parse_qsl(inner, keep_blank_values=True):
        first.setdefault(name, value)
    return Asked(path, first, locale if _LOCALE.fullmatch(locale) else "")


def page(site: Site, page: Asked, locale: str, tools: Iterable[Json], messages: Mapping[str, str]) -> Json:
    """The page's configuration."""
    features = site.features
    made: Json = {"site": site.name, "locale": locale}
    if site.counted:
        made["endpoint"] = f"{site.reached}/event"
    where = f"path={quote(page.path, safe='')}&locale={quote(locale, safe='')}"
    return {
        **made,
        "beacon": features.beacon,
        "config": f"{site.reached}/config.json?{where}",
        "origins": sorted(site.addresses.targets),
        "outputLimit": features.output_limit,
        "clientHint": features.client_hint,
        "frames": features.frames,
        "legacyNavigator": features.legacy_navigator,
        "messages": dict(messages),
        "tools": list(tools),
    }


def encoded(config: Json) -> bytes:
    """The configuration as JSON that may stand in a script block: no text of it can end the block.

    Lone surrogates become U+FFFD, which is what a browser would make of them.

    Raises:
        ValueError: A number is not finite.
        TypeError: A value is not one of JSON's.
    """
    text = json.dumps(config, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SURROGATE.sub("\ufffd", text).translate(_ESCAPES).encode()


def block(config: bytes) -> bytes:
    """`encoded` bytes as the element that the script looks for."""
    return b'<script type="application/json" id="webmcp-config">%b</script>' % config
