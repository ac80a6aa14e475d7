"""A worker as the supervisor sees it: its slot, its process, and what it has said. Stdlib only."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from rpcgw.api.problems import Place, Problem
from rpcgw.daemon.channel import Channel, Message

CLOSE_WITHIN = 3.0
"""Seconds beyond its grace that a worker has to close what it opened."""


def problem_from(values: Sequence[object]) -> Problem:
    """A problem as it came through a channel (`dataclasses.astuple`)."""
    place, *rest = values
    return Problem(Place(*place), *rest)  # type: ignore[misc,arg-type]  # both sides are of one version


class Member:
    """A worker, seen from outside. A pid is signalled only while its template has not reported its exit."""

    def __init__(self, slot: int, channel: Channel) -> None:
        loop = asyncio.get_running_loop()
        self.slot = slot
        self.channel = channel
        self.pid = 0
        self.born = self.beat = time.monotonic()
        self.ready: asyncio.Future[bool] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.problems: list[Problem] = []
        self.failure = ""
        self.deaf = False
        self.aborted = False
        self.worn = False
        self.relieved = False
        self.orphan = False

    @property
    def served(self) -> bool:
        """Whether it ever became ready."""
        return self.ready.done() and self.ready.result()

    def relieve(self, grace: float) -> None:
        """Let a worn worker drain as one of an old generation does; it is killed if it does not come to an end."""
        self.relieved = True
        self.channel.send({"do": "drain", "grace": grace, "idle": None, "tools": None, "last": False})
        asyncio.get_running_loop().call_later(grace + CLOSE_WITHIN, self.kill, signal.SIGKILL)

    def kill(self, number: int) -> None:
        """Send a signal, if the process is still ours."""
        if self.pid and not self.gone.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def keep(self, message: Message) -> None:
        """Note what a worker says of why it cannot serve."""
        match message["is"]:
            case "problem":
                self.problems.append(problem_from(message["problem"]))
            case "failed":
                self.failure = message["text"]
