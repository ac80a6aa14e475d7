"""Data classes that cost little to define: `dataclasses`, but that a class gets its `__init__` when it is first made.

A process that starts defines hundreds of classes and makes few of them. The standard library writes and compiles six
functions for each of them at once, which was a quarter of the time to the first answer. Fields, `replace`, `fields`,
`asdict` and the rest are the standard library's.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, dataclass_transform

__all__ = ["record"]

_Any = TypeVar("_Any")
_put: Final = object.__setattr__


class _Made:
    """Stands for a default that is made; signatures show it as the standard library's do."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE: Final = _Made()


@dataclass_transform(field_specifiers=(field, Field))
def record(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False, kw_only: bool = False
) -> Callable[[type[_Any]], type[_Any]]:
    """The class with what `dataclasses.dataclass` gives it; arguments are those of that. What it defines itself stays.

    There are no `InitVar`s, and a class with `order` is compared with its own kind only.
    """

    def make(cls: type[_Any]) -> type[_Any]:
        cls.__doc__ = cls.__doc__ or cls.__name__  # the library would look for a signature
        defined: type[_Any] = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
        for name, method in _methods(defined, frozen=frozen, slots=slots, eq=eq, order=order):
            if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
                setattr(defined, name, method)
        return defined

    return make


def _methods(cls: type, *, frozen: bool, slots: bool, eq: bool, order: bool) -> Iterator[tuple[str, Any]]:
    yield "__init__", _later(cls, put=frozen)
    yield "__signature__", _Signature(cls)
    yield "__repr__", _repr
    compared = _values(each.name for each in fields(cls) if each.compare)
    if eq:
        yield "__eq__", _comparison(compared, lambda mine, other: mine == other)
        yield "__hash__", (lambda self: hash(compared(self))) if frozen else None
    if order:
        for compare in (lt, le, gt, ge):
            yield f"__{compare.__name__}__", _comparison(compared, compare)
    if frozen:
        yield from _frozen(cls)
        if slots:
            yield "__getstate__", _state
            yield "__setstate__", _set_state


# -- making one


def _later(cls: Any, *, put: bool) -> Callable[..., None]:
    """An `__init__` that takes the place of itself by the real one."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        write()
        cls.__init__(self, *args, **kwargs)

    def write() -> None:
        cls.__init__ = _init(cls, put=put)

    init.write = write  # type: ignore[attr-defined]
    return init


class _Signature:
    """What `inspect.signature` finds of a class; an heir with an `__init__` of its own has its own."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: Any) -> Any:
        init = owner.__init__
        if instance is not None or init is not self._cls.__init__:
            raise AttributeError("__signature__")
        getattr(init, "write", lambda: None)()
        found = inspect.signature(owner.__init__)
        return found.replace(parameters=list(found.parameters.values())[1:])


def _init(cls: type, *, put: bool) -> Callable[..., None]:
    """What the standard library would write; fields that cannot be set any more are put by `object`."""
    made = fields(cls)
    known: dict[str, Any] = {"_MADE": _MADE, "_put": _put}
    known |= {f"_{each.name}_default": _default(each) for each in made}
    positional = [_parameter(each) for each in made if each.init and not each.kw_only]
    named = [_parameter(each) for each in made if each.init and each.kw_only]
    lines = [_line(each, put=put) for each in made if each.init or each.default_factory is not MISSING]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    head = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    source = f"def __init__({head}):\n  " + "\n  ".join(lines or ["pass"])
    exec(source, known)  # noqa: S102 -- of names of fields alone
    written: Callable[..., None] = known["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    written.__annotations__ = {each.name: each.type for each in made if each.init} | {"return": None}
    return written


def _default(each: Field[Any]) -> Any:
    return each.default if each.default is not MISSING else each.default_factory


def _parameter(each: Field[Any]) -> str:
    if each.default is not MISSING:
        return f"{each.name}=_{each.name}_default"
    return f"{each.name}=_MADE" if each.default_factory is not MISSING else each.name


def _line(each: Field[Any], *, put: bool) -> str:
    value = each.name
    if each.default_factory is not MISSING:
        made = f"_{each.name}_default()"
        value = f"{made} if {each.name} is _MADE else {each.name}" if each.init else made
    return f'_put(self, "{each.name}", {value})' if put else f"self.{each.name} = {value}"


# -- what all have


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _values(names: Iterable[str]) -> Callable[[Any], Any]:
    """What stands in these fields of an instance."""
    wanted = tuple(names)
    return attrgetter(*wanted) if len(wanted) > 1 else lambda self: tuple(getattr(self, name) for name in wanted)


def _comparison(compared: Callable[[Any], Any], compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return compare(compared(self), compared(other)) if type(other) is type(self) else NotImplemented

    return method


def _frozen(cls: Any) -> Iterator[tuple[str, Any]]:
    names = frozenset(each.name for each in fields(cls))

    def set_(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    yield "__setattr__", set_
    yield "__delattr__", delete


def _state(self: Any) -> Any:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: Any) -> None:
    for each, value in zip(fields(self), state, strict=True):
        _put(self, each.name, value)
