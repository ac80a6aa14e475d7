"""Documents by route: keys that differ, and settings to blame for what no registry would take."""

from __future__ import annotations

from textwrap import dedent

import pytest

from rpcgw.config.loading import compile_settings
from rpcgw.config.settings import Settings
from rpcgw.config.sources import Sources
from rpcgw.gateway.documents import publication_problems, server_keys
from rpcgw.protocol.mcp.documents import Publication, edition
from rpcgw.protocol.mcp.serverjson import Card

ROUTES = """\
mcp: {resource: mcp, prefix: /mcp, defaults: {api_group: mcp}}
internal: {resource: mcp, prefix: /mcp/internal, defaults: {api_group: internal}}
rpc: {resource: rpc, prefix: /rpc}
"""
PUBLIC = "server: {public_url: https://tools.example.com}\n"


def settings(gateway: str, routes: str = ROUTES) -> Settings:
    texts = {"gateway.yaml": dedent(gateway), "routes.yaml": routes}
    return compile_settings(Sources("gateway.yaml", "/srv", texts, {}), env={}, environment=None, dev=False).settings


@pytest.mark.parametrize(
    ("gateway", "expected"),
    [
        pytest.param("", {"mcp": "rpcgw-mcp", "internal": "rpcgw-internal"}, id="by group where nobody says anything"),
        pytest.param("ufo_mcp: {mcp_server_info: {title: The Shop}}", {"mcp": "the-shop-mcp", "internal": "the-shop-internal"}, id="what groups share is told apart by group"),
        pytest.param("ufo_mcp: {mcp_server_info: {name: a.b/shop}, groups: {internal: {mcp_server_info: {name: a.b/office}}}}", {"mcp": "shop", "internal": "office"}, id="by name"),
    ],
)  # fmt: skip
def test_server_keys(gateway: str, expected: dict[str, str]) -> None:
    """No two routes' servers have the same key: a client can hold them all."""
    assert server_keys(settings(gateway)) == expected


def test_one_group_at_two_places_has_two_keys() -> None:
    """The prefix that tells the routes' names apart tells the keys apart."""
    routes = "a: {resource: mcp, prefix: /a}\nb: {resource: mcp, prefix: /b, name_prefix: old_}\n"
    assert len(set(server_keys(settings("", routes)).values())) == 2


def problems(gateway: str) -> list[str]:
    served = [Publication(name, "/", {1: edition(Card(), 1, None)}) for name in ("mcp", "internal")]
    return [str(problem) for problem in publication_problems(settings(gateway), served)]


GOOD = "description: Sells., icons: [{src: https://a.example.com/i.png}]"
FOUND = [
    pytest.param("", [], id="nothing set"),
    pytest.param("ufo_mcp: {mcp_server_info: {title: T, description: D}}", [], id="no name, so nobody publishes it"),
    pytest.param(f"{PUBLIC}ufo_mcp: {{mcp_server_info: {{name: a.bc/shop, {GOOD}}}}}", [], id="all well"),
    pytest.param(
        f"ufo_mcp: {{mcp_server_info: {{description: {'d' * 101}}}}}",
        ['gateway.yaml:1:29: warning[unpublishable] "ufo_mcp.mcp_server_info.description": server.json cannot be published: description must have at most 100 characters.'],
        id="what is set is looked at without a name, and told once for both groups",
    ),
    pytest.param(
        f"{PUBLIC}ufo_mcp: {{mcp_server_info: {{{GOOD}}}, groups: {{internal: {{mcp_server_info: {{name: shop}}}}}}}}",
        ['"ufo_mcp.groups.internal.mcp_server_info.name": server.json cannot be published: name must be a reverse-DNS'],
        id="the group's own setting is to blame",
    ),
    pytest.param(
        f"{PUBLIC}ufo_mcp: {{mcp_server_info: {{name: a.bc/shop}}}}",
        ['gateway.yaml:2:11: warning[unpublishable] "ufo_mcp.mcp_server_info.description": server.json cannot be published: description must be set.'],
        id="what is missing is asked for beside the name",
    ),
    pytest.param(
        "ufo_mcp: {mcp_server_info: {icons: [{src: https://a.example.com/i.png}, {src: http://a.example.com/j.gif, mime_type: image/gif}]}}",
        [
            '"ufo_mcp.mcp_server_info.icons.1.src": server.json cannot be published: icons.1.src must be an absolute https URL.',
            '"ufo_mcp.mcp_server_info.icons.1.mime_type": server.json cannot be published: icons.1.mimeType must be one of image/png',
        ],
        id="each icon by its number",
    ),
    pytest.param(
        f"ufo_mcp: {{mcp_server_info: {{name: a.bc/shop, {GOOD}}}}}",
        ['gateway.yaml: warning[unpublishable] "server.public_url": server.json cannot be published: remotes.0.url must be https.'],
        id="the address that is bound",
    ),
    pytest.param(
        f"server: {{public_url: https://localhost}}\nufo_mcp: {{mcp_server_info: {{name: a.bc/shop, {GOOD}}}}}",
        ['gateway.yaml:1:10: warning[unpublishable] "server.public_url": server.json cannot be published: remotes.0.url must not be this machine.'],
        id="this machine",
    ),
    pytest.param(
        f"server: {{bind: 0.0.0.0:8080, allow_unprotected: true}}\nufo_mcp: {{mcp_server_info: {{name: a.bc/shop, {GOOD}}}}}",
        ['gateway.yaml:1:1: warning[unpublishable] "server.public_url": server.json cannot be published: remotes must say where the server is.'],
        id="no address",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("gateway", "expected"), FOUND)
def test_publication_problems(gateway: str, expected: list[str]) -> None:
    """Each setting that is to blame, at its place, with the rule; once, however many groups it holds for."""
    found = problems(gateway)
    assert len(found) == len(expected), found
    assert [text for text, line in zip(expected, found, strict=True) if text not in line] == [], found


def test_a_group_that_is_not_served_is_not_looked_at() -> None:
    """What answers 404 is not published either."""
    gateway = settings("ufo_mcp: {mcp_server_info: {name: shop}}")
    assert publication_problems(gateway, [Publication("mcp", "/mcp"), Publication("internal", "/")]) == []
