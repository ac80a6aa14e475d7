"""What clients make of tools."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.protocol.mcp.lint import BUDGETS, RULES, exceeded, lint


def tool(name: str = "search", schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A tool that no client finds fault with, but for what is said."""
    return {"name": name, "title": "Search", "description": "Finds things.", "inputSchema": schema or {"type": "object", "properties": {}}, **more}  # fmt: skip


def properties(**parts: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": [], "additionalProperties": False}


def found(one: dict[str, Any]) -> dict[str, str]:
    return {finding.rule.code: fault for finding in lint([one]) for fault in finding.tools.values()}


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}

CASES = [
    pytest.param(tool("Catalog.search"), {"client-dotted-name": ""}, id="a dotted name"),
    pytest.param(tool("Catalog_search-2"), {}, id="a name for everybody"),
    pytest.param(tool("a/b"), {"client-name": ""}, id="a slash in the name"),
    pytest.param(tool("a" * 64), {}, id="the longest name"),
    pytest.param(tool("a" * 65), {"client-name-length": "65 characters"}, id="a longer name"),
    pytest.param(tool(schema=properties(a={"$ref": "#/$defs/Node"}) | {"$defs": {"Node": NODE}}), {"client-references": ""}, id="a reference"),
    pytest.param(tool(schema=properties(a={"type": "string", "default": {"$ref": "x"}})), {}, id="data that looks like a reference"),
    pytest.param(tool(schema=properties(**{"$ref": {"type": "string"}})), {"client-property-name": "$ref"}, id="a parameter named like a keyword"),
    pytest.param(tool(outputSchema=properties(a={"$ref": "#/$defs/Node"})), {}, id="a reference in the output"),
    pytest.param(tool(schema={"anyOf": [], "if": {}, "type": "object"}), {"client-root-keyword": "anyOf, if"}, id="alternatives at the root"),
    pytest.param(tool(schema=properties(a={"anyOf": [{"type": "string"}, {"type": "null"}]})), {}, id="alternatives in a parameter"),
    pytest.param(tool(schema=properties(**{"a.b-c_1": {}})), {}, id="a parameter's name with all that is allowed"),
    pytest.param(tool(schema=properties(**{"filter[x]": {}, "$top": {}})), {"client-property-name": "filter[x], $top"}, id="parameters' names with brackets and dollars"),
    pytest.param(tool(schema=properties(a={"type": "object", "properties": {"b c": {}}})), {"client-property-name": "b c"}, id="a name inside a parameter"),
    pytest.param(tool(schema=properties(**{"a" * 65: {}})), {"client-property-name": "a" * 65}, id="a parameter with a long name"),
    pytest.param(tool(schema=properties(a={"type": "array"})), {"client-array-items": "a"}, id="an array without items"),
    pytest.param(tool(schema=properties(a={"type": ["array", "null"]})), {"client-array-items": "a"}, id="an array or null without items"),
    pytest.param(tool(schema=properties(a={"type": "array", "items": {}})), {}, id="an array of anything"),
    pytest.param(tool(schema=properties(a={"type": "array", "prefixItems": [{}]})), {}, id="a tuple"),
    pytest.param(tool(schema=properties(a={"type": "array", "items": {"type": "array"}})), {"client-array-items": "a"}, id="an array in an array"),
    pytest.param(tool(outputSchema=properties(result={"type": "array"})), {"client-array-items": "result"}, id="an array in the output"),
    pytest.param(tool(schema=properties(a={"type": ["string", "integer"]})), {"client-type-union": "a"}, id="several types"),
    pytest.param(tool(schema=properties(a={"type": ["string", "null"]})), {}, id="a type or null"),
    pytest.param(tool(outputSchema=properties(a={"type": ["array", "object"], "items": {}})), {}, id="several types in the output"),
    pytest.param(tool(description=""), {"client-no-description": ""}, id="no description"),
    pytest.param(tool(description="Search"), {"client-no-description": ""}, id="a description that only says the title"),
    pytest.param(tool(description="d" * 1024), {}, id="the longest description"),
    pytest.param(tool(description="d" * 1025), {"client-long-description": "1025 characters"}, id="a longer description"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "codes"), CASES)
def test_rules(one: dict[str, Any], codes: dict[str, str]) -> None:
    """Each rule finds its own fault and nothing else."""
    assert found(one) == codes


def test_findings_are_by_rule() -> None:
    """Tools with the same fault are one finding."""
    (finding,) = lint([tool("a.b"), tool("c"), tool("d.e")])
    assert (finding.rule.code, dict(finding.tools)) == ("client-dotted-name", {"a.b": "", "d.e": ""})


@pytest.mark.parametrize(
    ("count", "length", "codes"),
    [
        pytest.param(40, 10, [], id="forty small tools"),
        pytest.param(41, 10, [("client-several-tools", 41)], id="more than forty"),
        pytest.param(129, 10, [("client-many-tools", 129)], id="more than a hundred and twenty-eight: said once"),
    ],
)
def test_budgets(count: int, length: int, codes: list[tuple[str, int]]) -> None:
    """A list has a number of tools that clients take."""
    tools = [tool(f"t{number}", description="d" * length) for number in range(count)]
    assert [(budget.code, measured) for budget, measured in exceeded(tools)] == codes


def test_weight() -> None:
    """A list has a size that clients take."""
    ((budget, measured),) = exceeded([tool(description="d" * 100_000)])
    assert budget.code == "client-heavy-list"
    assert measured > 100_000


def test_codes_are_unique() -> None:
    """A code stands for one rule, and each rule says what mends it."""
    codes = [*(rule.code for rule in RULES), *(budget.code for budget in BUDGETS)]
    assert len(set(codes)) == len(codes)
    assert all(rule.advice or (rule.setting and rule.value) for rule in RULES)
