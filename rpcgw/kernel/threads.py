"""Where sync procedures run: a bounded number of threads that survives procedures which never end.

A thread cannot be stopped. A call that gives up on one (its deadline, a caller that left) leaves the thread to itself
and its slot is replaced, up to a limit. Past the limit sync calls are refused at once, and the worker's owner is told,
once, that the worker should be replaced.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from rpcgw.api.errors import ServerError
from rpcgw.kernel.language import Phrase

Ended = Callable[[], None]
"""Told, on the event loop and exactly once, that a procedure has really ended: maybe long after its caller gave up."""

DEFAULT_SIZE = min(32, (os.cpu_count() or 1) + 4)


def nobody() -> None:
    """Who is told where nobody wants to know."""


class Threads:
    """A pool of threads for one event loop; they start when they are needed.

    Args:
        size: How many sync calls run at a time.
        spare: How many stuck threads are replaced.
        exhausted: Called once, when one more thread is stuck than can be replaced.
    """

    def __init__(
        self, *, size: int = DEFAULT_SIZE, spare: int = DEFAULT_SIZE, exhausted: Callable[[], None] = nobody
    ) -> None:
        self._size = size
        self._spare = spare
        self._exhausted = exhausted
        self._told = False
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._alive = 0
        self._active = 0
        self.stuck = 0

    async def run(self, function: Callable[[], Any], ended: Ended = nobody) -> Any:
        """What `function` returns or raises, run in a thread with the caller's context variables.

        Cancelled before it has begun, it never runs. Cancelled later, it goes on unheard until it ends.

        Raises:
            ServerError: Too many threads are stuck, or none can be started.
        """
        job = _Job(self, function, ended)
        self._active += 1
        self._fit()
        if self.stuck > self._spare or not self._alive:
            self._active -= 1
            ended()
            raise ServerError(Phrase("error.stuck"))
        self._jobs.put(job)
        try:
            await job.answer
        except asyncio.CancelledError:
            self._give_up(job)
            raise
        return job.result()

    def close(self) -> None:
        """Let idle threads end; stuck ones are daemon threads and end with the process."""
        self._size = self._spare = 0
        self._fit()

    def finished(self, job: _Job) -> None:
        """A job's thread is done with it (called on the loop)."""
        self._active -= 1
        job.over = True
        if job.given_up:
            self.stuck -= 1
        elif not job.answer.done():
            job.answer.set_result(None)
        self._fit()
        job.ended()

    def _give_up(self, job: _Job) -> None:
        if job.over:
            return
        if job.claim():
            self._active -= 1
            job.ended()
            return
        job.given_up = True
        self.stuck += 1
        if self.stuck > self._spare and not self._told:
            self._told = True
            self._exhausted()
        self._fit()

    def _fit(self) -> None:
        """Bring the number of threads to what is needed and allowed."""
        allowed = self._size + min(self.stuck, self._spare)
        while self._alive < min(self._active, allowed):
            try:
                threading.Thread(target=_work, args=(self._jobs,), name="rpcgw-sync", daemon=True).start()
            except RuntimeError:
                # The system gives no more threads: those that live go on.
                break
            self._alive += 1
        while self._alive > allowed:
            self._alive -= 1
            self._jobs.put(None)


class _Job:
    """One run of a function. Whoever claims it first has it: a thread that runs it, or a caller that gives it up."""

    __slots__ = (
        "_context",
        "_error",
        "_function",
        "_loop",
        "_ticket",
        "_value",
        "answer",
        "ended",
        "given_up",
        "over",
        "pool",
    )

    def __init__(self, pool: Threads, function: Callable[[], Any], ended: Ended) -> None:
        self.pool = pool
        self.ended = ended
        self.given_up = False
        self.over = False
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[None] = self._loop.create_future()
        self._function = function
        self._context = contextvars.copy_context()
        self._ticket = threading.Lock()
        self._value: Any = None
        self._error: BaseException | None = None

    def claim(self) -> bool:
        """Whether the asker is the first."""
        return self._ticket.acquire(blocking=False)

    def run(self) -> None:
        """Run the function and tell the loop (called in a thread)."""
        try:
            self._value = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001 -- SystemExit too: it is the call's failure, not the thread's end
            self._error = error
        try:
            self._loop.call_soon_threadsafe(self.pool.finished, self)
        except RuntimeError:
            # The loop is closed: nobody waits any more.
            return

    def result(self) -> Any:
        """What the function returned; raises what it raised."""
        if self._error is None:
            return self._value
        try:
            raise self._error
        finally:
            # The error's traceback holds this frame: no circle through the job.
            self._error = None


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        if job.claim():
            job.run()
        # A thread that waits for its next job keeps nothing of the last one alive.
        del job
