"""The method table: which methods each group has in each version. Built once from the plugins' procedures; frozen."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeVar

from rpcgw.api.errors import ApplicationError, InternalError, RpcError
from rpcgw.api.marks import Cache, Inline, Invalidates, Lock, Tool
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.kernel.arguments import Arguments
from rpcgw.kernel.builtin import Ping
from rpcgw.kernel.codec import decode, encode
from rpcgw.kernel.components import Component, names_of, redirected
from rpcgw.kernel.content import schema_of
from rpcgw.kernel.conversion import Codec, Codecs
from rpcgw.kernel.drafting import Draft, draft
from rpcgw.kernel.exposure import Exposed, Exposure, Registration, expose
from rpcgw.kernel.method import ErrorDoc, Method, ParamDoc, ResultDoc
from rpcgw.kernel.relations import relation_problems
from rpcgw.kernel.rewrite import references
from rpcgw.kernel.schema import Description, Property, describe, input_schema, output_schema, promises_number
from rpcgw.kernel.signature import Param, Signature, describe_hint, place_of
from rpcgw.kernel.substitution import Resolving, compile_substitutes, unused
from rpcgw.kernel.versions import arrange

__all__ = ["MethodTable", "Registration", "compile_methods"]

_Spec = TypeVar("_Spec")


@record(frozen=True, slots=True)
class MethodTable:
    """Methods by group and version; a version that a group lacks is absent (C-20).

    `procedures` is what has to be there to run them, the built-in one included; `schemas` holds every component of the
    compile as JSON, by a name that is unique in the compile, and `kinds` says of which class each is.
    """

    by_group: Mapping[str, Mapping[int, Mapping[str, Method]]]
    procedures: tuple[Registration, ...] = ()
    schemas: Mapping[str, bytes] = field(default_factory=dict)
    kinds: Mapping[str, Component] = field(default_factory=dict)
    resolving: tuple[Resolving, ...] = ()
    """The resolvers that some parameter may need."""

    def rescoped(self, scopes: Mapping[str, frozenset[str]]) -> MethodTable:
        """The same table with the scopes that some methods need, by their names, replaced."""
        if not scopes:
            return self
        by_group = {
            group: {version: _rescoped(methods, scopes) for version, methods in versions.items()}
            for group, versions in self.by_group.items()
        }
        return replace(self, by_group=by_group)

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups that have a method, sorted."""
        return tuple(sorted(self.by_group))

    def versions(self, group: str) -> tuple[int, ...]:
        """The versions that a group has, ascending; empty where there is no such group."""
        return tuple(sorted(self.by_group.get(group, ())))

    def methods(self, group: str, version: int) -> Mapping[str, Method] | None:
        """The methods of a group in a version by name, sorted; None where the group lacks the version."""
        return self.by_group.get(group, {}).get(version)

    def components(self, group: str, version: int) -> dict[str, Any]:
        """`components.schemas` of the OpenRPC document: what the group's methods refer to, directly or not.

        Names are the shortest that are unique in this document: a plugin that serves another group never changes them.
        """
        names = self._names(group, version)
        return {
            names[key]: redirected(decode(self.schemas[key]), names) for key in sorted(names, key=names.__getitem__)
        }

    def documented(self, group: str, version: int) -> Mapping[str, Method]:
        """The methods as the OpenRPC document shows them: fragments refer to `components` of the same document."""
        names = self._names(group, version)
        methods = self.methods(group, version) or {}
        if all(key == name for key, name in names.items()):
            return methods
        return {name: _renamed(method, names) for name, method in methods.items()}

    def _names(self, group: str, version: int) -> dict[str, str]:
        keys: set[str] = set()
        todo = list(_referred(self.methods(group, version) or {}))
        while todo:
            key = todo.pop()
            if key not in keys:
                keys.add(key)
                todo.extend(self.kinds[key].refers)
        return names_of(keys, self.kinds)


