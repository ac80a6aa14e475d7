"""Types -> JSON Schema: fragments and components by pydantic's generator, tool schemas made of them. Pure.

One pass describes every type of a compile. A tool's schema then takes the components that it reaches into `$defs` of
its own (T-07); OpenRPC refers to the same components.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import Any, get_args

from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import CoreRef, GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError, core_schema

from rpcgw.api.records import record
from rpcgw.kernel.components import (
    Component,
    component,
    equal_outputs,
    identifier,
    names_of,
    reached,
    redirected,
)
from rpcgw.kernel.conversion import Codec
from rpcgw.kernel.fielddocs import FieldDocs
from rpcgw.kernel.rewrite import COMPONENTS, DECIMAL, DEFS, JsonSchema, parts, rewrite, widen

_ORIGIN = "x-rpcgw-origin"
_MODES = {"in": "validation", "out": "serialization"}
_INTEGER_KEY = r"^-?(0|[1-9][0-9]*)$"
_KEY_FORMATS = {"uuid": "uuid", "date": "date", "datetime": "date-time"}
_LITERAL_TYPES = {str: "string", int: "integer", bool: "boolean"}

_FIRST = ("$ref", "type", "anyOf", "oneOf")
_LAST = ("description", "default")


@record(frozen=True, slots=True)
class Description:
    """Every type of a compile as JSON Schema; references are `#/components/schemas/<key>`.

    `failures` says why a type has no schema. Types are known by their codecs, once in each direction.
    """

    inputs: Mapping[Codec, JsonSchema]
    outputs: Mapping[Codec, JsonSchema]
    components: Mapping[str, Component]
    failures: Mapping[Codec, str] = field(default_factory=dict)


def describe(inputs: Collection[Codec], outputs: Collection[Codec]) -> Description:
    """Describe types as they come in and as they go out. One that fails does not spoil the others."""
    wanted = [*(("in", codec) for codec in inputs), *(("out", codec) for codec in outputs)]
    failures: dict[Codec, str] = {}
    try:
        made, definitions = _generate(wanted)
    except _FAILURES:
        failures = {codec: reason for way, codec in wanted if (reason := _failure(way, codec))}
        made, definitions = _generate([(way, codec) for way, codec in wanted if codec not in failures])
    cleaned = {key: rewrite(schema, _clean) for key, schema in definitions.items()}
    apart = {key: _apart(key, schema) for key, schema in cleaned.items()}
    same = equal_outputs(apart)
    components = {key: _component(made_apart, same) for key, made_apart in apart.items() if key not in same}
    fragments = {key: redirected(rewrite(schema, _clean)["properties"]["v"], same) for key, schema in made.items()}
    return Description(
        inputs={codec: fragments["in", codec] for codec in inputs if codec not in failures},
        outputs={codec: fragments["out", codec] for codec in outputs if codec not in failures},
        components=components,
        failures=failures,
    )


@record(frozen=True)
class Property:
    """One parameter as a schema shows it: its type's fragment, what is said of it, and the JSON of its default."""

    name: str
    fragment: JsonSchema
    description: str = ""
    required: bool = True
    default: Any = None

    @cached_property
    def schema(self) -> JsonSchema:
        """The fragment with description and default, members in the order of T-08; nobody changes it."""
        schema = dict(self.fragment)
        if self.description:
            schema["description"] = self.description
        if not self.required:
            schema["default"] = self.default
        return _ordered(schema)


def input_schema(properties: Sequence[Property], components: Mapping[str, Component]) -> JsonSchema:
    """The schema of a tool's arguments (T-07, T-08): closed, and standing alone."""
    root: JsonSchema = {"type": "object", "properties": {made.name: made.schema for made in properties}}
    required = [made.name for made in properties if made.required]
    if required:
        root["required"] = required
    root["additionalProperties"] = False
    return standalone(root, components)


