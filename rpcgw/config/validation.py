"""Nodes against a JSON Schema (Draft 2020-12): each error becomes a problem with its place.

Whether all is well jsonschema-rs says at once. What is wrong jsonschema says, which takes its time to load.

What a schema says in its own words stands under `x-expects`. Whatever is wrong is taken out of the document, so that
the rest can be looked at further and all problems come at once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs

from rpcgw.api.problems import Place, Problem
from rpcgw.config.document import Document, is_secret
from rpcgw.config.layers import says_nothing
from rpcgw.config.nodes import Leaf, Node, Path, Table, dotted, find, place_of, plain, pruned, replaced
from rpcgw.config.parsing import core_value
from rpcgw.config.unavailable import elsewhere, not_available
from rpcgw.config.wording import choices, described, meant, quoted, type_names

if TYPE_CHECKING:
    from rpcgw.config.findings import Finding

    Look = Callable[[Any], Iterable[Finding]]


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of `gateway` or `routes`, as it is shipped."""
    loaded: dict[str, Any] = json.loads(files("rpcgw.config").joinpath("schema", f"{name}.json").read_text("utf-8"))
    return loaded


def validate(root: Node | None, file: str, schema_name: str) -> tuple[Document, list[Problem]]:
    """A document that satisfies its schema, and what had to be left out of it."""
    table = root if isinstance(root, Table) else Table({}, Place(file, 1, 1))
    problems: list[Problem] = []
    if root is not None and root is not table and not (isinstance(root, Leaf) and root.value is None):
        text = f"The file must hold a mapping, not {described(plain(root))}."
        problems.append(Problem(root.place, "wrong-type", text, "write `option: value` lines"))
    wanted, node = schema(schema_name), pruned(table, _says_nothing)
    if isinstance(node, Table) and _fits(wanted, plain(node)):
        return Document(file, node), problems
    from rpcgw.config.findings import findings  # noqa: PLC0415 -- jsonschema is loaded where something is wrong

    look: Look = partial(findings, wanted)
    node = _firm(node, look)
    kept, wrong = _kept(node, look)
    # what is left may lack something that was taken out of it and reported: then it goes too, without a word
    while (less := _kept(kept, look))[0] != kept:
        kept = less[0]
    return Document(file, kept if isinstance(kept, Table) else Table({}, node.place)), [*problems, *wrong]


def _fits(wanted: dict[str, Any], value: Any) -> bool:
    """Whether a value satisfies a schema; no, too, where jsonschema-rs might be less strict than `findings`."""
    validator = jsonschema_rs.Draft202012Validator(
        wanted, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions(), offline=True
    )
    try:
        return validator.is_valid(_plainer(value))
    except _InDoubtError:
        return False


class _InDoubtError(Exception):
    """Both might read it differently."""


