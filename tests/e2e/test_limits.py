"""What keeps requests within bounds: rates over workers and hosts, wrong tokens, turns and breakers."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from tests.e2e.test_metrics import scraped
from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.http import Answer
from tests.support.mcp import Stateless
from tests.support.redis import free_port
from tests.support.refusal import refusal

PLUGIN = """
import asyncio
from pathlib import Path

import rpcgw as rpc

HERE = Path(__file__).parent


async def until(name):
    for _ in range(6000):
        if (HERE / name).exists():
            return
        await asyncio.sleep(0.01)


@rpc.procedure("Desk", groups=["general", "mcp"])
class Desk:
    async def hello(self) -> str:
        return "hello"

    async def wait(self, name: str) -> str:
        (HERE / f"{name}-began").touch()
        await until(name)
        return name

    async def fragile(self) -> str:
        if (HERE / "broken").exists():
            raise OSError("no route to the bank")
        return "paid"


plugin = rpc.Plugin(procedures=[Desk])
"""

OPEN: dict[str, Any] = {"security": {"protected_api": False}}
CLIENTS = {"ann": "token-of-ann-0123456789", "bob": "token-of-bob-0123456789"}
TOKENS = [{"name": name, "sha256": hashlib.sha256(token.encode()).hexdigest()} for name, token in CLIENTS.items()]
BEHIND_PROXY = {"workers": 2, "trusted_proxies": ["127.0.0.1"]}


def served(**config: Any) -> Any:
    """A daemon with the plugin; open to all and with two workers unless `config` says otherwise."""
    return daemon(
        config={"ufo_json_rpc": OPEN, "server": {"workers": 2}, **config},
        plugins={"desk.py": PLUGIN},
        files={"translations/rpc.uk.yaml": "Desk.hello: {title: Вітання}\n"},
    )


def ask(running: Daemon, method: str = "Desk.hello", headers: Mapping[str, str] | None = None, **params: Any) -> Answer:
    """One call."""
    return running.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers)


def statuses(running: Daemon, count: int, headers: Mapping[str, str] | None = None) -> Counter[int]:
    """The statuses of so many calls, eight at a time."""
    with ThreadPoolExecutor(8) as pool:
        return Counter(answer.status for answer in pool.map(lambda _: ask(running, headers=headers), range(count)))


def whose(name: str) -> dict[str, str]:
    """A client's token."""
    return {"Ufo-RPC-Token": CLIENTS[name]}


def test_a_groups_rate_is_exact_over_workers_and_reloads() -> None:
    """Of 80 requests at once on two workers 50 pass; a reload forgets nothing; the others hear when to try again."""
    with served(defaults={"limits": {"group": "50/day"}}) as running:
        assert statuses(running, 80) == {200: 50, 429: 30}
        running.hup()
        running.wait_log("ready", count=2)
        refused = ask(running)
        over_mcp = Stateless(running).send("tools/list")
        limited = scraped(running, 'rpcgw_limited_total{limit="group"}')
    assert refused.status == 429
    assert 0 < int(refused.header("Retry-After") or "") <= 2 * 86_400
    assert refused.json()["error"] == {
        "code": -32029,
        "message": "Too many requests",
        "data": {"exception": "TooManyRequests"},
    }
    assert over_mcp.status == 200, "another group has its own count"
    assert limited == 31


def test_each_token_and_each_address_has_its_own_count() -> None:
    """What one used up is not the other's loss; health and metrics are not counted."""
    security = {"security": {"protected_api": True}}
    limits = {"token": "3/day", "address": "5/day"}
    config = {
        "ufo_json_rpc": security,
        "groups": {"general": {"tokens": TOKENS, "limits": limits}},
        "server": BEHIND_PROXY,
    }
    routes = "rpc: {resource: rpc, prefix: /rpc}\n"
    with daemon(config=config, routes=routes, plugins={"desk.py": PLUGIN}) as running:

        def seen(name: str, address: str, count: int) -> Counter[int]:
            return statuses(running, count, {**whose(name), "X-Forwarded-For": address})

        assert seen("ann", "203.0.113.1", 4) == {200: 3, 429: 1}
        assert seen("bob", "203.0.113.1", 4) == {200: 1, 429: 3}, "the address has used up its five"
        assert seen("bob", "203.0.113.2", 4) == {200: 2, 429: 2}
        assert seen("ann", "2001:db8::1", 1) == {429: 1}
        assert {running.get(path).status for path in ("/livez", "/readyz", "/metrics") for _ in range(5)} == {200}


