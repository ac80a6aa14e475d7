"""Tokens: several at once, for a time, exchanged without a restart, and never to be read anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import pytest

from tests.support.daemon import Daemon, cli, daemon, folder, wait_until
from tests.support.http import Answer, exchange

OLD = "old-token-that-nobody-should-read"
NEW = "new-token-that-nobody-should-read"
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
ROUTES = "rpc: {resource: rpc, prefix: /rpc}\n"


def sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def config(*tokens: dict[str, Any]) -> dict[str, Any]:
    return {
        "server": {"workers": 2},
        "ufo_json_rpc": {"security": {"protected_api": True}},
        "groups": {"general": {"tokens": list(tokens)}},
    }


def ask(running: Daemon, token: str) -> Answer:
    return running.post("/rpc", CALL, {"Authorization": f"Bearer {token}"})


def answers(running: Daemon, tokens: Iterable[str]) -> dict[str, int]:
    """What each token is answered on a connection of its own."""
    return {token: ask(running, token).status for token in tokens}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda token: {"value": token}, id="in clear"),
        pytest.param(lambda token: {"sha256": sha256(token)}, id="as a hash"),
    ],
)
def test_a_token_is_exchanged_while_calls_go_on(given: Any) -> None:
    """The new one beside the old one, then the new one alone: each step is a reload, and nobody is cut off in between.

    A connection that was open may ask once more, of the workers that it leads to; then it is ended, and the next obeys.
    """
    old, new = {"name": "ann", **given(OLD)}, {"name": "ann-2", **given(NEW)}
    with daemon(config=config(old), routes=ROUTES) as running, closing(running.connect()) as open_one:

        def on_it(token: str) -> int:
            fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            return exchange(open_one, "POST", "/rpc", CALL, fields).status

        def step(expected: dict[str, int], *tokens: dict[str, Any]) -> None:
            running.write({"gateway.yaml": json.dumps(config(*tokens))})
            running.hup()
            wait_until(lambda: answers(running, expected) == expected, 30, running.stderr)

        assert (ask(running, OLD).status, ask(running, NEW).status) == (200, 403)
        step({OLD: 200, NEW: 200}, old, new)
        assert on_it(OLD) == 200
        step({OLD: 403, NEW: 200}, new)
        assert [on_it(OLD), on_it(OLD)][1] == 403
        principals = {line["principal"] for line in running.logs("call")}
    assert principals == {"ann", "ann-2"}


def test_a_token_ends_by_itself() -> None:
    """After its time it is refused, and the log says why; one that ends later goes on."""
    tokens = [
        {"name": "past", "value": OLD, "expires": "2020-01-31"},
        {"name": "future", "value": NEW, "expires": "2999-01-31T12:00:00Z"},
    ]
    with daemon(config=config(*tokens), routes=ROUTES) as running:
        assert (ask(running, OLD).status, ask(running, NEW).status) == (403, 200)
        refused = running.wait_log("guard.refused")
    assert (refused["guard"], "a token that has expired" in refused["reason"]) == ("expired token", True)


PLUGIN = """
from contextlib import asynccontextmanager
from dataclasses import dataclass

import rpcgw as rpc


@dataclass(frozen=True)
class Settings:
    key: str


@rpc.procedure("Desk")
class Desk:
    async def hello(self) -> str:
        return "hello"


@asynccontextmanager
async def opened(settings: Settings):
    yield None


plugin = rpc.Plugin(procedures=[Desk], settings=Settings, lifespan=opened)
"""
SECRETS = {
    "a token": "token-6Yq9ZKf2",
    "a token of the original's list": "client-8Jd7Wm3c",
    "a pool's password": "redis-2Nv4Xb5q",
    "a webhook's secret": "webhook-9Rt6Lp1s-0123456789abcdef",
    "a queue's password": "queue-3Hk8Gz7y",
    "a hub's token": "jwt-5Fc2Dx4w",
    "a plugin's setting": "plugin-7Sa3Mu9e",
}


def redis(whose: str) -> str:
    return f"redis://:{SECRETS[whose]}@127.0.0.1:1/0"


def everything() -> dict[str, Any]:
    """A configuration with every secret there is."""
    return {
        "ufo_json_rpc": {
            "security": {"protected_api": True, "clients_tokens": [SECRETS["a token of the original's list"]]},
            "async": [
                {"type": "redis", "config": {"name": "q", "dsn": redis("a queue's password")}},
                {
                    "type": "mercure",
                    "config": {
                        "name": "hub",
                        "dsn": "https://hub.example.com/.well-known/mercure",
                        "topics_prefix": "https://example.com/",
                        "jwt": SECRETS["a hub's token"],
                    },
                },
            ],
        },
        "groups": {"general": {"tokens": [{"name": "ann", "value": SECRETS["a token"]}]}},
        "pools": {"far": redis("a pool's password")},
        "jobs": {"webhooks": {"allow": ["https://hooks.example.com/"], "secret": SECRETS["a webhook's secret"]}},
        "plugins": {"config": {"desk": {"key": SECRETS["a plugin's setting"]}}},
    }


def leaked(text: str) -> list[str]:
    return [name for name, secret in SECRETS.items() if secret in text or sha256(secret) in text]


def test_no_secret_is_shown_by_a_running_daemon() -> None:
    """Not in its log, its metrics, its health, its documents or its errors, whatever it is asked."""
    with daemon(config=everything(), routes=ROUTES, plugins={"desk.py": PLUGIN}) as running:
        said = [
            ask(running, token).text
            for token in ("wrong", SECRETS["a token"], SECRETS["a token of the original's list"])
        ]
        said += [
            running.get(path).text for path in ("/metrics", "/readyz?verbose", "/rpc", "/rpc/postman", "/", "/nowhere")
        ]
        running.hup()
        running.wait_log("reload.done")
        said.append(running.stderr())
    assert leaked("\n".join(said)) == []


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["check", "--print-config"], id="the effective configuration"),
        pytest.param(["check", "--print-config", "--origins"], id="with its origins"),
        pytest.param(["check"], id="a check"),
    ],
)
def test_no_secret_is_shown_by_a_command(arguments: list[str]) -> None:
    """Commands that are about the configuration."""
    with folder(config=everything(), routes=ROUTES) as place:
        done = cli(*arguments, cwd=place)
    assert leaked(done.stdout + done.stderr) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('"name": "ann"', '"name": "ann", "nmae": 1', id="an unknown option beside a token"),
        pytest.param('"name": "ann"', '"name": 5', id="a wrong type beside a token"),
        pytest.param('"name": "ann", ', "", id="a name that is missing"),
        pytest.param("redis://:", "redis//:", id="a URL that is none"),
        pytest.param('"allow"', '"alow"', id="an unknown option beside a secret"),
    ],
)
def test_no_secret_is_shown_by_a_problem(before: str, after: str) -> None:
    """A problem shows the line where it stands, and not what is secret in it."""
    text = json.dumps(everything())
    assert before in text
    with folder(config=text.replace(before, after), routes=ROUTES) as place:
        done = cli("check", cwd=place)
    assert "error[" in done.stdout + done.stderr
    assert leaked(done.stdout + done.stderr) == []
