"""What authors get wrong, found before anything is served."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from pydantic import Field

import rpcgw as rpc
from rpcgw.kernel.conversion import Codecs
from rpcgw.kernel.drafting import Draft, draft
from rpcgw.kernel.exposure import Registration, expose


class Opaque:
    pass


class Numbered(enum.Enum):
    A = 1
    B = 2


@dataclasses.dataclass
class Product:
    id: int
    name: str


@rpc.procedure("Z")
class Zoo:
    def opaque(self, a: Opaque) -> int:
        raise NotImplementedError

    def opaque_result(self) -> Opaque:
        raise NotImplementedError

    def stream(self) -> AsyncIterator[int]:
        raise NotImplementedError

    def pattern(self, a: Annotated[str, Field(pattern="(?=a)b")]) -> int:
        raise NotImplementedError

    def default(self, a: int = None) -> int:  # type: ignore[assignment]  # noqa: RUF013 -- what is tested
        raise NotImplementedError

    def default_fields(self, a: Product = {"id": 1}) -> int:  # type: ignore[assignment]  # noqa: B006 -- what is tested
        raise NotImplementedError

    def default_json(self, a: Any = Opaque()) -> int:  # noqa: B008 -- what is tested
        raise NotImplementedError

    def numbered(self, a: Numbered) -> int:
        raise NotImplementedError

    @rpc.lock(by="b")
    def locked(self, a: int) -> int:
        raise NotImplementedError

    @rpc.cache(ttl=1)
    def cached(self, ctx: rpc.CallContext) -> int:
        raise NotImplementedError

    @rpc.cache(ttl=1, vary=["locale", "weather"])
    def varied(self, ctx: rpc.CallContext) -> int:
        raise NotImplementedError

    @rpc.tool(input_schema={"type": "object", "properties": {"a": {"type": "nonsense"}}})
    def no_schema(self, a: int) -> int:
        raise NotImplementedError

    @rpc.tool(input_schema={"type": "object", "properties": {"a": {"pattern": "(?=a)"}}})
    def no_pattern(self, a: int) -> int:
        raise NotImplementedError

    @rpc.tool(input_schema={"type": "object", "$ref": "#/$defs/nowhere"})
    def no_reference(self, a: int) -> int:
        raise NotImplementedError

    @rpc.tool(input_schema={"type": "string"})
    def no_object(self, a: int) -> int:
        raise NotImplementedError

    @rpc.tool(input_schema={"type": "object", "properties": {"a": {}, "b": {}}})
    def no_parameter(self, a: int) -> int:
        raise NotImplementedError

    @rpc.cache(ttl=1, vary=["principal", "header:X-Tenant"])
    @rpc.lock(by="a")
    @rpc.tool(input_schema={"type": "object", "properties": {"a": {"type": "integer"}}})
    def right(self, a: int, ctx: rpc.CallContext, p: Product = Product(1, "x")) -> Product:  # noqa: B008 -- what is tested
        return p


EXPOSED = {method.attribute: method for exposure in [expose(Registration(Zoo))[0]] if exposure for method in exposure.methods}  # fmt: skip


def drafted(attribute: str) -> tuple[Draft | None, list[str]]:
    made, problems = draft(EXPOSED[attribute], Codecs())
    return made, [f"{p.level}[{p.code}] {p.text.removeprefix(f'Z.{attribute}: ')}" for p in problems]


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("opaque", "error[type] parameter 'a': Opaque: <class 'test_drafting.Opaque'> is not a type that rpcgw can describe"),
        ("opaque_result", "error[type] the result: Opaque: <class 'test_drafting.Opaque'> is not a type that rpcgw can describe"),
        ("pattern", "error[constraint] parameter 'a': regex parse error: (?=a)b ^^^ error: look-around, including look-ahead and look-behind, is not supported"),
        ("default", "error[default] the default None of 'a' is not valid for int: must be an integer"),
        ("default_json", "error[default-json] the default of 'a' has no JSON form: Opaque has no JSON form"),
        ("numbered", "warning[auto-enum] agents see Numbered as 1, 2"),
        ("locked", "error[lock-by] @rpc.lock(by='b') names no parameter of the method"),
        ("cached", "error[cache-context] the method is cached and takes a CallContext, so one caller could get another's answer"),
        ("varied", "error[cache-vary] the cache cannot vary by 'weather'"),
        ("no_object", "error[input-schema] the given input_schema does not say that its root is an object"),
        ("no_parameter", "warning[input-schema] the given input_schema has b, which the method does not take"),
    ],
)  # fmt: skip
def test_problems(attribute: str, said: str) -> None:
    """Each mistake is one problem, in words that say what to mend."""
    assert [text.replace(f"{__name__}.", "test_drafting.") for text in drafted(attribute)[1]] == [said]


@pytest.mark.parametrize("attribute", ["stream", "no_schema", "no_pattern", "no_reference"])
def test_problems_in_the_words_of_others(attribute: str) -> None:
    """What a library says is passed on under our code."""
    (said,) = drafted(attribute)[1]
    assert said.startswith("error[type]" if attribute == "stream" else "error[input-schema]")


def test_a_default_of_the_wrong_shape_says_where() -> None:
    """The field that a default lacks is named."""
    assert "error[default] the default {'id': 1} of 'a' is not valid for Product: name is required" in drafted("default_fields")[1]  # fmt: skip


def test_a_method_without_mistakes() -> None:
    """A right method has no problem, and its defaults are known as JSON."""
    made, problems = drafted("right")
    assert problems == []
    assert made is not None
    assert made.defaults == {"p": {"id": 1, "name": "x"}}


def test_there_is_no_draft_where_a_type_cannot_be_read() -> None:
    """A method whose type is unknown is not compiled any further."""
    assert drafted("opaque")[0] is None
    assert drafted("opaque_result")[0] is None