def test_a_stranger_does_not_choose_its_address() -> None:
    """Where no proxy is trusted X-Forwarded-For means nothing."""
    with served(defaults={"limits": {"address": "3/day"}}) as running:
        seen = [ask(running, headers={"X-Forwarded-For": f"203.0.113.{number}"}).status for number in range(5)]
    assert seen == [200, 200, 200, 429, 429]


def test_a_methods_rate() -> None:
    """429 for a call that comes alone, over MCP too; an error of its own in a batch; other methods pass."""
    with served(methods={"Desk.hello": {"limits": {"method": "3/day"}}}) as running:
        call = {"jsonrpc": "2.0", "id": 1, "method": "Desk.hello"}
        batch = running.post("/rpc", [{**call, "id": number} for number in range(5)]).json()
        alone = ask(running, headers={"Accept-Language": "uk"})
        other = ask(running, "ping")
        over_mcp = [Stateless(running).call("Desk.hello") for _ in range(4)]
    assert Counter("result" in answer for answer in batch) == {True: 3, False: 2}
    [error, _] = [answer["error"] for answer in batch if "error" in answer]
    assert error["code"] == -32029
    assert error["message"].startswith("Desk.hello is called too often; try again in ")
    assert error["data"]["extra"]["retryAfter"] > 0
    assert (alone.status, alone.json()["error"]["code"]) == (429, -32029)
    assert alone.json()["error"]["message"].startswith("Desk.hello викликають надто часто")
    assert int(alone.header("Retry-After") or "") > 0
    assert other.status == 200
    assert [answer.status for answer in over_mcp] == [200, 200, 200, 429]
    assert over_mcp[3].json()["error"]["code"] == -32029
    assert int(over_mcp[3].header("Retry-After") or "") > 0


def test_two_hosts_count_together_in_redis(redis_url: str) -> None:
    """Two daemons with one Redis let through what one would."""
    config = {"pools": {"shared": redis_url}, "limits": {"pool": "shared"}, "defaults": {"limits": {"group": "20/day"}}}
    with ExitStack() as stack:
        hosts = [stack.enter_context(served(**config)) for _ in range(2)]
        seen = statuses(hosts[0], 15) + statuses(hosts[1], 15)
    assert seen == {200: 20, 429: 10}


@pytest.mark.parametrize(("when_away", "status"), [("open", 200), ("closed", 429)])
def test_nobody_can_count(when_away: str, status: int) -> None:
    """Redis away: requests pass, or are refused with Retry-After, as the operator says; it is logged and counted."""
    config = {
        "pools": {"shared": f"redis://127.0.0.1:{free_port()}/0"},
        "limits": {"pool": "shared", "when_away": when_away},
        "defaults": {"limits": {"group": "20/day"}},
    }
    with served(**config) as running:
        answer = ask(running)
        failed = running.wait_log("limit.error")
        counted = scraped(running, 'rpcgw_limit_errors_total{limit="group"}')
    assert answer.status == status
    assert (answer.header("Retry-After") is not None) is (status == 429)
    assert "Redis" in failed["reason"]
    assert counted == 1


@pytest.fixture(scope="module")
def guarded() -> Iterator[Daemon]:
    """Protected, with three wrong tokens an address."""
    config = {
        "ufo_json_rpc": {"security": {"protected_api": True}},
        "groups": {"general": {"tokens": TOKENS}},
        "server": {**BEHIND_PROXY, "failed_attempts": "3/day"},
    }
    with daemon(config=config, routes="rpc: {resource: rpc, prefix: /rpc}\n", plugins={"desk.py": PLUGIN}) as running:
        yield running


def test_who_guesses_tokens_is_refused_for_a_while(guarded: Daemon) -> None:
    """After three wrong ones an address gets 429, a right token or not, on every worker; others come in all the time."""
    guesser = {"X-Forwarded-For": "203.0.113.7"}
    with ThreadPoolExecutor(8) as pool:
        guesses = Counter(
            pool.map(lambda n: ask(guarded, headers={**guesser, "Ufo-RPC-Token": f"guess-{n}"}).status, range(60))
        )
    assert guesses == {403: 3, 429: 57}
    wait_until(
        lambda: all(ask(guarded, headers={**guesser, **whose("ann")}).status == 429 for _ in range(4)),
        20,
        lambda: "a worker still listens to the guesser",
    )
    refused = ask(guarded, headers={**guesser, **whose("ann")})
    other = ask(guarded, headers={**whose("ann"), "X-Forwarded-For": "203.0.113.8"})
    assert (refused.status, other.status) == (429, 200)
    assert int(refused.header("Retry-After") or "") > 0


