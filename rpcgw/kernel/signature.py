"""A function's signature as the kernel sees it: hints, defaults, docstring, what is injected. Pure; no pydantic."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NewType, Union, get_args, get_origin

import typing_extensions
from typing_extensions import TypeAliasType

from rpcgw.api.context import CallContext
from rpcgw.api.problems import Level, Place, Problem
from rpcgw.api.records import record
from rpcgw.kernel.docstring import Docstring, read_docstring

NAME_PATTERN = r"^[a-zA-Z0-9_.-]{1,128}$"
"""What MCP accepts as a tool's name (T-02)."""

_NAME = re.compile(NAME_PATTERN)


class _Absent:
    def __repr__(self) -> str:
        return "<absent>"


ABSENT: Final = _Absent()
"""Stands where a parameter has no default, and where a function has no return annotation."""


@record(frozen=True, slots=True)
class Param:
    """One parameter of the API."""

    name: str
    hint: Any
    default: Any = ABSENT
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is ABSENT


@record(frozen=True, slots=True)
class Signature:
    """What a method takes and gives, and what its docstring says.

    `contexts` are the parameters that get the `CallContext`; they are not part of the API. `raises` pairs an exception
    class, as far as its name could be resolved, with the docstring's words. `positional` are the names, contexts
    included, that the function takes by position alone.
    """

    name: str
    function: Callable[..., Any]
    params: tuple[Param, ...]
    returns: Any
    description: str
    returns_doc: str
    raises: tuple[tuple[type[BaseException], str], ...]
    contexts: tuple[str, ...]
    positional: tuple[str, ...]
    is_async: bool
    deprecated: bool
    place: Place


@record(frozen=True, slots=True)
class Reporter:
    """Notes problems of one method in a list that is shared."""

    problems: list[Problem]
    place: Place
    method: str

    def __call__(self, code: str, text: str, hint: str = "", level: Level = "error") -> None:
        """Note one problem."""
        self.problems.append(Problem(self.place, code, f"{self.method}: {text}", hint, level))


def read_signature(name: str, function: Any, owner: type | None = None) -> tuple[Signature | None, list[Problem]]:
    """The signature of a function, or of a static or class method, under its RPC name, and what is wrong with it.

    `owner` is the class that it was found in; None for a plain function. There is no signature where an annotation
    cannot be resolved.
    """
    bound = owner is not None and not isinstance(function, staticmethod)
    outer = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    raw = inspect.unwrap(outer)
    problems: list[Problem] = []
    report = Reporter(problems, place_of(raw), name)
    if not _NAME.match(name):
        report("name", f"the name {name!r} does not match {NAME_PATTERN}", "give the procedure another alias")
    _check_kind(raw, report)
    hints = _hints(raw, owner, report)
    if hints is None:
        return None, problems
    parameters = list(inspect.signature(raw).parameters.values())
    if bound and not parameters:
        report("no-self", "the method takes no self", "add it, or mark the method with @staticmethod")
    docs = read_docstring(raw.__doc__ or _inherited_doc(raw, owner))
    contexts = tuple(p.name for p in parameters if _is_context(hints.get(p.name)))
    open_parameters = [p for p in parameters[bound:] if p.name not in contexts]
    params = tuple(_params(open_parameters, hints, docs, report))
    _check_docs(docs, params, contexts, report)
    signature = Signature(
        name=name,
        function=outer,
        params=params,
        returns=hints.get("return", ABSENT),
        description=docs.description,
        returns_doc=docs.returns,
        raises=tuple(_raises(docs, raw, report)),
        contexts=contexts,
        positional=tuple(p.name for p in parameters[bound:] if p.kind is p.POSITIONAL_ONLY),
        is_async=inspect.iscoroutinefunction(outer) or inspect.iscoroutinefunction(raw),
        deprecated=docs.deprecated or hasattr(outer, "__deprecated__"),
        place=place_of(raw),
    )
    return signature, problems


def place_of(target: Any) -> Place:
    """Where a function or class is defined; a function's place is its first decorator's line."""
    code = getattr(target, "__code__", None)
    if code is not None:
        return Place(code.co_filename, code.co_firstlineno)
    try:
        return Place(inspect.getsourcefile(target) or "?", inspect.getsourcelines(target)[1])
    except (OSError, TypeError):
        return Place(getattr(target, "__module__", "?"))


