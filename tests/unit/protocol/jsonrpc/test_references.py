"""References between the items of a batch: what they mean, and each way in which they can be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rpcgw.api.errors import DataNotFound, RpcError
from rpcgw.kernel.call import Done, Outcome
from rpcgw.kernel.failure import render
from rpcgw.protocol.jsonrpc.envelope import Batch, Request, read
from rpcgw.protocol.jsonrpc.references import FREE, Planned, Reference, fill_in, plan

ROOM = 10_000
FAILED = render(DataNotFound(), exposed=False)


def items(*requests: dict[str, Any] | int) -> Batch:
    whole = [{"method": "m", **request} if isinstance(request, dict) else request for request in requests]
    batch = read(json.dumps(whole).encode(), 100)
    assert isinstance(batch, Batch)
    return batch


def planned(*requests: dict[str, Any] | int) -> list[Planned]:
    return plan(items(*requests).items)


def done(value: Any) -> Done:
    return Done(json.dumps(value).encode())


def filled(params: Any, outcomes: dict[str, Outcome], room: int = ROOM) -> Request | RpcError:
    """A request whose references lead to requests of these ids."""
    batch = items({"id": "last", "params": params}, *({"id": name} for name in outcomes)).items
    request = batch[0]
    assert isinstance(request, Request)
    by_place = dict(enumerate(outcomes.values(), 1))
    return fill_in(request, plan(batch)[0].references, by_place, room)


def params_of(made: Request | RpcError) -> Any:
    assert isinstance(made, Request), made
    return made.params


def error_of(made: Request | RpcError | None) -> RpcError:
    assert isinstance(made, RpcError), made
    return made


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("@FROM:a(id)", ("a", "id"), id="a field"),
        pytest.param("@FROM:a()", ("a", ""), id="the whole result"),
        pytest.param("@from:a(id)", ("a", "id"), id="in small letters"),
        pytest.param("@From:a(Id)", ("a", "Id"), id="the field's case counts"),
        pytest.param("@FROM:1(id)", ("1", "id"), id="a number as id"),
        pytest.param("@FROM:0c-1f(order-id)", ("0c-1f", "order-id"), id="hyphens"),
        pytest.param("@FROM:a_1(x_2)", ("a_1", "x_2"), id="underscores"),
        pytest.param("@FROM:ї(назва)", ("ї", "назва"), id="any script"),
    ],
)
def test_forms(value: str, expected: tuple[str, str]) -> None:
    """A reference names a request of the batch by its id, and a field of its result or none."""
    parents: list[dict[str, Any]] = [{"id": name} for name in ("a", "0c-1f", "a_1", "ї")]
    [*_, found] = planned(*parents, {"id": 1}, {"id": "x", "params": {"p": value}})
    [reference] = found.references
    assert (reference.parent_id, reference.field) == expected


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"p": "FROM:a(id)"}, id="no marker"),
        pytest.param({"p": " @FROM:a(id)"}, id="a marker that does not stand first"),
        pytest.param({"p": ["@FROM:a(id)"]}, id="within a list"),
        pytest.param({"p": {"q": "@FROM:a(id)"}}, id="within an object"),
        pytest.param({"@FROM:a(id)": 1}, id="as a name"),
        pytest.param({"p": 1, "q": None, "r": True}, id="no strings"),
        pytest.param(None, id="no parameters"),
        pytest.param({"$rpc": {"rayId": "@FROM:a(id)"}}, id="in $rpc"),
    ],
)
def test_no_reference(params: Any) -> None:
    """Only a parameter that is such a string itself is a reference."""
    assert planned({"id": "a"}, {"id": "b", "params": params}) == [FREE, FREE]


def test_parents_may_stand_anywhere() -> None:
    """An item may refer to one behind it, to several, and one of them to a third."""
    found = planned(
        {"id": "a", "params": {"x": "@FROM:c()"}},
        {"id": "b", "params": ["@FROM:a(id)", 7, "@FROM:c(n)"]},
        {"id": "c"},
    )
    assert found[0].references == (Reference("x", 2, "c", ""),)
    assert found[1].references == (Reference(0, 0, "a", "id"), Reference(2, 2, "c", "n"))
    assert [sorted(each.parents) for each in found] == [[2], [0, 2], []]


def test_a_notification_may_refer() -> None:
    """A notification has no id to be referred to, and may refer to others."""
    assert planned({"id": "a"}, {"params": {"x": "@FROM:a()"}})[1].references == (Reference("x", 0, "a", ""),)


CASES: list[Any] = [
    pytest.param([{"params": {"p": "@FROM:"}}], -32602, ['"p"'], id="nothing after the marker"),
    pytest.param([{"params": {"p": "@FROM:a"}}], -32602, ['"p"'], id="no brackets"),
    pytest.param([{"params": {"p": "@FROM:a(id"}}], -32602, ['"p"'], id="an open bracket"),
    pytest.param([{"params": {"p": "@FROM:(id)"}}], -32602, ['"p"'], id="no id"),
    pytest.param([{"params": {"p": "@FROM:a(id) "}}], -32602, ['"p"'], id="something behind it"),
    pytest.param([{"params": {"p": "@FROM:a(b.c)"}}], -32602, ['"p"'], id="a path of fields"),
    pytest.param([{"params": {"p": "@from:a b(c)"}}], -32602, ['"p"'], id="a space in the id"),
    pytest.param([{"params": ["@FROM:"]}], -32602, ["0"], id="malformed at a position"),
    pytest.param([{"params": {"p": "@FROM:zz(f)"}}], -32600, ['"p"', '"f"', '"zz"', "not in this batch"], id="no such parent"),
    pytest.param([{"params": {"p": "@FROM:zz()"}}], -32600, ['"p"', "the result", '"zz"'], id="no such parent for a whole result"),
    pytest.param([{"params": {"p": "@FROM:a(f)"}}, {"id": "a"}, {"id": "a"}], -32600, ['"p"', '"a"', "more than one"], id="two parents of one id"),
    pytest.param([{"params": {"p": "@FROM:1(f)"}}, {"id": 1}, {"id": "1"}], -32600, ['"1"', "more than one"], id="the ids 1 and '1'"),
    pytest.param([{"params": {"p": "@FROM:x(f)"}}], -32301, ['"p"', '"f"', '"x"', "circle"], id="a reference to itself"),
    pytest.param([{"params": {"p": "@FROM:a(f)"}}, {"id": "a", "params": {"q": "@FROM:x()"}}], -32301, ['"p"', '"a"', "circle"], id="two that wait for each other"),
    pytest.param(
        [{"params": {"p": "@FROM:a(f)"}}, {"id": "a", "params": {"q": "@FROM:b()"}}, {"id": "b", "params": {"r": "@FROM:x(g)"}}],
        -32301, ['"p"', '"a"', "circle"], id="three that wait for each other",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("requests", "code", "words"), CASES)
def test_wrong_references(requests: list[dict[str, Any]], code: int, words: list[str]) -> None:
    """What is wrong is known before anything runs, and the error names parameter, field and parent."""
    error = error_of(planned({"id": "x", **requests[0]}, *requests[1:])[0].refused)
    assert error.wire_code == code
    assert [word for word in words if word not in error.message] == []


def test_everything_wrong_is_said_at_once() -> None:
    """One error for all references of an item, with each parameter's own words."""
    params = {"a": "@FROM:", "b": "@FROM:nobody(f)", "c": "@FROM:y(f)"}
    error = error_of(planned({"id": "x", "params": params}, {"id": "y"})[0].refused)
    assert (error.wire_code, sorted(error.extra)) == (-32602, ["a", "b"])


