"""An answer that goes out event by event, while what it answers still runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Self

from rpcgw.exchange import Reply
from rpcgw.protocol.mcp import answers, notices

MOST_UNREAD: Final = 32
"""How many events may wait for a client that reads slowly, before who speaks has to wait too."""


class Stream:
    """What a running call says to its client, as the pieces that a door writes.

    Nothing goes out before something is said: until then the answer may still have any status. `silence` is the
    number of seconds after which a comment shows that the connection lives.
    """

    def __init__(self, begin: Callable[[Reply], None], locale: str, silence: float) -> None:
        self.begun = False
        self._begin = begin
        self._locale = locale
        self._silence = silence
        self._unread: list[bytes] = []
        self._ended = False
        self._deaf = False
        self._said = asyncio.Event()
        self._read = asyncio.Event()

    async def say(self, message: bytes) -> None:
        """Send a message. Waits while too much is unread; does nothing once nobody reads."""
        while len(self._unread) >= MOST_UNREAD and not self._deaf:
            self._read.clear()
            await self._read.wait()
        self._put(notices.event(message))

    def show_life(self) -> None:
        """Send a comment, so that the client and all between see that the call runs."""
        self._put(notices.KEEP_ALIVE)

    def end(self, message: bytes | None = None) -> None:
        """Send the last message, if any, and nothing more; a stream that never began stays so. Once is enough."""
        if not self.begun or self._ended:
            return
        if message is not None:
            self._put(notices.event(message))
        self._ended = True
        self._said.set()

    def _put(self, piece: bytes) -> None:
        if self._ended or self._deaf:
            return
        if not self.begun:
            self.begun = True
            self._begin(answers.streamed(self, self._locale))
        self._unread.append(piece)
        self._said.set()

    # -- for the door

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """The next piece: whatever was said since the last, or a comment after a while of silence."""
        while not self._unread:
            if self._ended:
                raise StopAsyncIteration
            self._said.clear()
            try:
                async with asyncio.timeout(self._silence):
                    await self._said.wait()
            except TimeoutError:
                return notices.KEEP_ALIVE
        piece = b"".join(self._unread)
        self._unread.clear()
        self._read.set()
        return piece

    async def aclose(self) -> None:
        """Nobody reads any more."""
        self._deaf = True
        self._unread.clear()
        self._read.set()
