"""One codec per distinct type: JSON value -> Python value, and result -> JSON. The home of pydantic's validators.

Conversion is strict JSON validation of the re-encoded value, the only mode of pydantic with JSON semantics: `"5"` is no
integer and `true` no 1, while dates, enums, sets and DTOs come from their JSON forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from pydantic import ConfigDict, GetCoreSchemaHandler, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic_core import SchemaError, SchemaSerializer, SchemaValidator, core_schema

from rpcgw.api.records import record
from rpcgw.api.rules import Rule
from rpcgw.kernel.assertions import enforceable, overlooked, rules_of, unenforced
from rpcgw.kernel.codec import NoJsonForm, decode, encode, encoded, find_non_finite
from rpcgw.kernel.leniency import compile_leniency
from rpcgw.kernel.messages import MESSAGES, Errors, follow, refused_by_type
from rpcgw.kernel.plain import is_plain, number_of
from rpcgw.kernel.signature import describe_hint
from rpcgw.kernel.substitution import Part, Resolution, Resolving, Substitutes, Substitution

_CONFIG = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64", allow_inf_nan=False, serialize_by_alias=True)

# A hand-made typed-dict schema does not inherit an adapter's configuration, and what stands in it inherits this one.
_CORE_CONFIG = core_schema.CoreConfig(val_json_bytes="base64", ser_json_bytes="base64", allow_inf_nan=False)

_UNDESCRIBED = re.compile(r"for (<class '[^']+'>|\S+)\.")

TypeFailure = (PydanticUserError, SchemaError, NameError, TypeError, ValueError, RecursionError)
"""What pydantic and the author's own types raise while a type is read."""


NO_PARTS: Final[Mapping[type, Part]] = MappingProxyType({})


class Codec:
    """Converts values of one type, with what plugins put in the place of classes in it.

    `plain` types need no conversion; `number` is `int` or `float` where a plain one is that. `core` is what schemas are
    made from; it is dropped once they are.

    Raises:
        TypeFailure: The type cannot be read; `explain_type` says why.
    """

    def __init__(self, hint: Any, parts: Mapping[type, Part] = NO_PARTS) -> None:
        self.hint = hint
        self.plain = is_plain(hint)
        self.number = number_of(hint) if self.plain else None
        made = _made(enforceable(hint), {} if self.plain else parts)
        self.rules = rules_of(hint)
        """The rules on it as its author wrote them."""
        self.ignored = (*unenforced(hint), *_overlooked(made.core))
        """Notes that look like rules and are enforced by nobody."""
        self.core: Any = made.core
        self.parts = made.parts
        """What plugins convert in it, by class."""
        self.resolving = any(isinstance(part, Resolving) for part in made.parts.values())
        """Whether ids in it have to be looked up."""
        self.finite = False
        """Whether the type promises a number, so that NaN in a result would break the promise; set with the schema."""
        self.authored = not self.plain and _runs_author_code(self.core)
        """Whether validation may run code of the author's."""
        self.numbered = () if self.plain else tuple(_numbered_enums(self.core))
        """Enums in it that callers see as bare numbers 1, 2, 3."""
        self.ambiguous = () if self.plain else tuple(_ambiguous_enums(self.core))
        """Enums of texts that stand beside `str` in a union."""
        self.leniency = None if self.plain else compile_leniency(self.core)
        """Makes the advertised form of what only lenient surfaces take; None where there is nothing to make."""
        self._validator = made.validator
        self._serializer = made.serializer if not self.plain and _is_configured(self.core) else None

    def convert(self, value: Any, resolution: Resolution | None = None) -> Any:
        """The Python value of a JSON value that the advertised schema accepts.

        `resolution` gives the objects that ids name, and notes those that are wanted.

        Raises:
            pydantic.ValidationError: The type refuses it; `explain` has the words.
        """
        held = {"v": value}
        try:
            return self._validator.validate_json(encode(held), strict=True, context=resolution)["v"]
        except ValidationError as error:
            mended = _mended(error, held)
            if mended is None:
                raise
            return self._validator.validate_json(encode(mended), strict=True, context=resolution)["v"]

    def explain(self, name: str, value: Any, texts: Mapping[str, str] = MESSAGES) -> Errors:
        """What the type says against a value of the parameter `name`, by path; empty where it takes it."""
        try:
            self.convert(value)
        except ValidationError as error:
            return self.errors(name, value, error, texts)
        return {}

    def errors(self, name: str, value: Any, error: ValidationError, texts: Mapping[str, str] = MESSAGES) -> Errors:
        """A refusal of `convert` in words, by path."""
        said = refused_by_type(error, {"v": value}, texts)
        return {name + path.removeprefix("v"): words for path, words in said.items()}

    def encode(self, value: object) -> bytes:
        """A result of this type as JSON. A type that the author configured goes through its own serializer.

        Raises:
            NoJsonForm: JSON cannot carry it, or it holds NaN or infinity where a number is promised.
        """
        text = encode(value) if self._serializer is None else encoded(self._serialize, value)
        # Both encoders write NaN and infinity as null: without a null there is nothing to look for.
        if self.finite and b"null" in text and (path := find_non_finite(self._python(value))) is not None:
            raise NoJsonForm(f"{path or 'it'} is not a finite number")
        return text

    @property
    def encoder(self) -> Callable[[object], bytes]:
        """`encode`, or what it comes to where this type has nothing to add. Ask once the schema is made."""
        return encode if self._serializer is None and not self.finite else self.encode

    def _serialize(self, value: object) -> bytes:
        assert self._serializer is not None
        return self._serializer.to_json({"v": value}, by_alias=True, warnings=False)[len(b'{"v":') : -1]

    def _python(self, value: object) -> object:
        if self._serializer is None:
            return value
        return self._serializer.to_python({"v": value}, mode="json", by_alias=True, warnings=False)["v"]


