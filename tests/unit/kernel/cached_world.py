"""Workers for tests of the cache: executors over procedures, which may share a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.kernel.call import Call, Outcome
from rpcgw.kernel.flights import LEASE_TTL
from rpcgw.kernel.ports import Pool, StoreError
from tests.unit.kernel.world import Worker


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


class CachedWorld(Worker):
    """One worker. `shared` is the pool of several of them."""

    def __init__(self, procedure: object, shared: Pool | None = None, lease_ttl: float = LEASE_TTL) -> None:
        self.pool = CountingPool()
        self.notes = Names()
        super().__init__(procedure, pool=shared or self.pool, observer=self.notes, lease_ttl=lease_ttl)