def compile_methods(
    registrations: Sequence[Registration], converters: Iterable[object] = ()
) -> tuple[MethodTable, list[Problem]]:
    """Compile every exposed method once and arrange them by group and version.

    `converters` are those of all plugins (`Plugin.converters`).

    Nothing is raised for what an author did wrong: the problems say it, sorted by place. The table is fit to be served
    where none of them is an error.
    """
    everything = (Registration(Ping), *_distinct(registrations))
    exposures, problems = _exposures(everything)
    substitutes, wrong = compile_substitutes(converters)
    problems += wrong
    codecs = Codecs(substitutes)
    drafts: list[Draft] = []
    for exposure in exposures:
        for exposed in exposure.methods:
            drafted, found = draft(exposed, codecs)
            problems += found
            drafts += [drafted] if drafted else []
    methods, description, found = _finish(drafts)
    codecs.forget_sources()
    problems += unused(substitutes, codecs.converted())
    arrangement, conflicts = arrange(exposures)
    by_group = {
        group: {version: _compiled(names, methods) for version, names in versions.items()}
        for group, versions in arrangement.items()
    }
    problems += [*found, *conflicts, *_unknown_invalidations(exposures), *relation_problems(methods.values())]
    schemas, kinds = _public(description)
    return MethodTable(by_group, everything, schemas, kinds, substitutes.resolving), sorted(set(problems))


def _rescoped(methods: Mapping[str, Method], scopes: Mapping[str, frozenset[str]]) -> dict[str, Method]:
    return {
        name: replace(method, scopes=scopes[name]) if name in scopes else method for name, method in methods.items()
    }


def _distinct(registrations: Iterable[Registration]) -> list[Registration]:
    return list({id(registration.procedure): registration for registration in registrations}.values())


def _exposures(registrations: Iterable[Registration]) -> tuple[list[Exposure], list[Problem]]:
    exposures: list[Exposure] = []
    problems: list[Problem] = []
    for registration in registrations:
        exposure, found = expose(registration)
        exposures += [exposure] if exposure else []
        problems += found
    return exposures, problems


def _compiled(names: Mapping[str, Exposed], methods: Mapping[int, Method]) -> dict[str, Method]:
    return {name: methods[id(exposed)] for name, exposed in names.items() if id(exposed) in methods}


def _finish(drafts: Sequence[Draft]) -> tuple[dict[int, Method], Description, list[Problem]]:
    """Methods by the identity of what they were exposed as, the types' description, and problems of schemas."""
    inputs = dict.fromkeys(codec for made in drafts for codec in made.codecs.values())
    outputs = dict.fromkeys(made.returns for made in drafts if made.returns is not None)
    description = describe(list(inputs), list(outputs))
    for codec, fragment in description.outputs.items():
        codec.finite = promises_number(fragment, description.components)
    public = names_of(description.components, description.components)
    problems: list[Problem] = []
    methods: dict[int, Method] = {}
    for made in drafts:
        blamed = list(_without_schema(made, description))
        problems += blamed
        if not blamed:
            methods[id(made.exposed)] = _method(made, description, public)
    return methods, description, problems


def _public(description: Description) -> tuple[dict[str, bytes], dict[str, Component]]:
    """Every component by a name that is unique in the compile: its JSON, and which class it is of."""
    public = names_of(description.components, description.components)
    schemas: dict[str, bytes] = {}
    kinds: dict[str, Component] = {}
    for key, made in description.components.items():
        schemas[public[key]] = encode(redirected(made.schema, public))
        kinds[public[key]] = replace(made, schema={}, refers=frozenset(public[other] for other in made.refers))
    return schemas, kinds


def _renamed(method: Method, names: Mapping[str, str]) -> Method:
    def fragment(schema: bytes) -> bytes:
        return encode(redirected(decode(schema), names))

    return replace(
        method,
        params=tuple(replace(param, schema=fragment(param.schema)) for param in method.params),
        result=replace(method.result, schema=fragment(method.result.schema)),
    )


def _without_schema(made: Draft, description: Description) -> Iterator[Problem]:
    types: list[tuple[str, Codec]] = [(f"parameter {name!r}", codec) for name, codec in made.codecs.items()]
    types += [("the result", made.returns)] if made.returns else []
    for what, codec in types:
        if reason := description.failures.get(codec):
            text = f"{made.exposed.name}: {what}: {reason}"
            yield Problem(made.signature.place, "no-schema", text, "use a type that has a JSON form")


