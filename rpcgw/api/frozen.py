"""JSON values that cannot be changed: dicts and lists like any other, which every reader may share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("claims are the caller's, and cannot be changed; make a dict of them to work with")


class FrozenDict(dict[str, Any]):
    """An object."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        return frozen, (dict(self),)

    def __deepcopy__(self, _: object) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """An array."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        return frozen, (list(self),)

    def __deepcopy__(self, _: object) -> FrozenList:
        return self


def frozen(value: Any) -> Any:
    """A JSON value with everything in it, so that nobody can change it; equal to what it was made of."""
    if isinstance(value, FrozenDict | FrozenList):
        return value
    if isinstance(value, dict):
        return FrozenDict((name, frozen(each)) for name, each in value.items())
    if isinstance(value, list):
        return FrozenList(map(frozen, value))
    return value
