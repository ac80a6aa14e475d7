"""The plugin that the kernel's tests serve: its source, and what it notes in a database that all workers share."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import redis
from tests.support.daemon import Daemon, daemon

SOURCE = '''
"""Procedures that note in a database what really ran."""

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import rpcgw as rpc

NOTES = os.environ["NOTES"]


def note(kind, **fields):
    import json

    with closing(sqlite3.connect(NOTES, timeout=30, isolation_level=None)) as notes:
        notes.execute("INSERT INTO notes (kind, fields, pid) VALUES (?, ?, ?)", (kind, json.dumps(fields), os.getpid()))


async def until(name, seconds=20):
    place = Path(NOTES).with_name(name)
    for _ in range(int(seconds / 0.01)):
        if place.exists():
            return
        await asyncio.sleep(0.01)


@rpc.procedure("Demo", groups=["general", "mcp"])
class Demo:
    def __init__(self, cache: rpc.ResultCache) -> None:
        self._cache = cache

    async def echo(self, value: object = "nothing", other: int = 0) -> object:
        return value

    async def make(self, name: str) -> dict[str, object]:
        note("make", name=name)
        return {"id": 0, "name": name, "none": None, "twist": "@FROM:a(id)"}

    async def fail(self, words: str = "no") -> None:
        raise rpc.DataNotFound(words, extra={"words": words})

    async def sleep(self, seconds: float, key: str = "") -> float:
        note("sleep", key=key)
        await asyncio.sleep(seconds)
        return seconds

    async def deadline(self, ctx: rpc.CallContext) -> float | None:
        return None if ctx.deadline is None else round(ctx.deadline - asyncio.get_running_loop().time(), 1)

    async def pid(self) -> int:
        return os.getpid()

    @rpc.cache(ttl=60, by="key")
    async def slow(self, key: str, lang: str = "en") -> int:
        note("slow", key=key, lang=lang)
        await asyncio.sleep(0.3)
        return os.getpid()

    @rpc.cache(ttl=60)
    async def hang(self, key: str) -> int:
        note("hang", key=key)
        await until(f"go-{key}")
        return os.getpid()

    @rpc.cache(ttl=60)
    async def nothing(self, key: str) -> None:
        note("nothing", key=key)

    @rpc.cache(ttl=60)
    async def broken(self, key: str) -> None:
        note("broken", key=key)
        raise rpc.LogicError("broken")

    @rpc.invalidates("Demo.slow", by="key")
    async def touch(self, key: str) -> None: ...

    @rpc.invalidates("Demo.slow", exact=True)
    async def touch_exact(self, key: str, lang: str) -> None: ...

    @rpc.invalidates("Demo.slow")
    async def touch_all(self) -> None: ...

    @rpc.invalidates("Demo.slow", by="key", warm_up=True)
    async def refresh(self, key: str) -> None: ...

    async def drop(self, key: str) -> None:
        await self._cache.delete("Demo.slow", {"key": key})

    async def warm(self, key: str) -> None:
        await self._cache.warm("Demo.slow", {"key": key})

    @rpc.lock(by="key", ttl=2)
    async def hold(self, key: str) -> int:
        note("hold", key=key)
        await until(f"go-{key}")
        note("held", key=key)
        return os.getpid()

    @rpc.lock(by="key", ttl=20)
    async def brief(self, key: str) -> int:
        note("hold", key=key)
        await until(f"go-{key}")
        note("held", key=key)
        return os.getpid()

    @rpc.lock(by="key", ttl=2, wait=30)
    async def queue(self, key: str) -> int:
        note("in", key=key)
        await asyncio.sleep(0.02)
        note("out", key=key)
        return os.getpid()


@rpc.procedure("Watched")
class Watched:
    async def plain(self, tag: str) -> str:
        note("run", tag=tag)
        return tag

    @rpc.cache(ttl=60)
    async def kept(self, tag: str) -> str:
        note("run", tag=tag)
        return tag

    async def fail(self, tag: str) -> str:
        note("run", tag=tag)
        raise rpc.DataNotFound("gone")


def watching(event, priority):
    @rpc.listens(event, priority=priority)
    async def listen(happened):
        context = happened.context
        if not context.method.startswith("Watched."):
            return
        params = getattr(happened, "params", {})
        tag = params.get("tag") if isinstance(params, dict) else params[0]
        if event is rpc.PostResponse and str(tag).startswith("wait"):
            await until(f"go-{tag}")
        note("event", name=rpc_name(event), priority=priority, tag=tag, method=context.method)

    return listen


def rpc_name(event):
    return event.__name__


@rpc.listens(rpc.RequestReceived, priority=5)
def request(happened):
    if isinstance(happened.params, dict) and happened.params.get("tag") == "veto-request":
        raise rpc.LogicError("vetoed")
    if isinstance(happened.params, dict) and happened.params.get("tag") == "replace-request":
        happened.params = {"tag": "replaced-request"}
    if isinstance(happened.params, dict) and happened.params.get("tag") == "break-request":
        happened.params = {"tag": 7}


@rpc.listens(rpc.PreExecute, priority=5)
async def pre_execute(happened):
    if happened.params.get("tag") == "veto-execute":
        raise rpc.ApplicationError("vetoed", code=4010)
    if happened.params.get("tag") == "replace-execute":
        happened.params = {"tag": "replaced-execute"}


@rpc.listens(rpc.PreResponse)
def pre_response(happened):
    if happened.params.get("tag") == "replace-response":
        happened.result = {"replaced": happened.result}


@rpc.listens(rpc.ErrorRaised)
def error(happened):
    if happened.context.method == "Watched.fail":
        happened.error = rpc.ApplicationError("another error", code=777, extra={"was": str(happened.cause)})


EVENTS = (
    rpc.RequestReceived, rpc.PreExecute, rpc.PreResponse, rpc.PostExecute, rpc.ErrorRaised, rpc.PostResponse,
)
plugin = rpc.Plugin(
    procedures=[Demo, Watched],
    listeners=[
        *(watching(event, priority) for event in EVENTS for priority in (10, -10)),
        request, pre_execute, pre_response, error,
    ],
)
'''


class Notes:
    """What the procedures of all workers and daemons have noted."""

    def __init__(self, place: Path) -> None:
        self.path = place / "notes.db"
        with contextlib.closing(sqlite3.connect(self.path)) as made:
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, kind TEXT, fields TEXT, pid INTEGER)")

    def all(self, kind: str, **fields: object) -> list[dict[str, Any]]:
        """Those of a kind with these fields, in the order in which they were written; `pid` is who did."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as notes:
            rows = notes.execute("SELECT fields, pid FROM notes WHERE kind = ? ORDER BY number", (kind,)).fetchall()
        found = [{**json.loads(text), "pid": pid} for text, pid in rows]
        return [note for note in found if all(note.get(name) == value for name, value in fields.items())]

    def kinds(self, kinds: Collection[str], **fields: object) -> list[str]:
        """The kinds of those notes, in the order in which they were written."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as notes:
            rows = notes.execute("SELECT kind, fields FROM notes ORDER BY number").fetchall()
        return [kind for kind, text in rows if kind in kinds and fields.items() <= json.loads(text).items()]

    def go(self, name: str) -> None:
        """Let whoever waits for the name go on."""
        (self.path.parent / f"go-{name}").touch()


@contextlib.contextmanager
def shared_pool(port: int) -> Iterator[str]:
    """The URL of an empty database of a Redis, which is emptied again."""
    database = redis.empty_database(port)
    try:
        yield f"redis://127.0.0.1:{port}/{database}"
    finally:
        redis.flush(port, database)


@contextlib.contextmanager
def kernel_daemon(notes: Notes, workers: int = 1, pool: str = "default", **config: Any) -> Iterator[Daemon]:
    """Serve the plugin; `pool` is where results and locks are kept, `config` stands in gateway.yaml beside it."""
    kernel = {"security": {"protected_api": False}, "cache": {"pool": pool}}
    with daemon(
        config={"ufo_json_rpc": kernel, "methods": {"Demo.brief": {"deadline": 1}}, **config},
        plugins={"kernel_demo.py": SOURCE},
        env={"NOTES": str(notes.path)},
        arguments=["--workers", str(workers)],
    ) as running:
        yield running


class Site:
    """Everybody who answers, and what has run."""

    def __init__(self, daemons: list[Daemon], notes: Notes) -> None:
        self.daemons = daemons
        self.notes = notes

    def runs(self, kind: str, key: str) -> int:
        """How often a procedure ran for a key."""
        return len(self.notes.all(kind, key=key))


SITES = ("two workers on files", "two daemons on Redis")


@contextlib.contextmanager
def site_of(kind: str, request: pytest.FixtureRequest, place: Path) -> Iterator[Site]:
    """One host with two workers over the file pool, or two hosts over one Redis (`SITES`)."""
    notes = Notes(place)
    with contextlib.ExitStack() as stack:
        if kind == "two workers on files":
            daemons = [stack.enter_context(kernel_daemon(notes, workers=2))]
        else:
            shared = stack.enter_context(shared_pool(request.getfixturevalue("redis_port")))
            daemons = [stack.enter_context(kernel_daemon(notes, pool=shared)) for _ in range(2)]
        yield Site(daemons, notes)


def message(method: str, params: Any = None, identifier: Any = 1) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def call(served: Daemon, method: str, params: Any = None) -> dict[str, Any]:
    """Call a method of the group `general`; the whole answer."""
    answer: dict[str, Any] = served.post("/rpc", message(method, params)).json()
    return answer


def result(served: Daemon, method: str, params: Mapping[str, Any] | None = None) -> Any:
    """A result, which there must be."""
    answer = call(served, method, dict(params or {}))
    assert "result" in answer, answer
    return answer["result"]
