"""D-01 to D-05: the daemon, what it is built on, how plugins come in, what it answers, and where things are."""

from __future__ import annotations

import ast
import json
import re
import shutil
import site
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import ROOT, Daemon, cli, daemon, folder, serving, write_files
from tests.support.mcp import Session, Stateless

GIVEN = ("aiohttp", "PyYAML", "jsonschema", "aiohttp-cors", "redis", "structlog", "prometheus-client")
MODULES = {"PyYAML": "yaml", "aiohttp-cors": "aiohttp_cors", "prometheus-client": "prometheus_client"}

# What a user of the bundle has, word for word but for the language of the texts.
BUNDLE_ROUTES = """\
ufo_mcp:
    resource: ../../vendor/ufo-tech/mcp-bundle/config/router.yaml
    prefix: /mcp
    defaults: { api_group: mcp }

ufo_mcp_internal:
    resource: ../../vendor/ufo-tech/mcp-bundle/config/router.yaml
    prefix: /mcp/internal
    defaults: { api_group: internal }

ufo_json_rpc:
    resource: ../../vendor/ufo-tech/json-rpc-bundle/config/router.yaml
    prefix: /rpc
    trailing_slash_on_root: false
"""
BUNDLE_CONFIG = """\
ufo_mcp:
    enabled: true
    instructions: ~
    max_body_bytes: 4194304
    session_ttl: 3600
    mcp_server_info:
        name: 'io.github.your-org/your-app'
        title: 'Your App MCP Server'
        description: 'Exposes Your App RPC services as MCP tools.'
        icons:
            - src: 'https://example.com/icon.png'
              mime_type: 'image/png'
              sizes: ['128x128']
              theme: ~
    groups:
        internal:
            instructions: 'Internal tools.'
            mcp_server_info:
                name: 'io.github.your-org/your-app-internal'

ufo_json_rpc:
    security:
        protected_api: false
"""


def plugin(alias: str) -> str:
    """Return the code of a plugin with one method, `<alias>.run`."""
    return (
        f'import rpcgw as rpc\n\n@rpc.procedure("{alias}", groups=["mcp", "internal"])\nclass It:\n'
        f'    def run(self) -> str:\n        return "{alias}"\n\nplugin = rpc.Plugin(procedures=[It])\n'
    )


def tree(name: str) -> dict[str, str]:
    """Return the files of a package `<name>` with an entry point, as a developer has them."""
    manifest = f"""\
    [build-system]
    requires = ["hatchling"]
    build-backend = "hatchling.build"

    [project]
    name = "acme-{name}"
    version = "1.2.3"

    [project.entry-points."rpcgw.plugins"]
    {name} = "acme_{name}:plugin"

    [tool.hatch.build.targets.wheel]
    packages = ["src/acme_{name}"]
    """
    return {"pyproject.toml": manifest, f"src/acme_{name}/__init__.py": plugin(name.title())}


def install(name: str, target: Path, workshop: Path) -> None:
    """Build a wheel of such a package and let pip install it into a folder."""
    source, wheels = workshop / name, workshop / f"{name}-wheels"
    write_files(source, tree(name))
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)], source)
    offline = ["--no-index", "--no-deps", "--disable-pip-version-check", "--quiet"]
    found = [str(path) for path in wheels.glob("*.whl")]
    run([sys.executable, "-m", "pip", "install", *offline, "--target", str(target), *found], source)


def run(command: list[str], cwd: Path) -> None:
    """Run a tool of the author's; its failure is the test's."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def virtual_environment(place: Path) -> tuple[Path, Path]:
    """Make a virtual environment that has all that this one has; return its python and where its packages are."""
    venv.create(place, with_pip=False, symlinks=True)
    (packages,) = place.glob("lib/python*/site-packages")
    ours = [path for path in site.getsitepackages() if Path(path).is_dir()]
    (packages / "ours.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in ours))
    return place / "bin" / "python", packages


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with a plugin of each kind: nothing but their places tells it about them."""
    workshop = tmp_path_factory.mktemp("workshop")
    python, packages = virtual_environment(workshop / "venv")
    install("venv", packages, workshop)
    plugins = {"lone.py": plugin("Lone"), **{f"source-tree/{name}": text for name, text in tree("tree").items()}}
    with folder(plugins=plugins) as place:
        install("wheel", place / "plugins", workshop)
        with serving(place, program=[str(python), "-m", "rpcgw"]) as running:
            yield running


@pytest.fixture(scope="module")
def bundled() -> Iterator[Daemon]:
    """The files of a user of the bundle."""
    with daemon(config=BUNDLE_CONFIG, routes=BUNDLE_ROUTES, plugins={"lone.py": plugin("Lone")}) as running:
        yield running


# -- D-01


def test_the_daemon_stands_alone() -> None:
    """D-01: `rpcgw serve -c gateway.yaml` serves until it is asked to end, and then ends with 0."""
    with daemon(plugins={"lone.py": plugin("Lone")}) as running:
        assert running.get("/rpc").status == 200
        assert running.stop() == 0


def test_the_examples_are_served_as_they_are(example_daemon: Daemon) -> None:
    """D-01: `gateway.yaml.example` finds `routes.yaml.example` beside it, and both are served."""
    found = Stateless(example_daemon).result("Catalog.search", {"query": "tea"})
    message = {"jsonrpc": "2.0", "id": 1, "method": "Catalog.search", "params": {"query": "tea"}}
    assert example_daemon.post("/rpc/internal", message).json()["result"] == found["structuredContent"]["result"] != []