def test_a_circle_does_not_touch_the_others() -> None:
    """Who waits for a member of a circle is no member of it: it fails when its parent has."""
    found = planned(
        {"id": "a", "params": ["@FROM:b()"]},
        {"id": "b", "params": ["@FROM:a()", "@FROM:free()"]},
        {"id": "c", "params": ["@FROM:a()"]},
        {"id": "free"},
        {"id": "d", "params": ["@FROM:free()"]},
    )
    assert [each.refused is not None for each in found] == [True, True, False, False, False]
    assert error_of(found[1].refused).extra.keys() == {"0"}


@pytest.mark.parametrize(
    ("result", "field", "expected"),
    [
        pytest.param({"id": 7, "x": 1}, "id", 7, id="a field"),
        pytest.param({"id": None}, "id", None, id="null is a value"),
        pytest.param({"id": 0}, "id", 0, id="zero is a value"),
        pytest.param({"id": ""}, "id", "", id="an empty text is a value"),
        pytest.param({"id": False}, "id", False, id="false is a value"),
        pytest.param({"id": {"a": [1]}}, "id", {"a": [1]}, id="an object in a field"),
        pytest.param({"id": 2**70}, "id", 2**70, id="a large number is exact"),
        pytest.param([1, 2], "", [1, 2], id="a whole list"),
        pytest.param(None, "", None, id="a whole null"),
        pytest.param("@FROM:a()", "", "@FROM:a()", id="a result that looks like a reference"),
        pytest.param({"id": "@FROM:b(x)"}, "id", "@FROM:b(x)", id="a field that looks like a reference"),
    ],
)
def test_values(result: Any, field: str, expected: Any) -> None:
    """What is put in is the value, whatever it is, and is not read again."""
    made = filled({"p": f"@FROM:a({field})", "q": "@"}, {"a": done(result)})
    assert params_of(made) == {"p": expected, "q": "@"}