class Codecs:
    """The codecs of one compile, one per distinct type, and per direction where plugins make a difference."""

    def __init__(self, substitutes: Substitutes | None = None) -> None:
        self._substitutes = substitutes or Substitutes()
        self._known: dict[Any, Codec] = {}

    def get(self, hint: Any, *, output: bool = False) -> Codec:
        """The codec of a type.

        Raises:
            TypeFailure: As `Codec` does, each time.
        """
        out = output and self._substitutes.differ
        key = (out, _key(hint))
        codec = self._known.get(key)
        if codec is None:
            parts = self._substitutes.outputs if out else self._substitutes.inputs
            codec = self._known[key] = Codec(hint, parts)
        return codec

    def converted(self) -> set[type]:
        """The classes that plugins' parts were used for."""
        return {kind for codec in self._known.values() for kind in codec.parts}

    def forget_sources(self) -> None:
        """Drop what only schemas are made from; to be called when they are made."""
        for codec in self._known.values():
            codec.core = None


def explain_type(failure: BaseException, hint: Any) -> tuple[str, str, str]:
    """Code, text and hint of the problem that a type's failure is."""
    said = " ".join(str(failure).split())[:300]
    if isinstance(failure, SchemaError):
        linear = "patterns are matched in linear time: no look-around, no back-references"
        return "constraint", said.rpartition("SchemaError: ")[2], linear
    shown = describe_hint(hint)
    if isinstance(failure, PydanticUserError) and failure.code == "typed-dict-version":
        text = f"{shown} is a typing.TypedDict"
        return "type", text, "on Python < 3.12 import TypedDict from typing_extensions"
    advice = "use a dataclass, TypedDict, enum or pydantic model"
    if isinstance(failure, PydanticSchemaGenerationError):
        culprit = _UNDESCRIBED.search(str(failure))
        what = f"{shown}: {culprit[1]}" if culprit else shown
        return "type", f"{what} is not a type that rpcgw can describe", advice
    if isinstance(failure, NameError):
        advice = "import it at run time, not under TYPE_CHECKING"
        return "forward-ref", f"{shown} names {failure.name!r}, which is not defined where it stands", advice
    if isinstance(failure, TypeError) and "constraint" in said:
        return "constraint", f"{shown}: {said}", "use constraints that fit the type"
    return "type", f"{shown}: {said}", advice


@record(frozen=True, slots=True)
class _Made:
    core: Any
    validator: Any
    serializer: SchemaSerializer
    parts: Mapping[type, Part]


def _made(hint: Any, parts: Mapping[type, Part]) -> _Made:
    """Validator and serializer of a type, and the core schema that they are made from."""
    if not parts:
        adapter: TypeAdapter[Any] = TypeAdapter(_holder(hint), config=_CONFIG)
        return _Made(adapter.core_schema, adapter.validator, adapter.serializer, {})
    try:
        adapter = TypeAdapter(_holder(hint), config=_CONFIG)
    except PydanticSchemaGenerationError:
        # A class that pydantic cannot describe: perhaps a plugin can.
        adapter = TypeAdapter(_holder(hint), config=_CONFIG | {"arbitrary_types_allowed": True})
        core, used = _substituted(adapter.core_schema, parts)
        if any(node.get("type") == "is-instance" and node["cls"] not in used for node in _nodes(core)):
            raise
    else:
        core, used = _substituted(adapter.core_schema, parts)
    if not used:
        return _Made(adapter.core_schema, adapter.validator, adapter.serializer, {})
    return _Made(core, SchemaValidator(core), SchemaSerializer(core), used)


def _substituted(core: Any, parts: Mapping[type, Part]) -> tuple[Any, Mapping[type, Part]]:
    substitution = Substitution(parts, lambda hint: TypeAdapter(hint, config=_CONFIG))
    return substitution.of(core), substitution.used


