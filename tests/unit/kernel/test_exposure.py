"""Which functions become methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.api.marks import Inline, Lock, marks_of
from rpcgw.kernel.exposure import Exposure, Registration, expose


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Unmarked:
    def helper(self) -> int:
        return 1


@rpc.procedure("Base", groups=["base"])
class MarkedBase(Unmarked):
    def inherited(self) -> int:
        return 1

    @rpc.hidden
    def kept_back(self) -> int:
        return 1


@rpc.procedure("Shop", groups=["mcp"], with_default=False, version=2, removed=["old"])
class Shop(MarkedBase):
    number = 3

    class Nested:
        """No method."""

    def search(self) -> int:
        return 1

    async def later(self) -> int:
        return 1

    @staticmethod
    def static() -> int:
        return 1

    @classmethod
    def of_class(cls) -> int:
        return 1

    @property
    def looked_up(self) -> int:
        return 1

    @rpc.groups("internal")
    def both(self) -> int:
        return 1

    @rpc.groups("internal", with_default=False)
    @passing
    def wrapped(self) -> int:
        return 1

    @rpc.hidden
    @staticmethod
    def hidden() -> int:
        return 1

    def _private(self) -> int:
        return 1


@rpc.procedure("")
class Nameless:
    def alone(self) -> int:
        return 1


@rpc.procedure()
class Short:
    def method(self) -> int:
        return 1


@rpc.procedure("Nothing")
class Nothing(Unmarked):
    pass


@rpc.procedure("Lonely", with_default=False)
class Lonely:
    def method(self) -> int:
        return 1


class Heir(Shop):
    pass


def exposed(procedure: type | object) -> Exposure:
    exposure, problems = expose(Registration(procedure))
    assert exposure is not None
    assert problems == []
    return exposure


@pytest.mark.parametrize("procedure", [Shop, Shop()], ids=["a class", "an instance"])
def test_what_is_exposed(procedure: object) -> None:
    """Public functions that the class or a marked base declares; no helpers of other bases, nothing hidden."""
    exposure = exposed(procedure)
    assert [method.attribute for method in exposure.methods] == [
        *("both", "inherited", "later", "of_class", "search", "static", "wrapped"),
    ]
    assert exposure.removed == ("Shop.old",)
    assert exposure.version == 2


@pytest.mark.parametrize(
    ("procedure", "name"),
    [(Nameless, "alone"), (Short, "Short.method"), (Shop, "Shop.both")],
    ids=["an empty alias", "the class's name", "an alias"],
)
def test_names(procedure: type, name: str) -> None:
    """T-02: `<alias>.<function>`; the function alone for an empty alias, the class's name without one."""
    assert exposed(procedure).methods[0].name == name


@pytest.mark.parametrize(
    ("attribute", "groups"),
    [
        pytest.param("search", {"mcp"}, id="the class's groups"),
        pytest.param("inherited", {"mcp"}, id="also for what a base declares"),
        pytest.param("both", {"internal", "general"}, id="a method's own replace them"),
        pytest.param("wrapped", {"internal"}, id="wherever the mark stands among decorators"),
    ],
)
def test_groups(attribute: str, groups: set[str]) -> None:
    """C-18: the mark of a method replaces that of its class."""
    (method,) = [method for method in exposed(Shop).methods if method.attribute == attribute]
    assert method.groups == groups
    assert exposed(Shop).groups == {"mcp", "internal", "general"}


@pytest.mark.parametrize(
    ("procedure", "said"),
    [
        pytest.param(Unmarked, "error[no-procedure] Unmarked carries no @rpc.procedure mark", id="no mark"),
        pytest.param(Heir, "error[no-procedure] Heir carries no @rpc.procedure mark", id="marks are not inherited"),
        pytest.param(Nothing, "warning[no-method] Nothing has no public method of its own", id="no method"),
        pytest.param(
            Lonely, "warning[no-group] Lonely.method belongs to no group, so nothing serves it", id="no group"
        ),
    ],
)
def test_problems(procedure: type, said: str) -> None:
    """A procedure that serves nothing says why."""
    _, problems = expose(Registration(procedure))
    assert [f"{p.level}[{p.code}] {p.text}" for p in problems] == [said]
    assert problems[0].place.file == __file__


def test_marks_are_found_through_wrappers() -> None:
    """A mark above a decorator and one below it both count."""

    @rpc.inline
    @passing
    @rpc.lock(by="a")
    def function(a: int) -> int:
        return a

    assert len(marks_of(function)) == 2


@pytest.mark.parametrize("wrapper", [staticmethod, classmethod])
def test_marks_below_static_and_class_methods_count(wrapper: Any) -> None:
    """A mark stands where its author wrote it, above or below."""

    def function() -> None: ...

    assert list(marks_of(rpc.lock()(wrapper(rpc.inline(function))))) == [Inline, Lock]


def test_marks_of_classes_are_not_inherited() -> None:
    """A class that derives from a procedure is none itself."""

    class Derived(Lonely): ...

    assert not marks_of(Derived)
