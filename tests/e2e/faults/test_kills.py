"""`kill -9` of a random worker every second, under load: what is lost is what that worker had in hand, and no more.

`KILL_SECONDS` says for how long; `make kills` takes a minute.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import signal
import time
from collections import Counter
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.figures import Figure
from tests.support.lines import Heard, Line, Lost, request, rpc, tool
from tests.support.mcp import LEGACY, Session

SECONDS = int(os.environ.get("KILL_SECONDS", "12"))
LATE = 1.0 if SECONDS >= 60 else 5.0
"""Seconds by which a kill may be late, because no worker served or because other tests want the processors."""
WORKERS = 3
SESSIONS = 24
LOCKS = 6
TTL = 2.0
CLOCKS = 0.1
"""Seconds that two clocks may differ by."""
KEPT = 16
SIZE = 60_000
PLUGIN = f"""
import asyncio
import hashlib
import os

import rpcgw as rpc


@rpc.procedure("Demo", groups=["general", "mcp"])
class Demo:
    async def pid(self) -> int:
        "Who answers."
        return os.getpid()

    @rpc.lock(by="key", ttl={TTL})
    async def locked(self, key: str) -> int:
        await asyncio.sleep(0.05)
        return os.getpid()

    @rpc.cache(ttl=60)
    async def kept(self, key: str) -> dict[str, object]:
        text = os.urandom({SIZE} // 2).hex()
        return {{"pid": os.getpid(), "key": key, "text": text, "sum": hashlib.sha256(text.encode()).hexdigest()}}

    @rpc.invalidates("Demo.kept", by="key")
    async def touched(self, key: str) -> int:
        return os.getpid()


plugin = rpc.Plugin(procedures=[Demo])
"""


class Crowd:
    """Clients of every kind, and what became of their calls."""

    def __init__(self, served: Daemon) -> None:
        self.served = served
        self.stop = asyncio.Event()
        self.killed: set[int] = set()
        self.answered: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.wrong: list[Any] = []

    async def ask(self, line: Line, data: bytes, method: str) -> Heard | None:
        """One call; None where it was lost with the worker that had it in hand."""
        try:
            heard = await line.ask(data)
        except Lost as lost:
            self.lost[method] += 1
            # On a new connection nobody knows whose it was.
            if line.before is not None and line.before not in self.killed:
                self.wrong.append(("lost by a worker that lives", method, line.before, str(lost)))
            return None
        if heard.status == 200:
            self.answered[method] += 1
        else:
            self.wrong.append((method, heard))
        return heard

    async def plain(self, number: int) -> None:
        """Calls on both surfaces, without pause."""
        line = Line(self.served.host, self.served.port)
        surface = ("rpc", "mcp")[number % 2]
        data = rpc("Demo.pid") if surface == "rpc" else tool("Demo.pid")
        while not self.stop.is_set():
            if (heard := await self.ask(line, data, f"Demo.pid {surface}")) is not None:
                result = heard.json()["result"]
                line.before = result if surface == "rpc" else result["structuredContent"]["result"]
        await line.close()

    async def in_session(self, session: str) -> None:
        """Calls in a session that began before the first kill: it is known to whoever answers."""
        line = Line(self.served.host, self.served.port)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "Demo.pid", "arguments": {}}}
        data = request("/mcp", message, {"Mcp-Session-Id": session, "MCP-Protocol-Version": LEGACY})
        while not self.stop.is_set():
            if (heard := await self.ask(line, data, "Demo.pid mcp")) is not None and heard.status == 200:
                line.before = heard.json()["result"]["structuredContent"]["result"]
            await asyncio.sleep(0.05)
        await line.close()

    async def locking(self, key: str) -> None:
        """The only one who asks for a key: whoever holds its lock is a call of ours that was lost."""
        line = Line(self.served.host, self.served.port)
        data, lost_at = rpc("Demo.locked", {"key": key}), -1e9
        while not self.stop.is_set():
            began = time.monotonic()
            if (heard := await self.ask(line, data, "Demo.locked rpc")) is None:
                lost_at = time.monotonic()
                continue
            answer = heard.json()
            if "result" in answer:
                line.before = answer["result"]
                continue
            self.answered["Demo.locked rpc"] -= 1
            self.answered["refused"] += 1
            if answer["error"]["code"] != -32400 or began > lost_at + TTL + CLOCKS:
                self.wrong.append(("a lock outlived its ttl", key, began - lost_at, answer))
            await asyncio.sleep(0.05)
        await line.close()

    async def keeping(self, number: int) -> None:
        """Reads results that are kept, and drops them: each is whole, or computed anew."""
        line = Line(self.served.host, self.served.port)
        turn = number
        while not self.stop.is_set():
            turn += 1
            key = f"k{turn % KEPT}"
            method = "Demo.touched" if turn % 5 == 0 else "Demo.kept"
            if (heard := await self.ask(line, rpc(method, {"key": key}), f"{method} rpc")) is None:
                continue
            result = heard.json().get("result")
            if method == "Demo.touched":
                line.before = result
                continue
            line.before = None  # it may be another worker's result
            if not whole(result, key):
                self.wrong.append((method, key, str(heard)[:500]))
        await line.close()

    async def kill(self, roll: Roll, kills: int) -> float:
        """End a random worker each second, so many of them; by how much the latest was late."""
        began, latest = time.monotonic(), 0.0
        for due in range(kills):
            await asyncio.sleep(began + due - time.monotonic())
            while not (candidates := roll.serving() - self.killed):
                await asyncio.sleep(0.01)
            victim = random.choice(sorted(candidates))
            self.killed.add(victim)
            os.kill(victim, signal.SIGKILL)
            latest = max(latest, time.monotonic() - began - due)
        await asyncio.sleep(began + kills - time.monotonic())
        return latest


class Roll:
    """The workers, as the log has them: it is read on from where it was left, for it grows by thousands of calls."""

    def __init__(self, served: Daemon) -> None:
        self._path = served.folder / "daemon.log"
        self._read = 0
        self._ready = set[int]()
        self.gone: dict[int, int] = {}

    def serving(self) -> set[int]:
        """Those that serve now."""
        with self._path.open("rb") as log:
            log.seek(self._read)
            whole = log.read().rpartition(b"\n")[0]
        self._read += len(whole)
        for line in (json.loads(each) for each in whole.splitlines() if b'"worker.' in each):
            if line["event"] == "worker.ready":
                self._ready.add(line["worker"])
            if line["event"] == "worker.gone":
                self.gone[line["worker"]] = line["code"]
        return self._ready - self.gone.keys()


def whole(result: Any, key: str) -> bool:
    """Whether a kept result is as it was computed."""
    if not isinstance(result, dict) or result.get("key") != key:
        return False
    return hashlib.sha256(str(result["text"]).encode()).hexdigest() == result["sum"] and len(result["text"]) == SIZE


def filled(roll: Roll, kills: int) -> bool:
    """Whether every death has been seen, and every slot has a worker again."""
    return len(roll.serving()) == WORKERS and len(roll.gone) == kills


def ping(served: Daemon, session: str) -> int:
    """The status that a session gets."""
    headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": LEGACY}
    return served.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers).status


def counted(served: Daemon, method: str, surface: str) -> float:
    """How many calls of a method have succeeded, whoever served them."""
    total = 0.0
    for labels, value in re.findall(r"^rpcgw_calls_total{([^}]*)} (\S+)$", served.get("/metrics").text, re.MULTILINE):
        named = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if (named["method"], named["surface"]) == (method, surface) and named["outcome"] in {"success", "cached"}:
            total += float(value)
    return total


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 240)
async def test_a_killed_worker_takes_only_what_it_had_in_hand(figure: Figure) -> None:
    """Sessions live on, locks end with their ttl, kept results are whole, counters add up, slots are filled again."""
    with daemon(plugins={"demo.py": PLUGIN}, arguments=["--workers", str(WORKERS)]) as served:
        served.wait_log("worker.ready", count=WORKERS)
        sessions = [Session(served).id for _ in range(SESSIONS)]
        crowd, roll = Crowd(served), Roll(served)
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(crowd.plain(number))
            for session in sessions:
                assert session is not None
                group.create_task(crowd.in_session(session))
            for number in range(LOCKS):
                group.create_task(crowd.locking(f"l{number}"))
            for number in range(4):
                group.create_task(crowd.keeping(number * 7))
            late = await crowd.kill(roll, SECONDS)
            crowd.stop.set()
        assert crowd.wrong == []
        assert late < LATE
        await asyncio.to_thread(wait_until, lambda: filled(roll, SECONDS), 60.0, served.stderr)
        assert set(roll.gone.values()) == {-signal.SIGKILL}
        told = {}
        for name in ("Demo.pid rpc", "Demo.pid mcp", "Demo.locked rpc", "Demo.kept rpc", "Demo.touched rpc"):
            method, surface = name.split()
            total = await asyncio.to_thread(counted, served, method, surface)
            told[name] = (crowd.answered[name], total, crowd.answered[name] + crowd.lost[name])
        # Of a call that was lost nobody knows whether it had been counted yet.
        assert all(0 < low <= total <= high for low, total, high in told.values()), told
        statuses = Counter(ping(served, str(session)) for session in sessions)
        assert statuses == {200: SESSIONS}
        assert "Traceback" not in served.stderr()
        assert served.stop() == 0
        case = f"kill -9 of one of {WORKERS} workers each second, under load"
        figure(case, "kills", len(roll.gone), promised=f"{SECONDS}")
        figure(case, "by how much the latest of them was late", late, "s", promised=f"less than {LATE:g} s")
        figure(case, "calls answered", sum(crowd.answered.values()))
        figure(
            case, "calls lost, a kill", sum(crowd.lost.values()) / SECONDS, promised="those in flight on that worker"
        )
        figure(case, "sessions lost", SESSIONS - statuses[200], promised="0")
