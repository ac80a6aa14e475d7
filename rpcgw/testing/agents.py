"""What well-known clients would make of a plugin's tools. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rpcgw.gateway.listing import list_tools
from rpcgw.gateway.model import Gateway
from rpcgw.protocol.mcp.lint import RULES, Finding, lint

EVERY = "every client"


def client_problems(gateway: Gateway, clients: Collection[str]) -> list[str]:
    """One line for each tool that one of the clients (all, where none is named) does not take as it is.

    Raises:
        ValueError: No rule is about a client of a name.
    """
    known = {name for rule in RULES for name in rule.clients} - {EVERY}
    if unknown := sorted(set(clients) - known):
        raise ValueError(f"no rule is about {unknown[0]!r}; clients are {', '.join(sorted(known))}")
    found: dict[str, None] = {}
    for route in gateway.mcp:
        for version in route.endpoint.toolboxes:
            for finding in lint(list_tools(gateway, route.endpoint.group, f"v{version}", None) or []):
                if _concerns(finding, clients):
                    found.update(dict.fromkeys(_lines(finding)))
    return list(found)


def _concerns(finding: Finding, clients: Collection[str]) -> bool:
    rule = finding.rule
    return bool({*clients, EVERY} & {*rule.clients}) if clients else not rule.choice


def _lines(finding: Finding) -> Iterator[str]:
    rule = finding.rule
    mended = f"{rule.setting}: {rule.value}" if rule.choice else rule.advice
    for tool, what in finding.tools.items():
        yield f"{tool}: {what or rule.text}; {', '.join(rule.clients)} {rule.effect} ({mended})"
