"""Plugins' converters and resolvers put in the place of the classes that they are for. Pure.

pydantic turns a type into a core schema, a tree of plain dicts; a class that a plugin converts is one node of it,
wherever it is named. The node is replaced before validator and serializer are made of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_core import core_schema

from rpcgw.api.converters import Converter, Loading, Resolver
from rpcgw.api.marks import marks_of
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.api.rules import Broken, Fault
from rpcgw.kernel.signature import place_of

Find = Callable[..., Any]
"""A resolver's function, as its author wrote it."""


class _Pending:
    def __repr__(self) -> str:
        return "<to be found>"


PENDING: Final = _Pending()
"""Stands where an object will be once it has been found."""


@record(slots=True)
class Resolution:
    """The look-ups of one call: what validation wants, and what was found for it."""

    wanted: dict[tuple[Find, Hashable], None] = field(default_factory=dict)
    found: dict[tuple[Find, Hashable], object] = field(default_factory=dict)

    @property
    def open(self) -> list[tuple[Find, Hashable]]:
        """What is wanted and nobody has looked for."""
        return [key for key in self.wanted if key not in self.found]


@record(frozen=True, slots=True)
class Resolving:
    """A resolver that a plugin brings: the function, and what its mark says."""

    find: Find
    spec: Resolver

    @property
    def kind(self) -> type:
        """The class of what it finds."""
        return self.spec.kind


Part = Converter | Resolving


@record(frozen=True, slots=True)
class Substitutes:
    """What stands for which class, in each direction."""

    inputs: Mapping[type, Part] = field(default_factory=dict)
    outputs: Mapping[type, Part] = field(default_factory=dict)

    @property
    def differ(self) -> bool:
        """Whether a class may come in otherwise than it goes out."""
        return len(self.inputs) != len(self.outputs)

    @property
    def resolving(self) -> tuple[Resolving, ...]:
        """All resolvers."""
        return tuple(part for part in self.inputs.values() if isinstance(part, Resolving))


def compile_substitutes(parts: Iterable[object]) -> tuple[Substitutes, list[Problem]]:
    """What plugins bring as `converters`, by class; two for one class are a problem, and the first one stands."""
    inputs: dict[type, Part] = {}
    problems: list[Problem] = []
    for part in {id(part): part for part in parts}.values():
        made = _part(part)
        if made is None:
            text = f"{getattr(part, '__qualname__', part)!r} among a plugin's converters is neither of the two kinds"
            hint = "bring rpc.Converter(...), or a function marked with @rpc.resolver(...)"
            problems.append(Problem(place_of(part), "converter", text, hint))
        elif made.kind in inputs:
            text = f"{made.kind.__qualname__} is converted by more than one plugin part"
            problems.append(Problem(_place(made), "converter", text, "bring one converter or resolver for a class"))
        else:
            inputs[made.kind] = made
    outputs = {kind: part for kind, part in inputs.items() if isinstance(part, Converter) or part.spec.dump}
    return Substitutes(inputs, outputs), problems


def unused(substitutes: Substitutes, converted: Collection[type]) -> Iterator[Problem]:
    """Parts that no parameter and no result has a use for: a typing mistake, or a class that pydantic reads itself."""
    for kind, part in substitutes.inputs.items():
        if kind not in converted:
            text = f"no parameter and no result names {kind.__qualname__}, so nothing is converted"
            hint = "name the class in a method; dates and other built-in types take an annotation instead"
            yield Problem(_place(part), "converter-unused", text, hint, "warning")


def _part(part: object) -> Part | None:
    if isinstance(part, Converter):
        return part
    spec = marks_of(part).get(Resolver)
    return Resolving(part, spec) if callable(part) and isinstance(spec, Resolver) else None


def _place(part: Part) -> Any:
    return place_of(part.find if isinstance(part, Resolving) else part.kind)


class Substitution:
    """Replaces nodes of one core schema; `used` collects the parts that found a place."""

    def __init__(self, table: Mapping[type, Part], wire: Callable[[Any], TypeAdapter[Any]]) -> None:
        self._table = table
        self._wire = wire
        self._shared: dict[str, Part] = {}
        self.used: dict[type, Part] = {}

    def of(self, core: Any) -> Any:
        """A core schema with the parts in place.

        Raises:
            TypeError: A pydantic model has such a class in a field: pydantic has read it already.
        """
        self._shared = {
            entry["ref"]: part for entry in core.get("definitions", ()) if (part := self._table.get(entry.get("cls")))
        }
        return self._walked(core, nullable=False)

    def _walked(self, node: Any, *, nullable: bool) -> Any:
        if isinstance(node, list | tuple):
            return type(node)(self._walked(part, nullable=False) for part in node)
        if not isinstance(node, dict) or _is_converted(node):
            return node
        part = self._part_of(node)
        if part is not None:
            self.used[part.kind] = part
            return self._core(part, nullable=nullable)
        before = len(self.used)
        kind = node.get("type")
        inside = kind == "nullable"
        walked = {key: value if key in _DATA else self._walked(value, nullable=inside) for key, value in node.items()}
        if kind == "model" and len(self.used) > before:
            used = next(reversed(self.used)).__qualname__
            raise TypeError(
                f"{node['cls'].__qualname__} is a pydantic model with a {used}: write Annotated[{used}, <converter>]"
                " in its field"
            )
        if kind == "definitions":
            walked["definitions"] = [entry for entry in walked["definitions"] if "ref" in entry]
        return walked

    def _part_of(self, node: Mapping[str, Any]) -> Part | None:
        if node.get("type") == "definition-ref":
            return self._shared.get(node["schema_ref"])
        cls = node.get("cls")
        return self._table.get(cls) if isinstance(cls, type) else None

    def _core(self, part: Part, *, nullable: bool) -> Any:
        if isinstance(part, Converter):
            return part.core_of(self._wire(part.wire).core_schema)
        wire = self._wire(part.spec.by).core_schema
        dump = part.spec.dump
        return core_schema.with_info_after_validator_function(
            Finding(part.find, part.kind.__name__, nullable),
            wire,
            serialization=core_schema.plain_serializer_function_ser_schema(dump, return_schema=wire) if dump else None,
        )


def _is_converted(node: Mapping[str, Any]) -> bool:
    """Whether it is a converter's own, put there by an annotation."""
    function = node.get("json_schema", {}).get("function", {}) if node.get("type") == "json-or-python" else {}
    return isinstance(function.get("function"), Loading)


_DATA = frozenset({"metadata", "default", "expected", "members", "config", "cls", "function"})
"""Keys of a core schema under which no schema stands; a function's own schemas stand beside it."""


@record(frozen=True, slots=True)
class Finding:
    """The step from an id to its object: notes what is wanted, and on the second run gives what was found."""

    find: Find
    kind: str
    nullable: bool

    def __call__(self, value: Any, info: core_schema.ValidationInfo[Any]) -> Any:
        """The object of an id, or `PENDING` while nobody has looked.

        Raises:
            Broken: There is no such object.
        """
        resolution = info.context
        if not isinstance(resolution, Resolution):
            return PENDING
        key = (self.find, value)
        if key not in resolution.found:
            resolution.wanted[key] = None
            return PENDING
        found = resolution.found[key]
        if found is None and not self.nullable:
            raise Broken([Fault((), "not_found", {"kind": self.kind})])
        return found
