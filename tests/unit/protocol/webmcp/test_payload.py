"""What a page gets of a tool: a primitive's fields are its data, and what follows from both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rpcgw.api.webmcp import (
    BodyLine,
    Call,
    Confirm,
    Field,
    Form,
    FormText,
    ListText,
    Mailto,
    Manifest,
    Module,
    Navigate,
    NavigateText,
    Option,
    Primitive,
    Search,
    SearchText,
    StaticList,
)
from rpcgw.protocol.webmcp.payload import data_of, entry

NAVIGATE = Navigate([Option("blog", "Blog", "/blog/")])
SEARCH = Search("/index.json", ["title"])
MAILTO = Mailto("info@example.org", "Question from {name}")
STATIC = StaticList([{"title": "a"}])
FORM = Form("form", [Field("email")])

DATA = [
    pytest.param(
        Navigate([Option("b", "B", "/b")], "section", NavigateText("{label}", "{options}", "no"), {"x": {"y": 1}}),
        {
            "param": "section",
            "options": [{"match": "b", "label": "B", "url": "/b"}],
            "messages": {"success": "{label}", "unknown": "{options}", "cancelled": "no"},
            "x": {"y": 1},
        },
        id="navigate, W-05",
    ),
    pytest.param(
        Search(
            index_url="/i.json",
            search_fields=("title", "teaser"),
            query_param="q",
            query_required=True,
            limit_param="n",
            limit_default=5,
            limit_maximum=20,
            result_key="hits",
            result_fields={"name": "title"},
            deep_link_template="/?q={q}",
            text=SearchText("h", "ha", "l", "eq", "ea"),
        ),
        {
            "indexUrl": "/i.json",
            "searchFields": ["title", "teaser"],
            "queryParam": "q",
            "queryRequired": True,
            "limitParam": "n",
            "limitDefault": 5,
            "limitMaximum": 20,
            "resultKey": "hits",
            "resultFields": {"name": "title"},
            "deepLinkTemplate": "/?q={q}",
            "text": {"heading": "h", "headingAll": "ha", "line": "l", "emptyQuery": "eq", "emptyAll": "ea"},
        },
        id="search, W-06",
    ),
    pytest.param(
        Mailto("info@example.org", "s", [BodyLine("Name", "name"), BodyLine("Tel", "tel", optional=True)], "message", "ok"),
        {
            "to": "aW5mb0BleGFtcGxlLm9yZw==",
            "subjectTemplate": "s",
            "bodyLines": [
                {"label": "Name", "param": "name", "optional": False},
                {"label": "Tel", "param": "tel", "optional": True},
            ],
            "messageParam": "message",
            "successTemplate": "ok",
        },
        id="mailto, W-07",
    ),
    pytest.param(
        StaticList([{"a": None, "b": [1]}], "days", ListText("h", "l")),
        {"items": [{"a": None, "b": [1]}], "resultKey": "days", "text": {"heading": "h", "line": "l"}},
        id="static, W-08: items are verbatim",
    ),
    pytest.param(Module("/m.mjs", {"a": 1}), {"a": 1}, id="module, W-10: the data is what the author says"),
    pytest.param(Call("Catalog.search", "public", 2, {"a": 1}), {"a": 1}, id="call: method and group stay on the server"),
    pytest.param(
        Form("#f", [Field("email", "mail", "Where to", required=True), Field("x")], True, FormText("f", "s", "m", "i")),
        {
            "selector": "#f",
            "submit": True,
            "fields": [
                {"name": "email", "param": "mail", "description": "Where to", "required": True},
                {"name": "x", "param": "x", "description": "", "required": False},
            ],
            "messages": {"filled": "f", "submitted": "s", "missing": "m", "invalid": "i"},
        },
        id="form",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("primitive", "expected"), DATA)
def test_data(primitive: Primitive, expected: Mapping[str, Any]) -> None:
    """A primitive's fields are its data, in camelCase, with what `extra` holds beside them."""
    assert data_of(primitive) == expected


def test_what_is_none_is_absent() -> None:
    """No member of the data is ever null for want of a value."""
    assert {"resultFields", "deepLinkTemplate"} & data_of(SEARCH).keys() == set()
    assert "messageParam" not in data_of(MAILTO)


def test_extra_replaces_nothing() -> None:
    """What the primitive says holds, whatever `extra` says."""
    assert data_of(Navigate([Option("a", "A", "/")], extra={"param": "x"}))["param"] == "value"


