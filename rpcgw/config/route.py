"""A route of a group, and the paths that each kind of route answers. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rpcgw.api.problems import Place
from rpcgw.api.records import record

RouteKind = Literal["rpc", "mcp"]


@record(frozen=True, slots=True)
class RoutePath:
    """One path of a route: `{ver}` stands for `v` and digits, `{aiName}` for a client's name."""

    pattern: str
    name: str
    methods: tuple[str, ...]


_PATHS: Mapping[RouteKind, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "rpc": (
        ("", "ufo_rpc_api_server", ("GET", "POST", "OPTIONS")),
        ("/{ver}", "ufo_rpc_api_server_ver", ("GET", "POST", "OPTIONS")),
        ("/postman", "ufo_rpc_api_postman", ("GET",)),
        ("/{ver}/postman", "ufo_rpc_api_postman_ver", ("GET",)),
    ),
    "mcp": (
        ("", "ufo_mcp_endpoint", ("POST", "DELETE", "OPTIONS")),
        ("/{ver}", "ufo_mcp_endpoint", ("POST", "DELETE", "OPTIONS")),
        ("/server.json", "ufo_mcp_server_json", ("GET",)),
        ("/{ver}/server.json", "ufo_mcp_server_json_ver", ("GET",)),
        ("/manifest/{aiName}.json", "ufo_mcp_manifest", ("GET",)),
        ("/{ver}/manifest/{aiName}.json", "ufo_mcp_manifest_ver", ("GET",)),
    ),
}
"""What each kind of route answers below its prefix (C-04 to C-06, and the original's routes for /rpc)."""


@record(frozen=True, slots=True)
class Route:
    """One import of routes.yaml: an endpoint of one kind, at a prefix, for one API group.

    `prefix` has no slash at its end; it is empty for the root.
    """

    key: str
    kind: RouteKind
    prefix: str
    group: str
    name_prefix: str
    place: Place

    @property
    def full_group(self) -> str:
        """What the names of the route's paths begin with."""
        return f"{self.name_prefix}{self.group}"

    def paths(self) -> tuple[RoutePath, ...]:
        """All that the route answers, by the names of the original: `<name_prefix><group>_ufo_mcp_endpoint` (C-03)."""
        return tuple(
            RoutePath(f"{self.prefix}{path}" or "/", f"{self.full_group}_{name}", methods)
            for path, name, methods in _PATHS[self.kind]
        )
