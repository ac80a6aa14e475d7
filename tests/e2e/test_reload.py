"""Reloads of the real thing, under load, as clients and operators see them."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from typing import Any, Self
from urllib.parse import urlsplit

from tests.support.daemon import CONFIG, Daemon, daemon

PLUGIN = """
import os

import rpcgw as rpc


@rpc.procedure("Demo", groups=["mcp"])
class Demo:
    def tag(self) -> str:
        return {tag!r}


plugin = rpc.Plugin(procedures=[Demo])
"""
CONFIGS = {"as it was": CONFIG, "broken": CONFIG + "\nserver: {bnid: x}\n"}
RPC = {"jsonrpc": "2.0", "id": 1, "method": "Demo.tag"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "crowd", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
MCP = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "Demo.tag", "arguments": {}, "_meta": META},
}
MCP_HEADERS = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: Demo.tag\r\n"


def request(path: str, message: dict[str, Any], headers: str = "") -> bytes:
    body = json.dumps(message).encode()
    fields = (
        f"Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}"
    )
    return f"POST {path} HTTP/1.1\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body


REQUESTS = [(request("/rpc", RPC), "rpc"), (request("/mcp", MCP, MCP_HEADERS), "mcp")]


class Crowd:
    """64 keep-alive connections on raw sockets that never try twice; a quarter of them idles most of the time."""

    def __init__(self, served: Daemon) -> None:
        address = urlsplit(served.url)
        self._where = (address.hostname, address.port)
        self._stop = asyncio.Event()
        self.tags: Counter[str] = Counter()
        self.failed: list[str] = []

    async def __aenter__(self) -> Self:
        pauses = [0.05] * 48 + [0.9] * 16
        self._tasks = [asyncio.create_task(self._one(number, pause)) for number, pause in enumerate(pauses)]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        await asyncio.gather(*self._tasks)

    async def hears(self, tag: str) -> None:
        ends = time.monotonic() + 30
        while not self.tags[tag]:
            assert time.monotonic() < ends, f"{tag} never came: {self.tags} {self.failed}"
            await asyncio.sleep(0.02)

    async def _one(self, number: int, pause: float) -> None:
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        while not self._stop.is_set():
            try:
                streams = streams or await asyncio.open_connection(*self._where)
                if not await self._call(streams, *REQUESTS[number % 2]):
                    await _closed(streams)
                    streams = None
            except (OSError, asyncio.IncompleteReadError) as error:
                self.failed.append(repr(error))
                streams = None
            try:
                async with asyncio.timeout(pause):
                    await self._stop.wait()
            except TimeoutError:
                continue
        if streams is not None:
            await _closed(streams)

    async def _call(self, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], data: bytes, kind: str) -> bool:
        """Whether the connection may be used again."""
        reader, writer = streams
        writer.write(data)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        body = await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        answer = json.loads(body)
        try:
            self.tags[answer["result"] if kind == "rpc" else answer["result"]["structuredContent"]["result"]] += 1
        except (KeyError, TypeError):
            self.failed.append(repr((head, body)))
        return b"connection: close" not in head


async def _closed(streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    streams[1].close()
    await streams[1].wait_closed()


async def test_no_request_is_lost_over_six_reloads_two_of_them_broken() -> None:
    """64 keep-alive connections, a quarter mostly idle, on /rpc and /mcp, over two workers: nothing is lost."""
    with daemon(plugins={"demo.py": PLUGIN.format(tag="g1")}, arguments=["--workers", "2"]) as served:
        async with Crowd(served) as crowd:
            await crowd.hears("g1")
            done = refused = 0
            for broken in ("", "configuration", "", "", "plugin", ""):
                good = not broken
                done, refused = done + good, refused + (not good)
                served.write(
                    {
                        "gateway.yaml": CONFIGS["broken" if broken == "configuration" else "as it was"],
                        "plugins/demo.py": "import nothing_of_that_name"
                        if broken == "plugin"
                        else PLUGIN.format(tag=f"g{done + 1}"),
                    }
                )
                served.hup()
                event, count = ("reload.done", done) if good else ("reload.refused", refused)
                await asyncio.to_thread(served.wait_log, event, count=count, seconds=40)
                await crowd.hears(f"g{done + 1}")
        assert crowd.failed == []
        assert sorted(crowd.tags) == ["g1", "g2", "g3", "g4", "g5"]
        problems = [line["place"] for line in served.logs("problem") if line["level"] == "error"]
        assert any("gateway.yaml:" in place for place in problems), problems
        assert any("demo.py" in place for place in problems), problems
        assert "Traceback" not in served.stderr()
        assert served.stop() == 0
