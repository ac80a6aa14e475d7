"""A call's steps, taken by hand in the task that awaits it: who cancelled it, and what goes on past its deadline.

Both are seen only by whoever takes the steps. A task of its own for each call would show them too, for several times
the price of a call that never waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, NoReturn, Protocol, TypeVar

_T = TypeVar("_T")

Work = Coroutine[Any, Any, _T]
Steps = Generator[Any, Any, _T]


class Overdue(Protocol):
    """How late work is. `rung`: it has been cancelled."""

    rung: bool

    def given_up(self) -> bool:
        """Whether it had its time to clean up since, so that nobody waits any more."""


@coroutine
def answerable(work: Work[_T], own: int = 0) -> Steps[_T]:
    """What `work` gives. Where it cancels the very task that runs it, that is its own failure, not its caller's wish.

    `own` is how often it has done so before.

    Raises:
        CancelledError: The task is `cancelling()` where the wish came from outside, and is not where it was the work's.
    """
    task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]
    before = task.cancelling() - own
    try:
        waiting = work.send(None)
    except StopIteration as done:
        result: _T = done.value
        if task.cancelling() <= before:
            return result
    except BaseException:
        if task.cancelling() <= before:
            raise
        yield from _taken_back(task, task.cancelling() - before)
        raise
    else:
        return (yield from _watched(task, work, waiting, task.cancelling() - before))
    yield from _taken_back(task, task.cancelling() - before)
    raise asyncio.CancelledError


def first_step(work: Work[_T]) -> tuple[bool, Any]:
    """Begin: whether the work is over already, and what it gave, or else waits for."""
    try:
        return False, work.send(None)
    except StopIteration as done:
        return True, done.value


async def ended(task: asyncio.Task[Any], own: int, error: BaseException) -> NoReturn:
    """Work whose first step was its last: it failed with `error`, and had cancelled its own task so often.

    Raises:
        BaseException: `error`.
    """
    await coroutine(_taken_back)(task, own)
    raise error


def _watched(task: asyncio.Task[Any], work: Work[_T], waiting: object, own: int) -> Steps[_T]:
    """Work that waits for something, to its end; `own` is how often it has cancelled its task so far.

    Only the work runs within a step: what cancels the task between two of them came from outside.
    """
    before = task.cancelling()
    try:
        while True:
            try:
                sent = yield waiting
            except BaseException as error:  # noqa: BLE001 -- whatever comes is the work's
                before = task.cancelling()
                waiting = work.throw(error)
            else:
                before = task.cancelling()
                waiting = work.send(sent)
            own = max(0, own + task.cancelling() - before)
    except StopIteration as done:
        result: _T = done.value
        if not (own := own + task.cancelling() - before) > 0:
            return result
    except BaseException:
        if (own := own + task.cancelling() - before) > 0:
            yield from _taken_back(task, own)
        raise
    yield from _taken_back(task, own)
    raise asyncio.CancelledError


def _taken_back(task: asyncio.Task[Any], times: int) -> Steps[None]:
    """Undo what a task did to itself; a cancellation that it has not met yet is met here."""
    if not times:
        return
    for _ in range(times):
        task.uncancel()
    try:
        yield
    except asyncio.CancelledError:
        if task.cancelling():
            raise


@coroutine
def until_given_up(work: Work[_T], overdue: Overdue, leave: Callable[[Work[_T]], None]) -> Steps[_T]:
    """What `work` gives, unless it is given up: then `leave` is given the rest of it.

    Raises:
        CancelledError: It was given up.
    """
    sent: object = None
    try:
        waiting = work.send(None)
        while not overdue.given_up():
            try:
                if waiting is None or (type(waiting) is asyncio.Future and not overdue.rung):
                    sent = yield waiting
                else:
                    yield from _woken_by(waiting, overdue)
                    sent = None
                if overdue.given_up():
                    break
            except BaseException as error:  # noqa: BLE001 -- whatever comes is the work's
                waiting = work.throw(error)
            else:
                waiting = work.send(sent)
    except StopIteration as done:
        result: _T = done.value
        return result
    leave(_rest(work, waiting))
    raise asyncio.CancelledError


def _woken_by(waiting: asyncio.Future[Any], overdue: Overdue) -> Steps[None]:
    """Wait for a future by way of one of our own: a task answers a cancellation when it likes, and maybe never."""
    while not (waiting.done() or overdue.given_up()):
        own = waiting.get_loop().create_future()
        tell = partial(_wake, own)
        waiting.add_done_callback(tell)
        try:
            yield from own
        except asyncio.CancelledError:
            if not overdue.given_up() and not waiting.cancel():
                raise
        finally:
            waiting.remove_done_callback(tell)


def _wake(own: asyncio.Future[None], _: object) -> None:
    if not own.done():
        own.set_result(None)


async def _rest(work: Work[_T], waiting: asyncio.Future[Any] | None) -> _T:
    """Work that waits for something, to its end, in a task of its own."""
    if waiting is not None:
        await asyncio.wait([waiting])
    return await resumed(work, None)


def begun(work: Work[_T], waiting: object) -> Steps[_T]:
    """Work that waits for something, to its end: a coroutine that has begun cannot be awaited a second time."""
    try:
        while True:
            try:
                sent = yield waiting
            except BaseException as error:  # noqa: BLE001 -- whatever comes is the work's
                waiting = work.throw(error)
            else:
                waiting = work.send(sent)
    except StopIteration as done:
        result: _T = done.value
        return result


resumed = coroutine(begun)
"""Work that waits for something, as something that can be awaited."""
