"""Workers for tests of the cache: executors over procedures, which may share a pool."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.executor import Executor
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.flights import LEASE_TTL
from rpcgw.kernel.instances import instantiate
from rpcgw.kernel.lock import PoolLocks
from rpcgw.kernel.ports import Pool, StoreError
from rpcgw.kernel.table import compile_methods


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class Numbers:
    numbers = itertools.count(1)

    def token(self) -> str:
        return f"token-{next(self.numbers)}"


class Names:
    """An observer that keeps the names of what happens beside calls."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def call_started(self, call: Call) -> None: ...

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None: ...

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    def event(self, name: str, /, **fields: Any) -> None:
        self.names.append(name)


class CountingPool(MemoryPool):
    """A pool that counts the round trips of reads, and that loses the right to compute when told."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.lending = True

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        self.looks += 1
        return await super().get_many(keys)

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        if ":computing:" in key and not self.lending:
            raise StoreError("away")
        return await super().add(key, value, ttl)

    async def leases(self) -> list[str]:
        return [key for key in await self.keys("rpc_cache:") if ":computing:" in key]


class CachedWorld:
    """One worker. `pool` is what several of them share."""

    def __init__(self, procedure: object, shared: Pool | None = None, lease_ttl: float = LEASE_TTL) -> None:
        self.pool = CountingPool()
        self.notes = Names()
        table, problems = compile_methods([Registration(procedure)])
        assert problems == []
        instances, problems = instantiate([registration.procedure for registration in table.procedures], [])
        assert problems == []
        pool = shared or self.pool
        self.executor = Executor(
            table,
            instances,
            clock=SystemClock(),
            ids=Numbers(),
            observer=self.notes,
            pool=pool,
            locks=PoolLocks(pool, Numbers()),
            lease_ttl=lease_ttl,
        )

    async def call(self, method: str, params: Any = None, **more: Any) -> Outcome:
        call = Call(
            method=method, params=params, id="1", **{"group": "general", "version": 1, "surface": "rpc", **more}
        )
        return await self.executor.execute(call)

    async def done(self, method: str, params: Any = None, **more: Any) -> Done:
        outcome = await self.call(method, params, **more)
        assert isinstance(outcome, Done), outcome
        return outcome

    async def value(self, method: str, params: Any = None, **more: Any) -> Any:
        return msgspec.json.decode((await self.done(method, params, **more)).encoded)