def describe_hint(hint: Any) -> str:
    """A type as its author would write it."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is None or hint is NoneType:
        return "None"
    if origin is Annotated:
        return describe_hint(parts[0])
    if origin in (Union, UnionType):
        return " | ".join(map(describe_hint, parts))
    if isinstance(origin, type | TypeAliasType) and parts:
        return f"{_name_of(origin)}[{', '.join(map(describe_hint, parts))}]"
    if isinstance(hint, type | TypeAliasType | NewType):
        return _name_of(hint)
    return "..." if hint is ... else str(hint).replace("typing_extensions.", "").replace("typing.", "")


def _name_of(hint: Any) -> str:
    return str(getattr(hint, "__qualname__", hint.__name__)).rpartition("<locals>.")[2]


def _check_kind(raw: Callable[..., Any], report: Reporter) -> None:
    if inspect.isgeneratorfunction(raw) or inspect.isasyncgenfunction(raw):
        report("type", "the method yields, and a result is one value", "collect the items and return a list")


def _hints(raw: Any, owner: type | None, report: Reporter) -> dict[str, Any] | None:
    try:
        return _resolved(raw, owner)
    except (NameError, AttributeError) as error:
        missing = getattr(error, "name", None) or str(error)
        report(
            "forward-ref",
            f"the annotation names {missing!r}, which is not defined where the method is",
            "import it at run time, not under TYPE_CHECKING",
        )
    except (TypeError, SyntaxError) as error:
        report("type", f"an annotation cannot be evaluated: {error}", "write a type")
    return None


def _resolved(raw: Any, owner: type | None) -> dict[str, Any]:
    try:
        return typing_extensions.get_type_hints(raw, include_extras=True)
    except NameError:
        return typing_extensions.get_type_hints(raw, localns=_surroundings(raw, owner), include_extras=True)


def _surroundings(raw: Any, owner: type | None) -> dict[str, Any]:
    """What an annotation may also name: the classes that the method stands in, and what its closure holds."""
    names: dict[str, Any] = {}
    for cls in reversed(owner.__mro__ if owner else ()):
        names.update({name: value for name, value in vars(cls).items() if isinstance(value, type)})
        names[cls.__name__] = cls
    names.update(inspect.getclosurevars(raw).nonlocals)
    return names


def _is_context(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _is_context(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return all(part in (CallContext, NoneType) for part in get_args(hint)) and CallContext in get_args(hint)
    return hint is CallContext


def _params(
    parameters: list[inspect.Parameter], hints: Mapping[str, Any], docs: Docstring, report: Reporter
) -> Iterator[Param]:
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            text = f"{stars}{parameter.name} cannot be part of an API"
            report("variadic", text, "name each parameter, or take one dict[str, T]")
            continue
        _check_parameter(parameter, hints, report)
        yield Param(
            name=parameter.name,
            hint=hints.get(parameter.name, Any),
            default=ABSENT if parameter.default is parameter.empty else parameter.default,
            description=docs.params.get(parameter.name, ""),
        )


def _check_parameter(parameter: inspect.Parameter, hints: Mapping[str, Any], report: Reporter) -> None:
    name, default = parameter.name, parameter.default
    if name == "client":
        text = "a parameter called 'client' is what browser tools add by themselves"
        report("reserved", text, "rename it", "warning")
    if name not in hints:
        text = f"parameter {name!r} has no annotation, so anything is accepted"
        report("untyped", text, "annotate it; say Any where you mean it", "warning")
    if isinstance(default, list | dict | set | bytearray) and default:
        text = f"the default of {name!r} is a mutable {type(default).__name__}"
        report("mutable-default", text, "use a tuple or None; rpcgw copies it for each call", "warning")


def _check_docs(docs: Docstring, params: tuple[Param, ...], contexts: tuple[str, ...], report: Reporter) -> None:
    names = [param.name for param in params]
    for described in docs.params:
        if described not in names and described not in contexts:
            text = f"the docstring describes {described!r}, which is not a parameter"
            report("doc-param", text, f"parameters: {', '.join(names) or 'none'}", "warning")


def _inherited_doc(raw: Any, owner: type | None) -> str | None:
    return inspect.getdoc(getattr(owner, raw.__name__, None)) if owner else None


def _raises(docs: Docstring, raw: Any, report: Reporter) -> Iterator[tuple[type[BaseException], str]]:
    for name, text in docs.raises:
        error = _lookup(name, raw)
        if isinstance(error, type) and issubclass(error, BaseException):
            yield error, text
        else:
            problem = f"the docstring says that it raises {name!r}, which is no exception known where the method is"
            report("doc-raises", problem, "import it, or mend the name", "warning")


def _lookup(dotted: str, raw: Any) -> object:
    first, *rest = dotted.split(".")
    found: object = getattr(raw, "__globals__", {}).get(first, getattr(builtins, first, None))
    for name in rest:
        found = getattr(found, name, None)
    return found