def _plainer(value: Any) -> Any:
    """A value of which jsonschema-rs has no other idea. To it 75.0 is an integer; the number right below is none.

    Raises:
        _InDoubtError: There is a number or a text in it that both might read differently.
    """
    if isinstance(value, dict):
        return {_plainer(name): _plainer(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plainer(part) for part in value]
    if isinstance(value, float) and value.is_integer() and 0 < value < _EXACT:
        return math.nextafter(value, 0)
    if _is_doubtful(value):
        raise _InDoubtError
    return value


def _is_doubtful(value: Any) -> bool:
    if isinstance(value, str):
        return _SEPARATOR.search(value) is not None
    if isinstance(value, float):
        return value.is_integer() or not math.isfinite(value)
    return isinstance(value, int) and abs(value) > _EXACT


_EXACT: Final = 2**53
_SEPARATOR: Final = re.compile(r"[\x1c-\x1f]")
"""White space to Python alone."""


def _kept(node: Node, look: Look) -> tuple[Node, list[Problem]]:
    """The tree without what the schema refuses, and why."""
    dropped: set[Path] = set()
    problems: list[Problem] = []
    for found in look(plain(node)):
        for path, problem in _translated(found, node):
            dropped.add(path)
            if problem is not None:
                problems.append(problem)
    return pruned(node, lambda path, _: path in dropped, reported=True), problems


def _says_nothing(path: Path, node: Node) -> bool:
    return bool(path) and isinstance(path[-1], str) and says_nothing(path, node)


def _firm(node: Node, look: Look) -> Node:
    """Text of untyped variables read as YAML reads a plain scalar, where the schema wants something else than text."""
    soft = {found.path for found in look(plain(node)) if found.rule == "type" and isinstance(found.instance, str)}

    def change(path: Path, leaf: Leaf) -> Node:
        if leaf.from_env and path in soft and isinstance(leaf.value, str):
            return Leaf(core_value(leaf.value), leaf.place, from_env=True)
        return leaf

    return pruned(replaced(node, change), _says_nothing) if soft else node


def _translated(found: Finding, node: Node) -> Iterator[tuple[Path, Problem | None]]:
    """What to take out for an error, and what to say of it (None: it was said already)."""
    path = found.path
    if found.in_names:
        yield _bad_key(found, node)
    elif found.rule == "additionalProperties":
        yield from _unknown(found, node)
    elif found.rule == "required":
        yield from _missing(found, node)
    else:
        code, text, hint = _worded(found, node)
        yield path, Problem(place_of(node, path), code, text, hint)


def _bad_key(found: Finding, node: Node) -> tuple[Path, Problem]:
    here = (*found.path, str(found.instance))
    text = f'"{dotted(here)}" must name {found.schema["x-expects"]}.'
    return here, Problem(place_of(node, here), "bad-value", text)


def _unknown(found: Finding, node: Node) -> Iterator[tuple[Path, Problem]]:
    path, known = found.path, list(found.schema.get("properties", {}))
    for key in [key for key in found.instance if key not in known]:
        here = (*path, key)
        place = place_of(node, here)
        later = not_available(dotted(here))
        if later:
            yield here, Problem(place, "not-available", *later)
            continue
        under = f'under "{dotted(path)}"' if path else "at the top level"
        text = f"Unrecognized option {quoted(key)} {under}. Available options are {choices(known)}."
        yield here, Problem(place, "unknown-option", text, elsewhere(dotted(here)) or meant(key, known))


def _missing(found: Finding, node: Node) -> Iterator[tuple[Path, Problem | None]]:
    path = found.path
    holder = find(node, path)
    broken = holder.broken if isinstance(holder, Table) else frozenset()
    for name in [name for name in found.limit if name not in found.instance]:
        where = f'"{dotted(path)}"' if path else "The file"
        text = f'{where} needs the option "{name}".'
        yield path, None if name in broken else Problem(place_of(node, path), "missing-option", text)


def _worded(found: Finding, node: Node) -> tuple[str, str, str]:
    """Code, text and hint of an error that is about one value."""
    path, leaf = found.path, find(node, found.path)
    secret = is_secret(path) or (isinstance(leaf, Leaf) and leaf.from_env)
    name, got = f'"{dotted(path)}"', described(found.instance, secret=secret)
    rule, limit = found.rule, found.limit
    match rule:
        case "type":
            return "wrong-type", f"{name} must be {type_names(limit)}, not {got}.", _type_hint(found, limit)
        case "enum":
            hint = meant(str(found.instance), limit) if not secret else ""
            return "bad-value", f"{name} must be one of {choices(limit)}, not {got}.", hint
        case "minimum" | "maximum" | "exclusiveMinimum":
            return "out-of-range", f"{name} must be {_RANGES[rule]} {limit}, not {got}.", ""
        case "minLength" | "minItems":
            return "bad-value", f"{name} must not be empty.", ""
        case _:
            expected = found.schema.get("x-expects", "another value")
            return "bad-value", f"{name} must be {expected}, not {got}.", ""


_RANGES = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}


def _type_hint(found: Finding, wanted: Any) -> str:
    value = found.instance
    if wanted == "string" and isinstance(value, int | float):
        return "put it in quotes"
    if wanted == "boolean" and isinstance(value, str) and value.lower() in ("yes", "no", "on", "off"):
        return "write true or false"
    if wanted == "array" and isinstance(value, str):
        return "write [a, b], or one `- a` line for each"
    return f"write {expected}" if (expected := found.schema.get("x-expects")) else ""
