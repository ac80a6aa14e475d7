"""Executors over procedures, for tests of the kernel: one is what a worker has, and several may share a pool."""

from __future__ import annotations

import itertools
import time
from typing import Any

import msgspec

from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.executor import Executor
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.instances import instantiate
from rpcgw.kernel.lock import PoolLocks
from rpcgw.kernel.ports import Observer, Pool
from rpcgw.kernel.table import compile_methods


class SystemClock:
    """The time of this machine."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class Numbers:
    """Tokens that nobody else has, whoever makes them."""

    _numbers = itertools.count(1)

    def token(self) -> str:
        return f"token-{next(self._numbers)}"


class Worker:
    """An executor over compiled procedures, and calls of it; `tuned` goes to the executor as it is."""

    def __init__(self, *procedures: object, pool: Pool, observer: Observer, **tuned: Any) -> None:
        table, problems = compile_methods([Registration(procedure) for procedure in procedures])
        assert problems == []
        instances, problems = instantiate([registration.procedure for registration in table.procedures], [])
        assert problems == []
        self.locks = PoolLocks(pool, Numbers())
        self.executor = Executor(
            table,
            instances,
            clock=SystemClock(),
            ids=Numbers(),
            observer=observer,
            pool=pool,
            locks=self.locks,
            **tuned,
        )

    async def call(self, method: str, params: Any = None, **more: Any) -> Outcome:
        """What becomes of a call; `more` is what it has beside its parameters."""
        call = Call(
            method=method, params=params, id="1", **{"group": "general", "version": 1, "surface": "rpc", **more}
        )
        return await self.run(call)

    async def run(self, call: Call) -> Outcome:
        """How calls are run."""
        return await self.executor.execute(call)

    async def begin(self, call: Call) -> Outcome:
        """The other way to run them."""
        outcome = self.executor.begin(call)
        return outcome if isinstance(outcome, Outcome) else await outcome

    async def done(self, method: str, params: Any = None, **more: Any) -> Done:
        """A call that has to succeed."""
        outcome = await self.call(method, params, **more)
        assert isinstance(outcome, Done), outcome
        return outcome

    async def value(self, method: str, params: Any = None, **more: Any) -> Any:
        """The result of a call that has to succeed."""
        return msgspec.json.decode((await self.done(method, params, **more)).encoded)

    async def failure(self, method: str, params: Any = None, **more: Any) -> Failed:
        """A call that has to fail."""
        outcome = await self.call(method, params, **more)
        assert isinstance(outcome, Failed), outcome
        return outcome