def output_schema(fragment: JsonSchema | None, components: Mapping[str, Component]) -> JsonSchema | None:
    """The schema of a tool's structured content (T-10, T-11); None where nothing is promised (T-12)."""
    if not fragment:
        return None
    root: JsonSchema = {"type": "object", "properties": {"result": fragment}, "required": ["result"]}
    return standalone(root, components, widen)


def standalone(
    root: JsonSchema,
    components: Mapping[str, Component],
    change: Callable[[JsonSchema], JsonSchema] = lambda schema: schema,
) -> JsonSchema:
    """A schema with the components that it reaches in its own `$defs`, and nothing that only OpenRPC knows."""
    keys = reached(root, components) if components else set()
    names = names_of(keys, components)

    def localise(schema: JsonSchema) -> JsonSchema:
        # A discriminator's mapping refers to components too, and its branches are told apart by constants anyway.
        schema.pop("discriminator", None)
        schema.pop("x-ufo-enum", None)
        if "oneOf" in schema and "anyOf" not in schema:
            schema = _ordered({**schema, "anyOf": schema["oneOf"]})
            del schema["oneOf"]
        if "$ref" in schema:
            schema["$ref"] = DEFS + names[schema["$ref"].removeprefix(COMPONENTS)]
        return change(schema)

    local: JsonSchema = rewrite(root, localise)
    if keys:
        by_name = sorted((names[key], key) for key in keys)
        local["$defs"] = {name: rewrite(components[key].schema, localise) for name, key in by_name}
    return local


def promises_number(fragment: JsonSchema, components: Mapping[str, Component]) -> bool:
    """Whether a type has a number somewhere, so that NaN would break what is promised."""
    schemas = [fragment, *(components[key].schema for key in reached(fragment, components))]
    return any(part.get("type") == "number" for schema in schemas for part in parts(schema))


_FAILURES = (PydanticUserError, PydanticSerializationError)


def _generate(wanted: Sequence[tuple[str, Codec]]) -> tuple[dict[tuple[str, Codec], JsonSchema], dict[str, JsonSchema]]:
    generator = _Generator(by_alias=True, ref_template=COMPONENTS + "{model}")
    inputs: list[Any] = [((way, codec), _MODES[way], codec.core) for way, codec in wanted]
    made, definitions = generator.generate_definitions(inputs)
    return {key: schema for (key, _), schema in made.items()}, {str(key): made for key, made in definitions.items()}


def _failure(way: str, codec: Codec) -> str:
    try:
        _generate([(way, codec)])
    except _FAILURES as error:
        return str(error).splitlines()[0]
    return ""


def _apart(key: str, schema: JsonSchema) -> Component:
    origin, output = schema.pop(_ORIGIN, (key, False))
    return component(schema, origin, output=output)


def _component(made: Component, same: Mapping[str, str]) -> Component:
    schema = redirected(made.schema, same)
    if identifier(schema.get("title", "")) == made.short:
        del schema["title"]
    return component(schema, made.origin, output=made.output)


def _clean(schema: JsonSchema) -> JsonSchema:
    """Every array says what its items are; an open object with properties does not say that it is open."""
    if schema.get("additionalProperties") is True and "properties" in schema:
        del schema["additionalProperties"]
    kinds = schema.get("type")
    if "items" not in schema and ("array" in kinds if isinstance(kinds, list) else kinds == "array"):
        schema["items"] = False if "prefixItems" in schema else {}
    return _ordered(schema)


def _ordered(schema: JsonSchema) -> JsonSchema:
    first = [key for key in _FIRST if key in schema]
    last = [key for key in _LAST if key in schema]
    return {key: schema[key] for key in [*first, *(key for key in schema if key not in (*_FIRST, *_LAST)), *last]}


