"""What well-known clients would make of the tools that are served, as problems for `rpcgw check`. Pure.

Where a setting mends it and nobody has written that setting down, it is a note for each group: the default is the
original's form, and to write the default down says that it is meant. What a tool's author can mend is a warning, said
once for all groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.settings import Settings
from rpcgw.gateway.listing import shown_tools
from rpcgw.gateway.model import Gateway, McpRoute
from rpcgw.protocol.mcp.lint import Budget, Rule, exceeded, lint

_NAMED: Final = 3
"""How many tools a problem names; the others are counted."""
_SAID_ALREADY: Final = "client-name-length"
"""Compiling tools says it, at every start."""


@record(frozen=True, slots=True)
class _Group:
    """What is wrong with a group's tools in any of its versions."""

    name: str
    place: Place
    faults: Mapping[Rule, Mapping[str, str]]
    over: Mapping[Budget, int]
    places: Mapping[str, Place]


def client_problems(gateway: Gateway) -> list[Problem]:
    """What the rules of clients find in the tools of all groups."""
    places = {route.full_group: route.place for route in gateway.settings.routes if route.kind == "mcp"}
    groups = [_looked_at(route, places) for route in gateway.mcp]
    found = [problem for group in groups for problem in (*_choices(group, gateway.settings), *_budgets(group))]
    return list(dict.fromkeys([*found, *_tools(groups, gateway.settings)]))


def _looked_at(route: McpRoute, places: Mapping[str, Place]) -> _Group:
    faults: dict[Rule, dict[str, str]] = {}
    over: dict[Budget, int] = {}
    methods: dict[str, Place] = {}
    endpoint = route.endpoint
    for version in sorted(endpoint.toolboxes):
        at_version = replace(endpoint, version=version)
        shown = shown_tools(at_version, None) if at_version.exists else []
        methods |= {tool.name: tool.method.place for tool in at_version.toolbox.listed}
        for finding in lint(shown):
            faults.setdefault(finding.rule, {}).update(finding.tools)
        for budget, measured in exceeded(shown):
            over[budget] = max(measured, over.get(budget, 0))
    return _Group(endpoint.group, places[route.publication.name], faults, over, methods)


def _choices(group: _Group, settings: Settings) -> Iterator[Problem]:
    """What a setting would mend, where nobody has written it down."""
    for rule, tools in group.faults.items():
        if not rule.choice or _is_written(rule, group.name, settings):
            continue
        section, _, option = rule.setting.partition(".")
        hint = (
            f"groups: {{{group.name}: {{{section}: {{{option}: {rule.value}}}}}}} mends it; "
            f"to write {option}: {_set(rule, group.name, settings)} says that it is meant"
        )
        text = f"{group.name}: {_sentence(rule, tools)}"
        yield Problem(group.place, rule.code, text, hint, "note")


def _tools(groups: Iterable[_Group], settings: Settings) -> Iterator[Problem]:
    """What authors of tools can mend, by rule; also what a setting did not mend."""
    faults: dict[Rule, dict[str, str]] = {}
    places: dict[str, Place] = {}
    for group in groups:
        places |= group.places
        for rule, tools in group.faults.items():
            if rule.code != _SAID_ALREADY and (not rule.choice or _set(rule, group.name, settings) == rule.value):
                faults.setdefault(rule, {}).update(tools)
    for rule, tools in faults.items():
        place = min(places[name] for name in tools)
        yield Problem(place, rule.code, _sentence(rule, tools), rule.advice, "warning")


def _budgets(group: _Group) -> Iterator[Problem]:
    for budget, measured in group.over.items():
        clients = _enumerated(budget.clients)
        text = f"{group.name}: {measured} {budget.unit}, and {clients} {budget.effect}"
        yield Problem(group.place, budget.code, text, budget.advice, "note" if budget.mild else "warning")


def _is_written(rule: Rule, group: str, settings: Settings) -> bool:
    return any(f"{holder}.{rule.setting}" in settings.places for holder in (f"groups.{group}", "defaults"))


def _set(rule: Rule, group: str, settings: Settings) -> Any:
    """The value that the rule's setting has for a group."""
    return attrgetter(rule.setting)(settings.calls_of(group))


def _sentence(rule: Rule, tools: Mapping[str, str]) -> str:
    count = "1 tool has" if len(tools) == 1 else f"{len(tools)} tools have"
    named = [f"{name} ({fault})" if fault else name for name, fault in sorted(tools.items())]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"{count} {rule.text}: {', '.join(named[:_NAMED])}{more}; {_enumerated(rule.clients)} {rule.effect}"


def _enumerated(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
