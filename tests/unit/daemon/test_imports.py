"""What is loaded, and what is not: a library that nobody has configured costs no start, and no memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHIPPED = Path("gateway.yaml.example").resolve()
PLAIN = f"imports: ['{SHIPPED}']\nplugins: {{directory: plugins}}\n"
ROUTES = "rpc: {resource: rpc, prefix: /rpc}\nmcp: {resource: mcp, prefix: /mcp, defaults: {api_group: mcp}}\n"
PLUGIN = """
import structlog
import rpcgw as rpc

@rpc.procedure("Hello", groups=["mcp"])
class Hello:
    @rpc.tool(input_schema={"type": "object", "properties": {"name": {"type": "string"}}})
    def greet(self, name: str) -> str:
        return name
"""
COMPILE = """
from rpcgw.daemon import template, worker
from rpcgw.daemon.options import Options
compiled, problems = template.check(Options("gateway.yaml"))
assert compiled is not None, list(map(str, problems))
"""


def loaded(code: str, folder: Path) -> set[str]:
    """The modules that a process has when it has run a piece of code in a folder."""
    told = f"{code}\nimport sys\nprint(*sys.modules)"
    run = [sys.executable, "-c", told]
    return set(subprocess.run(run, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout.split())


def of(library: str, modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name == library or name.startswith(f"{library}."))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a template has loaded that has compiled the configuration as it is shipped, without plugins."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "plugins").mkdir()
    (folder / "gateway.yaml").write_text(PLAIN)
    (folder / "routes.yaml").write_text(ROUTES)
    return loaded(COMPILE, folder)


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("jsonschema", id="what words problems of a configuration"),
        pytest.param("limits", id="what counts rates"),
        pytest.param("structlog", id="what plugins log with"),
        pytest.param("redis", id="a store of another kind"),
        pytest.param("sqlite3", id="the store of pages' usage"),
        pytest.param("jinja2", id="what renders pages"),
        pytest.param("watchfiles", id="what --dev watches with"),
        pytest.param("click", id="the command line"),
        pytest.param("tomllib", id="what reads manifests of plugins"),
        pytest.param("joserfc", id="what checks access tokens"),
        pytest.param("opentelemetry", id="what traces"),
    ],
)
def test_a_template_loads_what_is_configured(plain: set[str], library: str) -> None:
    """The gateway as it is shipped loads none of the libraries that it has no use for."""
    assert of(library, plain) == []


def test_a_library_is_loaded_where_it_is_used(tmp_path: Path) -> None:
    """A plugin that logs by structlog and gives a schema of its own has both loaded: the rows above can fail."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "hello.py").write_text(f"{PLUGIN}\nplugin = rpc.Plugin(procedures=[Hello])\n")
    (tmp_path / "gateway.yaml").write_text(PLAIN)
    (tmp_path / "routes.yaml").write_text(ROUTES)
    modules = loaded(COMPILE, tmp_path)
    assert {"structlog", "jsonschema"} <= modules


@pytest.mark.parametrize(
    "library",
    ["aiohttp", "uvloop", "yaml", "pydantic", "msgspec", "jsonschema_rs", "importlib.metadata", "rpcgw.gateway", "rpcgw.kernel"],
)  # fmt: skip
def test_a_supervisor_loads_hardly_anything(library: str, tmp_path: Path) -> None:
    """The process that only watches others has the command line and the standard library."""
    assert of(library, loaded("import rpcgw.cli.commands, rpcgw.cli.serve, rpcgw.daemon.supervisor", tmp_path)) == []