def _holder(hint: Any) -> type:
    """A carrier whose core schema is a bare typed dict with the one field `v`: no name, no reference, no title."""

    class Holder:
        @classmethod
        def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
            field = core_schema.typed_dict_field(handler.generate_schema(hint), required=True)
            return core_schema.typed_dict_schema({"v": field}, extra_behavior="forbid", config=_CORE_CONFIG)

    return Holder


def _key(hint: Any) -> Any:
    if isinstance(hint, type):
        return hint
    # Literal[1] == Literal[True], so the text tells them apart; what cannot be hashed is known by identity.
    key = (hint, repr(hint))
    try:
        hash(key)
    except TypeError:
        return id(hint)
    return key


def _mended(error: ValidationError, held: dict[str, Any]) -> dict[str, Any] | None:
    """The value with whole floats made integers exactly where an integer is wanted; None where there is none.

    JSON Schema calls 1.0 an integer, strict validation does not.
    """
    paths = [
        follow(fault["loc"], held)
        for fault in error.errors(include_url=False)
        if fault["type"] == "int_type" and isinstance(fault["input"], float) and fault["input"].is_integer()
    ]
    if not paths:
        return None
    mended: dict[str, Any] = decode(encode(held))
    for *way, last in paths:
        node: Any = mended
        for step in way:
            node = node[step]
        node[last] = int(node[last])
    return mended


def _nodes(core: Any) -> Iterator[Mapping[str, Any]]:
    """Every node of a core schema."""
    todo = [core]
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping):
            yield node
            todo.extend(value for key, value in node.items() if key != "metadata")
        elif isinstance(node, list | tuple):
            todo.extend(node)


_LIBRARIES = ("pydantic", "builtins", "decimal", "fractions")
_OURS = ("rpcgw.api.assertions", "rpcgw.api.containers", "rpcgw.api.rules", "rpcgw.api.dates")
"""Modules whose checks are pure and known, so that a refusal may ask them for words."""


def _stands_in(function: Any, modules: tuple[str, ...]) -> bool:
    owner = getattr(function, "__self__", None)
    # An author's own rule inherits our method and brings the check that it calls.
    module = type(owner).__module__ if isinstance(owner, Rule) else getattr(function, "__module__", None)
    return (module or "").startswith(modules)


def _is_authors(function: Any) -> bool:
    return not _stands_in(function, (*_LIBRARIES, *_OURS))


def _runs_author_code(core: Any) -> bool:
    return any(
        _is_own_validator(node)
        or node.get("post_init")
        or node.get("custom_init")
        or node.get("type") == "call"
        or ("default_factory" in node and _is_authors(node["default_factory"]))
        or (node.get("type") == "enum" and node.get("missing"))
        for node in _nodes(core)
    )


def _is_own_validator(node: Mapping[str, Any]) -> bool:
    function = node.get("function")
    return isinstance(function, Mapping) and _is_authors(function.get("function"))


def _overlooked(core: Any) -> Iterator[object]:
    classes = {node["cls"] for node in _nodes(core) if node.get("type") in _WITH_FIELDS and "cls" in node}
    for cls in sorted(classes, key=lambda cls: str(cls.__qualname__)):
        yield from overlooked(cls)


_WITH_FIELDS = ("dataclass", "model", "typed-dict")


def _numbered_enums(core: Any) -> Iterator[type[Enum]]:
    for node in _nodes(core):
        if node.get("type") == "enum":
            enum: type[Enum] = node["cls"]
            values = [member.value for member in enum]
            if values and not issubclass(enum, int) and values == list(range(1, len(values) + 1)):
                yield enum


def _ambiguous_enums(core: Any) -> Iterator[type[Enum]]:
    for node in _nodes(core):
        if node.get("type") == "union":
            branches = [branch[0] if isinstance(branch, tuple) else branch for branch in node["choices"]]
            if any(branch.get("type") == "str" for branch in branches):
                yield from (
                    branch["cls"] for branch in branches if branch.get("type") == "enum" and _is_text(branch["cls"])
                )


def _is_text(enum: type[Enum]) -> bool:
    return any(isinstance(member.value, str) for member in enum)


def _is_configured(core: Any) -> bool:
    """Whether the author changed how a dataclass, TypedDict or annotated type is written; models know it themselves."""
    return any(
        node.get("serialization_alias")
        or node.get("serialization_exclude")
        or node.get("init") is False
        or (node.get("type") == "dataclass-args" and node.get("computed_fields"))
        or _has_own_serializer(node)
        for node in _nodes(core)
        if node.get("type") not in ("model", "model-fields", "model-field")
    )


def _has_own_serializer(node: Mapping[str, Any]) -> bool:
    serializer = node.get("serialization")
    if not isinstance(serializer, Mapping) or not str(serializer.get("type")).startswith("function-"):
        return False
    return not _stands_in(serializer.get("function"), ("pydantic",))
