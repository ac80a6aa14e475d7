"""The marks that an author puts on classes and functions.

A mark hangs one frozen spec on what it marks and returns the same object: no wrapper, no registry, any order. The same
mark twice is a `TypeError` at import. What the marks mean together is decided when plugins are compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from rpcgw.api.records import record

MARKS = "__rpcgw_marks__"
"""The attribute that carries a `dict[type, spec]` of a marked class or function."""

DEFAULT_GROUP = "general"
SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
"""What one scope looks like (RFC 6749 section 3.3, scope-token)."""

_Marked = TypeVar("_Marked", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)


@record(frozen=True, slots=True)
class Procedure:
    """`@rpc.procedure`: a class whose public methods are served."""

    alias: str | None
    version: int
    removed: tuple[str, ...]


@record(frozen=True, slots=True)
class Groups:
    """`@rpc.groups`, or `groups=` of a procedure: where a method is served."""

    names: tuple[str, ...]
    with_default: bool

    @property
    def members(self) -> frozenset[str]:
        """All groups, the default one included unless it was excluded."""
        return frozenset(self.names) | (frozenset({DEFAULT_GROUP}) if self.with_default else frozenset())


@record(frozen=True, slots=True)
class Tool:
    """`@rpc.tool`: hints for agents; an unset hint is None and not sent. Never publishes a method."""

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    input_schema: Mapping[str, object] | None = None


@record(frozen=True, slots=True)
class Cache:
    """`@rpc.cache`: keep results for `ttl` seconds in the named environments; `vary` is what else they depend on.

    `by` are the parameters by whose values a plugin may drop results (`rpc.ResultCache`).
    """

    ttl: float
    environments: tuple[str, ...]
    vary: tuple[str, ...]
    by: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Relation:
    """What one `@rpc.invalidates` says: which results go, and which of them are made anew.

    `by` pairs parameters of the cached methods with parameters of the marked one; without it everything of a method
    goes, and with `exact` only what was kept for the marked method's own parameters.
    """

    methods: tuple[str, ...]
    warm_up: bool = False
    by: tuple[tuple[str, str], ...] = ()
    exact: bool = False


@record(frozen=True, slots=True)
class Invalidates:
    """`@rpc.invalidates`, once or several times: what goes from the cache after a success."""

    relations: tuple[Relation, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """All that is named, in the order in which it is."""
        return tuple(dict.fromkeys(name for relation in self.relations for name in relation.methods))


@record(frozen=True, slots=True)
class Lock:
    """`@rpc.lock`: one call at a time, per value of the parameter `by`; `ttl` and `wait` in seconds."""

    by: str | None
    ttl: float | None
    wait: float | None


@record(frozen=True, slots=True)
class Scopes:
    """`@rpc.scopes`: what a caller's token must allow, all of it."""

    names: frozenset[str]


@record(frozen=True, slots=True)
class Hidden:
    """`@rpc.hidden`: a public method that is not part of the API."""


@record(frozen=True, slots=True)
class Inline:
    """`@rpc.inline`: a cheap sync method that runs on the event loop instead of a thread."""


@record(frozen=True, slots=True)
class Listener:
    """`@rpc.listens`: a function called with events of one class, higher priorities first."""

    event: type
    priority: int


def put_mark(target: Any, spec: object) -> None:
    """Hang a spec on a class or function; the same kind of mark twice is a `TypeError`."""
    marks: dict[type, object] = dict(target.__dict__.get(MARKS, ()))
    if type(spec) in marks:
        name = getattr(target, "__qualname__", repr(target))
        raise TypeError(f"{name} carries the mark {type(spec).__name__.lower()!r} twice")
    marks[type(spec)] = spec
    setattr(target, MARKS, marks)


def marks_of(target: object) -> Mapping[type, object]:
    """The specs on a class itself (never inherited), or on a function and whatever is wrapped around it, by their type.

    The order of decorators does not matter: a mark counts above and below `@staticmethod`, `@classmethod` and any
    decorator that says what it wraps.
    """
    chain = [target]
    while not isinstance(chain[-1], type) and (inner := getattr(chain[-1], "__wrapped__", None)) is not None:
        chain.append(inner)
    found: dict[type, object] = {}
    for link in reversed(chain):
        found.update(getattr(link, "__dict__", {}).get(MARKS, {}))
    return found


