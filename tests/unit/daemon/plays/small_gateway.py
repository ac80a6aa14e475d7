"""A small gateway that the daemon can run without the rest of the house: JSON configuration, one entrance, real answers.

Keys: `bind`, `colour` (which no reload changes), `state_dir`, `workers`, `tag` (comes back in every answer), `timeouts`, `plugin` (a Python file whose `TAG` is appended),
`broken` (the text of a problem), `fails` (the text of what a lifespan raises), `dies` (workers end before they are ready),
`journal` (a file that gets a line for each thing done after an answer, and at the end of each worker).
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.api.problems import Place, Problem
from rpcgw.daemon.compiled import Running, Slot
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.options import Needs, Options
from rpcgw.exchange import Entrance, Head, Inbound, Reply

JSON = (("Content-Type", "application/json"),)


class SmallGateway:
    def __init__(self, settings: dict[str, Any], tag: str, needs: Needs, warnings: Sequence[Problem]) -> None:
        self._settings = settings
        self._tag = tag
        self.needs = needs
        self.warnings = warnings

    @asynccontextmanager
    async def running(self, slot: Slot) -> AsyncIterator[Running]:
        if self._settings.get("dies"):
            os._exit(3)
        if text := self._settings.get("fails"):
            raise LookupError(text)
        lines = Lines("json")
        entrance = Entrance(
            name="call",
            pattern="/call",
            methods=("POST",),
            max_body_bytes=1024,
            admit=self._admit,
            too_large=lambda _: Reply(413, b"{}", JSON),
            answer=lambda principal, inbound: self._answer(slot, principal, inbound),
        )
        yield Running(
            [entrance],
            report=lines,
            reopen=lambda: self._note("reopened"),
            reloaded=lambda ok, _: None if ok else self._note("reload refused"),
        )
        self._note(f"closed {slot.number}")

    def _admit(self, head: Head) -> Principal | Reply:
        return ANONYMOUS if head.method == "POST" else Reply(405, b"{}", (*JSON, ("Allow", "POST")))

    async def _answer(self, slot: Slot, _: Principal, inbound: Inbound) -> Reply:
        query = parse_qs(inbound.head.query)
        if seconds := query.get("wait"):
            await asyncio.sleep(float(seconds[0]))
        if place := query.get("until"):
            Path(f"{place[0]}.runs").touch()
            while not Path(place[0]).exists():
                await asyncio.sleep(0.02)
        if seconds := query.get("block"):
            threading.Event().wait(float(seconds[0]))
        value = {
            "tag": self._tag,
            "generation": slot.generation,
            "pid": os.getpid(),
            "slot": slot.number,
            "body": inbound.body.decode(),
        }
        return Reply(200, json.dumps(value).encode(), JSON, self._after if "after" in query else None)

    async def _after(self) -> None:
        await asyncio.sleep(0.2)
        self._note("after")

    def _note(self, text: str) -> None:
        if journal := self._settings.get("journal"):
            with Path(journal).open("a") as file:
                file.write(f"{text}\n")


def compile_generation(options: Options) -> SmallGateway | Sequence[Problem]:
    try:
        settings = json.loads(Path(options.config).read_text())
    except ValueError as error:
        return [Problem(Place(options.config, 1, 1), "syntax", f"no JSON: {error}")]
    if text := settings.get("broken"):
        return [
            Problem(Place(options.config, 1, 1), "broken", text, "mend it"),
            Problem(Place(options.config, 2, 1), "broken", "and more"),
        ]
    if settings.get("threads"):
        threading.Thread(target=threading.Event().wait, daemon=True, name="early-bird").start()
    tag = settings.get("tag", "")
    if plugin := settings.get("plugin"):
        try:
            tag += runpy.run_path(plugin)["TAG"]
        except SyntaxError as error:
            return [Problem(Place(plugin, error.lineno or 0), "plugin", str(error.msg))]
    timeouts = settings.get("timeouts", {})
    needs = Needs(
        bind=options.bind or tuple(settings.get("bind", ["127.0.0.1:0"])),
        workers=options.workers or settings.get("workers", 2),
        plugins=("small",),
        fixed={"bind": str(settings.get("bind", "")), "colour": settings.get("colour", "")},
        state_dir=settings.get("state_dir", ""),
        **timeouts,
    )
    warnings = (
        [Problem(Place(options.config, 1, 1), "odd", settings["odd"], level="warning")] if "odd" in settings else []
    )
    return SmallGateway(settings, tag, needs, warnings)
