"""Which files make up a configuration: the gateway file, its routes, the catalogues. Knows no schema.

The same walk runs twice, over a disk (to take the snapshot) and over the snapshot (to compile it), so that both see
exactly the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rpcgw.api.problems import Level, Place, Problem
from rpcgw.api.records import record
from rpcgw.config.assembling import FROM_FILE, Assembled, Chosen, assemble
from rpcgw.config.catalogues import CatalogueFile, read_catalogues, unreadable
from rpcgw.config.importing import Importing, Missing, Wanted, files_of
from rpcgw.config.interpolation import interpolate
from rpcgw.config.nodes import Items, Leaf, Node, Path, Table, find, place_of
from rpcgw.config.sources import Reader, Recorder, Sources, Unreadable, beside
from rpcgw.config.wording import quoted


@record(frozen=True, slots=True)
class Read:
    """What stood in YAML files, filled in; `node` is None where that is nothing. `file` is the first of them."""

    file: str
    node: Node | None
    problems: tuple[Problem, ...] = ()


@record(frozen=True, slots=True)
class Gathered:
    """All files of one configuration; `assembled` is the gateway file as it came about."""

    gateway: Read
    routes: Read
    catalogues: tuple[CatalogueFile, ...]
    problems: tuple[Problem, ...]
    assembled: Assembled


def gather(reader: Reader, path: str, env: Mapping[str, str], chosen: Chosen = FROM_FILE) -> Gathered:
    """Read a gateway file and whatever it names. Never raises: what is wrong is among the problems."""
    assembled = assemble(reader, path, env, chosen)
    gateway = Read(path, assembled.node, assembled.problems)
    if gateway.node is None and gateway.problems:
        return Gathered(gateway, Read("", None), (), gateway.problems, assembled)
    routes = _routes(reader, gateway, assembled)
    catalogues, problems = read_catalogues(reader, _located(gateway, ("translations", "directory"), "translations"))
    problems += _not_there(reader, gateway, "translations", "error")
    problems += _not_there(reader, gateway, "plugins", "warning")
    found = (*gateway.problems, *routes.problems, *problems)
    return Gathered(gateway, routes, tuple(catalogues), found, assembled)


def read_sources(path: str, *, env: Mapping[str, str], base: str | None = None, chosen: Chosen = FROM_FILE) -> Sources:
    """Take a snapshot of a configuration.

    Args:
        path: The gateway file, as the user names it.
        env: The environment; variables may name files and directories.
        base: What relative names are relative to; the current directory where None.
        chosen: What the command line says of the environment: `when@` blocks may name files too.

    Never raises: what cannot be read is a problem when the snapshot is compiled.
    """
    recorder = Recorder(base)
    gather(recorder, path, env, chosen)
    return recorder.snapshot(path)


def default_routes(gateway_file: str) -> str:
    """The name of the routes file where none is given."""
    return "routes.yaml.example" if gateway_file.endswith(".example") else "routes.yaml"


# -- routes


def _routes(reader: Reader, gateway: Read, assembled: Assembled) -> Read:
    """All files of routes as one mapping."""
    wanted = list(_wanted_routes(gateway))
    importing = Importing(assembled.variables, assembled.environment, imports=False)
    found: list[tuple[str, Table | None]] = []
    problems: list[Problem] = []
    for one in wanted:
        try:
            found += [(name, importing.file(name)) for name in files_of(reader, one)]
        except (Missing, Unreadable) as error:
            problems.append(_no_routes(one, str(error)))
    file = found[0][0] if found else beside(wanted[0].place.file, wanted[0].resource)
    table, twice = _as_one([table for _, table in found if table is not None])
    problems += [*importing.problems, *twice]
    if table is None:
        return Read(file, None, tuple(problems))
    filled, unset = interpolate(table, assembled.variables)
    return Read(file, filled, (*problems, *unset))


def _wanted_routes(gateway: Read) -> Iterator[Wanted]:
    node = find(gateway.node, ("routes",)) if gateway.node is not None else None
    given = node.items if isinstance(node, Items) else () if node is None else (node,)
    named = [leaf for leaf in given if isinstance(leaf, Leaf) and isinstance(leaf.value, str) and leaf.value]
    for leaf in named:
        at_key = leaf is node and gateway.node is not None
        place = place_of(gateway.node, ("routes",)) if at_key and gateway.node is not None else leaf.place
        yield Wanted(str(leaf.value), place)
    if not named:
        yield Wanted(default_routes(gateway.file), Place(gateway.file))


def _as_one(tables: list[Table]) -> tuple[Table | None, list[Problem]]:
    """Several files of routes as one mapping; a key may stand in one of them only."""
    if not tables:
        return None, []
    entries: dict[str, Node] = {}
    keys: dict[str, Place] = {}
    problems: list[Problem] = []
    for table in tables:
        for key, value in table.entries.items():
            place = table.keys.get(key, value.place)
            if key in entries:
                text = f"The route {quoted(key)} stands in two files; first at {keys[key]}."
                problems.append(Problem(place, "duplicate-key", text, "give one of them another name"))
                continue
            entries[key], keys[key] = value, place
    return Table(entries, tables[0].place, keys, frozenset().union(*(table.broken for table in tables))), problems


def _no_routes(wanted: Wanted, reason: str) -> Problem:
    file = beside(wanted.place.file, wanted.resource)
    hint = "routes say which endpoints exist; `rpcgw init` writes a routes.yaml to begin with"
    reason = reason if reason.endswith(".") else f"{reason}."
    return Problem(wanted.place, "missing-file", f"The routes cannot be read from {file}: {reason}", hint)


# -- texts


def _text_at(read: Read, path: Path) -> str | None:
    leaf = find(read.node, path) if read.node is not None else None
    return leaf.value if isinstance(leaf, Leaf) and isinstance(leaf.value, str) and leaf.value else None


def _located(read: Read, path: Path, default: str) -> str:
    """A path as seen from the file that names it."""
    given = _text_at(read, path)
    if given is None or read.node is None:
        return beside(read.file, default)
    return beside(place_of(read.node, path).file, given)


def _not_there(reader: Reader, gateway: Read, name: str, level: Level) -> list[Problem]:
    """The directory `<name>.directory` has to be there, unless it is called what it is called where nobody says.

    Plugins of the venv are served without it. Whether one that is there can be read is for those to say who read it.
    """
    path: Path = (name, "directory")
    if gateway.node is None or _text_at(gateway, path) in (None, name):
        return []
    directory = _located(gateway, path, name)
    try:
        reader.listing(directory)
    except Unreadable as error:
        return [unreadable(directory, error, place_of(gateway.node, path), level)] if error.absent else []
    return []
