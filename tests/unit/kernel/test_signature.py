"""Signatures and what is wrong with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Annotated, Any, NewType, TypeVar

import pytest
from typing_extensions import TypeAliasType, deprecated

import rpcgw as rpc
from rpcgw.kernel.signature import ABSENT, Signature, describe_hint, read_signature

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


_T = TypeVar("_T")
Few = TypeAliasType("Few", list[_T], type_params=(_T,))
Price = NewType("Price", int)


class Base:
    class Inner:
        """Known inside the class alone."""

    def documented(self, a: int) -> int:
        """From the base.

        Args:
            a: A number.
        """
        return a


class Zoo(Base):
    def documented(self, a: int) -> int:
        return a

    async def asynchronous(self, a: int, ctx: rpc.CallContext) -> None: ...

    def optional_context(self, ctx: rpc.CallContext | None = None) -> None: ...

    def annotated_context(self, ctx: Annotated[rpc.CallContext, "x"]) -> None: ...

    def inner(self) -> Inner: ...  # type: ignore[name-defined]  # noqa: F821 -- what is tested

    @staticmethod
    def static(a: int) -> int:
        return a

    @classmethod
    def of_class(cls, a: int) -> int:
        return a

    def positions(self, a: int, /, b: int, *, c: int = 1) -> int:
        return a + b + c

    @passing
    def wrapped(self, a: int) -> int:
        return a

    @deprecated("use documented")
    def old(self) -> int:
        return 1

    def variadic(self, *args: int, **more: int) -> int:
        return 1

    def unknown(self, a: OnlyForCheckers) -> int:
        return 1

    def untyped(self, a) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001 -- what is tested
        return 1

    def mutable(self, a: list[int] = [1]) -> int:  # noqa: B006 -- what is tested
        return 1

    def reserved(self, client: str) -> int:
        return 1

    def ghost(self, a: int) -> int:
        """Has one.

        Args:
            a: There.
            b: Not there.
        """
        return 1

    def raises(self) -> int:
        """Raises.

        Raises:
            KeyError: One.
            rpc.DataNotFound: Two.
            NoSuchError: Three.
        """
        return 1

    def selfless() -> int:  # type: ignore[misc]  # what is tested
        return 1

    async def stream(self) -> AsyncIterator[int]:
        yield 1


def read(name: str) -> tuple[Signature | None, list[str]]:
    signature, problems = read_signature(f"Zoo.{name}", inspect.getattr_static(Zoo, name), Zoo)
    return signature, [f"{p.level}[{p.code}] {p.text}" for p in problems]


def good(name: str) -> Signature:
    signature, problems = read(name)
    assert signature is not None
    assert problems == []
    return signature


@pytest.mark.parametrize(
    ("name", "params"),
    [
        pytest.param("documented", ["a"], id="a method"),
        pytest.param("static", ["a"], id="a static method"),
        pytest.param("of_class", ["a"], id="a class method"),
        pytest.param("wrapped", ["a"], id="a function behind a decorator"),
        pytest.param("asynchronous", ["a"], id="a context is no parameter"),
        pytest.param("optional_context", [], id="nor is an optional one"),
        pytest.param("annotated_context", [], id="nor an annotated one"),
        pytest.param("positions", ["a", "b", "c"], id="every kind of parameter"),
    ],
)
def test_params(name: str, params: list[str]) -> None:
    """The parameters of the API, whatever kind of function it is."""
    assert [param.name for param in good(name).params] == params


def test_what_a_signature_says() -> None:
    """Contexts, positions, defaults, kinds and docstrings are found where they are written."""
    assert good("asynchronous").is_async
    assert good("asynchronous").contexts == ("ctx",)
    assert good("positions").positional == ("a",)
    assert [param.default for param in good("positions").params] == [ABSENT, ABSENT, 1]
    assert good("documented").description == "From the base."
    assert good("documented").params[0].description == "A number."
    assert good("old").deprecated
    assert good("asynchronous").returns is type(None)


def test_annotations_may_name_what_the_class_holds() -> None:
    """A class inside of a base is known to annotations that are texts."""
    assert good("inner").returns is Base.Inner


def test_a_place_is_the_first_line_of_the_function() -> None:
    """Problems point at the decorator above the function, in its file."""
    place = good("wrapped").place
    line = inspect.getsourcelines(inspect.unwrap(Zoo.wrapped))[1]
    assert (place.file, place.line) == (__file__, line)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("variadic", ["error[variadic] Zoo.variadic: *args cannot be part of an API", "error[variadic] Zoo.variadic: **more cannot be part of an API"]),
        ("unknown", ["error[forward-ref] Zoo.unknown: the annotation names 'OnlyForCheckers', which is not defined where the method is"]),
        ("untyped", ["warning[untyped] Zoo.untyped: parameter 'a' has no annotation, so anything is accepted"]),
        ("mutable", ["warning[mutable-default] Zoo.mutable: the default of 'a' is a mutable list"]),
        ("reserved", ["warning[reserved] Zoo.reserved: a parameter called 'client' is what browser tools add by themselves"]),
        ("ghost", ["warning[doc-param] Zoo.ghost: the docstring describes 'b', which is not a parameter"]),
        ("raises", ["warning[doc-raises] Zoo.raises: the docstring says that it raises 'NoSuchError', which is no exception known where the method is"]),
        ("selfless", ["error[no-self] Zoo.selfless: the method takes no self"]),
        ("stream", ["error[type] Zoo.stream: the method yields, and a result is one value"]),
    ],
)  # fmt: skip
def test_problems(name: str, said: list[str]) -> None:
    """Each mistake is one problem with a code of its own."""
    assert read(name)[1] == said


def test_raises_are_resolved() -> None:
    """`Raises:` names exceptions as the module knows them, dotted ones too."""
    signature, _ = read("raises")
    assert signature is not None
    assert [error for error, _ in signature.raises] == [KeyError, rpc.DataNotFound]


def test_a_name_that_no_tool_may_have() -> None:
    """T-02: a method's name has to be one that MCP accepts."""
    _, problems = read_signature("bad name!", Zoo.documented, Zoo)
    assert [problem.code for problem in problems] == ["name"]


@pytest.mark.parametrize(
    ("hint", "shown"),
    [(int, "int"), (None, "None"), (int | None, "int | None"), (list[int], "list[int]"), (Base.Inner, "Base.Inner"), (Any, "Any"), (list[Base.Inner], "list[Base.Inner]"), (Few[Base], "Few[Base]"), (Price, "Price")],
)  # fmt: skip
def test_types_are_shown_as_they_are_written(hint: Any, shown: str) -> None:
    """People read the type that they wrote."""
    assert describe_hint(hint) == shown
