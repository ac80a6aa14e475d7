"""Values of a YAML file that remember where they stand. Pure, immutable; transformations return new trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from rpcgw.api.problems import Place
from rpcgw.api.records import record

Path = tuple[str | int, ...]
"""The way to a value: keys of mappings, indices of lists."""

Atom = str | int | float | bool | None


@record(frozen=True, slots=True)
class Leaf:
    """One scalar. `from_env` says that an untyped variable made it: its text is soft, and never shown in a problem."""

    value: Atom
    place: Place
    from_env: bool = False


@record(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    place: Place


@record(frozen=True, slots=True)
class Table:
    """A mapping with text keys. `broken` names keys whose value was wrong and has been reported already."""

    entries: dict[str, Node]
    place: Place
    keys: dict[str, Place] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()


Node = Leaf | Items | Table


def plain(node: Node) -> Any:
    """The value without its places: dicts, lists and scalars."""
    match node:
        case Leaf(value):
            return value
        case Items(items):
            return [plain(item) for item in items]
        case Table(entries):
            return {key: plain(value) for key, value in entries.items()}


def wrapped(value: Any, place: Place) -> Node:
    """Plain JSON values as nodes that all stand at one place."""
    match value:
        case list():
            return Items(tuple(wrapped(item, place) for item in value), place)
        case dict():
            entries = {str(key): wrapped(item, place) for key, item in value.items()}
            return Table(entries, place, dict.fromkeys(entries, place))
        case _:
            return Leaf(value, place)


def placed(node: Node, place: Place) -> Node:
    """The same values, all standing at one place."""
    match node:
        case Leaf(value, _, from_env):
            return Leaf(value, place, from_env)
        case Items(items):
            return Items(tuple(placed(item, place) for item in items), place)
        case Table(entries, broken=broken):
            moved = {key: placed(value, place) for key, value in entries.items()}
            return Table(moved, place, dict.fromkeys(moved, place), broken)


def child(node: Node, step: str | int) -> Node | None:
    """What stands under a key or at an index, or None."""
    match node:
        case Table(entries) if isinstance(step, str):
            return entries.get(step)
        case Items(items) if isinstance(step, int) and step < len(items):
            return items[step]
        case _:
            return None


def find(node: Node, path: Path) -> Node | None:
    """The node at a path, or None."""
    found: Node | None = node
    for step in path:
        found = child(found, step) if found is not None else None
    return found


def place_of(node: Node, path: Path) -> Place:
    """Where a path's key stands (for an item of a list, the item); the nearest ancestor where there is none."""
    place = node.place
    for step in path:
        inner = child(node, step)
        if inner is None:
            return node.keys.get(str(step), place) if isinstance(node, Table) else place
        place = node.keys.get(str(step), inner.place) if isinstance(node, Table) else inner.place
        node = inner
    return place


def replaced(node: Node, change: Callable[[Path, Leaf], Node | None], path: Path = ()) -> Node:
    """The tree with each leaf as `change` has it; None takes the leaf out, and its mapping remembers the key."""
    match node:
        case Leaf():
            return change(path, node) or node
        case Items(items, place):
            found = [_replaced_child(item, change, (*path, at)) for at, item in enumerate(items)]
            return Items(tuple(item for item in found if item is not None), place)
        case Table(entries, place, keys, broken):
            pairs = {key: _replaced_child(value, change, (*path, key)) for key, value in entries.items()}
            lost = frozenset(key for key, value in pairs.items() if value is None)
            return Table({key: value for key, value in pairs.items() if value is not None}, place, keys, broken | lost)


def _replaced_child(node: Node, change: Callable[[Path, Leaf], Node | None], path: Path) -> Node | None:
    return change(path, node) if isinstance(node, Leaf) else replaced(node, change, path)


def pruned(node: Node, drop: Callable[[Path, Node], bool], path: Path = (), *, reported: bool = False) -> Node:
    """The tree without what `drop` names: as if it had never been written.

    `reported`: it was wrong, and the tables that it stood in name it among their broken keys.
    """
    match node:
        case Leaf():
            return node
        case Items(items, place):
            kept = [(at, item) for at, item in enumerate(items) if not drop((*path, at), item)]
            return Items(tuple(pruned(item, drop, (*path, at), reported=reported) for at, item in kept), place)
        case Table(entries, place, keys, broken):
            left = {key: value for key, value in entries.items() if not drop((*path, key), value)}
            lost = entries.keys() - left.keys() if reported else frozenset()
            rest = {key: pruned(value, drop, (*path, key), reported=reported) for key, value in left.items()}
            return Table(rest, place, keys, broken | lost)


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node with its path, the root first."""
    yield path, node
    match node:
        case Items(items):
            for at, item in enumerate(items):
                yield from walk(item, (*path, at))
        case Table(entries):
            for key, value in entries.items():
                yield from walk(value, (*path, key))
        case Leaf():
            return


def dotted(path: Path) -> str:
    """A path as people write it: `ufo_mcp.groups.internal`."""
    return ".".join(_printable(str(step)) for step in path)


def _printable(text: str) -> str:
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
