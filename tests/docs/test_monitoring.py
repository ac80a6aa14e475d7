"""The dashboard and the alerts: they ask for metrics that there are, by labels and values that these have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import promql_parser
import pytest
import yaml

from rpcgw.access.tokens import WRONG_TOKEN
from rpcgw.adapters.telemetry.families import FAMILIES, Family
from rpcgw.adapters.telemetry.slotfile import HISTOGRAM
from tests.support.daemon import ROOT

FOLDER = ROOT / "docs" / "monitoring"
DASHBOARD = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
ALERTS = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

OF_SCRAPING = {"job", "instance"}
"""Labels that Prometheus adds itself."""
FROM_PROMETHEUS = {"up"}
VARIABLES = {"$__rate_interval": "5m", "$__interval": "1m"}
OUTCOMES = {"success", "cached", "error", "timeout", "refused", "limited", "locked", "cancelled"}
GUARDS = {"no token", WRONG_TOKEN, "expired token", "host", "token", "origin or token", "method", "size", "media type"}


@dataclass(frozen=True)
class Asked:
    """What an expression asks for: a series, the labels that it is selected by, and those that it is summed by."""

    name: str
    labels: frozenset[str]
    by: frozenset[str]


def asked(expression: str) -> list[Asked]:
    """Everything that an expression asks for; raises `ValueError` where it is no PromQL."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return list(_asked(promql_parser.parse(expression), frozenset()))


def _asked(part: Any, by: frozenset[str]) -> Iterator[Asked]:
    match type(part).__name__:
        case "VectorSelector":
            yield Asked(part.name, frozenset(matcher.name for matcher in part.matchers.matchers), by)
        case "MatrixSelector":
            yield from _asked(part.vector_selector, by)
        case "AggregateExpr":
            labels = frozenset(part.modifier.labels) if part.modifier is not None else frozenset()
            yield from _asked(part.expr, by | labels)
        case "BinaryExpr":
            yield from _asked(part.lhs, by)
            yield from _asked(part.rhs, by)
        case "Call":
            for argument in part.args:
                yield from _asked(argument, by)
        case "ParenExpr" | "UnaryExpr" | "SubqueryExpr":
            yield from _asked(part.expr, by)
        case "NumberLiteral" | "StringLiteral":
            pass
        case other:
            raise AssertionError(f"what does {other} ask for?")


def family_of(series: str) -> Family | None:
    """The family of a series, with the suffixes that a histogram's series have."""
    if series in FAMILIES:
        return None if FAMILIES[series].kind == HISTOGRAM else FAMILIES[series]
    found = FAMILIES.get(re.sub(r"_(bucket|sum|count)$", "", series))
    return found if found is not None and found.kind == HISTOGRAM else None


def expressions() -> Iterator[Any]:
    for panel in PANELS:
        for target in panel["targets"]:
            yield pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")
    for annotation in DASHBOARD["annotations"]["list"]:
        yield pytest.param(annotation["expr"], id=annotation["name"])
    for rule in RULES:
        yield pytest.param(rule["expr"], id=rule["alert"])


@pytest.mark.parametrize("expression", list(expressions()))
def test_what_is_asked_for_is_there(expression: str) -> None:
    """Every metric exists and is of a kind that has these series; it has every label that is asked for."""
    found = asked(expression)
    assert found
    for each in found:
        if each.name in FROM_PROMETHEUS:
            continue
        family = family_of(each.name)
        assert family is not None, f"there is no series {each.name}"
        known = {*family.labels, *OF_SCRAPING, *(["le"] if each.name.endswith("_bucket") else [])}
        assert each.labels | each.by <= known, f"{each.name} has no {sorted((each.labels | each.by) - known)}"


@pytest.mark.parametrize(
    "variable", [v for v in DASHBOARD["templating"]["list"] if v["type"] == "query"], ids=lambda v: v["name"]
)
def test_variables_ask_for_labels_that_there_are(variable: dict[str, Any]) -> None:
    """`label_values(metric, label)`, on a metric with this label."""
    called = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
    assert called is not None
    [each] = asked(called[1])
    family = family_of(each.name)
    assert family is not None
    assert {called[2], *each.labels} <= {*family.labels, *OF_SCRAPING}


def test_outcomes_are_those_that_calls_have() -> None:
    """What the dashboard and the alerts call failing are outcomes that the code counts."""
    texts = [json.dumps(DASHBOARD), json.dumps(ALERTS)]
    of_calls = [
        found for text in texts for found in re.findall(r"rpcgw_calls_total\{[^}]*?outcome=~?\\+\"([^\"\\]*)", text)
    ]
    assert of_calls
    assert {name for names in of_calls for name in names.split("|")} <= OUTCOMES


def test_guards_are_those_that_refuse() -> None:
    """What an alert on tokens selects is each guard that a token can fail at, and no other."""
    [selected] = re.findall(r'rpcgw_guard_refusals_total\{[^}]*?guard=~"([^"]*)"', (FOLDER / "alerts.yaml").read_text())
    guards = {guard for guard in GUARDS if re.fullmatch(selected, guard)}
    assert guards == {"no token", WRONG_TOKEN, "expired token"}


def test_no_alert_waits_for_a_series_that_may_never_come() -> None:
    """A sum of two metrics is nothing while one of them is not there; each has to be asked for by itself."""
    added = [rule["alert"] for rule in RULES if re.search(r"\)\s*[+]\s*\w", rule["expr"])]
    assert added == []


def test_panels_lie_beside_each_other() -> None:
    """No two of them overlap, and ids are their own."""
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alerts_say_what_happens_and_what_to_do(rule: dict[str, Any]) -> None:
    """A severity, a summary that names what it is about, and a description."""
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert set(rule["annotations"]) == {"summary", "description"}
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}


def test_alerts_name_labels_that_their_expressions_keep() -> None:
    """`{{ $labels.method }}` is empty where the expression has summed it away."""
    for rule in RULES:
        named = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
        kept = [
            each.by or frozenset({*OF_SCRAPING, *(FAMILIES[each.name].labels if each.name in FAMILIES else ())})
            for each in asked(rule["expr"])
        ]
        assert all(named <= labels for labels in kept), rule["alert"]