class _Generator(GenerateJsonSchema):
    """pydantic's generator without its noise; every override is one of its documented extension points."""

    def __init__(self, *, by_alias: bool, ref_template: str) -> None:
        super().__init__(by_alias=by_alias, ref_template=ref_template)
        self._docs = FieldDocs()

    def generate_inner(self, schema: Any) -> JsonSchema:
        made = super().generate_inner(schema)
        reference = schema.get("ref")
        if isinstance(reference, str):
            key, _ = self.get_cache_defs_ref_schema(CoreRef(reference))
            if key in self.definitions:
                # The way is noted so that pydantic does not merge equal forms of a class under names of its own.
                self.definitions[key].setdefault(_ORIGIN, (reference, self.mode == "serialization"))
        return made

    def sort(self, value: JsonSchema, parent_key: str | None = None) -> JsonSchema:
        del parent_key
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchema:
        enum: type[Enum] = schema["cls"]
        if not all(isinstance(member.value, str | int) for member in enum):
            raise PydanticInvalidForJsonSchema(f"enum {enum.__qualname__} has values that are neither str nor int")
        made = super().enum_schema(schema)
        made["x-ufo-enum"] = {"name": enum.__name__, "values": {member.name: member.value for member in enum}}
        return made

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchema:
        made = super().literal_schema(schema)
        values = made.get("enum", [made["const"]] if "const" in made else [])
        types = {type(value) for value in values}
        if len(types) == 1 and (name := _LITERAL_TYPES.get(types.pop())):
            made = {"type": name, **made}
        return made

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchema:
        made = super().dict_schema(schema)
        keys = schema.get("keys_schema", {}).get("type")
        if keys == "int":
            made["propertyNames"] = {"pattern": _INTEGER_KEY}
        elif keys in _KEY_FORMATS:
            made["propertyNames"] = {"format": _KEY_FORMATS[keys]}
        return made

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchema:
        if self.mode == "serialization":
            return {"type": "string", "format": "decimal"}
        made = super().decimal_schema(schema)
        for branch in made.get("anyOf", ()):
            if branch.get("type") == "string":
                branch["pattern"] = DECIMAL
        return made

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchema:
        del schema
        return {"type": "string", "contentEncoding": "base64"}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchema:
        model = schema["cls"]
        config = model.model_config
        encodings = {config.get("ser_json_bytes"), config.get("val_json_bytes")}
        if encodings != {"base64"} and any(_mentions(made.annotation, bytes) for made in model.model_fields.values()):
            # A model never inherits our configuration: its bytes would be read and written as UTF-8 text.
            advice = "set ser_json_bytes='base64', val_json_bytes='base64' in its model_config"
            raise PydanticInvalidForJsonSchema(f"{model.__qualname__} has bytes: {advice}")
        return self._documented(super().model_schema(schema), schema)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchema:
        return self._documented(super().typed_dict_schema(schema), schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchema:
        made = super().dataclass_schema(schema)
        # The docstring that @dataclass makes up is no description.
        if made.get("description", "").startswith(schema["cls"].__name__ + "("):
            del made["description"]
        return self._documented(made, schema)

    def _documented(self, made: JsonSchema, schema: Mapping[str, Any]) -> JsonSchema:
        """The texts under a class's fields describe its properties where nothing else does."""
        properties = made.get("properties", {})
        docs = self._docs.of(schema["cls"]) if "cls" in schema and properties else {}
        for name, read in _fields(schema) if docs else ():
            shown = {name, read.get("validation_alias"), read.get("serialization_alias")}
            for key in shown & properties.keys() if name in docs else ():
                properties[key] = {"description": docs[name]} | properties[key]
        return made

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchema:
        del schema
        raise PydanticInvalidForJsonSchema("complex has no JSON form")

    def generator_schema(self, schema: core_schema.GeneratorSchema) -> JsonSchema:
        del schema
        raise PydanticInvalidForJsonSchema("an iterator is no parameter and no result; say list[T] or Sequence[T]")

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        if kind == "non-serializable-default":
            raise PydanticInvalidForJsonSchema(detail)


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    while "schema" in schema:
        schema = schema["schema"]
    fields = schema.get("fields", ())
    return iter(fields.items()) if isinstance(fields, Mapping) else ((read["name"], read) for read in fields)


def _mentions(hint: Any, wanted: type) -> bool:
    return hint is wanted or any(_mentions(part, wanted) for part in get_args(hint))