def _method(made: Draft, description: Description, public: Mapping[str, str]) -> Method:
    exposed, signature, marks = made.exposed, made.signature, made.exposed.marks
    tool = _mark(marks, Tool) or Tool()
    properties = [_property(param, made, description) for param in signature.params]
    result = description.outputs[made.returns] if made.returns else None
    published = tool.input_schema or input_schema(properties, description.components)
    promised = output_schema(result, description.components)
    defaults = {param.name: param.default for param in signature.params if not param.required}
    return Method(
        name=exposed.name,
        version=exposed.version,
        groups=exposed.groups,
        procedure=exposed.registration.cls,
        attribute=exposed.attribute,
        signature=signature,
        title=tool.title,
        description=signature.description,
        tool=tool,
        cache=_mark(marks, Cache),
        lock=_mark(marks, Lock),
        invalidates=_mark(marks, Invalidates),
        inline=Inline in marks,
        is_async=signature.is_async,
        deprecated=signature.deprecated,
        plugin=exposed.registration.plugin,
        place=signature.place,
        input_schema=encode(published),
        output_schema=encode(promised) if promised else None,
        params=tuple(
            _param_doc(made_property, public, made.codecs[param.name].rules)
            for made_property, param in zip(properties, signature.params, strict=True)
        ),
        result=_result_doc(signature, schema_of(made.content) if made.content else result, public),
        errors=tuple(_error_docs(signature)),
        arguments=Arguments(made.codecs, defaults, gated=tool.input_schema is None),
        defaults=made.defaults,
        result_codec=made.returns,
        content=bool(made.content),
        scopes=exposed.scopes,
    )


def _property(param: Param, made: Draft, description: Description) -> Property:
    return Property(
        name=param.name,
        fragment=description.inputs[made.codecs[param.name]],
        description=param.description or _documentation(param.hint),
        required=param.required,
        default=made.defaults.get(param.name),
    )


def _documentation(hint: Any) -> str:
    """The text of `Annotated[..., Doc("...")]`, which pydantic does not read."""
    for note in getattr(hint, "__metadata__", ()):
        if isinstance(text := getattr(note, "documentation", None), str):
            return text
    return ""


def _param_doc(made: Property, public: Mapping[str, str], assertions: tuple[str, ...]) -> ParamDoc:
    schema = {key: value for key, value in made.schema.items() if key != "description" or not made.description}
    return ParamDoc(
        assertions=assertions,
        name=made.name,
        description=made.description or made.fragment.get("description", ""),
        required=made.required,
        schema=encode(redirected(schema, public) if public else schema),
    )


def _result_doc(signature: Signature, fragment: dict[str, Any] | None, public: Mapping[str, str]) -> ResultDoc:
    name = describe_hint(signature.returns) if fragment is not None else "Any"
    schema = fragment or {}
    return ResultDoc(name, signature.returns_doc, encode(redirected(schema, public) if public else schema))


def _error_docs(signature: Signature) -> Iterator[ErrorDoc]:
    codes: set[int] = set()
    for error, text in signature.raises:
        known = error if issubclass(error, RpcError) else InternalError
        # An application's error has its code only once it is raised, unless its class says one.
        if known.code not in codes and not (issubclass(known, ApplicationError) and "code" not in vars(known)):
            codes.add(known.code)
            yield ErrorDoc(known.code, known.default_message, text)


def _mark(marks: Mapping[type, object], kind: type[_Spec]) -> _Spec | None:
    found = marks.get(kind)
    return found if isinstance(found, kind) else None


_REF: Final = b'"$ref"'


def _referred(methods: Mapping[str, Method]) -> set[str]:
    texts = {text for method in methods.values() for text in (*(p.schema for p in method.params), method.result.schema)}
    return {name for text in texts if _REF in text for name in references(decode(text))}


def _unknown_invalidations(exposures: Iterable[Exposure]) -> Iterator[Problem]:
    exposed = [method for exposure in exposures for method in exposure.methods]
    names = {method.name for method in exposed}
    for method in exposed:
        mark = _mark(method.marks, Invalidates)
        for name in mark.methods if mark else ():
            if name not in names and not _is_procedure(name, names):
                place = place_of(inspect.unwrap(getattr(method.function, "__func__", method.function)))
                text = f"{method.name}: @rpc.invalidates names {name!r}, which is no method"
                yield Problem(place, "invalidates", text, "write it as it is called: <procedure>.<method>")


def _is_procedure(written: str, names: Iterable[str]) -> bool:
    """Whether it stands for all methods of a procedure: `Catalog.*`."""
    return written.endswith(".*") and any(name.startswith(written[:-1]) for name in names)
