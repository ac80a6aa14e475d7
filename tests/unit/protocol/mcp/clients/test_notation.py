"""JSON, TOML and YAML that real parsers read back."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml

from rpcgw.protocol.mcp.clients.notation import compact, json_text, toml_text, yaml_text

NASTY = ["", " ", "on", "No", "~", "null", "1.0", "0x1f", "- a", "a: b", "#c", "${{ x }}", 'say "hi"', "back\\slash", "Крамниця", "line\nbreak", "@at", "2026-07-28", "=", "é\u2028"]  # fmt: skip
TREE: dict[str, Any] = {
    "text": {"plain": "words-and_1", "flag": True, "number": 30000, "list": ["a", "b"], "empty": []},
    "nasty": {f"key {at}": text for at, text in enumerate(NASTY)},
    "deep": {"inline": {"X-Token": "A", "two words": "B"}, "off": False},
}


@pytest.mark.parametrize("text", [json_text(TREE), compact(TREE)], ids=["indented", "compact"])
def test_json(text: str) -> None:
    """JSON is read back as it was written."""
    assert json.loads(text) == TREE


def test_toml() -> None:
    """Tables of tables are read back as they were written, whatever stands in keys and texts."""
    tree = {"outer": TREE, "an other": {"in.ner": {"a": 1}}}
    assert tomllib.loads(toml_text(tree)) == tree


def test_yaml() -> None:
    """Mappings, and lists of mappings, are read back as they were written, whatever stands in keys and texts."""
    tree = {**TREE, "on": 1, "no": {"null": "x"}, "items": [{"name": "a", "more": {"b": "c"}}, {"name": "d"}]}
    assert yaml.safe_load(yaml_text(tree)) == tree
