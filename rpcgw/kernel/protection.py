"""Laying turns and a breaker around a method's function, at compile time: a method without them pays nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from rpcgw.api.context import CallContext
from rpcgw.api.records import record
from rpcgw.kernel.breaker import Breaker, is_fault
from rpcgw.kernel.invoke import Invoke, InvokeNoting
from rpcgw.kernel.ports import Observer
from rpcgw.kernel.threads import Ended, nobody
from rpcgw.kernel.tuning import Tuning
from rpcgw.kernel.turns import Turns

Running = tuple[Invoke, InvokeNoting]


@record(frozen=True, slots=True)
class Protections:
    """The turns and breakers of one event loop: a method has its own, whatever group or version calls it."""

    observer: Observer
    monotonic: Callable[[], float]
    turns: dict[str, Turns] = field(default_factory=dict)
    breakers: dict[str, Breaker] = field(default_factory=dict)

    def around(self, method: str, tuned: Tuning, running: Running) -> Running:
        """How to run a method that is tuned so; as before where nothing is said.

        The breaker stands before the queue: what is refused does not wait.
        """
        if tuned.concurrency is not None:
            running = _in_turn(self._turns(method, tuned), running)
        return running if tuned.breaker is None else _broken(self._breaker(method, tuned), running)

    def _turns(self, method: str, tuned: Tuning) -> Turns:
        assert tuned.concurrency is not None, "asked for where there is one"
        if method not in self.turns:
            self.turns[method] = Turns(method, *tuned.concurrency)
        return self.turns[method]

    def _breaker(self, method: str, tuned: Tuning) -> Breaker:
        assert tuned.breaker is not None, "asked for where there is one"
        if method not in self.breakers:

            def opened() -> None:
                self.observer.event("breaker.opened", method=method)

            self.breakers[method] = Breaker(method, *tuned.breaker, monotonic=self.monotonic, opened=opened)
        return self.breakers[method]


def _in_turn(turns: Turns, running: Running) -> Running:
    """A turn lasts until the function has really ended: one in a thread may outlive its caller."""
    _, noting = running

    async def invoke_noting(values: Mapping[str, Any], context: CallContext, ended: Ended) -> Any:
        try:
            await turns.take()
        except BaseException:
            ended()
            raise

        def over() -> None:
            turns.give_back()
            ended()

        return await noting(values, context, over)

    return _quiet(invoke_noting), invoke_noting


def _broken(breaker: Breaker, running: Running) -> Running:
    _, noting = running

    async def invoke_noting(values: Mapping[str, Any], context: CallContext, ended: Ended) -> Any:
        try:
            probe = breaker.enter()
        except BaseException:
            ended()
            raise
        failed: bool | None = None
        try:
            result = await noting(values, context, ended)
            failed = False
        except asyncio.CancelledError:
            failed = _is_late(context) or None
            raise
        except BaseException as error:
            failed = is_fault(error)
            raise
        finally:
            breaker.leave(probe=probe, failed=failed)
        return result

    return _quiet(invoke_noting), invoke_noting


def _quiet(noting: InvokeNoting) -> Invoke:
    async def invoke(values: Mapping[str, Any], context: CallContext) -> Any:
        return await noting(values, context, nobody)

    return invoke


def _is_late(context: CallContext) -> bool:
    """Whether a cancelled call was cancelled by its deadline, rather than given up by its caller."""
    return context.deadline is not None and asyncio.get_running_loop().time() >= context.deadline
