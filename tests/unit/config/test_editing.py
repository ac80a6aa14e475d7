"""Schemas for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rpcgw.config.editing import SCHEMAS, editor_schema, modeline, schema_file
from rpcgw.config.nodes import plain
from rpcgw.config.parsing import parse

ROOT = Path(__file__).parents[3]


def values(text: str) -> Any:
    node, problems = parse(text, "f.yaml")
    assert problems == []
    assert node is not None
    return plain(node)


def faults(name: str, text: str) -> list[str]:
    validator = jsonschema.Draft202012Validator(editor_schema(name))
    return [".".join(map(str, error.absolute_path)) for error in validator.iter_errors(values(text))]


@pytest.mark.parametrize("name", SCHEMAS)
def test_shipped(name: str) -> None:
    """What is installed for editors is what `rpcgw schema NAME` prints, and a schema."""
    made = editor_schema(name)
    jsonschema.Draft202012Validator.check_schema(made)
    assert json.loads(schema_file(name).read_text("utf-8")) == made, f"rpcgw schema {name} > {schema_file(name)}"


WRITTEN = [
    ("gateway.yaml.example", "gateway"),
    ("routes.yaml.example", "routes"),
    *((str(path.relative_to(ROOT)), "translations") for path in sorted((ROOT / "translations").rglob("*.yaml"))),
    *((str(path.relative_to(ROOT)), "translations") for path in sorted(ROOT.glob("plugins/*/src/*/texts/**/*.yaml"))),
    *((str(path.relative_to(ROOT)), "gateway") for path in sorted(ROOT.glob("plugins/*/gateway.yaml"))),
    *((str(path.relative_to(ROOT)), "routes") for path in sorted(ROOT.glob("plugins/*/routes.yaml"))),
]


@pytest.mark.parametrize(("file", "name"), WRITTEN)
def test_examples(file: str, name: str) -> None:
    """Files that come with the product name their schema in the first line, where it is, and satisfy it."""
    text = (ROOT / file).read_text("utf-8")
    first = text.split("\n", maxsplit=1)[0]
    location = first.removeprefix(modeline(""))
    assert first == modeline(location)
    assert (ROOT / file).parent.joinpath(location).resolve() == schema_file(name).resolve()
    assert faults(name, text) == []


ACCEPTED = [
    pytest.param("gateway", "server: {workers: '${WORKERS:-2}'}", id="a variable for a number"),
    pytest.param(
        "gateway", "ufo_mcp: {enabled: '%env(bool:MCP)%', session_ttl: '%ttl%'}", id="a processor, a parameter"
    ),
    pytest.param("gateway", "ufo_mcp: ~", id="nothing for a section"),
    pytest.param("gateway", "groups: {a: {tools: {naming: ~}}}", id="nothing for a choice"),
    pytest.param("gateway", "server: {bind: ['${BIND}']}", id="a variable in a list"),
    pytest.param("gateway", "when@dev: {imports: [a.yaml], logging: {level: debug}}", id="a block of an environment"),
    pytest.param("gateway", "plugins: {config: {a: {b: [1, ~]}}}", id="what a plugin is told"),
    pytest.param("routes", "a: {resource: rpc, prefix: '%at%', defaults: ~}", id="a parameter for a prefix"),
    pytest.param("routes", "when@dev: {a: {resource: rpc, prefix: /a}}", id="a route of one environment"),
    pytest.param("translations", "Catalog.search: {title: 100%, params: {q: ~}}", id="texts"),
]
REFUSED = [
    pytest.param("gateway", "servr: {}", "", id="an unknown section"),
    pytest.param("gateway", "server: {bnd: x}", "server", id="an unknown option"),
    pytest.param("gateway", "server: {workers: two}", "server", id="a word for a number"),
    pytest.param("gateway", "when@dev: {environment: dev}", "when@dev", id="an environment in a block"),
    pytest.param("gateway", "when@dev: {server: {bnd: x}}", "when@dev.server", id="an unknown option in a block"),
    pytest.param("routes", "a: {resource: rpc, prefix: nope}", "a", id="a prefix without a slash"),
    pytest.param("translations", "Catalog.search: {titel: x}", "Catalog.search", id="an unknown text"),
    pytest.param("translations", "Catalog.search: {title: {a: b}}", "Catalog.search", id="no text"),
]


@pytest.mark.parametrize(("name", "text"), ACCEPTED)
def test_accepts(name: str, text: str) -> None:
    """What the loader would fill in, an editor does not underline."""
    assert faults(name, text) == []


@pytest.mark.parametrize(("name", "text", "where"), REFUSED)
def test_refuses(name: str, text: str, where: str) -> None:
    """What the loader would refuse, an editor underlines."""
    assert faults(name, text) == [where]
