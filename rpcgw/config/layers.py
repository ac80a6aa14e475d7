"""One mapping laid over another: how imported files, a file's own options and its `when@` blocks become one. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from rpcgw.config.nodes import Leaf, Node, Path, Table

VERBATIM: tuple[Path, ...] = (
    ("plugins", "config"),
    ("parameters",),
    *(("webmcp", "sites", "*", "tools", "*", name) for name in ("input_schema", "output_schema")),
)
"""Where values are somebody else's: a `~` is kept there. `*` stands for any name."""


def is_verbatim(path: Path) -> bool:
    """Whether a value belongs to a plugin, is a parameter, or a JSON Schema."""
    return any(
        len(path) >= len(theirs) and all(own in (name, "*") for own, name in zip(theirs, path, strict=False))
        for theirs in VERBATIM
    )


def says_nothing(path: Path, node: Node) -> bool:
    """`~` and an empty value are as if the option was not there: it inherits, or has its default."""
    return isinstance(node, Leaf) and node.value is None and not is_verbatim(path)


def layered(tables: Iterable[Table], path: Path = ()) -> Table:
    """Tables as one, a later one over an earlier one; there is at least one."""
    return reduce(lambda base, top: over(base, top, path), tables)


def over(base: Table, top: Table, path: Path = ()) -> Table:
    """`base` with the options of `top`: mappings key by key; any other value, a list too, stands instead of the old.

    A `~` in `top` leaves what is below it.
    """
    entries, keys = dict(base.entries), dict(base.keys)
    for key, value in top.entries.items():
        here = (*path, key)
        below = entries.get(key)
        if below is not None and says_nothing(here, value):
            continue
        if isinstance(below, Table) and isinstance(value, Table):
            value = over(below, value, here)  # noqa: PLW2901 -- the two as one
        entries[key] = value
        keys[key] = top.keys.get(key, value.place)
    return Table(entries, top.place, keys, base.broken | top.broken)
