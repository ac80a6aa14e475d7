"""Options that people will look for and this version refuses: planned ones, and ones that moved. Tables, for hints."""

from __future__ import annotations

from fnmatch import fnmatchcase

_LATER = "this version does not do it yet"

NOT_AVAILABLE: tuple[tuple[str, str], ...] = (
    ("tracing", ""),
    ("defaults.audit", ""),
    ("groups.*.audit", ""),
)
"""Patterns of dotted paths that later versions will know, with what helps until then."""

ELSEWHERE: tuple[tuple[str, str], ...] = (
    ("ufo_mcp.session_directory", "sessions live in the pool that ufo_json_rpc.cache.pool names"),
    ("ufo_mcp.server_name", "it is ufo_mcp.mcp_server_info.name now"),
    ("ufo_mcp.server_version", "the version is always that of the request"),
    ("ufo_mcp.methods", "a method is a tool where its group says so; nothing is listed"),
    ("ufo_json_rpc.security.tokens", "it is ufo_json_rpc.security.clients_tokens"),
    ("bind", "it is server.bind"),
    ("workers", "it is server.workers"),
    ("public_url", "it is server.public_url"),
    ("methods.*.max_b*", "it holds for a group or for all, not for one method"),
    ("methods.*.tools", "it holds for a group or for all, not for one method"),
    ("methods.*.batch_concurrency", "it holds for a group or for all, not for one method"),
    ("*.api_group", "it belongs under defaults: {api_group: ...}"),
    ("*.group", "it belongs under defaults: {api_group: ...}"),
)
"""Patterns of dotted paths that do not exist, with where their job is done."""


def not_available(path: str) -> tuple[str, str] | None:
    """Text and hint for an option that is planned, or None."""
    for pattern, instead in NOT_AVAILABLE:
        if fnmatchcase(path, pattern):
            return f'The option "{path}": {_LATER}.', instead or "leave it out"
    return None


def elsewhere(path: str) -> str:
    """A hint for an option that does not exist but whose job is done elsewhere, or nothing."""
    return next((hint for pattern, hint in ELSEWHERE if fnmatchcase(path, pattern)), "")
