"""Catalogue files: `rpc.<locale>.yaml` for all groups, `rpc/<group>.<locale>.yaml` for one. Strict, with places.

Texts are taken as they stand: no variables, since a per cent sign in a description is only that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rpcgw.api.problems import Place, Problem
from rpcgw.config.nodes import Leaf, Node, Table, plain, pruned
from rpcgw.config.parsing import parse
from rpcgw.config.sources import Reader, Recorder, Unreadable
from rpcgw.config.wording import choices, described, meant

_FILE = re.compile(r"(?P<group>.+)\.(?P<locale>[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?)\.yaml")
_FIELDS = ("title", "description", "params")
_BASE = "rpc"


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """One catalogue: texts of methods, in one language, for one group (empty: for all).

    `methods` maps a method's name to its `title`, `description` and `params` (name -> text), each only where given;
    `places` says where each method stands.
    """

    file: str
    group: str
    locale: str
    methods: Mapping[str, Mapping[str, Any]]
    places: Mapping[str, Place]


def read_directory(directory: str) -> tuple[list[CatalogueFile], list[Problem]]:
    """The catalogues of a directory on disk, such as a plugin's own."""
    return read_catalogues(Recorder(), directory)


def read_catalogues(reader: Reader, directory: str) -> tuple[list[CatalogueFile], list[Problem]]:
    """The catalogues of a directory. One that is not there holds none."""
    found: list[CatalogueFile] = []
    problems: list[Problem] = []
    for folder, is_base in ((directory, True), (f"{directory}/{_BASE}", False)):
        for name in _names(reader, folder):
            file = f"{folder}/{name}"
            match = _FILE.fullmatch(name)
            if match is None or (is_base and match["group"] != _BASE):
                problems += _stray(file, is_base=is_base)
                continue
            catalogue, wrong = _read(reader, file, "" if is_base else match["group"], match["locale"])
            found.append(catalogue)
            problems += wrong
    return found, problems


def _names(reader: Reader, folder: str) -> list[str]:
    try:
        return reader.listing(folder)
    except Unreadable:
        return []


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
    methods = {name: _method(name, value, node.keys[name], problems) for name, value in node.entries.items()}
    return CatalogueFile(file, group, locale, methods, dict(node.keys)), problems


def _method(name: str, node: Node, place: Place, problems: list[Problem]) -> dict[str, Any]:
    texts: dict[str, Any] = {}
    for field, value in _table(f'"{name}"', node, place, problems).items():
        where = f'"{name}.{field}"'
        if field == "params":
            params = _table(where, value, value.place, problems)
            texts[field] = {key: _text(f'"{name}.params.{key}"', item, problems) for key, item in params.items()}
        elif field in _FIELDS:
            texts[field] = _text(where, value, problems)
        else:
            wrong = f'Unrecognized option "{field}" under "{name}". Available options are {choices(_FIELDS)}.'
            hint = meant(field, _FIELDS) or "the key is the method's whole name, say Catalog.search"
            problems.append(Problem(_key_place(node, field), "unknown-option", wrong, hint))
    return {field: value for field, value in texts.items() if value is not None}


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
