"""The tools of one page: each provider is asked, what it gives is checked, what is wrong is left out. Pure.

One tool that fails never takes another with it; what failed is told, once for each page that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from rpcgw.api.records import record
from rpcgw.api.webmcp import Call, Manifest, PageContext, ToolProvider
from rpcgw.kernel.method import Method
from rpcgw.protocol.webmcp.checks import check
from rpcgw.protocol.webmcp.payload import entry, is_consequential
from rpcgw.protocol.webmcp.site import Site, Target
from rpcgw.protocol.webmcp.tokens import Offer, expiry

Json = dict[str, Any]
Sign = Callable[[Offer], str]
May = Callable[[str, Method], bool]
"""Whether the visitor may use a method of a group."""


@record(frozen=True, slots=True)
class Omitted:
    """A tool that a page does not get, though its provider wants it there, and why."""

    tool: str
    reason: str
    error: Exception | None = None


def tools(site: Site, page: PageContext, sign: Sign, may: May, now: float) -> Iterator[Json | Omitted]:
    """The page's tools in the order of their providers, without what the visitor may not call.

    `now` is seconds since the epoch.
    """
    for provider in site.providers:
        manifest = _asked(provider, page)
        if isinstance(manifest, Manifest):
            if _is_theirs(site, manifest, page.locale, may):
                yield _entry(site, manifest, page.locale, sign, now)
        elif manifest is not None:
            yield manifest


def worded(manifest: Manifest, target: Target) -> Manifest:
    """A manifest of a call, with what its method says where it says nothing."""
    return replace(
        manifest,
        title=manifest.title or target.title,
        description=manifest.description or target.description,
        input_schema=target.input_schema if manifest.input_schema is None else manifest.input_schema,
        output_schema=target.output_schema if manifest.output_schema is None else manifest.output_schema,
        read_only=target.method.tool.read_only if manifest.read_only is None else manifest.read_only,
    )


def _asked(provider: ToolProvider, page: PageContext) -> Manifest | Omitted | None:
    try:
        manifest = provider.manifest(page, page.data)
    except Exception as error:  # noqa: BLE001 -- the author's code; the page's other tools stand
        return Omitted(provider.name, f"its provider raised {type(error).__name__}", error)
    if manifest is None:
        return None
    if type(manifest) is not Manifest:
        return Omitted(provider.name, f"its provider gave a {type(manifest).__name__}, not a Manifest")
    if manifest.name != provider.name:
        return Omitted(provider.name, f"its manifest is named {manifest.name!r}")
    return manifest


def _is_theirs(site: Site, manifest: Manifest, locale: str, may: May) -> bool:
    call = manifest.primitive
    target = site.find(call.method, call.group, call.version, locale) if isinstance(call, Call) else None
    return not isinstance(call, Call) or target is None or may(call.group, target.method)


def _faulty(site: Site, manifest: Manifest) -> Omitted | None:
    """A browser would refuse what is wrong, or do what nobody wants."""
    for finding in check(manifest, site.addresses):
        if finding.level == "error":
            return Omitted(manifest.name, f"{'.'.join(map(str, finding.path))} {finding.text}")
    return None


def _entry(site: Site, manifest: Manifest, locale: str, sign: Sign, now: float) -> Json | Omitted:
    call = manifest.primitive
    if not isinstance(call, Call):
        return _faulty(site, manifest) or entry(manifest)
    target = site.find(call.method, call.group, call.version, locale)
    if target is None:
        return Omitted(manifest.name, f"no method {call.method} of the group {call.group} in version {call.version}")
    full = worded(manifest, target)
    if omitted := _faulty(site, full):
        return omitted
    expires = expiry(now, site.call_ttl)
    asks = is_consequential(full) or full.confirm is not None
    token = sign(Offer(site.name, full.name, call.method, call.group, call.version, asks, expires))
    made = entry(full)
    made["data"] |= {"endpoint": f"{site.reached}/call", "token": token, "expires": expires}
    return made
