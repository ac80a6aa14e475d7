"""The door on standard input and output: a line in, a line out, through an entrance that HTTP clients use too.

Requests run side by side. Only what begins a session is waited for, since all that follows is in it. The session is
this process's: its id never leaves the door.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import msgspec
from multidict import CIMultiDict

from rpcgw.adapters.stdio.pipes import ReaderGone
from rpcgw.api.context import ANONYMOUS
from rpcgw.exchange import Entrance, Head, HeaderFields, Inbound, Reply
from rpcgw.protocol.mcp.lines import Line

SESSION: Final = "Mcp-Session-Id"
_INTERNAL: Final = -32603
_CUT: Final = 1.0
"""Seconds that cancelled calls have to clean up."""

Report = Callable[..., None]
Read = Callable[[bytes], Line]
Write = Callable[[bytes], Awaitable[None]]


class StdioDoor:
    """One client's lines, answered by one entrance.

    Args:
        entrance: Answers them; nobody is asked for a token, since whoever starts the process could call without it.
        read: Says what a line is.
        write: Sends a line; may raise `ReaderGone`.
        report: Told what goes wrong.
        language: What `Accept-Language` says in each request, or "".
    """

    def __init__(self, entrance: Entrance, read: Read, write: Write, report: Report, language: str = "") -> None:
        self._entrance = entrance
        self._read = read
        self._write = write
        self._report = report
        self._always: HeaderFields = (("Accept-Language", language),) if language else ()
        self._session: HeaderFields = ()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[Any, asyncio.Future[None]] = {}

    async def serve(self, lines: AsyncIterator[bytes | None]) -> None:
        """Answer every line until there are no more, or nobody reads the answers."""
        async for body in lines:
            if body is None:
                await self._say(self._entrance.too_large(self._head(())))
                continue
            line = self._read(body)
            if line.cancels in self._waiting:
                _resolve(self._waiting[line.cancels])
            if line.opens or line.silent:
                await self._answer(line)
            else:
                self._start(self._answer(line))

    async def drain(self, grace: float) -> None:
        """Let calls that run end within `grace` seconds; then they are cancelled."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CUT)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _head(self, fields: HeaderFields) -> Head:
        return Head("POST", "", "", CIMultiDict((*fields, *self._always, *self._session)), unix=True)

    async def _answer(self, line: Line) -> None:
        cancelled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if line.id is not None:
            self._waiting[line.id] = cancelled
        try:
            await self._exchange(line, partial(asyncio.shield, cancelled))
        except ReaderGone:
            return
        finally:
            if self._waiting.get(line.id) is cancelled:
                del self._waiting[line.id]

    async def _exchange(self, line: Line, gone: Callable[[], Awaitable[None]]) -> None:
        streams: list[asyncio.Task[None]] = []

        def begin(reply: Reply) -> None:
            streams.append(self._start(self._say(reply)))

        reply = await self._ask(Inbound(self._head(line.fields), line.body, gone, begin), line)
        if streams:
            await streams[0]
        elif not line.silent:
            await self._say(reply)
        if reply.after is not None:
            self._start(self._afterwards(reply.after))

    async def _ask(self, inbound: Inbound, line: Line) -> Reply:
        try:
            reply = await self._entrance.answer(ANONYMOUS, inbound)
        except Exception as error:  # noqa: BLE001 -- the door is where anything unforeseen becomes an answer
            self._report("request.failed", exception=error)
            return Reply(500, _internal_error(line))
        begun = next((value for name, value in reply.headers if name == SESSION), None)
        if begun is not None:
            self._session = ((SESSION, begun),)
        return reply

    async def _say(self, reply: Reply) -> None:
        if isinstance(reply.body, bytes):
            if reply.body:
                await self._write(reply.body)
            return
        async for message in messages(reply.body):
            await self._write(message)

    async def _afterwards(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 -- the answer is out; nobody is left to be told but the log
            self._report("after.failed", exception=error)


async def messages(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of an event stream's events, one by one (HTML, Server-sent events); comments are left out."""
    rest = b""
    async for piece in pieces:
        *events, rest = (rest + piece).replace(b"\r\n", b"\n").split(b"\n\n")
        for event in events:
            data = [line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:")]
            if any(data):
                yield b"\n".join(data)


def _resolve(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _internal_error(line: Line) -> bytes:
    known = {} if line.id is None else {"id": line.id}
    return msgspec.json.encode({"jsonrpc": "2.0", **known, "error": {"code": _INTERNAL, "message": "Internal error"}})
