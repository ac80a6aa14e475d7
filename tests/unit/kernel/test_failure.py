"""What clients see of a failure, by exception and environment."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import msgspec
import pytest

from rpcgw.api import errors
from rpcgw.kernel.failure import UFO, as_rpc_error, error_of, is_exposed, json_safe, render


class OutOfStock(errors.ApplicationError):
    """An author's error."""


class Coded(Exception):
    def __init__(self, code: object) -> None:
        super().__init__("secret words")
        self.code = code


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Exit(Exception):
    def __str__(self) -> str:
        raise SystemExit("no words")

    @property
    def code(self) -> int:
        raise SystemExit(3)


class Trap(Exception):
    @property
    def code(self) -> int:
        raise RuntimeError("no code")


@pytest.mark.parametrize(
    ("code", "kind", "kept"),
    [
        pytest.param(-32700, "ParseError", -32700, id="an exact entry is its class"),
        pytest.param(-32602, "InvalidParams", -32602, id="-32602 is about parameters"),
        pytest.param(-32400, "LogicError", -32400, id="-32400 is logic"),
        pytest.param(-32404, "DataNotFound", -32404, id="-32404 is missing data"),
        pytest.param(-32450, "LogicError", -32450, id="a reserved code is of its hundred's class and kept"),
        pytest.param(-32650, "InvalidRequest", -32650, id="the hundred rounds toward zero"),
        pytest.param(-32599, "RuntimeFault", -32599, id="the last of a hundred"),
        pytest.param(-32100, "InternalError", -32603, id="a reserved hundred without a class is internal"),
        pytest.param(-32768, "InternalError", -32603, id="below -32700 is internal"),
        pytest.param(-32050, "ServerError", -32050, id="a server error keeps its code"),
        pytest.param(4010, "ApplicationError", 4010, id="an application's code is kept"),
        pytest.param(404, "ApplicationError", 404, id="an HTTP status is an application's code"),
        pytest.param(-32769, "ApplicationError", -32769, id="just outside the reserved range"),
        pytest.param(0, "InternalError", -32603, id="0 is no code"),
    ],
)
def test_a_code_decides_the_class(code: int, kind: str, kept: int) -> None:
    """An error made of a code has the table's class and, unless it means nothing, the code itself."""
    error = error_of(code, "words")
    assert (type(error).__name__, error.wire_code, error.message) == (kind, kept, "words")


@pytest.mark.parametrize(
    ("cause", "kind", "code"),
    [
        pytest.param(ValueError("secret words"), "InternalError", -32603, id="an unforeseen exception"),
        pytest.param(RecursionError("secret words"), "InternalError", -32603, id="too deep a recursion"),
        pytest.param(SystemExit(3), "InternalError", -32603, id="an exit status is no code"),
        pytest.param(KeyboardInterrupt("secret words"), "InternalError", -32603, id="an interrupt"),
        pytest.param(Coded(4010), "ApplicationError", 4010, id="an integer code is kept"),
        pytest.param(Coded(-32404), "DataNotFound", -32404, id="a code of the table"),
        pytest.param(Coded("E42"), "InternalError", -32603, id="a code that is a text"),
        pytest.param(Coded(True), "InternalError", -32603, id="a code that is a bool"),
        pytest.param(Mute(), "InternalError", -32603, id="an exception whose text raises"),
        pytest.param(Trap(), "InternalError", -32603, id="an exception whose code raises"),
        pytest.param(Exit(), "InternalError", -32603, id="an exception whose code and text are exits"),
    ],
)
def test_foreign_exceptions_do_not_speak_to_clients(cause: BaseException, kind: str, code: int) -> None:
    """T-17: outside dev and test the client gets a class, a code and a generic text, never the exception's own words."""
    failed = render(as_rpc_error(cause, exposed=False), exposed=False)
    assert (failed.code, failed.data) == (code, {"exception": kind})
    assert "secret" not in failed.message


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(
            OutOfStock("Sold out", code=7, extra={"left": 0}),
            {"code": 7, "message": "Sold out", "data": {"exception": "OutOfStock", "extra": {"left": 0}}},
            id="an author's own class",
        ),
        pytest.param(
            errors.DataNotFound(),
            {
                "code": -32404,
                "message": 'Api method returned error "Data not found"',
                "data": {"exception": "DataNotFound"},
            },
            id="an empty extra is left out",
        ),
        pytest.param(
            errors.RuntimeFault("half \ud800 a pair"),
            {"code": -32500, "message": "half ? a pair", "data": {"exception": "RuntimeFault"}},
            id="half of a surrogate pair",
        ),
    ],
)
def test_rpc_errors_go_out_as_they_are(error: errors.RpcError, expected: dict[str, Any]) -> None:
    """What an author raises on purpose reaches the client in every environment."""
    assert as_rpc_error(error, exposed=False) is error
    assert render(error, exposed=False).body() == expected


@pytest.mark.parametrize(
    ("environment", "exposed"),
    [("dev", True), ("test", True), ("prod", False), ("Dev", False), ("staging", False), ("", False)],
)
def test_only_dev_and_test_are_exposed(environment: str, exposed: bool) -> None:
    """T-17: the names are exact."""
    assert is_exposed(environment) is exposed


