"""Which files make up a configuration: the gateway file, its routes, the catalogues. Knows no schema.

The same walk runs twice, over a disk (to take the snapshot) and over the snapshot (to compile it), so that both see
exactly the same files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rpcgw.api.problems import Place, Problem
from rpcgw.config.catalogues import CatalogueFile, read_catalogues
from rpcgw.config.interpolation import Variables, interpolate
from rpcgw.config.nodes import Leaf, Node, Path, find, place_of
from rpcgw.config.parsing import parse
from rpcgw.config.sources import Reader, Recorder, Sources, Unreadable, beside


@dataclass(frozen=True, slots=True)
class Read:
    """A YAML file, its variables filled in; `node` is None where it is empty or unreadable."""

    file: str
    node: Node | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """All files of one configuration."""

    gateway: Read
    routes: Read
    catalogues: tuple[CatalogueFile, ...]
    problems: tuple[Problem, ...]


def gather(reader: Reader, path: str, env: Mapping[str, str]) -> Gathered:
    """Read a gateway file and whatever it names. Never raises: what is wrong is among the problems."""
    gateway = _read(reader, path, env)
    if gateway.node is None and gateway.problems:
        return Gathered(gateway, Read("", None), (), gateway.problems)
    given = _text_at(gateway, ("routes",))
    routes = _read(reader, beside(path, given or default_routes(path)), env)
    if routes.node is None and routes.problems and routes.problems[0].code == "missing-file":
        routes = Read(routes.file, None, (_no_routes(gateway, routes, given=given is not None),))
    directory = beside(path, _text_at(gateway, ("translations", "directory")) or "translations")
    catalogues, problems = read_catalogues(reader, directory)
    if _text_at(gateway, ("translations", "directory")) not in (None, "translations"):
        problems += _no_directory(reader, gateway, directory)
    return Gathered(gateway, routes, tuple(catalogues), (*gateway.problems, *routes.problems, *problems))


def read_sources(path: str, *, env: Mapping[str, str], base: str | None = None) -> Sources:
    """Take a snapshot of a configuration.

    Args:
        path: The gateway file, as the user names it.
        env: The environment; variables may name files and directories.
        base: What relative names are relative to; the current directory where None.

    Never raises: what cannot be read is a problem when the snapshot is compiled.
    """
    recorder = Recorder(base)
    gather(recorder, path, env)
    return recorder.snapshot(path)


def default_routes(gateway_file: str) -> str:
    """The name of the routes file where none is given."""
    return "routes.yaml.example" if gateway_file.endswith(".example") else "routes.yaml"


def _read(reader: Reader, file: str, env: Mapping[str, str]) -> Read:
    try:
        text = reader.text(file)
    except Unreadable as error:
        return Read(file, None, (Problem(Place(file), "missing-file", f"The file cannot be read: {error}."),))
    node, problems = parse(text, file)
    if node is None:
        return Read(file, None, tuple(problems))
    filled, unset = interpolate(node, Variables(env, reader, file))
    return Read(file, filled, (*problems, *unset))


def _text_at(read: Read, path: Path) -> str | None:
    leaf = find(read.node, path) if read.node is not None else None
    return leaf.value if isinstance(leaf, Leaf) and isinstance(leaf.value, str) and leaf.value else None


def _no_routes(gateway: Read, routes: Read, *, given: bool) -> Problem:
    place = place_of(gateway.node, ("routes",)) if given and gateway.node is not None else Place(gateway.file)
    reason = routes.problems[0].text.removeprefix("The file cannot be read: ")
    hint = "routes say which endpoints exist; begin with a copy of routes.yaml.example"
    return Problem(place, "missing-file", f"The routes cannot be read from {routes.file}: {reason}", hint)


def _no_directory(reader: Reader, gateway: Read, directory: str) -> list[Problem]:
    try:
        reader.listing(directory)
    except Unreadable as error:
        path: Path = ("translations", "directory")
        place = place_of(gateway.node, path) if gateway.node is not None else Place(gateway.file)
        return [Problem(place, "missing-file", f"The directory {directory} cannot be read: {error}.")]
    return []
