"""The configuration of a Symfony project as it lies in `config/`, word for word, under a gateway file of a few lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.daemon import Daemon, cli, daemon, folder
from tests.support.mcp import Session, Stateless

FILES = {
    "config/packages/ufo_mcp.yaml": """\
ufo_mcp:
    enabled: '%env(bool:MCP_ENABLED)%'
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

when@test:
    ufo_mcp:
        groups:
            internal:
                instructions: 'Internal tools, under test.'
""",
    "config/packages/ufo_json_rpc.yaml": """\
parameters:
    app.name: 'Your App'
    env(RPC_CACHE_TTL): '30'

ufo_json_rpc:
    cache:
        ttl: '%env(int:RPC_CACHE_TTL)%'
        pool: 'cache.app'
    security:
        protected_api: true
        protected_doc: false
        token_name: 'Ufo-RPC-Token'
        clients_tokens:
            - '%env(resolve:UFO_API_TOKEN)%'
    docs:
        project_name: '%app.name% (%kernel.environment%)'
        project_description: ''
        project_version: ~
        validations:
            symfony_asserts: false
    async: []
""",
    "config/routes/ufo_mcp.yaml": """\
ufo_mcp:
    resource: ../../vendor/ufo-tech/mcp-bundle/config/router.yaml
    prefix: /mcp
    defaults: { api_group: mcp }

ufo_mcp_internal:
    resource: ../../vendor/ufo-tech/mcp-bundle/config/router.yaml
    prefix: /mcp/internal
    defaults: { api_group: internal }
""",
    "config/routes/ufo_json_rpc.yaml": """\
ufo_json_rpc:
    resource: ../../vendor/ufo-tech/json-rpc-bundle/config/router.yaml
    prefix: /api/rpc
    defaults: { api_group: internal }
    trailing_slash_on_root: false

when@dev:
    ufo_json_rpc_dev:
        resource: ../../vendor/ufo-tech/json-rpc-bundle/config/router.yaml
        prefix: /dev/rpc
        defaults: { api_group: mcp }
""",
    "config/secrets/api_token": "s3cret\n",
}
GATEWAY = """\
imports:
    - { resource: config/packages/ufo_mcp.yaml }
    - { resource: config/packages/ufo_json_rpc.yaml }
routes: config/routes/
pools:
    cache.app: file:var/cache
server:
    public_url: https://tools.example.com
"""
PLUGIN = """
import rpcgw as rpc

@rpc.procedure("Lone", groups=["mcp", "internal"], with_default=False)
class Lone:
    def run(self) -> str:
        '''Run alone.'''
        return "ran"
"""
ENV = {"MCP_ENABLED": "true", "UFO_API_TOKEN_FILE": "../secrets/api_token"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "Lone.run"}
TOKEN = {"Ufo-RPC-Token": "s3cret"}


@pytest.fixture(scope="module")
def project() -> Iterator[Daemon]:
    """The project's daemon in the environment `test`, its token in a file."""
    arguments = ("--env", "test")
    with daemon(config=GATEWAY, files=FILES, plugins={"lone.py": PLUGIN}, env=ENV, arguments=arguments) as running:
        yield running


def test_both_kinds_of_routes_answer(project: Daemon) -> None:
    """Routes of both bundles are served at the prefixes of the project's own files."""
    assert project.post("/api/rpc", CALL, headers=TOKEN).json()["result"] == "ran"
    found = [Stateless(project, path, TOKEN).result("Lone.run") for path in ("/mcp", "/mcp/internal")]
    assert [result["structuredContent"] for result in found] == [{"result": "ran"}] * 2


def test_routes_of_another_environment_do_not(project: Daemon) -> None:
    """What stands under `when@dev` in a file of routes is not there in `test`."""
    assert project.post("/dev/rpc", CALL, headers=TOKEN).status == 404


def test_settings_hold(project: Daemon) -> None:
    """Settings of the packages hold, group over common, the environment's block over both."""
    session = Session(project, "/mcp/internal", headers=TOKEN)
    assert session.server["instructions"] == "Internal tools, under test."
    assert session.server["serverInfo"]["name"] == "io.github.your-org/your-app-internal"
    assert Session(project, "/mcp", headers=TOKEN).server["serverInfo"]["name"] == "io.github.your-org/your-app"


def test_parameters_hold(project: Daemon) -> None:
    """Parameters of the project, and those that are given, stand where they are named."""
    assert project.get("/api/rpc").json()["info"]["title"] == "Your App (test)"


def test_the_token_is_the_files(project: Daemon) -> None:
    """A variable that is not set is the content of the file that its _FILE names, beside the file that asks."""
    assert project.post("/api/rpc", CALL).status == 401
    assert project.post("/api/rpc", CALL, headers={"Ufo-RPC-Token": "s3cret2"}).status == 403


def test_checks_and_explains_itself() -> None:
    """The project has no problem, and each value is traced to its line."""
    with folder(config=GATEWAY, files=FILES, plugins={"lone.py": PLUGIN}) as place:
        checked = cli("check", "-c", "gateway.yaml", "--strict", cwd=place, env=ENV)
        shown = cli("check", "-c", "gateway.yaml", "--print-config", "--json", cwd=place, env=ENV)
        disabled = cli("check", "--print-config", "--origins", cwd=place, env={**ENV, "MCP_ENABLED": "0"})
    assert checked.returncode == 0, checked.stderr
    settings = {setting["setting"]: setting for setting in json.loads(shown.stdout)}
    assert settings["ufo_mcp.session_ttl"]["origin"] == "config/packages/ufo_mcp.yaml:5"
    assert settings["ufo_mcp.enabled"] | {"file": ""} == {
        "setting": "ufo_mcp.enabled",
        "value": True,
        "origin": "config/packages/ufo_mcp.yaml:2 ($MCP_ENABLED)",
        "file": "",
        "line": 2,
    }
    assert settings["ufo_json_rpc.cache.ttl"]["value"] == 30
    assert settings["ufo_json_rpc.security.clients_tokens"]["value"] == ["***"]
    assert settings["server.workers"]["origin"] == "default"
    assert "s3cret" not in shown.stdout + disabled.stdout
    line = next(line for line in disabled.stdout.splitlines() if line.startswith("    enabled:"))
    assert line.split("#")[0].strip() == "enabled: false"
