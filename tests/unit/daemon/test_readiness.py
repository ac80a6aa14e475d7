"""What `/readyz?verbose` is made of."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rpcgw.config.settings import PoolSettings, Settings
from rpcgw.daemon import readiness
from rpcgw.daemon.readiness import Readiness
from rpcgw.kernel.ports import StoreError


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Gateway:
    """As much of a gateway as readiness looks at."""

    def __init__(self, **required: bool) -> None:
        pools = {name: PoolSettings("memory:", required=value) for name, value in required.items()}
        self.settings = Settings("gateway.yaml", pools=pools)
        self.plugins = ()


class Pool:
    """A store that answers, fails, or says nothing."""

    def __init__(self, does: str) -> None:
        self.does = does
        self.asked = 0

    async def ping(self) -> None:
        self.asked += 1
        if self.does == "fails":
            raise StoreError("no route to host")
        if self.does == "hangs":
            await asyncio.Event().wait()


def made(clock: Clock, **pools: Pool) -> Readiness:
    gateway: Any = Gateway(**dict.fromkeys(pools, True))
    stores: Any = pools
    return Readiness(gateway, 3, stores, clock)


@pytest.mark.parametrize(
    ("does", "ready", "detail"),
    [
        pytest.param("answers", True, "", id="a pool that answers"),
        pytest.param("fails", False, "no route to host", id="a pool that fails"),
        pytest.param("hangs", False, "no answer within 0.05 s", id="a pool that says nothing"),
    ],
)
async def test_a_pool(monkeypatch: pytest.MonkeyPatch, does: str, ready: bool, detail: str) -> None:
    """Ready where it answers in time; else the reason."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.05)
    (_, _, part) = await made(Clock(), shared=Pool(does)).parts()
    assert (part.name, part.ready, part.detail, part.required) == ("pool:shared", ready, detail, True)


async def test_many_probes_are_one_look() -> None:
    """Within a second a pool is asked once, by however many at a time; then again."""
    pool, clock = Pool("answers"), Clock()
    asked = made(clock, shared=pool)
    await asyncio.gather(*(asked.parts() for _ in range(50)))
    assert pool.asked == 1
    clock.time += readiness.KEPT
    pool.does = "fails"
    assert [part.ready for part in await asked.parts()] == [True, True, False]
    assert pool.asked == 2
