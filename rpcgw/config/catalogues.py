"""Catalogue files: `rpc.<locale>.yaml` for all groups, `rpc/<group>.<locale>.yaml` for one. Strict, with places.

Texts are taken as they stand: no variables, since a per cent sign in a description is only that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from rpcgw.api.problems import Level, Place, Problem
from rpcgw.api.records import record
from rpcgw.config.nodes import Leaf, Node, Table, plain, pruned
from rpcgw.config.parsing import parse
from rpcgw.config.sources import Reader, Recorder, Unreadable
from rpcgw.config.wording import choices, described, meant

_FILE = re.compile(r"(?P<group>.+)\.(?P<locale>[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?)\.yaml")
_FIELDS = ("title", "description", "result", "params")
_BASE = "rpc"
_OWN = "rpcgw"
"""What stands under this name is no method: the product's own texts."""


@record(frozen=True, slots=True)
class CatalogueFile:
    """One catalogue: texts of methods, in one language, for one group (empty: for all).

    `methods` maps a method's name to its `title`, `description`, `result` and `params` (name -> text), each only where
    given; `messages` replaces what the product itself says, by key; `places` says where each of both stands.
    """

    file: str
    group: str
    locale: str
    methods: Mapping[str, Mapping[str, Any]]
    places: Mapping[str, Place]
    messages: Mapping[str, str] = field(default_factory=dict)


def read_directory(directory: str) -> tuple[list[CatalogueFile], list[Problem]]:
    """The catalogues of a directory on disk, such as a plugin's own."""
    return read_catalogues(Recorder(), directory)


def read_catalogues(reader: Reader, directory: str) -> tuple[list[CatalogueFile], list[Problem]]:
    """The catalogues of a directory. One that is not there holds none."""
    found: list[CatalogueFile] = []
    problems: list[Problem] = []
    for folder, is_base in ((directory, True), (f"{directory}/{_BASE}", False)):
        try:
            names = reader.listing(folder)
        except Unreadable as error:
            if error.absent:
                continue
            return found, [*problems, unreadable(folder, error)]
        for name in names:
            file = f"{folder}/{name}"
            match = _FILE.fullmatch(name)
            if match is None or (is_base and match["group"] != _BASE):
                problems += _stray(file, is_base=is_base)
                continue
            catalogue, wrong = _read(reader, file, "" if is_base else match["group"], match["locale"])
            found.append(catalogue)
            problems += wrong
    return found, problems


def unreadable(directory: str, error: Unreadable, place: Place | None = None, level: Level = "error") -> Problem:
    """A directory that cannot be read, and why; `place` is where it is named."""
    text = f"The directory {directory} cannot be read: {error}."
    return Problem(place or Place(directory), "missing-file", text, level=level)


def _stray(file: str, *, is_base: bool) -> list[Problem]:
    if not file.endswith((".yaml", ".yml")):
        return []
    wanted = f"{_BASE}.<locale>.yaml" if is_base else "<group>.<locale>.yaml"
    text = "The file is not read: its name is not that of a catalogue."
    return [Problem(Place(file), "stray-file", text, f"name it {wanted}, say with uk, en or pt-BR", "warning")]


def _read(reader: Reader, file: str, group: str, locale: str) -> tuple[CatalogueFile, list[Problem]]:
    empty = CatalogueFile(file, group, locale, {}, {})
    try:
        text = reader.text(file)
    except Unreadable as error:
        return empty, [Problem(Place(file), "missing-file", f"The file cannot be read: {error}.")]
    node, problems = parse(text, file)
    if node is None or (isinstance(node, Leaf) and node.value is None):
        return empty, problems
    if not isinstance(node, Table):
        wrong = f"The file must hold a mapping, not {described(plain(node))}."
        return empty, [*problems, Problem(node.place, "wrong-type", wrong, "write method names with their texts below")]
    entries = dict(node.entries)
    messages, places = _messages(entries.pop(_OWN, None), group, problems)
    methods = {name: _method(name, value, node.keys[name], problems) for name, value in entries.items()}
    return CatalogueFile(file, group, locale, methods, {**node.keys, **places}, messages), problems


def _messages(node: Node | None, group: str, problems: list[Problem]) -> tuple[dict[str, str], dict[str, Place]]:
    """What replaces the product's own texts, and where each stands."""
    if node is None:
        return {}, {}
    if group:
        text = f'"{_OWN}" belongs into {_BASE}.<locale>.yaml: the product speaks alike to all groups.'
        problems.append(Problem(node.place, "unknown-option", text))
        return {}, {}
    found: dict[str, str] = {}
    places: dict[str, Place] = {}
    for name, value in _table(f'"{_OWN}"', node, node.place, problems).items():
        if name != "messages":
            wrong = f'Unrecognized option "{name}" under "{_OWN}". Available options are messages.'
            problems.append(Problem(_key_place(node, name), "unknown-option", wrong))
            continue
        for key, item in _table(f'"{_OWN}.messages"', value, value.place, problems).items():
            message = _text(f'"{_OWN}.messages.{key}"', item, problems)
            if message is not None:
                found[key], places[f"{_OWN}.messages.{key}"] = message, _key_place(value, key)
    return found, places


def _method(name: str, node: Node, place: Place, problems: list[Problem]) -> dict[str, Any]:
    texts: dict[str, Any] = {}
    for key, value in _table(f'"{name}"', node, place, problems).items():
        where = f'"{name}.{key}"'
        if key == "params":
            params = _table(where, value, value.place, problems)
            texts[key] = {param: _text(f'"{name}.params.{param}"', item, problems) for param, item in params.items()}
        elif key in _FIELDS:
            texts[key] = _text(where, value, problems)
        else:
            wrong = f'Unrecognized option "{key}" under "{name}". Available options are {choices(_FIELDS)}.'
            hint = meant(key, _FIELDS) or "the key is the method's whole name, say Catalog.search"
            problems.append(Problem(_key_place(node, key), "unknown-option", wrong, hint))
    return {key: value for key, value in texts.items() if value is not None}


def _table(where: str, node: Node, place: Place, problems: list[Problem]) -> dict[str, Node]:
    if isinstance(node, Table):
        kept = pruned(node, lambda _, value: isinstance(value, Leaf) and value.value is None)
        return kept.entries if isinstance(kept, Table) else {}
    if not (isinstance(node, Leaf) and node.value is None):
        text = f"{where} must be a mapping, not {described(plain(node))}."
        problems.append(Problem(place, "wrong-type", text))
    return {}


def _text(where: str, node: Node, problems: list[Problem]) -> str | None:
    if isinstance(node, Leaf) and isinstance(node.value, str):
        return node.value.strip() or None
    problems.append(
        Problem(
            node.place, "wrong-type", f"{where} must be a string, not {described(plain(node))}.", "put it in quotes"
        )
    )
    return None


def _key_place(node: Node, key: str) -> Place:
    return node.keys[key] if isinstance(node, Table) else node.place