HINTS = [
    pytest.param(NAVIGATE, {}, (False, False, False), id="navigate"),
    pytest.param(SEARCH, {}, (True, True, False), id="search reads, and shows what others wrote"),
    pytest.param(MAILTO, {}, (False, False, True), id="mailto has consequences"),
    pytest.param(STATIC, {}, (True, False, False), id="static reads"),
    pytest.param(Module("/m.mjs"), {}, (False, False, False), id="module"),
    pytest.param(Call("A.b"), {}, (False, True, True), id="call may change something"),
    pytest.param(Call("A.b"), {"read_only": True}, (True, True, False), id="call that reads"),
    pytest.param(FORM, {}, (False, False, False), id="form that is only filled in"),
    pytest.param(Form("f", [Field("x")], submit=True), {}, (False, False, True), id="form that is sent"),
    pytest.param(SEARCH, {"read_only": False, "untrusted": False, "consequential": True}, (False, False, True), id="the manifest goes before"),
    pytest.param(MAILTO, {"consequential": False}, (False, False, False), id="the manifest goes before, to no"),
]  # fmt: skip


@pytest.mark.parametrize(("primitive", "said", "expected"), HINTS)
def test_annotations(primitive: Primitive, said: Mapping[str, Any], expected: tuple[bool, bool, bool]) -> None:
    """Three hints are always there: what the manifest says, else what the primitive does."""
    names = ("readOnlyHint", "untrustedContentHint", "consequentialHint")
    found = entry(Manifest("a", "b", primitive, **said))["annotations"]
    assert found == dict(zip(names, expected, strict=True))


def test_debugging_is_there_only_where_it_is_true() -> None:
    """The fourth hint is newer than the others."""
    assert entry(Manifest("a", "b", STATIC, debugging=True))["annotations"]["debugging"] is True


CONFIRM = [
    pytest.param(NAVIGATE, {}, None, id="nothing is asked"),
    pytest.param(MAILTO, {}, Confirm(), id="asked in the script's own words"),
    pytest.param(NAVIGATE, {"confirm": Confirm("Go?", "Yes", "No", 9)}, Confirm("Go?", "Yes", "No", 9), id="asked in the author's"),
    pytest.param(MAILTO, {"consequential": False}, None, id="not asked"),
    pytest.param(NAVIGATE, {"consequential": True}, Confirm(), id="asked since the manifest says so"),
]  # fmt: skip


@pytest.mark.parametrize(("primitive", "said", "expected"), CONFIRM)
def test_confirm(primitive: Primitive, said: Mapping[str, Any], expected: Confirm | None) -> None:
    """The question is there exactly where the visitor is to be asked."""
    found = entry(Manifest("a", "b", primitive, **said)).get("confirm")
    whole = expected and {
        "text": expected.text,
        "accept": expected.accept,
        "decline": expected.decline,
        "seconds": expected.seconds,
    }
    assert found == whole


SCHEMAS = [
    pytest.param(NAVIGATE, {"value": {"type": "string", "enum": ["blog"]}}, ["value"], id="navigate"),
    pytest.param(MAILTO, {"name": {"type": "string"}}, None, id="mailto takes what its subject names"),
    pytest.param(
        Mailto("a@b.cd", "s", [BodyLine("N", "n"), BodyLine("T", "t", optional=True)], "m"),
        {"n": {"type": "string", "description": "N"}, "t": {"type": "string", "description": "T"}, "m": {"type": "string"}},
        ["n", "m"],
        id="mailto takes what its body names",
    ),
    pytest.param(STATIC, {}, None, id="static takes nothing"),
    pytest.param(
        Form("f", [Field("a", "b", "c", required=True), Field("d")]),
        {"b": {"type": "string", "description": "c"}, "d": {"type": "string"}},
        ["b"],
        id="form",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("primitive", "properties", "required"), SCHEMAS)
def test_input_schema(primitive: Primitive, properties: Mapping[str, Any], required: list[str] | None) -> None:
    """Without a schema of the author's, the primitive says what it takes, and nothing else is taken."""
    schema = entry(Manifest("a", "b", primitive))["inputSchema"]
    assert (schema["type"], schema["properties"], schema.get("required")) == ("object", properties, required)
    assert schema["additionalProperties"] is False


def test_search_takes_a_query_and_a_limit() -> None:
    """The query is required where the author says so, the limit never."""
    schema = entry(Manifest("a", "b", Search("/i", ["t"], query_required=True, limit_maximum=7)))["inputSchema"]
    assert schema["required"] == ["query"]
    assert (schema["properties"]["limit"]["minimum"], schema["properties"]["limit"]["maximum"]) == (1, 7)


def test_a_schema_of_the_author_s_is_kept() -> None:
    """The type is filled in where it is missing; the author's own value is not changed."""
    own = {"properties": {"x": {"type": "string"}}}
    assert entry(Manifest("a", "b", NAVIGATE, own))["inputSchema"] == {**own, "type": "object"}
    assert "type" not in own


def test_members() -> None:
    """W-03: what is always there, and what is there only where it is given."""
    least = entry(Manifest("a", "b", STATIC))
    assert list(least) == ["name", "description", "inputSchema", "primitive", "data", "annotations"]
    most = entry(Manifest("a", "b", Module("/m.mjs"), title="t", output_schema={"type": "object"}))
    assert (most["title"], most["outputSchema"], most["moduleUrl"]) == ("t", {"type": "object"}, "/m.mjs")
