"""Reloads of the real thing, under load, as clients and operators see them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.support.daemon import ROUTES, Daemon, daemon, wait_until
from tests.support.figures import Figure
from tests.support.lines import Line, Lost, rpc, tool

PLUGIN = """
from contextlib import asynccontextmanager
from dataclasses import dataclass

import _helper
import rpcgw as rpc

CODE = {tag!r}


@dataclass
class Settings:
    tag: str


@asynccontextmanager
async def lifespan(settings: Settings):
    yield settings


@rpc.procedure("Demo", groups=["general", "mcp"])
class Demo:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def tags(self) -> list[str]:
        "Each part of the generation that answers."
        return [CODE, _helper.CODE, self._settings.tag]


plugin = rpc.Plugin(procedures=[Demo], lifespan=lifespan, settings=Settings)
"""
BOTH = [(rpc("Demo.tags"), "rpc"), (tool("Demo.tags"), "mcp")]
PAUSES = [0.0] * 8 + [0.05] * 40 + [1.3] * 14 + [2.5] * 2
"""64 connections: some call without pause, most often, a quarter is mostly idle."""


def made_of(tag: str) -> dict[str, str]:
    """All files of one generation."""
    security = "ufo_json_rpc: {security: {protected_api: false}}"
    return {
        "gateway.yaml": f"{security}\nplugins: {{config: {{demo: {{tag: {tag}}}}}}}\n",
        "routes.yaml": ROUTES,
        "plugins/_helper.py": f"CODE = {tag!r}\n",
        "plugins/demo.py": PLUGIN.format(tag=tag),
        "translations/rpc.uk.yaml": "Demo.tags: { description: Частини. }\n",
    }


class Turn(NamedTuple):
    """One reload: the file that is broken for it, if any, and what stands there then."""

    file: str = ""
    text: str = ""


TURNS = [
    Turn(),
    Turn("gateway.yaml", "server: {bnid: x}\n"),
    Turn(),
    Turn("plugins/demo.py", "import rpcgw as rpc\nimport nothing_of_that_name\n"),
    Turn(),
    Turn(),
    Turn("translations/rpc.uk.yaml", "Demo.tags: [no, texts]\n"),
    Turn(),
    Turn("routes.yaml", "rpc: {resource: rpc, prefix: no-slash, prefix: twice}\n"),
    Turn(),
]
"""Ten reloads, four of them broken, each in another file."""


class Crowd:
    """Everybody who calls."""

    def __init__(self, served: Daemon) -> None:
        self._served = served
        self._stop = asyncio.Event()
        self.lines = [Line(served.host, served.port) for _ in PAUSES]
        self.heard: list[list[str]] = [[] for _ in PAUSES]
        self.lost: list[str] = []
        self.odd: list[Any] = []

    async def call(self) -> None:
        """Call until told to stop."""
        async with asyncio.TaskGroup() as group:
            for number, pause in enumerate(PAUSES):
                group.create_task(self._one(number, pause))

    def stop(self) -> None:
        """Let everybody finish the call that is under way."""
        self._stop.set()

    @property
    def latest(self) -> Counter[str]:
        """The last generation of each connection."""
        return Counter(tags[-1] for tags in self.heard if tags)

    async def hears(self, tag: str) -> None:
        """Return once somebody has heard from a generation."""
        async with asyncio.timeout(60):
            while tag not in self.latest:
                await asyncio.sleep(0.02)

    async def _one(self, number: int, pause: float) -> None:
        line, (data, surface) = self.lines[number], BOTH[number % 2]
        while not self._stop.is_set():
            try:
                answer = (await line.ask(data)).json()
            except Lost as lost:
                self.lost.append(str(lost))
                continue
            result = answer.get("result", {})
            tags = result if surface == "rpc" else result.get("structuredContent", {}).get("result")
            if isinstance(tags, list) and len(tags) == 3 and len(set(tags)) == 1:
                self.heard[number].append(tags[0])
            else:
                self.odd.append(answer)
            try:
                async with asyncio.timeout(pause):
                    await self._stop.wait()
            except TimeoutError:
                continue
        await line.close()


def gauge(served: Daemon, name: str) -> float:
    """A metric without labels."""
    found = re.search(rf"^{name} (\S+)$", served.get("/metrics").text, re.MULTILINE)
    assert found, name
    return float(found[1])


def reload(served: Daemon, files: Mapping[str, str], event: str, count: int) -> None:
    """Write files, ask for a reload, and wait for its outcome."""
    served.write(files)
    served.hup()
    served.wait_log(event, count=count, seconds=60)


async def test_ten_reloads_lose_nothing_and_mix_nothing(figure: Figure) -> None:
    """64 keep-alive connections call /rpc and /mcp during ten reloads, four of them broken.

    Each connection has an answer to each request. Each answer is of one generation in its code, its helper module and
    its settings, and no connection goes back to an older one. A broken reload is reported with its place, and leaves
    the metric at 0 and its time where it was.
    """
    first = made_of("g1")
    config = first.pop("gateway.yaml")
    plugins = {name.removeprefix("plugins/"): first.pop(name) for name in list(first) if name.startswith("plugins/")}
    with daemon(config=config, plugins=plugins, files=first, arguments=["--workers", "2"]) as served:
        crowd = Crowd(served)
        calling = asyncio.create_task(crowd.call())
        await crowd.hears("g1")
        done = refused = 0
        for turn in TURNS:
            since = await asyncio.to_thread(gauge, served, "rpcgw_reload_last_success_timestamp_seconds")
            good = not turn.file
            done, refused = done + good, refused + (not good)
            files = made_of(f"g{done + 1}") if good else {**made_of("never"), turn.file: turn.text}
            event, count = ("reload.done", done) if good else ("reload.refused", refused)
            await asyncio.to_thread(reload, served, files, event, count)
            await crowd.hears(f"g{done + 1}")
            assert await asyncio.to_thread(gauge, served, "rpcgw_reload_last_success") == good
            now = await asyncio.to_thread(gauge, served, "rpcgw_reload_last_success_timestamp_seconds")
            assert now > since if good else now == since
            if turn.file:
                places = [line["place"] for line in served.logs("problem") if line["level"] == "error"]
                assert any(turn.file in place for place in places), (turn.file, places)
        async with asyncio.timeout(120):
            while set(crowd.latest) != {"g7"}:  # the idle ones too
                await asyncio.sleep(0.05)
        crowd.stop()
        await calling
        assert (crowd.lost, crowd.odd) == ([], [])
        assert [line.sent for line in crowd.lines] == [line.answered for line in crowd.lines]
        assert [len(tags) for tags in crowd.heard] == [line.answered for line in crowd.lines]
        assert [tags for tags in crowd.heard if tags != sorted(tags)] == []
        assert {tag for tags in crowd.heard for tag in tags} == {f"g{number}" for number in range(1, 8)}
        assert "Traceback" not in served.stderr()
        wait_until(lambda: len(served.logs("drained")) == 6, 60, served.stderr)
        assert served.stop() == 0
        case = "Ten reloads, four of them broken, under 64 keep-alive connections"
        figure(case, "requests answered", sum(line.answered for line in crowd.lines))
        figure(case, "requests lost", len(crowd.lost), promised="0")
        seconds = sorted(float(line["seconds"]) for line in served.logs("reload.done"))
        figure(case, "from the signal until the new generation serves, median", seconds[len(seconds) // 2], "s")
