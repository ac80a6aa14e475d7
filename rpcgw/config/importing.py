"""One configuration from several files: `imports`, `when@ENV` and `parameters`, as in Symfony's YAML files.

An importing file goes over what it imports, and its `when@ENV` block over both. Each value remembers its own file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from fnmatch import fnmatchcase

from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.interpolation import Variables, interpolate
from rpcgw.config.layers import layered
from rpcgw.config.nodes import Items, Leaf, Node, Table, plain
from rpcgw.config.parsing import parse
from rpcgw.config.sources import Reader, Unreadable, beside
from rpcgw.config.wording import choices, described, meant, quoted

WHEN = "when@"

_YAML = (".yaml", ".yml")
_IMPORT_KEYS = ("resource", "ignore_errors", "type")
_WILD = re.compile(r"[*?\[{]")


class Missing(Exception):
    """A file or directory is not there; the text is a sentence about it."""


@record(frozen=True, slots=True)
class Wanted:
    """A file that something names, and at which place."""

    resource: str
    place: Place


@record(slots=True)
class Importing:
    """The walk through the files of one configuration, in one environment (None: before it is known).

    In files of routes `imports` is a name like any other (`imports=False`).
    """

    variables: Variables
    environment: str | None
    imports: bool = True
    problems: list[Problem] = field(default_factory=list)
    _done: dict[str, Table] = field(default_factory=dict)

    def file(self, name: str, stack: tuple[str, ...] = ()) -> Table | None:
        """The options of a file with all that it imports; None where it is empty or no mapping.

        Raises:
            Unreadable: It cannot be read.
        """
        if name in self._done:
            return self._done[name]
        node, wrong = parse(self.variables.reader.text(name), name)
        self.problems += wrong
        if node is None or (isinstance(node, Leaf) and node.value is None):
            return None
        if not isinstance(node, Table):
            text = f"The file must hold a mapping, not {described(plain(node))}."
            self.problems.append(Problem(node.place, "wrong-type", text, "write `option: value` lines"))
            return None
        self._done[name] = self._content(node, (*stack, name))
        return self._done[name]

    def _content(self, table: Table, stack: tuple[str, ...]) -> Table:
        """A mapping with what it imports below it, and the block of the environment over it."""
        own = without(table, lambda key: (key == "imports" and self.imports) or key.startswith(WHEN))
        return layered([*self._imported(table, stack), own, *self._when(table, stack)])

    def _when(self, table: Table, stack: tuple[str, ...]) -> Iterator[Table]:
        for key, block in table.entries.items():
            if not key.startswith(WHEN):
                continue
            place = table.keys.get(key, block.place)
            if not isinstance(block, Table):
                if not (isinstance(block, Leaf) and block.value is None):
                    text = f"{quoted(key)} must be a mapping, not {described(plain(block))}."
                    self.problems.append(Problem(place, "wrong-type", text, "write options below it"))
                continue
            if self.imports and "environment" in block.entries:
                text = f'"environment" cannot stand under {quoted(key)}: it says which of these blocks hold.'
                self.problems.append(Problem(block.keys.get("environment", place), "unknown-option", text))
            if key == f"{WHEN}{self.environment}":
                yield self._content(without(block, lambda inner: inner == "environment"), stack)

    def _imported(self, table: Table, stack: tuple[str, ...]) -> Iterator[Table]:
        node = table.entries.get("imports")
        if not self.imports or node is None or (isinstance(node, Leaf) and node.value is None):
            return
        if not isinstance(node, Items):
            text = f'"imports" must be a list, not {described(plain(node))}.'
            hint = "write `- { resource: other.yaml }` lines"
            self.problems.append(Problem(table.keys.get("imports", node.place), "wrong-type", text, hint))
            return
        for entry in node.items:
            yield from self._entry(entry, stack)

    def _entry(self, entry: Node, stack: tuple[str, ...]) -> Iterator[Table]:
        filled, wrong = interpolate(entry, self.variables)
        self.problems += wrong
        resource, ignore = (None, False) if wrong else self._resource(filled)
        if resource is None:
            return
        try:
            for name in files_of(self.variables.reader, Wanted(resource, entry.place)):
                yield from self._one(name, entry.place, stack)
        except Missing as missing:
            if not ignore:
                self.problems.append(Problem(entry.place, "missing-file", str(missing)))

    def _one(self, name: str, place: Place, stack: tuple[str, ...]) -> Iterator[Table]:
        if name in stack:
            circle = " -> ".join([*stack[stack.index(name) :], name])
            text = f"The file {name} imports itself: {circle}."
            self.problems.append(Problem(place, "import-cycle", text, "take one of these imports out"))
            return
        try:
            found = self.file(name, stack)
        except Unreadable as error:
            raise Missing(f"The import cannot be read from {name}: {error}.") from None
        if found is not None:
            yield found

    def _resource(self, entry: Node) -> tuple[str | None, bool]:
        """What an entry of `imports` names, and whether it may be missing."""
        if isinstance(entry, Leaf) and isinstance(entry.value, str) and entry.value:
            return entry.value, False
        given = plain(entry)
        if not isinstance(given, dict) or not isinstance(given.get("resource"), str) or not given["resource"]:
            text = f"An import must name a file, not be {described(given)}."
            self.problems.append(Problem(entry.place, "bad-value", text, "write `- { resource: other.yaml }`"))
            return None, False
        for key in given:
            if key not in _IMPORT_KEYS:
                text = f"Unrecognized option {quoted(key)} in an import. Available options are {choices(_IMPORT_KEYS)}."
                place = entry.keys.get(key, entry.place) if isinstance(entry, Table) else entry.place
                self.problems.append(Problem(place, "unknown-option", text, meant(key, _IMPORT_KEYS)))
        return given["resource"], given.get("ignore_errors") in (True, "not_found")


def files_of(reader: Reader, wanted: Wanted) -> list[str]:
    """The files that a name stands for: one file, the YAML files of a directory, or what a pattern fits, sorted.

    Raises:
        Missing: There is no such file or directory; a pattern that fits nothing is no mistake.
    """
    name = beside(wanted.place.file, wanted.resource)
    if _WILD.search(wanted.resource):
        return [found for pattern in _unfolded(name) for found in _fitting(reader, pattern)]
    if not wanted.resource.endswith("/"):
        return [name]
    return [f"{name}/{file}" for file in _listing(reader, name) if _is_yaml(file)]


def _listing(reader: Reader, name: str) -> list[str]:
    try:
        return reader.listing(name)
    except Unreadable as error:
        raise Missing(f"The directory {name} cannot be read: {error}.") from None


def _fitting(reader: Reader, pattern: str) -> list[str]:
    folder, _, last = pattern.rpartition("/")
    if _WILD.search(folder):
        raise Missing(f"{quoted(pattern)}: a pattern may stand in the last part of a path only.")
    try:
        names = reader.listing(folder or ".")
    except Unreadable:
        return []
    prefix = f"{folder}/" if folder or pattern.startswith("/") else ""
    return [f"{prefix}{name}" for name in names if fnmatchcase(name, last) and not name.startswith(".")]


def _unfolded(pattern: str) -> list[str]:
    """`{a,b}.yaml` as `a.yaml` and `b.yaml`."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    before, after = pattern[: match.start()], pattern[match.end() :]
    return [whole for choice in match[1].split(",") for whole in _unfolded(f"{before}{choice}{after}")]


def _is_yaml(file: str) -> bool:
    return file.endswith(_YAML) and not file.startswith(".")


def without(table: Table, drop: Callable[[str], bool]) -> Table:
    """A mapping without some of its keys, as if they had never been written."""
    return replace(table, entries={key: value for key, value in table.entries.items() if not drop(key)})
