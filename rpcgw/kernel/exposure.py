"""Which functions of a procedure are methods, under which names, in which groups. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import field
from types import FunctionType
from typing import Any

from rpcgw.api.marks import Groups, Hidden, Procedure, Scopes, marks_of
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.kernel.signature import place_of

DEFAULT_MEMBERSHIP = Groups((), with_default=True)


@record(frozen=True, slots=True)
class Registration:
    """A procedure that a plugin brings: a class marked with `@rpc.procedure`, or an instance of one."""

    procedure: type | object
    plugin: str = ""

    @property
    def cls(self) -> type:
        """The class, whichever of the two was given."""
        return self.procedure if isinstance(self.procedure, type) else type(self.procedure)


@record(frozen=True, slots=True)
class Exposed:
    """One function that becomes a method. `function` is as it stands in the class: static and class methods too."""

    name: str
    attribute: str
    function: Any
    groups: frozenset[str]
    version: int
    registration: Registration
    marks: Mapping[type, object] = field(hash=False)
    scopes: frozenset[str] = frozenset()


@record(frozen=True, slots=True)
class Exposure:
    """What one procedure contributes to the table: its methods, the names that it removes, the groups it stands in."""

    methods: tuple[Exposed, ...]
    removed: tuple[str, ...]
    groups: frozenset[str]
    version: int
    registration: Registration


def expose(registration: Registration) -> tuple[Exposure | None, list[Problem]]:
    """The methods of a procedure: public functions that its class declares, or a marked base of it.

    Names are `<alias>.<function>`: the class's name where there is no alias, the function's alone for an empty one.
    """
    cls = registration.cls
    mark = marks_of(cls).get(Procedure)
    if not isinstance(mark, Procedure):
        text = f"{cls.__qualname__} carries no @rpc.procedure mark"
        return None, [Problem(place_of(cls), "no-procedure", text, "mark the class; marks are not inherited")]
    alias = cls.__name__ if mark.alias is None else mark.alias
    membership = marks_of(cls).get(Groups, DEFAULT_MEMBERSHIP)
    assert isinstance(membership, Groups)
    methods = tuple(
        Exposed(
            name=_name(alias, attribute),
            attribute=attribute,
            function=function,
            groups=_groups(marks, membership),
            version=mark.version,
            registration=registration,
            marks=marks,
            scopes=_scopes(marks, marks_of(cls)),
        )
        for attribute, function in _public_functions(cls)
        for marks in (marks_of(function),)
    )
    groups = membership.members.union(*(method.groups for method in methods))
    removed = tuple(_name(alias, attribute) for attribute in mark.removed)
    exposure = Exposure(methods, removed, groups, mark.version, registration)
    return exposure, list(_problems(exposure))


def _name(alias: str, attribute: str) -> str:
    return f"{alias}.{attribute}" if alias else attribute


def _groups(marks: Mapping[type, object], of_class: Groups) -> frozenset[str]:
    own = marks.get(Groups, of_class)
    assert isinstance(own, Groups)
    return own.members


def _scopes(marks: Mapping[type, object], of_class: Mapping[type, object]) -> frozenset[str]:
    mark = marks.get(Scopes, of_class.get(Scopes))
    return mark.names if isinstance(mark, Scopes) else frozenset()


def _public_functions(cls: type) -> Iterator[tuple[str, Any]]:
    declaring = [base for base in cls.__mro__ if base is cls or Procedure in marks_of(base)]
    names = dict.fromkeys(name for base in declaring for name in vars(base) if not name.startswith("_"))
    for name in sorted(names):
        function = inspect.getattr_static(cls, name)
        plain = function.__func__ if isinstance(function, staticmethod | classmethod) else function
        is_function = isinstance(inspect.unwrap(plain) if callable(plain) else plain, FunctionType)
        if is_function and Hidden not in marks_of(function):
            yield name, function


def _problems(exposure: Exposure) -> Iterator[Problem]:
    cls = exposure.registration.cls
    if not exposure.methods and not exposure.removed:
        text = f"{cls.__qualname__} has no public method of its own"
        yield Problem(place_of(cls), "no-method", text, "declare one without a leading underscore", "warning")
    for method in exposure.methods:
        if not method.groups:
            text = f"{method.name} belongs to no group, so nothing serves it"
            hint = "name a group, or leave out with_default=False"
            yield Problem(place_of(_raw(method.function)), "no-group", text, hint, "warning")


def _raw(function: Any) -> Any:
    return inspect.unwrap(function.__func__ if isinstance(function, staticmethod | classmethod) else function)
