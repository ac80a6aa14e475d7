"""How a daemon lets go: of everybody when it stops, of an old generation, of one worker."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.lines import Heard, Line, rpc

STOP_IDLE = 5.0
"""Seconds within which idle connections are closed at a stop."""
OPEN = {"security": {"protected_api": False}}
PLUGIN = """
import asyncio
import os
import time
from pathlib import Path

import rpcgw as rpc


@rpc.procedure("Demo")
class Demo:
    async def pid(self) -> int:
        return os.getpid()

    async def until(self, place: str) -> str:
        "Say that it runs, and wait for leave to end."
        Path(place + ".runs").touch()
        while not Path(place).exists():
            await asyncio.sleep(0.02)
        return "done"

    def stuck(self, place: str) -> str:
        "Hold a thread, whoever has given up on it."
        while not Path(place).exists():
            time.sleep(0.02)
        return "done"


plugin = rpc.Plugin(procedures=[Demo])
"""


def config(**timeouts: float) -> dict[str, Any]:
    return {
        "ufo_json_rpc": OPEN,
        "server": {"timeouts": timeouts},
        "methods": {"Demo.stuck": {"deadline": 0.2}},
    }


async def once(served: Daemon, data: bytes) -> Heard:
    """A call on a connection of its own."""
    line = Line(served.host, served.port)
    try:
        return await line.ask(data)
    finally:
        await line.close()


async def in_flight(served: Daemon, name: str) -> asyncio.Task[Heard]:
    """A call that runs until its file is there."""
    place = served.folder / name
    task = asyncio.create_task(once(served, rpc("Demo.until", {"place": str(place)})))
    await asyncio.to_thread(wait_until, served.folder.joinpath(f"{name}.runs").exists, 30, served.stderr)
    return task


async def test_a_stop_in_its_order() -> None:
    """Not ready at once; everything is served for `pre_stop`; no new connections; idle ones go; work ends; 0."""
    with daemon(config=config(pre_stop=8.0, grace=60), plugins={"demo.py": PLUGIN}) as served:
        call = await in_flight(served, "go")
        idle = Line(served.host, served.port)
        await idle.ask(rpc("Demo.pid"))
        served.kill(signal.SIGTERM)
        await asyncio.to_thread(wait_until, lambda: served.get("/readyz").status == 503, 30, served.stderr)
        assert served.get("/livez").status == 200
        assert (await once(served, rpc("Demo.pid"))).status == 200, "a new connection"
        assert await idle.ended()
        assert not call.done()
        (served.folder / "go").touch()
        answer = await call
        assert (answer.json()["result"], b"connection: close" in answer.head) == ("done", True)
        assert await asyncio.to_thread(served.process.wait, 30) == 0
        assert served.logs("stopped")[0]["forced"] is False


async def test_a_stop_without_a_word_in_the_file() -> None:
    """`pre_stop` is 0: nobody is taken any more while work in flight still has its 20 seconds of grace."""
    with daemon(plugins={"demo.py": PLUGIN}) as served:
        call = await in_flight(served, "go")
        served.kill(signal.SIGTERM)

        def refused() -> bool:
            try:
                socket.create_connection((served.host, served.port), 5).close()
            except ConnectionRefusedError:
                return True
            return False

        await asyncio.to_thread(wait_until, refused, 15, served.stderr)
        assert served.logs("stopping")[0]["grace"] == 20
        assert not call.done()
        (served.folder / "go").touch()
        assert (await call).json()["result"] == "done"
        assert await asyncio.to_thread(served.process.wait, 30) == 0


async def test_idle_connections_outlive_a_reload() -> None:
    """They live as long as they would have lived: longer than at a stop; the old generation answers them once more."""
    with daemon(plugins={"demo.py": PLUGIN}) as served:
        idle = Line(served.host, served.port)
        old = (await idle.ask(rpc("Demo.pid"))).json()["result"]
        served.hup()
        await asyncio.to_thread(served.wait_log, "reload.done", seconds=60)
        reloaded = time.monotonic()
        await asyncio.to_thread(wait_until, lambda: time.monotonic() > reloaded + STOP_IDLE + 1.0, 30, served.stderr)
        answer = await idle.ask(rpc("Demo.pid"))
        assert (answer.json()["result"], b"connection: close" in answer.head) == (old, True)
        assert (await idle.ask(rpc("Demo.pid"))).json()["result"] not in {old, None}
        await idle.close()
        await asyncio.to_thread(served.wait_log, "drained", seconds=60)
        assert served.stop() == 0


async def test_a_worker_whose_threads_are_stuck_is_replaced_and_the_slot_is_never_empty() -> None:
    """It asks for it, a fresh worker serves first, and the call in flight on the old one is answered."""
    with daemon(config=config(), plugins={"demo.py": PLUGIN}) as served:
        call = await in_flight(served, "go")
        message = {"jsonrpc": "2.0", "id": 1, "method": "Demo.stuck", "params": {"place": str(served.folder / "never")}}

        def stuck(_: int) -> bool:
            if served.logs("worker.worn"):
                return False
            served.post("/rpc", message)
            return True

        with ThreadPoolExecutor(8) as threads:  # as many threads as it takes, twice over and one more
            assert list(threads.map(stuck, range(200))).count(False) > 0
        fresh = await asyncio.to_thread(served.wait_log, "worker.ready", count=2, seconds=60)
        assert served.logs("worker.gone") == []
        answer = await once(served, rpc("Demo.pid"))
        assert answer.json()["result"] == fresh["worker"]
        (served.folder / "go").touch()
        assert (await call).json()["result"] == "done"
        gone = await asyncio.to_thread(served.wait_log, "worker.gone", seconds=60)
        assert (gone["worker"], gone["level"]) == (served.logs("worker.worn")[0]["worker"], "info")
        assert served.stop() == 0
