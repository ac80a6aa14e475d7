"""Parameters that headers repeat: which annotations are sound, and when header and argument agree."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.protocol.mcp.mirrors import check, mirrors_of

STRING = {"type": "string", "x-mcp-header": "Region"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        pytest.param(schema(a={"type": "string"}), [], id="no annotation"),
        pytest.param(schema(a=STRING), [("a",)], id="a text"),
        pytest.param(schema(a={"type": "integer", "x-mcp-header": "A"}, b={"type": "boolean", "x-mcp-header": "B"}), [("a",), ("b",)], id="a whole number and a boolean"),
        pytest.param(schema(a=schema(b=STRING)), [("a", "b")], id="inside an object"),
        pytest.param(schema(**{"x-mcp-header": {"type": "string"}}), [], id="a parameter that is named like the keyword"),
        pytest.param(schema(a={"type": "string", "default": {"x-mcp-header": 5}}), [], id="data that looks like it"),
    ],
)  # fmt: skip
def test_sound_annotations_are_found(given: dict[str, Any], paths: list[tuple[str, ...]]) -> None:
    """MCP 2026-07-28, Custom Headers from Tool Parameters, Schema Extension."""
    sound, wrong = mirrors_of(given)
    assert [mirror.path for mirror in sound] == paths
    assert wrong == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(schema(a={"type": "string", "x-mcp-header": ""}), "name of a header field", id="an empty name"),
        pytest.param(schema(a={"type": "string", "x-mcp-header": "a b"}), "name of a header field", id="a name with a blank"),
        pytest.param(schema(a={"type": "string", "x-mcp-header": 5}), "name of a header field", id="a name that is no text"),
        pytest.param(schema(a={"type": "number", "x-mcp-header": "A"}), "exactly a string", id="a number"),
        pytest.param(schema(a={"anyOf": [{"type": "string"}, {"type": "null"}], "x-mcp-header": "A"}), "exactly a string", id="a union"),
        pytest.param(schema(a={"type": "array", "items": STRING}), "no chain of properties", id="inside an array"),
        pytest.param({"type": "object", "$defs": {"X": schema(a=STRING)}, "properties": {"x": {"$ref": "#/$defs/X"}}}, "no chain of properties", id="behind a reference"),
        pytest.param(schema(a=STRING, b={"type": "string", "x-mcp-header": "REGION"}), "used twice", id="two of the same name"),
    ],
)  # fmt: skip
def test_unsound_annotations_are_problems(given: dict[str, Any], words: str) -> None:
    """A client must leave out a tool with such an annotation, so its author is told."""
    _, wrong = mirrors_of(given)
    assert wrong
    assert words in wrong[0]


@pytest.mark.parametrize(
    ("kind", "value", "sent", "agrees"),
    [
        pytest.param("string", "x", ["x"], True, id="the same text"),
        pytest.param("string", "x", ["X"], False, id="another case"),
        pytest.param("string", "", [""], True, id="an empty text"),
        pytest.param("string", "x", [], False, id="no header"),
        pytest.param("string", "x", ["x", "x"], False, id="two headers"),
        pytest.param("string", None, [], True, id="no argument, no header"),
        pytest.param("string", None, ["x"], False, id="no argument, a header"),
        pytest.param("string", 5, ["x"], True, id="an argument of the wrong type is left to the gate"),
        pytest.param("boolean", True, ["true"], True, id="true"),
        pytest.param("boolean", False, ["False"], False, id="false in capitals"),
        pytest.param("integer", 42, ["42"], True, id="the same number"),
        pytest.param("integer", 42, ["42.00"], True, id="the same number with a fraction of zero"),
        pytest.param("integer", 42.0, ["42"], True, id="a whole float"),
        pytest.param("integer", 42, ["42.5"], False, id="a fraction"),
        pytest.param("integer", 42, ["4_2"], False, id="an underscore"),
        pytest.param("integer", 42, ["1" * 5000], False, id="a number without end"),
        pytest.param("integer", -7, ["-7"], True, id="a negative number"),
    ],
)  # fmt: skip
def test_header_and_argument_say_the_same(kind: str, value: Any, sent: list[str], agrees: bool) -> None:
    """MCP 2026-07-28, Server Behavior for Custom Headers; whole numbers are compared as numbers."""
    mirrors, _ = mirrors_of(schema(a={"type": kind, "x-mcp-header": "A"}))
    fault = check(mirrors, {} if value is None else {"a": value}, CIMultiDict([("Mcp-Param-A", each) for each in sent]))
    assert (fault is None) is agrees
    assert fault is None or fault.code == -32020
