"""Configurations of the daemon under test: the one that is shipped, with other plugins or one setting changed."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.machine import ROOT
from bench.servers import Program, daemon

EXAMPLE = ROOT / "gateway.yaml.example"
_OFFERS = (Path(__file__).parent / "plugins" / "offers.py").read_text("utf-8")
_ROUTES: Mapping[str, Any] = {
    "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "general"}},
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
}


def fingerprint() -> str:
    """The hash of the configuration that is shipped, the beginning of it."""
    return sha256(EXAMPLE.read_bytes()).hexdigest()[:12]


def shipped(*, workers: int = 1) -> Program:
    """The daemon as it is shipped, with the example's plugins."""
    return daemon(str(EXAMPLE), workers=workers)


def gateway(
    plugins: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    routes: Mapping[str, Any] = _ROUTES,
) -> Program:
    """The configuration that is shipped, with other plugins, and settings that go over it."""
    wanted = {"imports": [str(EXAMPLE)], "plugins": {"directory": "plugins"}, **(settings or {})}
    files = {f"plugins/{name}": source for name, source in (plugins or {}).items()}
    return daemon(
        "{folder}/gateway.yaml",
        files={"gateway.yaml": json.dumps(wanted), "routes.yaml": json.dumps(routes), "plugins/none.txt": "", **files},
    )


def offers(settings: Mapping[str, Any] | None = None) -> Program:
    """The daemon with what the peers serve as well."""
    return gateway({"offers.py": _OFFERS}, settings)


def many(count: int, settings: Mapping[str, Any] | None = None) -> Program:
    """The daemon with the offers and as many further tools as make `count` of all."""
    return gateway({"offers.py": _OFFERS, "many.py": _many(count - OFFERED)}, settings)


OFFERED = 4
"""How many tools the offers are."""


def _many(count: int) -> str:
    """A plugin with so many tools."""
    return textwrap.dedent('''\
        from typing import Annotated

        from annotated_types import Interval

        import rpcgw as rpc

        Limit = Annotated[int, Interval(ge=1, le=100)]


        @rpc.procedure("Many", groups=["mcp", "general"])
        class Many:
            """Many tools."""
        ''') + "".join(
        f'''
    @rpc.tool(read_only=True)
    async def method{number}(self, query: str, limit: Limit = 10, exact: bool = False) -> list[str]:
        """Do operation number {number} over the catalogue.

        Args:
            query: What to look for.
            limit: How many results to return.
            exact: Whether whole words count only.
        """
        return []
'''
        for number in range(count)
    )


def wide(groups: int, versions: int) -> Program:
    """The daemon with the offers, and a class in many groups and versions, each with routes of its own."""
    classes = "\n".join(
        textwrap.dedent(f'''\

            @rpc.procedure("Wide", version={version}, groups={[f"wide{n}" for n in range(groups)]!r})
            class Wide{version}:
                """Version {version}."""

                @rpc.tool(read_only=True)
                async def act(self) -> int:
                    """Act."""
                    return {version}
            ''')
        for version in range(1, versions + 1)
    )
    routes = {
        f"{kind}{n}": {"resource": kind, "prefix": f"/{kind}/wide{n}", "defaults": {"api_group": f"wide{n}"}}
        for n in range(groups)
        for kind in ("rpc", "mcp")
    }
    plugins = {"offers.py": _OFFERS, "wide.py": f"import rpcgw as rpc\n{classes}"}
    return gateway(plugins, routes={**_ROUTES, **routes})
