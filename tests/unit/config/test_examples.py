"""gateway.yaml.example and routes.yaml.example: complete, right, and usable as they are."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rpcgw.config.gathering import read_sources
from rpcgw.config.loading import compile_settings, load
from rpcgw.config.nodes import plain
from rpcgw.config.parsing import parse
from rpcgw.config.validation import schema

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "gateway.yaml.example"
PRODUCTION_ENV = {
    "UFO_API_TOKEN": "t",
    "INTERNAL_TOKEN_FILE": str(ROOT / "LICENSE"),
    "BILLING_TOKEN": "b",
    "OAUTH_SECRET": "o",
    "MCP_ENABLED": "1",
    "METRICS_TOKEN": "m",
    "WEBHOOK_SECRET": "0123456789abcdef",
    "WEBMCP_SECRET": "0123456789abcdef",
}

Path_ = tuple[str, ...]


def options(part: Mapping[str, Any], definitions: Mapping[str, Any], path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every option of a schema with its default; `*` stands for names that users choose and for items of lists."""
    part = definitions[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    if path:
        yield path, part.get("default")
    for name, inner in part.get("properties", {}).items():
        yield from options(inner, definitions, (*path, name))
    for inner in (part.get("additionalProperties"), part.get("items")):
        if isinstance(inner, dict) and inner.get("type") != "string":
            yield from options(inner, definitions, (*path, "*"))


GATEWAY = schema("gateway")
OPTIONS = dict(options(GATEWAY, GATEWAY["$defs"]))


def written(value: object, path: Path_ = ()) -> Iterator[Path_]:
    """Every path of a document, with every key and index also as `*`."""
    yield path
    pairs: list[tuple[str, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    if isinstance(value, list):
        pairs = [("*", item) for item in value]
    for key, inner in pairs:
        yield from written(inner, (*path, key))
        yield from written(inner, (*path, "*"))


def production() -> str:
    """The commented part of the example, without its comment signs."""
    _, _, commented = EXAMPLE.read_text().partition("# In production.")
    lines = [line.removeprefix("# ").removeprefix("#") for line in commented.splitlines()[1:]]
    return "\n".join(lines) + "\n"


def values(text: str) -> dict[str, Any]:
    node, problems = parse(text, "example")
    assert problems == []
    assert node is not None
    found: dict[str, Any] = plain(node)
    return found


def test_loads() -> None:
    """D-01, D-05: the examples load as they are, without a problem or a warning."""
    loaded = load(str(EXAMPLE), env={})
    assert loaded.warnings == ()
    assert [(route.kind, route.prefix, route.group) for route in loaded.settings.routes] == [
        ("rpc", "/rpc", "general"),
        ("rpc", "/rpc/internal", "internal"),
        ("mcp", "/mcp", "mcp"),
        ("mcp", "/mcp/internal", "internal"),
    ]
    assert loaded.settings.server.bind == ("127.0.0.1:8080",)
    assert not loaded.settings.security_of("general").protected_api


def test_loads_when_copied(tmp_path: Path) -> None:
    """The examples load after being copied without the suffix, to the same routes."""
    for name in ("gateway.yaml", "routes.yaml"):
        shutil.copy(ROOT / f"{name}.example", tmp_path / name)
    loaded = load(str(tmp_path / "gateway.yaml"), env={})
    assert loaded.warnings == ()
    assert len(loaded.settings.routes) == 4


def test_production_part_loads(tmp_path: Path) -> None:
    """The commented production part is right too, once its variables are set."""
    (tmp_path / "gateway.yaml").write_text(production())
    shutil.copy(ROOT / "routes.yaml.example", tmp_path / "routes.yaml")
    loaded = compile_settings(read_sources(str(tmp_path / "gateway.yaml"), env=PRODUCTION_ENV), env=PRODUCTION_ENV)
    assert loaded.warnings == ()
    common, *named = loaded.settings.security_of("internal").tokens
    assert common.name == f"client-{common.sha256[:8]}"
    assert [token.name for token in named] == ["billing", "reports"]


# the group's server info has the fields of the common one, which are all shown
REPEATED = ("ufo_mcp", "groups", "*", "mcp_server_info")
SHOWN = [path for path in OPTIONS if path[-1] != "*" and (path[:4] != REPEATED or path == REPEATED)]
WRITTEN = {*written(values(EXAMPLE.read_text())), *written(values(production()))}


@pytest.mark.parametrize("path", [pytest.param(path, id=".".join(path)) for path in SHOWN])
def test_every_option_is_shown(path: Path_) -> None:
    """Every option of the schema stands in the example or in its production part."""
    assert path in WRITTEN


EXCEPTIONS: dict[Path_, object] = {("ufo_json_rpc", "security", "protected_api"): False}


def test_defaults_are_the_defaults() -> None:
    """What stands in the example is the schema's default, but for the one that says so."""
    document = values(EXAMPLE.read_text())
    shown: dict[Path_, object] = {}
    for path in OPTIONS:
        value: Any = document
        for step in path:
            value = value.get(step, ...) if isinstance(value, dict) else ...
        if value is not ... and not (isinstance(value, dict) and value):
            shown[path] = value or None if isinstance(value, dict) else value
    expected = {
        path: EXCEPTIONS.get(path, OPTIONS[path] or None if OPTIONS[path] == {} else OPTIONS[path]) for path in shown
    }
    assert shown == expected


def test_every_line_is_explained() -> None:
    """Every option of the example has a comment on its line, or its section one above or beside."""
    bare = [
        line
        for line in EXAMPLE.read_text().split("# In production.")[0].splitlines()
        if line.strip() and not line.lstrip().startswith("#") and "#" not in line and not line.rstrip().endswith(":")
    ]
    assert bare == ["pools: {}"]