def chained() -> None:
    missing: dict[str, int] = {}
    try:
        missing["first"]
    except KeyError as first:
        raise ValueError("second") from first


def test_exposed_errors_tell_the_whole_story() -> None:
    """T-17: in dev and test `data` holds text, code, place, trace, and the exceptions before, innermost last."""
    with pytest.raises(ValueError, match="second") as caught:
        chained()
    failed = render(as_rpc_error(caught.value, exposed=True), exposed=True)
    assert failed.message == "second"
    data = failed.data
    assert data["exception"] == "InternalError"
    assert data["file"] == __file__
    assert isinstance(data["line"], int)
    assert data["trace"][-1]["function"] == "chained"
    second = data["previous"]
    assert (second["exception"], second["message"], second["code"]) == ("ValueError", "second", -32603)
    assert "ValueError: second" in second["trace_string"]
    assert (second["previous"]["exception"], second["previous"]["previous"]) == ("KeyError", None)
    msgspec.json.encode(failed.body())


def test_a_circle_of_causes_ends() -> None:
    """Exceptions that are each other's cause are told once each."""
    first, second = ValueError("1"), ValueError("2")
    first.__cause__, second.__cause__ = second, first
    data = render(as_rpc_error(first, exposed=True), exposed=True).data
    assert data["previous"]["previous"]["message"] == "2"
    assert data["previous"]["previous"]["previous"] is None


def test_a_deep_trace_is_cut() -> None:
    """The trace of an endless recursion is bounded."""

    def deeper() -> None:
        deeper()

    with pytest.raises(RecursionError) as caught:
        deeper()
    data = render(as_rpc_error(caught.value, exposed=True), exposed=True).data
    assert len(data["previous"]["trace"]) == 50
    assert len(msgspec.json.encode(data)) < 50_000


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("bag", "safe"),
    [
        pytest.param(
            {"a": 1, "b": None, "c": True, "d": "x", "e": 1.5},
            {"a": 1, "b": None, "c": True, "d": "x", "e": 1.5},
            id="scalars stay",
        ),
        pytest.param({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 2}]}}, id="nested lists and maps stay"),
        pytest.param(
            {"a": object(), "b": {"c": object(), "d": 1}, "e": [object(), 1]},
            {"b": {"d": 1}, "e": [1]},
            id="objects go at any depth",
        ),
        pytest.param({"a": math.nan, "b": [math.inf]}, {"b": []}, id="no NaN and no infinity"),
        pytest.param({"a": (1, 2)}, {"a": [1, 2]}, id="a tuple is a list"),
        pytest.param({"a": {1: "x", object(): "y"}}, {"a": {"1": "x"}}, id="keys are texts"),
        pytest.param({"a": Colour.RED}, {"a": "red"}, id="a text of another class is a text"),
        pytest.param({"a": b"x", "b": {1, 2}}, {}, id="neither bytes nor sets"),
        pytest.param({"a\ud800": "b\ud800"}, {"a?": "b?"}, id="no halves of surrogate pairs"),
    ],
)
def test_extra_is_json_or_nothing(bag: dict[str, object], safe: dict[str, object]) -> None:
    """What JSON cannot carry is dropped from `extra`; the rest goes out."""
    assert json_safe(bag) == safe
    msgspec.json.encode(safe)


def test_extra_that_contains_itself_ends() -> None:
    """A bag without end is cut, not followed."""
    bag: dict[str, object] = {}
    bag["self"] = bag
    assert b"self" in msgspec.json.encode(json_safe(bag))


@pytest.mark.parametrize(
    ("error", "name"),
    [
        pytest.param(errors.InternalError(), r"Ufo\RpcError\RpcInternalException", id="one of ours"),
        pytest.param(error_of(-32450), r"Ufo\RpcError\RpcLogicException", id="one by its hundred"),
        pytest.param(
            errors.ApplicationError(code=4010), r"Ufo\RpcError\CustomApplicationException", id="an application's"
        ),
        pytest.param(type("SkuTaken", (errors.LogicError,), {})(), "SkuTaken", id="an author's class has its own name"),
    ],
)
def test_names_of_the_original(error: errors.RpcError, name: str) -> None:
    """`errors.names: ufo` calls classes as the original's package does."""
    assert render(error, exposed=False, names=UFO).data["exception"] == name


def test_every_class_has_a_name_of_the_original() -> None:
    """No error of ours is left out of the map, but those that the original has nothing like."""
    kinds = {
        name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.RpcError)
    }
    assert kinds - {"RpcError", "NotNow", "Overloaded", "CircuitOpen", "TooManyRequests"} == set(UFO)


def test_names_in_the_story() -> None:
    """The previous chain is called alike."""
    outer = errors.RuntimeFault()
    outer.__cause__ = errors.DataNotFound()
    data = render(outer, exposed=True, names=UFO).data
    assert data["previous"]["exception"] == r"Ufo\RpcError\RpcDataNotFoundException"
