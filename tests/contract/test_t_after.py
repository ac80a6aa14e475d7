"""T-18, T-19: what follows the answer of a `tools/call`, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Session, Stateless
from tests.support.notes import notes, wait_for_notes

PLUGIN = '''
import asyncio
import json
from pathlib import Path

import rpcgw as rpc

HERE = Path(__file__).resolve().parent.parent


def note(name, **fields):
    with (HERE / "notes.jsonl").open("a") as notes:
        notes.write(json.dumps({"note": name, **fields}) + "\\n")


async def wait_for(name):
    """Until the test says so, or ten seconds."""
    for _ in range(1000):
        if (HERE / name).exists():
            return
        await asyncio.sleep(0.01)


@rpc.procedure(groups=["mcp"], with_default=False)
class Demo:
    @rpc.cache(ttl=60)
    async def kept(self, tag: str) -> str:
        note("run", tag=tag)
        return f"kept {tag}"

    async def event(self, tag: str) -> str:
        return tag

    def boom(self, tag: str) -> None:
        raise ValueError("boom")

    def vetoed(self, tag: str) -> None: ...

    def shapeless(self, tag: str) -> object:
        return object()


@rpc.listens(rpc.RequestReceived)
def veto(happened):
    if happened.context.method == "Demo.vetoed":
        raise rpc.LogicError("Not today")


@rpc.listens(rpc.PostResponse)
async def after(happened):
    tag = happened.params.get("tag", "")
    if tag.startswith("wait-"):
        await wait_for(f"go-{tag}")
    note("PostResponse", method=happened.context.method, tag=tag)
'''

ROUTES = {
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "mcp"}},
}

Tools = Stateless | Session

_numbers = count(1)


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(routes=ROUTES, plugins={"after.py": PLUGIN}) as running:
        yield running


@pytest.fixture(params=[Stateless, Session], ids=["stateless", "session"])
def tools(request: pytest.FixtureRequest, served: Daemon) -> Tools:
    client: Tools = request.param(served)
    return client


@pytest.fixture
def tag() -> str:
    """A word that no other test uses."""
    return f"tag-{next(_numbers)}"


def kept_by_rpc(served: Daemon, tag: str) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "Demo.kept", "params": {"tag": tag}}
    return served.post("/rpc", message).json()["result"]


def test_post_response_comes_after_the_answer(served: Daemon, tools: Tools, tag: str) -> None:
    """T-18: a listener that takes its time does not keep the client waiting, who has the answer before it ends."""
    waiting = f"wait-{tag}"
    assert tools.result("Demo.event", {"tag": waiting})["isError"] is False
    assert notes(served, "PostResponse", tag=waiting) == []
    served.write({f"go-{waiting}": ""})
    assert len(wait_for_notes(served, 1, "PostResponse", tag=waiting)) == 1


def test_post_response_fires_once_a_call_of_a_batch(served: Daemon, tag: str) -> None:
    """T-18: each executed call of a JSON-RPC batch fires it once, and those that failed or were cached do not."""
    session = Session(served, version="2025-03-26")
    calls = [
        ("event", f"{tag}-a"),
        ("boom", f"{tag}-b"),
        ("event", f"{tag}-c"),
        ("kept", f"{tag}-d"),
        ("event", f"{tag}-e"),
    ]
    session.result("Demo.kept", {"tag": f"{tag}-d"})
    wait_for_notes(served, 1, "PostResponse", tag=f"{tag}-d")
    batch = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": f"Demo.{name}", "arguments": {"tag": word}},
        }
        for number, (name, word) in enumerate(calls)
    ]
    answers = served.post("/mcp", batch, session.headers).json()
    assert [answer["result"]["isError"] for answer in answers] == [False, True, False, False, False]
    session.result("Demo.event", {"tag": f"{tag}-last"})
    for word in ("a", "c", "e", "last"):
        wait_for_notes(served, 1, "PostResponse", tag=f"{tag}-{word}")
    fired = [note["tag"] for note in notes(served, "PostResponse") if str(note["tag"]).startswith(f"{tag}-")]
    assert sorted(fired) == [f"{tag}-{word}" for word in ("a", "c", "d", "e", "last")]


def test_post_response_does_not_fire_for_an_error(served: Daemon, tools: Tools, tag: str) -> None:
    """T-18: a call that failed has no `rpc.post_response`, wherever it failed."""
    for name in ("boom", "vetoed", "shapeless"):
        assert tools.result(f"Demo.{name}", {"tag": tag})["isError"] is True
    tools.result("Demo.event", {"tag": f"{tag}-after"})
    wait_for_notes(served, 1, "PostResponse", tag=f"{tag}-after")
    fired = {note["method"] for note in notes(served, "PostResponse")}
    assert fired & {"Demo.boom", "Demo.vetoed", "Demo.shapeless"} == set()


def test_post_response_does_not_fire_from_the_cache(served: Daemon, tools: Tools, tag: str) -> None:
    """T-18: an answer from the cache was executed by nobody."""
    for _ in range(3):
        tools.result("Demo.kept", {"tag": tag})
    tools.result("Demo.event", {"tag": f"{tag}-after"})
    wait_for_notes(served, 1, "PostResponse", tag=f"{tag}-after")
    assert len(notes(served, "PostResponse", tag=tag)) == 1


def test_a_cached_call_does_not_run_the_method(served: Daemon, tools: Tools, tag: str) -> None:
    """T-19: the second call with the same arguments has the first one's answer, and another has its own."""
    expected = {"result": f"kept {tag}"}
    assert [tools.result("Demo.kept", {"tag": tag})["structuredContent"] for _ in range(2)] == [expected] * 2
    assert len(notes(served, "run", tag=tag)) == 1
    other = tools.result("Demo.kept", {"tag": f"{tag}-other"})["structuredContent"]
    assert other == {"result": f"kept {tag}-other"}


def test_the_cache_is_that_of_rpc(served: Daemon, tools: Tools, tag: str) -> None:
    """T-19: what a tool's call has made `/rpc` answers from the cache, and the other way round."""
    tools.result("Demo.kept", {"tag": tag})
    assert kept_by_rpc(served, tag) == f"kept {tag}"
    kept_by_rpc(served, f"{tag}-rpc")
    assert tools.result("Demo.kept", {"tag": f"{tag}-rpc"})["structuredContent"] == {"result": f"kept {tag}-rpc"}
    assert [len(notes(served, "run", tag=word)) for word in (tag, f"{tag}-rpc")] == [1, 1]
