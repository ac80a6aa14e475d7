"""Web pages that plugins bring along, by their paths. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from mimetypes import guess_type
from typing import Final

from rpcgw.access.admit import Policy
from rpcgw.access.guards import compile_guards
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.settings import Settings
from rpcgw.discovery.found import LoadedPlugin

_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]*")
_TEXT: Final = ("text/", "application/json", "application/javascript")
_HINT: Final = "a path begins with a slash, and has letters, digits and . _ ~ - / in it; a page is text or bytes"


@record(frozen=True, slots=True)
class PluginPage:
    """One page: where it stands, what it is, and who may read it."""

    path: str
    body: bytes
    media_type: str
    plugin: str
    readers: Policy


def plugin_pages(settings: Settings, plugins: Sequence[LoadedPlugin]) -> tuple[tuple[PluginPage, ...], list[Problem]]:
    """Every page of every plugin; of two at one path the first serves, and the other is a problem."""
    guards = compile_guards(settings.server.public_url, settings.server.allowed_hosts, settings.cors.allowed_origins)
    readers = Policy(guards, methods=("GET", "HEAD"))
    found: dict[str, PluginPage] = {}
    problems: list[Problem] = []
    for plugin in plugins:
        place = Place(plugin.candidate.location)
        for path, body in plugin.plugin.pages.items():
            if not _PATH.fullmatch(path) or not isinstance(body, str | bytes):
                text = f"the plugin {plugin.name!r} brings a page that cannot be served: {path!r}"
                problems.append(Problem(place, "plugin-page", text, _HINT))
            elif path in found:
                text = f"two plugins bring the page {path}: {plugin.name!r} and {found[path].plugin!r}"
                problems.append(Problem(place, "plugin-page", text, "leave it to one of them"))
            else:
                made = body.encode() if isinstance(body, str) else body
                found[path] = PluginPage(path, made, media_type(path), plugin.name, readers)
    return tuple(found.values()), problems


def media_type(path: str) -> str:
    """What a page is by the ending of its path; HTML where it has none."""
    known, _ = guess_type(path)
    if path.endswith(("/", ".html")) or "." not in path.rpartition("/")[2]:
        known = "text/html"
    found = "text/javascript" if path.endswith((".js", ".mjs")) else known or "application/octet-stream"
    return f"{found}; charset=utf-8" if found.startswith(_TEXT) else found