def test_a_wrong_token_is_logged_with_the_address_and_without_the_token(guarded: Daemon) -> None:
    """The log says who, where and why; nothing of what was shown stands in it, or in the answer."""
    secret = "guess-that-nobody-should-read"
    answer = ask(guarded, headers={"Ufo-RPC-Token": secret, "X-Forwarded-For": "203.0.113.99"})
    wait_until(
        lambda: any(line.get("peer") == "203.0.113.99" for line in guarded.logs("guard.refused")),
        20,
        guarded.stderr,
    )
    [line] = [line for line in guarded.logs("guard.refused") if line.get("peer") == "203.0.113.99"]
    assert (line["guard"], line["status"]) == ("wrong token", 403)
    assert secret not in guarded.stderr()
    assert secret not in answer.text
    assert hashlib.sha256(secret.encode()).hexdigest() not in guarded.stderr()


def test_no_token_is_no_attempt_and_a_local_client_is_not_counted(guarded: Daemon) -> None:
    """A client that forgets its token is told so as often as it asks; behind a loopback address a proxy may stand."""
    assert statuses(guarded, 10, {"X-Forwarded-For": "203.0.113.55"}) == {401: 10}
    assert statuses(guarded, 10, {"Ufo-RPC-Token": "wrong"}) == {403: 10}


def test_turns() -> None:
    """Two calls run, one waits, the fourth is answered 503 with Retry-After; all that was taken is answered."""
    tuned = {"Desk.wait": {"concurrency": {"max": 2, "queue": 1}}}
    with served(methods=tuned, server={"workers": 1}) as running:
        answers: list[Answer] = []
        names = ["one", "two", "three"]
        threads = [
            threading.Thread(target=lambda name=name: answers.append(ask(running, "Desk.wait", name=name)))
            for name in names
        ]
        began = running.folder / "plugins"
        for thread, name in zip(threads, names, strict=True):
            thread.start()
            if name != "three":
                wait_until((began / f"{name}-began").exists, 20, running.stderr)
        wait_until(lambda: scraped(running, "rpcgw_calls_in_flight") >= 3, 20, running.stderr)
        refused = ask(running, "Desk.wait", name="four")
        running.write({f"plugins/{name}": "" for name in names})
        for thread in threads:
            thread.join(30)
        limited = scraped(
            running,
            'rpcgw_calls_total{group="general",method="Desk.wait",outcome="limited",surface="rpc",version="1"}',
        )
    assert sorted(answer.json()["result"] for answer in answers) == ["one", "three", "two"]
    assert refused.json()["error"]["code"] == -32053
    assert int(refused.header("Retry-After") or "") > 0
    assert limited == 1


def test_a_breaker() -> None:
    """Three failures in a row, and calls are refused at once; after the pause one success closes it again."""
    tuned = {"Desk.fragile": {"breaker": {"failures": 3, "pause": 0.5}}}
    with served(methods=tuned, server={"workers": 1}) as running:
        running.write({"plugins/broken": ""})
        failed = [ask(running, "Desk.fragile") for _ in range(3)]
        refused = ask(running, "Desk.fragile")
        over_mcp = Stateless(running).call("Desk.fragile")
        (running.folder / "plugins/broken").unlink()
        wait_until(lambda: ask(running, "Desk.fragile").json().get("result") == "paid", 20, running.stderr)
        again = ask(running, "Desk.fragile")
        opened = scraped(running, 'rpcgw_breaker_openings_total{method="Desk.fragile"}')
    assert [answer.json()["error"]["code"] for answer in failed] == [-32603] * 3
    assert (refused.status, refused.json()["error"]["code"]) == (503, -32053)
    assert int(refused.header("Retry-After") or "") > 0
    assert over_mcp.status == 503
    assert again.json()["result"] == "paid"
    assert opened >= 1


def test_rates_that_are_none_are_refused_with_their_place() -> None:
    """What nobody could count by is a problem at its line."""
    refused = refusal(
        config="ufo_json_rpc: {security: {protected_api: false}}\ndefaults:\n  limits:\n    group: often\n"
    )
    assert refused.code == 78
    assert refused.about("error[bad-value]")[0].startswith("gateway.yaml:4:")
