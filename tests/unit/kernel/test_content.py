"""Content blocks: which annotations mean them, their JSON, what a cache keeps of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import jsonschema
import pytest
from typing_extensions import TypeAliasType

import rpcgw as rpc
from rpcgw.api.content import Block
from rpcgw.kernel.codec import NoJsonForm
from rpcgw.kernel.content import MixedContent, blocks_of, kinds_of, packed, schema_of, structured_of, unpacked
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.signature import ABSENT
from rpcgw.kernel.table import compile_methods

EVERY = (rpc.Text, rpc.Image, rpc.Audio, rpc.EmbeddedResource, rpc.ResourceLink)
Blocks = TypeAliasType("Blocks", list[rpc.Text | rpc.Image])
Json = TypeAliasType("Json", "list[Json] | int")

WIRES = [
    pytest.param(rpc.Text("ї"), {"type": "text", "text": "ї"}, id="a text"),
    pytest.param(rpc.Image(b"\xff", "image/png"), {"type": "image", "data": "/w==", "mimeType": "image/png"}, id="a picture"),
    pytest.param(rpc.Audio(b"\0\1", "audio/wav"), {"type": "audio", "data": "AAE=", "mimeType": "audio/wav"}, id="a sound"),
    pytest.param(
        rpc.EmbeddedResource("test://x", text="", mime_type="text/plain"),
        {"type": "resource", "resource": {"uri": "test://x", "mimeType": "text/plain", "text": ""}},
        id="a document with a text, even an empty one",
    ),
    pytest.param(
        rpc.EmbeddedResource("test://x", data=b"\0"),
        {"type": "resource", "resource": {"uri": "test://x", "blob": "AA=="}},
        id="a document of bytes",
    ),
    pytest.param(
        rpc.ResourceLink("test://x", "x", title="X", description="An x.", mime_type="a/b", size=3),
        {"type": "resource_link", "uri": "test://x", "name": "x", "title": "X", "description": "An x.", "mimeType": "a/b", "size": 3},
        id="a link with all that may be told",
    ),
    pytest.param(
        rpc.ResourceLink("test://x", "x"), {"type": "resource_link", "uri": "test://x", "name": "x"}, id="a bare link"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("block", "wire"), WIRES)
def test_a_block_on_the_wire(block: Block, wire: dict[str, Any]) -> None:
    """MCP's form, without null members; what OpenRPC says of it holds."""
    blocks = json.loads(blocks_of(block))
    assert blocks == [wire]
    jsonschema.Draft202012Validator(schema_of(EVERY)).validate(blocks)
    jsonschema.Draft202012Validator(schema_of([type(block)])).validate(blocks)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        pytest.param(None, [], id="nothing"),
        pytest.param([], [], id="an empty list"),
        pytest.param((rpc.Text("a"), rpc.Text("b")), ["a", "b"], id="a tuple, in its order"),
        pytest.param(rpc.ToolResult(rpc.Text("a")), ["a"], id="one block in a result"),
        pytest.param(rpc.ToolResult([rpc.Text("a")]), ["a"], id="several in a result"),
        pytest.param(rpc.ToolResult(structured={}), [], id="a result without blocks"),
    ],
)
def test_what_a_procedure_returns_becomes_an_array(value: object, texts: list[str]) -> None:
    """One form for all of them."""
    assert [block["text"] for block in json.loads(blocks_of(value))] == texts


@pytest.mark.parametrize("value", ["text", b"bytes", 5, {"type": "text"}, [rpc.Text("a"), "b"]], ids=str)
def test_anything_else_is_refused(value: object) -> None:
    """A listener may have replaced the result; an agent is never sent what is no block."""
    with pytest.raises(NoJsonForm, match="no content block"):
        blocks_of(value)


def test_structured_content_is_an_object() -> None:
    """Sessions take nothing else; a dataclass is one."""
    assert structured_of(rpc.Text("x")) is None
    assert structured_of(rpc.ToolResult()) is None
    assert structured_of(rpc.ToolResult(structured={"n": 1})) == b'{"n":1}'
    with pytest.raises(NoJsonForm, match="object"):
        structured_of(rpc.ToolResult(structured=[1]))


@pytest.mark.parametrize("structured", [None, b"{}", b'{"a":"b\\nc"}'], ids=["none", "empty", "with a line break"])
def test_what_is_packed_is_found_again(structured: bytes | None) -> None:
    """A cache keeps one piece of bytes."""
    blocks = blocks_of(rpc.Text("a\nb"))
    assert unpacked(packed(blocks, structured)) == (blocks, structured)


def test_a_resource_holds_one_thing() -> None:
    """A text or data: neither and both are mistakes."""
    for wrong in ({}, {"text": "a", "data": b"a"}):
        with pytest.raises(ValueError, match="exactly one"):
            rpc.EmbeddedResource("test://x", **wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("hint", "kinds"),
    [
        pytest.param(rpc.Image, (rpc.Image,), id="one block"),
        pytest.param(rpc.Image | rpc.Text, (rpc.Text, rpc.Image), id="a union"),
        pytest.param(rpc.Text | None, (rpc.Text,), id="maybe one"),
        pytest.param(list[rpc.Text | rpc.Audio], (rpc.Text, rpc.Audio), id="a list"),
        pytest.param(Sequence[rpc.Text], (rpc.Text,), id="a sequence"),
        pytest.param(tuple[rpc.Text, ...], (rpc.Text,), id="a tuple"),
        pytest.param(Annotated[rpc.Text, "note"], (rpc.Text,), id="an annotated block"),
        pytest.param(Blocks, (rpc.Text, rpc.Image), id="an alias"),
        pytest.param(rpc.ToolResult, EVERY, id="a result"),
        pytest.param(rpc.ToolResult | list[rpc.Text], EVERY, id="a result or blocks"),
        pytest.param(list[int], (), id="values"),
        pytest.param(None, (), id="nothing"),
        pytest.param(Any, (), id="anything"),
        pytest.param(ABSENT, (), id="no annotation"),
        pytest.param(Annotated[list[dict[str, Any]], []], (), id="a note that cannot be hashed"),
        pytest.param(Json, (), id="a circular alias"),
    ],
)
def test_which_annotations_mean_blocks(hint: Any, kinds: tuple[type, ...]) -> None:
    """Known when the plugin is compiled, so that no call pays for the question."""
    assert kinds_of(hint) == kinds


def test_blocks_beside_values_are_a_mistake() -> None:
    """Nobody could say what such a tool promises."""
    for mixed in (rpc.Text | int, list[rpc.Text | str]):
        with pytest.raises(MixedContent):
            kinds_of(mixed)


@rpc.procedure("Mixed", groups=["demo"], with_default=False)
class Mixed:
    def either(self) -> rpc.Text | int:
        """Give a block or a number."""
        return 1


@rpc.procedure("Show", groups=["demo"], with_default=False)
class Show:
    def picture(self) -> rpc.Image:
        """Give a picture."""
        return rpc.Image(b"", "image/png")


def test_a_method_with_blocks_promises_no_output() -> None:
    """No output schema; OpenRPC describes an array of the blocks."""
    table, problems = compile_methods([Registration(Show)])
    method = (table.methods("demo", 1) or {})["Show.picture"]
    assert not problems
    assert method.content
    assert method.output_schema is None
    assert json.loads(method.result.schema) == schema_of([rpc.Image])


def test_mixing_is_a_problem_with_its_place() -> None:
    """Told when plugins are compiled."""
    _, problems = compile_methods([Registration(Mixed)])
    assert [(problem.code, problem.level) for problem in problems] == [("content-mixed", "error")]
    assert problems[0].place.line
