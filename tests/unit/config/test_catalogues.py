"""Catalogue files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpcgw.api.problems import Place
from rpcgw.config.catalogues import CatalogueFile, read_catalogues, read_directory
from rpcgw.config.sources import Sources


def read(files: dict[str, str]) -> tuple[list[CatalogueFile], list[str]]:
    base = [name.removeprefix("t/") for name in files if name.count("/") == 1]
    groups = [name.removeprefix("t/rpc/") for name in files if name.startswith("t/rpc/")]
    sources = Sources("", "/srv", files, {"t": base, "t/rpc": groups})
    found, problems = read_catalogues(sources, "t")
    return found, [str(problem) for problem in problems]


def test_all_fields() -> None:
    """T-04: title, description and parameters by the method's name, for all groups or one; places are kept."""
    text = "Catalog.search:\n  title: Suche 50% ${X}\n  description: |\n    Lang.\n  params: {query: Wort, limit: ~}\nx: ~\n"
    assert read({"t/rpc.de.yaml": text, "t/rpc/mcp.internal.pt_BR.yaml": ""}) == (
        [
            CatalogueFile(
                "t/rpc.de.yaml",
                "",
                "de",
                {
                    "Catalog.search": {"title": "Suche 50% ${X}", "description": "Lang.", "params": {"query": "Wort"}},
                    "x": {},
                },
                {"Catalog.search": Place("t/rpc.de.yaml", 1, 1), "x": Place("t/rpc.de.yaml", 6, 1)},
            ),
            CatalogueFile("t/rpc/mcp.internal.pt_BR.yaml", "mcp.internal", "pt_BR", {}, {}),
        ],
        [],
    )


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        pytest.param("rpc.en.yaml", "a: {titel: x}", '1:5: error[unknown-option] Unrecognized option "titel" under "a". Available options are "title", "description", "result", "params". (did you mean "title"?)', id="a misspelt field"),
        pytest.param("rpc.en.yaml", "Catalog: {search: {title: x}}", '1:11: error[unknown-option] Unrecognized option "search" under "Catalog". Available options are "title", "description", "result", "params". (the key is the method\'s whole name, say Catalog.search)', id="a name in two steps"),
        pytest.param("rpc.en.yaml", "a: {title: 2024}", '1:12: error[wrong-type] "a.title" must be a string, not the number 2024. (put it in quotes)', id="a number for a text"),
        pytest.param("rpc.en.yaml", "a: {params: {q: [x]}}", '1:17: error[wrong-type] "a.params.q" must be a string, not a list. (put it in quotes)', id="a list for a parameter's text"),
        pytest.param("rpc.en.yaml", "a: text", '1:1: error[wrong-type] "a" must be a mapping, not the string "text".', id="text for a method"),
        pytest.param("rpc.en.yaml", "[a]", "1:1: error[wrong-type] The file must hold a mapping, not a list. (write method names with their texts below)", id="a list for a file"),
        pytest.param("rpc.en.yaml", "a: {}\na: {}", '2:1: error[duplicate-key] The key "a" stands twice; first at t/rpc.en.yaml:1:1. (keep one of them)', id="a method twice"),
        pytest.param("messages.uk.yaml", "", " warning[stray-file] The file is not read: its name is not that of a catalogue. (name it rpc.<locale>.yaml, say with uk, en or pt-BR)", id="another name"),
        pytest.param("rpc.uk.yml", "", " warning[stray-file] The file is not read: its name is not that of a catalogue. (name it rpc.<locale>.yaml, say with uk, en or pt-BR)", id="another ending"),
        pytest.param("rpc/mcp.yaml", "", " warning[stray-file] The file is not read: its name is not that of a catalogue. (name it <group>.<locale>.yaml, say with uk, en or pt-BR)", id="no locale"),
    ],
)  # fmt: skip
def test_problems(file: str, text: str, line: str) -> None:
    """A mistake in a catalogue is a problem with its place."""
    _, problems = read({f"t/{file}": text})
    assert problems == [f"t/{file}:{line}"]


@pytest.mark.parametrize("directory", ["t", "t/rpc"])
def test_a_directory_that_cannot_be_read(directory: str) -> None:
    """What is there and cannot be read is no directory without catalogues."""
    sources = Sources("", "/srv", {}, {"t": []} if directory == "t/rpc" else {}, {directory: "permission denied"})
    _, problems = read_catalogues(sources, "t")
    said = f"{directory}: error[missing-file] The directory {directory} cannot be read: permission denied."
    assert [str(problem) for problem in problems] == [said]


def test_a_plugins_directory(tmp_path: Path) -> None:
    """A directory on disk is read as it is; one that is not there holds nothing, and other files are nobody's business."""
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "rpc.en.yaml").write_text("a: {title: A}\n")
    found, problems = read_directory(str(tmp_path))
    assert ([c.methods for c in found], problems) == ([{"a": {"title": "A"}}], [])
    assert read_directory(str(tmp_path / "none")) == ([], [])
