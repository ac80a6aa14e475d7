"""The task of one connection: what its requests need runs in it, one after the other, each in a context of its own.

Most requests are answered without waiting for anything. A task for each costs as much as a third of the whole answer;
here its first step is taken at once, in the name of a task that is there already (`asyncio`, Extending: Task lifetime
support), and only what has to wait goes on in that task's own steps.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from sys import getrefcount
from types import coroutine
from typing import Any, Final

from rpcgw.kernel.driving import Steps, first_step

Work = Coroutine[Any, Any, Any]
Begin = Callable[[Any], Work | None]
"""Does what can be done at once with what `run` is given for it; gives what is left, if anything is."""
Ended = Callable[[], None]
"""Called when a request's work is over that was not over at once."""

_OURS: Final = 3
"""References to a task that waits for work: of its host, of the future it waits for, and of who counts them."""


class Host:
    """Runs one piece of work at a time. `close` it when no more will come."""

    __slots__ = ("_closed", "_ended", "_loop", "_next", "_parked", "_stray", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop, ended: Ended) -> None:
        self._loop = loop
        self._ended = ended
        self._closed = False
        self._stray = False
        self._parked: asyncio.Future[None] | None = None
        self._next: _Begun | None = None
        self.task: asyncio.Task[None] | None = None

    def run(self, begin: Begin, given: Any) -> bool:
        """Whether it is over already; else `ended` will be called."""
        context, task, parked = copy_context(), self.task, self._parked
        if task is None or task.done():  # what was asked before may cancel it long after its own end
            task = self.task = self._loop.create_task(self._live())
        if parked is None or parked.done():
            self._next = _Begun(context, begin, given)
            return False
        try:
            _enter_task(self._loop, task)
        except RuntimeError:  # called by a task: two of them cannot take a step at once
            self._wake(_Begun(context, begin, given))
            return False
        try:
            rest, waiting = context.run(begin, given), None
            if rest is not None:
                rest, waiting = context.run(_begun, rest)
        finally:
            _leave_task(self._loop, task)
        if rest is not None:
            self._wake(_Begun(context, begin, given, rest, waiting))
            return False
        if parked.cancelled():  # by the work, whether it has taken that back or not
            self._stray = True
            _forgive(task)
        return True

    @property
    def kept(self) -> bool:
        """Whether somebody keeps the idle task beyond the request that ran in it, and may cancel it at any time."""
        return self.task is not None and getrefcount(self.task) > _OURS

    def close(self) -> None:
        """Let the task end, once what it does is done."""
        self._closed = True
        if self._parked is not None and not self._parked.done():
            self._parked.set_result(None)

    def _wake(self, begun: _Begun) -> None:
        self._next = begun
        if self._parked is not None and not self._parked.done():
            self._parked.set_result(None)

    async def _live(self) -> None:
        while self._next is not None or not self._closed:
            thrown = None
            if self._next is None:
                thrown = await self._park()
            if self._next is None:
                continue
            await _driven(self._take(), thrown)
            await self._settle()
            self._ended()

    def _take(self) -> _Begun:
        """What is to be done next; whoever does it is the only one to keep it."""
        begun, self._next = self._next, None
        assert begun is not None, "somebody has looked"
        return begun

    async def _settle(self) -> None:
        """Meet the cancellation that work has left behind, if it has."""
        assert self.task is not None, "it runs in this one"
        if self.task.cancelling():
            _forgive(self.task)
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)

    async def _park(self) -> asyncio.CancelledError | None:
        """Until there is something to do; the cancellation that is meant for it, where one came meanwhile."""
        self._parked = self._loop.create_future()
        try:
            await self._parked
        except asyncio.CancelledError as error:
            if self._stray:
                return None
            if self._next is None:
                raise
            return error
        finally:
            self._stray = False
            self._parked = None
        return None


def _forgive(task: asyncio.Task[None]) -> None:
    """Work that is over has cancelled the task that it ran in; whoever comes next has nothing to do with that."""
    while task.cancelling():
        task.uncancel()


class _Begun:
    """Work in its context; `rest` is what is left of it, where its first step was taken, and waits for `waiting`."""

    __slots__ = ("begin", "context", "given", "rest", "waiting")

    def __init__(
        self,
        context: Context,
        begin: Begin,
        given: Any,
        rest: Work | None = None,
        waiting: Any = None,
    ) -> None:
        self.context = context
        self.begin = begin
        self.given = given
        self.rest = rest
        self.waiting = waiting


def _begun(work: Work) -> tuple[Work | None, Any]:
    """Work after its first step, and what it waits for; None where it is over."""
    over, waiting = first_step(work)
    return (None, None) if over else (work, waiting)


@coroutine
def _driven(begun: _Begun, thrown: BaseException | None) -> Steps[None]:
    """Work to its end, each step in its context."""
    run, rest, waiting = begun.context.run, begun.rest, begun.waiting
    if rest is None:
        work = run(begun.begin, begun.given)
        if work is None:
            return
        rest, waiting = run(_begun, work)
        if rest is None:
            return
    if thrown is not None and waiting is not None and waiting.cancel(*thrown.args):
        thrown = None  # it comes by way of what is waited for, as to any task
    try:
        while True:
            sent = None
            if thrown is None:
                try:
                    sent = yield waiting
                except BaseException as error:  # noqa: BLE001 -- whatever comes is the work's
                    thrown = error
            if thrown is None:
                waiting = run(rest.send, sent)
            else:
                cause, thrown = thrown, None
                waiting = run(rest.throw, cause)
    except StopIteration:
        return
