"""How many calls of a method run at a time in a worker, and how many wait for their turn."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from rpcgw.api.errors import Overloaded
from rpcgw.kernel.language import Phrase

_RETRY: Final = 1.0
"""Seconds after which another try is worth it: nobody knows how long the calls take that run."""


class Turns:
    """At most `most` at a time, first come, first served; at most `queue` wait.

    For one event loop. Whoever took a turn gives it back once, with `give_back`.
    """

    def __init__(self, method: str, most: int, queue: int) -> None:
        self._method = method
        self._most = most
        self._queue = queue
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Return when it is this call's turn.

        Raises:
            Overloaded: Too many wait already.
        """
        if self._running < self._most:
            self._running += 1
            return
        if len(self._waiting) >= self._queue:
            raise Overloaded(
                Phrase("error.overloaded", method=self._method, running=self._running, waiting=len(self._waiting)),
                retry_after=_RETRY,
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given a turn, and will not use it
                self.give_back()
            else:
                self._waiting.remove(turn)
            raise

    def give_back(self) -> None:
        """The call has really ended: the next one has its turn."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1
