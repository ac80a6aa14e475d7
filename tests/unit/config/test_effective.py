"""Every setting with its origin, secrets masked."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rpcgw.api.problems import Place
from rpcgw.config.assembling import FROM_FILE, Chosen
from rpcgw.config.effective import Override, Setting, effective
from rpcgw.config.sources import Sources

ROUTES = "a: {resource: rpc, prefix: /a}"


def settings(
    gateway: str,
    env: Mapping[str, str] | None = None,
    chosen: Chosen = FROM_FILE,
    files: Mapping[str, str] | None = None,
    overrides: Mapping[tuple[str | int, ...], Override] | None = None,
) -> dict[str, Setting]:
    texts = {"gateway.yaml": gateway, "routes.yaml": ROUTES, **(files or {})}
    found, _ = effective(Sources("gateway.yaml", "/srv", texts), env or {}, chosen, overrides or {})
    return {".".join(map(str, setting.path)): setting for setting in found}


ORIGINS = [
    pytest.param("", {}, "server.workers", (1, "default"), id="a default"),
    pytest.param("", {}, "state_dir", ("var", "default"), id="a default that no schema names"),
    pytest.param("", {"env": {"STATE_DIRECTORY": "/x:/y"}}, "state_dir", ("/x", "$STATE_DIRECTORY"), id="systemd's directory"),
    pytest.param("server:\n  workers: 3", {}, "server.workers", (3, "gateway.yaml:2"), id="the file"),
    pytest.param("imports: [a.yaml]", {"files": {"a.yaml": "\nserver: {workers: 4}"}}, "server.workers", (4, "a.yaml:2"), id="an imported file"),
    pytest.param("server: {workers: '%env(int:W)%'}", {"env": {"W": "5"}}, "server.workers", (5, "gateway.yaml:1 ($W)"), id="a variable in the file"),
    pytest.param("server: {bind: '${H}:${P:-1}'}", {"env": {"H": "h"}}, "server.bind", ("h:1", "gateway.yaml:1 ($H, $P)"), id="several variables"),
    pytest.param("environment: dev", {}, "environment", ("dev", "gateway.yaml:1"), id="the file's environment"),
    pytest.param("environment: dev", {"env": {"RPCGW_ENV": "test"}}, "environment", ("test", "$RPCGW_ENV"), id="the variable's environment"),
    pytest.param("environment: dev", {"chosen": Chosen("prod")}, "environment", ("prod", "--env"), id="the command line's environment"),
    pytest.param("", {"chosen": Chosen(dev=True)}, "logging.format", ("console", "--dev"), id="what --dev sets"),
    pytest.param("server: {workers: 3}", {"overrides": {("server", "workers"): Override(2, "--workers")}}, "server.workers", (2, "--workers"), id="an option goes before the file"),
    pytest.param("when@dev: {server: {workers: 6}}", {"chosen": Chosen("dev")}, "server.workers", (6, "gateway.yaml:1"), id="a block of the environment"),
    pytest.param("ufo_mcp: {groups: {a: {session_ttl: 7}}}", {}, "ufo_mcp.groups.a.session_ttl", (7, "gateway.yaml:1"), id="a group's own"),
]  # fmt: skip


@pytest.mark.parametrize(("gateway", "more", "name", "expected"), ORIGINS)
def test_origins(gateway: str, more: dict[str, object], name: str, expected: tuple[object, str]) -> None:
    """A setting's value is the one in effect, and its origin is what gave it."""
    found = settings(gateway, **more)[name]  # type: ignore[arg-type]  # rows name the arguments that they need
    assert (found.value, found.origin) == expected


SECRETS = [
    pytest.param("ufo_json_rpc: {security: {clients_tokens: [HIDDEN, '${T}']}}", "ufo_json_rpc.security.clients_tokens", ["***", "***"], id="tokens"),
    pytest.param("groups: {a: {tokens: [{name: n, value: HIDDEN}]}}", "groups.a.tokens", [{"name": "n", "value": "***"}], id="named tokens"),
    pytest.param("pools: {p: 'redis://u:HIDDEN@h:1/0?password=HIDDEN'}", "pools.p", "redis://***@h:1/0?***", id="the address of a pool"),
    pytest.param("pools: {p: {url: 'file:x'}}", "pools.p.url", "file:x", id="a directory is no secret"),
    pytest.param("ufo_json_rpc: {cache: {pool: 'redis://:HIDDEN@h/0'}}", "ufo_json_rpc.cache.pool", "redis://***@h/0", id="a pool by its address"),
    pytest.param("ufo_json_rpc: {async: {q: 'amqp://u:HIDDEN@h/v'}}", "ufo_json_rpc.async.q", "amqp://***@h/v", id="a queue"),
    pytest.param("plugins: {config: {shop: {pin: 12345, url: 'http://HIDDEN', on: true}}}", "plugins.config.shop.pin", "***", id="what a plugin is told"),
    pytest.param("jobs: {webhooks: {secret: HIDDENHIDDENHIDDEN}}", "jobs.webhooks.secret", "***", id="a secret"),
    pytest.param("ufo_json_rpc: {security: {token_name: X-Token}}", "ufo_json_rpc.security.token_name", "X-Token", id="the name of a header"),
    pytest.param("ufo_mcp: {instructions: 'see http://u:HIDDEN@h'}", "ufo_mcp.instructions", "see http://***@h", id="credentials anywhere"),
]  # fmt: skip


@pytest.mark.parametrize(("gateway", "name", "shown"), SECRETS)
def test_secrets(gateway: str, name: str, shown: object) -> None:
    """No secret is among the values."""
    found = settings(gateway, {"T": "HIDDEN"})
    assert found[name].value == shown
    assert "HIDDEN" not in repr(found)


def test_places() -> None:
    """A value of a file has its place, any other none."""
    found = settings("server: {workers: 3}")
    assert found["server.workers"].place == Place("gateway.yaml", 1, 10)
    assert found["server.bind"].place is None


def test_problems_do_not_hide_the_rest() -> None:
    """What is wrong is told, and everything else is shown."""
    texts = {"gateway.yaml": "server: {workers: x}\nstate_dir: y", "routes.yaml": ROUTES}
    found, problems = effective(Sources("gateway.yaml", "/srv", texts), {}, FROM_FILE, {})
    assert [problem.code for problem in problems] == ["wrong-type"]
    assert {".".join(map(str, s.path)): s.value for s in found}["state_dir"] == "y"
