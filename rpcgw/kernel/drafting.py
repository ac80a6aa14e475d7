"""From an exposed function to a draft: its signature with a codec for each type, and what its marks get wrong. Pure.

A draft becomes a method once all types of the compile have been described together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
from annotated_types import Timezone
from pydantic import ValidationError

from rpcgw.api.marks import Cache, Lock, Tool
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.kernel.codec import NoJsonForm, decode, encode
from rpcgw.kernel.content import MixedContent, kinds_of
from rpcgw.kernel.conversion import Codec, Codecs, TypeFailure, explain_type
from rpcgw.kernel.exposure import Exposed
from rpcgw.kernel.gate import validator
from rpcgw.kernel.signature import ABSENT, Param, Reporter, Signature, describe_hint, read_signature

_VARY = ("locale", "principal", "scopes")
_VARY_BY_NAME = ("claim", "header")


@record(frozen=True, slots=True)
class Draft:
    """A method before its schemas: codecs and JSON defaults by parameter.

    There is no `returns` without an annotation, and none where it names content blocks: `content` are their classes.
    """

    exposed: Exposed
    signature: Signature
    codecs: Mapping[str, Codec]
    defaults: Mapping[str, Any]
    returns: Codec | None
    content: tuple[type, ...] = ()


def draft(exposed: Exposed, codecs: Codecs) -> tuple[Draft | None, list[Problem]]:
    """The draft of a method, and everything that its author should mend; there is none where a type cannot be read."""
    signature, problems = read_signature(exposed.name, exposed.function, exposed.registration.cls)
    if signature is None:
        return None, problems
    report = Reporter(problems, signature.place, exposed.name)
    of_params = {
        param.name: _codec(codecs, param.hint, f"parameter {param.name!r}", report) for param in signature.params
    }
    content = _content(signature, report)
    untyped = signature.returns is ABSENT or bool(content)
    returns = None if untyped else _codec(codecs, signature.returns, "the result", report, output=True)
    _check_marks(exposed, signature, report)
    found = {name: codec for name, codec in of_params.items() if codec is not None}
    defaults = dict(_defaults(signature, found, report))
    if len(found) < len(of_params) or (returns is None and not untyped):
        return None, problems
    return Draft(exposed, signature, found, defaults, returns, content), problems


def _content(signature: Signature, report: Reporter) -> tuple[type, ...]:
    try:
        return kinds_of(signature.returns)
    except MixedContent as error:
        report("content-mixed", f"the result {describe_hint(signature.returns)}: {error}", "return one or the other")
        return ()


def _codec(codecs: Codecs, hint: Any, what: str, report: Reporter, *, output: bool = False) -> Codec | None:
    try:
        codec = codecs.get(hint, output=output)
    except TypeFailure as failure:
        code, text, advice = explain_type(failure, hint)
        report(code, f"{what}: {text}", advice)
        return None
    for enum in codec.numbered:
        numbers = ", ".join(str(member.value) for member in enum)
        report("auto-enum", f"agents see {enum.__name__} as {numbers}", "give the members str values", "warning")
    for enum in codec.ambiguous:
        text = f"{what}: a text could be a {enum.__name__} or any text, and is always taken for a text"
        report("enum-or-text", text, f"say {enum.__name__}, or str", "warning")
    for note in codec.ignored:
        report("note", f"{what}: nothing enforces {note!r}", _ZONED if isinstance(note, Timezone) else _RULES)
    return codec


_RULES = "use rules of annotated-types, pydantic's Field, or rpcgw"
_ZONED = "say rpc.Zoned(), or rpc.Zoned(None) for no time zone"


def _defaults(signature: Signature, codecs: Mapping[str, Codec], report: Reporter) -> Iterator[tuple[str, Any]]:
    for param in signature.params:
        if param.required or param.name not in codecs:
            continue
        try:
            default = decode(codecs[param.name].encode(param.default))
        except NoJsonForm as error:
            report(
                "default-json", f"the default of {param.name!r} has no JSON form: {error}", "use a value that has one"
            )
            continue
        _check_default(param, default, codecs[param.name], report)
        yield param.name, default


def _check_default(param: Param, default: Any, codec: Codec, report: Reporter) -> None:
    try:
        codec.convert(default)
    except ValidationError as error:
        errors = codec.errors("", default, error)
        said = "; ".join(f"{path.lstrip('.')} {word}".lstrip() for path, words in errors.items() for word in words)
        shown = describe_hint(param.hint)
        advice = f"say {shown} | None" if param.default is None else "change the annotation or the default"
        report("default", f"the default {param.default!r} of {param.name!r} is not valid for {shown}: {said}", advice)


def _check_marks(exposed: Exposed, signature: Signature, report: Reporter) -> None:
    marks = exposed.marks
    names = [param.name for param in signature.params]
    lock = marks.get(Lock)
    if isinstance(lock, Lock) and lock.by is not None and lock.by not in names:
        known = f"parameters: {', '.join(names) or 'none'}"
        report("lock-by", f"@rpc.lock(by={lock.by!r}) names no parameter of the method", known)
    cache = marks.get(Cache)
    if isinstance(cache, Cache):
        _check_cache(cache, signature, report)
    tool = marks.get(Tool)
    if isinstance(tool, Tool) and tool.input_schema is not None:
        _check_input_schema(tool.input_schema, names, report)


def _check_cache(cache: Cache, signature: Signature, report: Reporter) -> None:
    if signature.contexts and not cache.vary:
        report(
            "cache-context",
            "the method is cached and takes a CallContext, so one caller could get another's answer",
            'say what the answer depends on: @rpc.cache(vary=("locale", "principal", "header:X-Tenant"))',
        )
    for part in cache.vary:
        kind, colon, name = part.partition(":")
        if part not in _VARY and not (colon and name and kind in _VARY_BY_NAME):
            advice = "use locale, principal, scopes, claim:<name> or header:<name>"
            report("cache-vary", f"the cache cannot vary by {part!r}", advice)


def _check_input_schema(schema: Mapping[str, object], names: list[str], report: Reporter) -> None:
    import jsonschema  # noqa: PLC0415 -- loaded where an author gives a schema

    advice = "a tool's input schema is JSON Schema 2020-12 with an object at its root"
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        validator(decode(encode(schema)))
    except (jsonschema.SchemaError, jsonschema_rs.ValidationError) as error:
        report("input-schema", f"the given input_schema is not valid: {error.message}", advice)
        return
    except (jsonschema_rs.ReferencingError, NoJsonForm) as error:
        report("input-schema", f"the given input_schema cannot be used: {error}", advice)
        return
    if schema.get("type") != "object":
        report("input-schema", "the given input_schema does not say that its root is an object", advice)
    properties = schema.get("properties")
    unknown = sorted(set(properties if isinstance(properties, Mapping) else ()) - set(names))
    if unknown:
        text = f"the given input_schema has {', '.join(unknown)}, which the method does not take"
        report("input-schema", text, f"parameters: {', '.join(names) or 'none'}", "warning")
