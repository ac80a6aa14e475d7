"""Making procedures: what a plugin's lifespan yields fills the constructors' parameters, by type."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, NewType, Union, get_args, get_origin, get_type_hints, is_typeddict

from typing_extensions import get_protocol_members, is_protocol

from rpcgw.api.problems import Place, Problem
from rpcgw.kernel.signature import place_of

House = Mapping[type, object]
"""What rpcgw itself provides to every procedure, by the type that a parameter names."""

NO_HOUSE: House = MappingProxyType({})


def provided_values(yielded: object) -> tuple[object, ...]:
    """What a lifespan provides: nothing, one value, or each of a tuple or list."""
    if yielded is None:
        return ()
    return tuple(yielded) if type(yielded) in (tuple, list) else (yielded,)  # type: ignore[arg-type]  # just looked


def instantiate(
    procedures: Iterable[object], provided: Sequence[object], house: House = NO_HOUSE
) -> tuple[Mapping[type, object], list[Problem]]:
    """One instance of each procedure, by its class; what is an instance already stays as it is.

    A parameter takes the value whose class is exactly its type, else the one that is an instance of it, else what the
    house has for exactly this type. One with a default may stay empty. What cannot be made is a problem that names the
    parameter.
    """
    made: dict[type, object] = {}
    problems: list[Problem] = []
    for procedure in procedures:
        if not isinstance(procedure, type):
            made[type(procedure)] = procedure
            continue
        arguments, found = _fill(procedure, provided, house)
        problems += found
        if found:
            continue
        try:
            made[procedure] = procedure(**arguments)
        except Exception as error:  # noqa: BLE001 -- the author's constructor; a plugin that fails to load is a problem
            text = f"{procedure.__qualname__}(...) raised {type(error).__name__}: {error}"
            problems.append(Problem(_place(procedure), "procedure-constructor", text))
    return made, problems


def bind_resolvers(
    functions: Iterable[Callable[..., Any]], provided: Sequence[object], house: House = NO_HOUSE
) -> tuple[dict[Callable[..., Any], Callable[[Any], Any]], list[Problem]]:
    """Resolvers ready to be called with an id: their other parameters are filled as constructors' are."""
    made: dict[Callable[..., Any], Callable[[Any], Any]] = {}
    problems: list[Problem] = []
    for function in functions:
        arguments, found = _fill(function, provided, house, first=1)
        problems += found
        made[function] = partial(function, **arguments) if arguments else function
    return made, problems


def _fill(
    procedure: Callable[..., Any], provided: Sequence[object], house: House, first: int = 0
) -> tuple[dict[str, object], list[Problem]]:
    arguments: dict[str, object] = {}
    problems: list[Problem] = []
    if _takes_nothing(procedure):
        return arguments, problems
    hints = _hints(procedure)
    for parameter in list(inspect.signature(procedure).parameters.values())[first:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = hints.get(parameter.name, parameter.empty)
        fitting = _fitting(hint, provided) or [house[kind] for kind in house if kind in _kinds(hint)]
        if len(fitting) == 1:
            arguments[parameter.name] = fitting[0]
        elif fitting or parameter.default is parameter.empty:
            problems.append(_unfilled(procedure, parameter, fitting, provided))
    return arguments, problems


def _takes_nothing(procedure: Any) -> bool:
    """Whether it is a class without a constructor: to ask for the signature of `object` takes milliseconds."""
    plain: Any = object
    return isinstance(procedure, type) and all(
        getattr(procedure, name) is getattr(plain, name) for name in ("__init__", "__new__")
    )


def _hints(procedure: Callable[..., Any]) -> Mapping[str, Any]:
    function: Any = procedure.__init__ if isinstance(procedure, type) else procedure  # type: ignore[misc]  # of the class that is about to be made
    try:
        return get_type_hints(function)
    except NameError:
        # A name that only type checkers see: the raw annotations still say which parameters there are.
        return {name: value for name, value in function.__annotations__.items() if not isinstance(value, str)}


def _fitting(hint: Any, provided: Sequence[object]) -> list[object]:
    kinds = _kinds(hint)
    exact = [value for value in provided if type(value) in kinds]
    return exact or [value for value in provided if any(_is(value, kind) for kind in kinds)]


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The classes that a hint names: members of a union, what stands behind Annotated, NewType and generics."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _kinds(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return tuple(kind for member in get_args(hint) for kind in _kinds(member) if kind is not type(None))
    if isinstance(hint, NewType):
        return _kinds(hint.__supertype__)
    return (origin or hint,)


def _is(value: object, kind: Any) -> bool:
    if not isinstance(kind, type) or kind is inspect.Parameter.empty or is_typeddict(kind):
        return False
    if is_protocol(kind):
        return all(hasattr(value, member) for member in get_protocol_members(kind))
    return isinstance(value, kind)


def _unfilled(
    procedure: Callable[..., Any], parameter: inspect.Parameter, fitting: list[object], provided: Sequence[object]
) -> Problem:
    name = f"the parameter {parameter.name!r} of {procedure.__qualname__}(...)"
    yielded = ", ".join(type(value).__qualname__ for value in provided) or "nothing"
    if fitting:
        text, hint = f"{name} fits more than one value", f"the lifespan yields {yielded}"
    elif parameter.annotation is parameter.empty:
        text, hint = f"{name} has no type", "annotate it: constructor parameters are filled by type"
    else:
        wanted = inspect.formatannotation(parameter.annotation)
        text, hint = f"{name} cannot be filled: nothing that is {wanted}", f"the lifespan yields {yielded}"
    return Problem(_place(procedure), "procedure-parameter", text, hint)


def _place(procedure: Callable[..., Any]) -> Place:
    if not isinstance(procedure, type):
        return place_of(procedure)
    made = vars(procedure).get("__init__")
    # A dataclass's constructor stands in no file: the class does.
    generated = made is None or made.__code__.co_filename.startswith("<")
    return place_of(procedure if generated else made)