def _seconds(value: timedelta | float | None) -> float | None:
    return value.total_seconds() if isinstance(value, timedelta) else value


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _check_names(mark: str, names: Iterable[object]) -> None:
    """A mark that is written without brackets is given what it stands above in place of a name."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f'@rpc.{mark} takes names, as in @rpc.{mark}("..."), not {name!r}')


def procedure(
    alias: str | None = None,
    *,
    version: int = 1,
    removed: Iterable[str] = (),
    groups: Collection[str] = (),
    with_default: bool = True,
) -> Callable[[_Class], _Class]:
    """Serve a class: its public methods become `<alias>.<method>`.

    Args:
        alias: The first part of the names; the class's name where None, and no first part at all where empty.
        version: The API version that the class belongs to, from 1.
        removed: Bare method names that this version no longer has.
        groups: The API groups that serve the class.
        with_default: Whether the group `general` serves it too.

    Raises:
        TypeError: It is written without brackets, or marks something else than a class.
        ValueError: The version is below 1.
    """
    if alias is not None:
        _check_names("procedure", (alias,))
    if version < 1:
        raise ValueError("versions count from 1")

    def mark(cls: _Class) -> _Class:
        if not isinstance(cls, type):
            raise TypeError(f"@rpc.procedure marks a class, and {getattr(cls, '__qualname__', cls)!r} is none")
        put_mark(cls, Procedure(alias, version, _names(removed)))
        if groups or not with_default:
            put_mark(cls, Groups(_names(groups), with_default))
        return cls

    return mark


def groups(*names: str, with_default: bool = True) -> Callable[[_Marked], _Marked]:
    """Say which groups serve a method; replaces what its class says."""
    _check_names("groups", names)

    def mark(target: _Marked) -> _Marked:
        put_mark(target, Groups(names, with_default))
        return target

    return mark


def tool(
    *,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    input_schema: Mapping[str, object] | None = None,
) -> Callable[[_Marked], _Marked]:
    """Describe a method to agents (MCP's ToolAnnotations). A given `input_schema` is published, and enforced, as is."""

    def mark(target: _Marked) -> _Marked:
        put_mark(target, Tool(title, read_only, destructive, idempotent, open_world, input_schema))
        return target

    return mark


def cache(
    *,
    ttl: timedelta | float = 60,
    environments: Iterable[str] = ("prod",),
    vary: Iterable[str] = (),
    by: str | Iterable[str] = (),
) -> Callable[[_Marked], _Marked]:
    """Keep a method's results.

    Args:
        ttl: How long, in seconds or as a timedelta.
        environments: Where the cache is in use.
        vary: What an answer depends on beside the parameters: `locale`, `principal`, `scopes`,
            `claim:tenant`, `header:X-Tenant`.
        by: The parameters by whose values `rpc.ResultCache.delete` is to drop results; what `@rpc.invalidates` drops by
            need not be named here.
    """
    seconds = _seconds(ttl)
    if not seconds or seconds <= 0:
        raise ValueError("a cache needs a ttl above 0 seconds")

    def mark(target: _Marked) -> _Marked:
        put_mark(target, Cache(seconds, _names(environments), _names(vary), _names(by)))
        return target

    return mark


def invalidates(
    *methods: str, warm_up: bool = False, by: str | Iterable[str] | Mapping[str, str] = (), exact: bool = False
) -> Callable[[_Marked], _Marked]:
    """Drop cached results once the marked method has succeeded. May be given several times.

    Args:
        methods: Whose results: `Catalog.search`, or `Catalog.*` for all cached methods of a procedure.
        warm_up: Whether to make the results anew, with the parameters that both methods have.
        by: Drop only results whose parameters of these names have the values that the marked method was called with;
            a mapping says which of its parameters those are: `{"id": "product_id"}`.
        exact: Drop only the results for the marked method's own parameters; what it lacks stands for its default.
    """
    if not methods:
        raise ValueError("say whose results: Catalog.search, or Catalog.* for all of a procedure")
    _check_names("invalidates", methods)
    pairs = tuple(by.items()) if isinstance(by, Mapping) else tuple((name, name) for name in _names(by))
    if pairs and exact:
        raise ValueError("by= and exact= exclude each other")
    relation = Relation(methods, warm_up, tuple(sorted(pairs)), exact)

    def mark(target: _Marked) -> _Marked:
        marks: dict[type, object] = dict(target.__dict__.get(MARKS, ()))
        before = marks.get(Invalidates)
        marks[Invalidates] = Invalidates((relation, *(before.relations if isinstance(before, Invalidates) else ())))
        setattr(target, MARKS, marks)
        return target

    return mark


def lock(
    *, by: str | None = None, ttl: timedelta | float | None = None, wait: timedelta | float | None = None
) -> Callable[[_Marked], _Marked]:
    """Let one call run at a time.

    Args:
        by: The parameter whose value tells calls apart; None locks the whole method.
        ttl: How many seconds a lock outlives a holder that died; renewed while the call runs (30 where None).
        wait: How many seconds a call waits for the lock; None refuses at once.
    """

    def mark(target: _Marked) -> _Marked:
        put_mark(target, Lock(by, _seconds(ttl), _seconds(wait)))
        return target

    return mark


def scopes(*names: str) -> Callable[[_Marked], _Marked]:
    """Let only those call a method, or all methods of a class, whose token has these scopes.

    A method's own replace the class's.

    Args:
        names: Scopes as an authorization server names them: `catalog:write` (RFC 6749 section 3.3).

    Raises:
        ValueError: No name is given, or one cannot be the name of a scope.
    """
    if not names:
        raise ValueError("say which scopes a caller needs: catalog:write")
    _check_names("scopes", names)
    for name in names:
        if not SCOPE.fullmatch(name):
            raise ValueError(f"{name!r} is no scope: one word without blanks, quotes and backslashes")

    def mark(target: _Marked) -> _Marked:
        put_mark(target, Scopes(frozenset(names)))
        return target

    return mark


def hidden(target: _Marked) -> _Marked:
    """Keep a public method out of the API."""
    put_mark(target, Hidden())
    return target


def inline(target: _Marked) -> _Marked:
    """Run a cheap sync method on the event loop: saves a thread hop, and blocks every other call while it runs."""
    put_mark(target, Inline())
    return target


def listens(event: type, *, priority: int = 0) -> Callable[[_Marked], _Marked]:
    """Call a function, sync or async, with each event of a class; higher priorities first."""

    def mark(target: _Marked) -> _Marked:
        put_mark(target, Listener(event, priority))
        return target

    return mark