def test_positions() -> None:
    """Parameters by position are filled in their places."""
    assert params_of(filled([1, "@FROM:a(n)", "@FROM:b()"], {"a": done({"n": 2}), "b": done([3])})) == [1, 2, [3]]


def test_special_parameters_stay() -> None:
    """`$rpc` of an item that waits is what it was."""
    made = filled({"p": "@FROM:a()", "$rpc": {"timeout": 30, "rayId": "r"}}, {"a": done(1)})
    assert isinstance(made, Request)
    assert (made.special.timeout, made.special.ray_id, made.params) == (30, "r", {"p": 1})


def test_values_are_not_shared() -> None:
    """Two parameters that stand for one result do not change each other."""
    params = params_of(filled({"p": "@FROM:a()", "q": "@FROM:a()"}, {"a": done([1])}))
    params["p"].append(2)
    assert params["q"] == [1]


@pytest.mark.parametrize(
    ("outcome", "field", "words"),
    [
        pytest.param(FAILED, "id", ['"p"', '"id"', '"a"', "an error"], id="the parent failed"),
        pytest.param(FAILED, "", ['"p"', '"a"', "an error"], id="the parent of a whole result failed"),
        pytest.param(done({"x": 1}), "id", ['"p"', '"id"', '"a"', "no such field"], id="the field is not there"),
        pytest.param(done([1]), "id", ["no such field"], id="the result is a list"),
        pytest.param(done(None), "id", ["no such field"], id="the result is null"),
        pytest.param(done("id"), "id", ["no such field"], id="the result is a text"),
        pytest.param(Done(b"[" * 300 + b"]" * 300), "", ["nested too deeply"], id="the result is deeper than parameters may be"),
        pytest.param(Done(b'{"id":' + b"[" * 300 + b"]" * 300 + b"}"), "id", ["nested too deeply"], id="the field is deeper than parameters may be"),
    ],
)  # fmt: skip
def test_what_only_results_can_tell(outcome: Outcome, field: str, words: list[str]) -> None:
    """-32600, naming parameter, field and parent."""
    error = error_of(filled({"p": f"@FROM:a({field})"}, {"a": outcome}))
    assert error.wire_code == -32600
    assert [word for word in words if word not in error.message] == []


def test_references_cannot_multiply() -> None:
    """All that they bring together must fit into a request."""
    params = dict.fromkeys("pqr", "@FROM:a()")
    big = done("x" * 1000)
    assert isinstance(filled(params, {"a": big}, room=3100), Request)
    assert "more than a request may hold" in error_of(filled(params, {"a": big}, room=2900)).message