def test_the_examples_may_be_copied() -> None:
    """D-01: copied without their suffix, the examples are a configuration without problems."""
    with folder() as place:
        for name in ("gateway.yaml", "routes.yaml"):
            shutil.copyfile(ROOT / f"{name}.example", place / name)
        checked = cli("check", "-c", "gateway.yaml", cwd=place)
        listed = cli("routes", "-c", "gateway.yaml", "--json", cwd=place)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    paths = {route["path"] for route in json.loads(listed.stdout)}
    assert {"/rpc", "/rpc/internal", "/mcp", "/mcp/internal"} <= paths


def test_the_bundles_routes_are_read(bundled: Daemon) -> None:
    """D-01: the bundle's `router.yaml` imports work unchanged."""
    assert [Stateless(bundled, path).result("Lone.run")["isError"] for path in ("/mcp", "/mcp/internal")] == [False] * 2
    assert bundled.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Lone.run"}).json()["result"] == "Lone"


def test_the_bundles_settings_are_read(bundled: Daemon) -> None:
    """D-01: the bundle's `ufo_mcp.yaml` works unchanged."""
    assert Session(bundled, "/mcp/internal").server | {"capabilities": {}} == {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": {
            "name": "io.github.your-org/your-app-internal",
            "title": "Your App MCP Server",
            "version": "v1",
        },
        "instructions": "Internal tools.",
    }


# -- D-02


def project() -> dict[str, Any]:
    """Return what pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def canonical(requirement: str) -> str:
    """Return the name of a requirement as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0]).lower()


def imported(path: Path) -> set[str]:
    """Return the top-level modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("library", GIVEN)
def test_the_libraries_are_required(library: str) -> None:
    """D-02: each library that was asked for is a dependency of the package, not of an extra."""
    assert canonical(library) in {canonical(name) for name in project()["project"]["dependencies"]}


@pytest.mark.parametrize("library", GIVEN)
def test_the_libraries_are_built_on(library: str) -> None:
    """D-02: and the package imports it."""
    module = MODULES.get(library, library)
    assert [path for path in (ROOT / "rpcgw").rglob("*.py") if module in imported(path)] != []


def test_it_is_tested_with_pytest_aiohttp(request: pytest.FixtureRequest) -> None:
    """D-02: pytest-aiohttp is among what the tests need, and is at work."""
    assert "pytest-aiohttp" in {canonical(name) for name in project()["dependency-groups"]["dev"]}
    assert request.config.pluginmanager.get_plugin("aiohttp") is not None
    assert request.getfixturevalue("aiohttp_client_cls") is not None


# -- D-03


@pytest.mark.parametrize(
    "alias",
    [
        pytest.param("Venv", id="a package installed in the venv"),
        pytest.param("Wheel", id="a package installed into the plugins directory"),
        pytest.param("Tree", id="a source tree in the plugins directory"),
        pytest.param("Lone", id="a single file in the plugins directory"),
    ],
)
def test_a_plugin_is_found_where_it_lies(plugged: Daemon, alias: str) -> None:
    """D-03: entry points of the venv and of the plugins directory are loaded, and so is a file in it."""
    assert Stateless(plugged).result(f"{alias}.run")["structuredContent"] == {"result": alias}
    answer = plugged.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": f"{alias}.run"})
    assert answer.json()["result"] == alias


def test_dropping_a_plugin_in_is_all_that_it_takes(plugged: Daemon) -> None:
    """D-03: a package that is put into the directory is served after a reload; no file of the operator's changes."""
    assert "Late.run" not in Stateless(plugged).tools()
    plugged.write({f"plugins/late/{name}": text for name, text in tree("late").items()})
    plugged.hup()
    plugged.wait_log("reload.done")
    assert Stateless(plugged).result("Late.run")["structuredContent"] == {"result": "Late"}


# -- D-04


def test_mcp_is_served(example_daemon: Daemon) -> None:
    """D-04: there is an MCP endpoint, for both eras."""
    assert Stateless(example_daemon).tools() != {}
    assert Session(example_daemon).tools() != {}


def test_prometheus_can_scrape(example_daemon: Daemon) -> None:
    """D-04: `/metrics` answers in the text format, and calls are counted there."""
    before = calls_of(example_daemon)
    Stateless(example_daemon).result("Catalog.search", {"query": "tea"})
    scraped = example_daemon.get("/metrics")
    assert scraped.status == 200
    assert (scraped.header("Content-Type") or "").startswith("text/plain; version=")
    assert calls_of(example_daemon) == before + 1


def calls_of(client: Daemon) -> float:
    """Return how many calls of `Catalog.search` over MCP have ended, as the metrics tell."""
    lines = re.findall(r"^rpcgw_calls_total\{(.*)\} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    wanted = {'surface="mcp"', 'group="mcp"', 'method="Catalog.search"'}
    return sum(float(value) for labels, value in lines if wanted <= set(labels.split(",")))


# -- D-05


@pytest.mark.parametrize("name", ["pyproject.toml", "gateway.yaml.example", "routes.yaml.example"])
def test_files_at_the_top(name: str) -> None:
    """D-05: the project and its examples are described at the top level."""
    assert (ROOT / name).is_file()


@pytest.mark.parametrize(
    ("directory", "file"),
    [
        ("rpcgw", "__init__.py"),
        ("plugins", "*/pyproject.toml"),
        ("translations", "*.yaml"),
        ("tests", "*/test_*.py"),
        ("systemd", "*.service"),
    ],
)
def test_directories_at_the_top(directory: str, file: str) -> None:
    """D-05: the code, the plugins, the texts, the tests and the units have a directory each, with what belongs there."""
    assert list((ROOT / directory).glob(file)) != []
