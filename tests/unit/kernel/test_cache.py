"""The result cache: what is answered without running, what never is, and what makes it forget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.api.context import Principal
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.executor import Tuning
from rpcgw.kernel.ports import StoreError
from tests.unit.kernel.world import Worker


@rpc.procedure("Shop", groups=["mcp"])
class Shop:
    """A shop whose answers are kept; `runs` counts what was not."""

    def __init__(self) -> None:
        self.runs = 0
        self.stock = {"tea": 1}
        self.reading = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()

    @rpc.cache(ttl=60)
    async def find(self, name: str, limit: int = 10) -> int:
        """Look up the stock."""
        self.runs += 1
        found = self.stock[name]
        self.reading.set()
        await self.go.wait()
        return found

    @rpc.cache()
    async def nothing(self) -> None:
        """Give null."""
        self.runs += 1

    @rpc.cache()
    async def fail(self) -> int:
        """Fail."""
        self.runs += 1
        raise rpc.DataNotFound

    @rpc.cache(vary=("scopes",))
    async def allowed(self) -> int:
        """Depend on what the caller may."""
        self.runs += 1
        return self.runs

    @rpc.cache(vary=("locale", "principal", "header:X-Tenant"))
    async def local(self) -> int:
        """Depend on the caller."""
        self.runs += 1
        return self.runs

    @rpc.cache(environments=("dev",))
    async def dev(self) -> int:
        """Be kept in dev alone."""
        self.runs += 1
        return self.runs

    @rpc.invalidates("Shop.find")
    async def put(self, name: str, number: int) -> None:
        """Change the stock."""
        self.stock[name] = number

    @rpc.invalidates("Shop.find")
    async def spoil(self) -> None:
        """Fail to change the stock."""
        raise rpc.LogicError

    @rpc.invalidates("Shop.find", warm_up=True)
    async def refill(self, name: str, number: int) -> None:
        """Change the stock and look it up."""
        self.stock[name] = number


class Notes:
    """An observer that keeps the names of what happens beside calls: troubles, and everything."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.all: list[str] = []
        self.calls = 0

    def call_started(self, call: Call) -> None:
        self.calls += 1

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None: ...

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    def event(self, name: str, /, **fields: Any) -> None:
        self.all.append(name)
        if name in {"cache.error", "cache.damaged"}:
            self.names.append(name)


class AwayPool(MemoryPool):
    """A pool whose store goes away when told."""

    def __init__(self, max_bytes: int = 2**20) -> None:
        super().__init__(max_bytes)
        self.away = False

    async def get(self, key: str) -> bytes | None:
        if self.away:
            raise StoreError("away")
        return await super().get(key)

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        if self.away:
            raise StoreError("away")
        await super().set(key, value, ttl)

    async def delete(self, key: str) -> bool:
        if self.away:
            raise StoreError("away")
        return await super().delete(key)

    async def entries(self) -> list[str]:
        kept = await self.keys("rpc_cache:")
        return [key for key in kept if not any(word in key for word in (":generation", ":tag:", ":computing:"))]


class World(Worker):
    """A worker over a shop. Two of them may share a pool."""

    def __init__(
        self,
        pool: AwayPool | None = None,
        shop: Shop | None = None,
        tuning: Mapping[tuple[str, str], Tuning] | None = None,
        environment: str = "prod",
    ) -> None:
        self.shop = shop or Shop()
        self.pool = pool or AwayPool()
        self.notes = Notes()
        super().__init__(self.shop, pool=self.pool, observer=self.notes, tuning=tuning, environment=environment)


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [
        pytest.param(({"name": "tea"}, {}), ({"name": "tea"}, {}), 1, id="the same call"),
        pytest.param(({"name": "tea"}, {}), (["tea"], {}), 1, id="by position"),
        pytest.param(({"name": "tea"}, {}), ({"limit": 10, "name": "tea"}, {}), 1, id="with its default"),
        pytest.param(({"name": "tea"}, {}), ({"name": "tea", "z": 1}, {}), 1, id="with a name that is dropped"),
        pytest.param(({"name": "tea"}, {}), ({"name": "tea"}, {"principal": Principal("ann"), "locale": "uk"}), 1, id="by another caller"),
        pytest.param(({"name": "tea"}, {}), ({"name": "tea"}, {"surface": "mcp", "strict": True}), 1, id="through another surface"),
        pytest.param(({"name": "tea"}, {}), ({"name": "tea", "limit": 9}, {}), 2, id="another parameter"),
        pytest.param(({"name": "tea"}, {}), ({"name": "tea"}, {"group": "mcp"}), 2, id="in another group"),
        pytest.param(({"name": "tea"}, {}), ({"name": "tea"}, {"ignore_cache": True}), 2, id="not to be read from the cache"),
    ],
)  # fmt: skip
async def test_what_is_the_same_call(first: tuple[Any, Any], second: tuple[Any, Any], runs: int) -> None:
    """T-19: a call like one before it does not run the method: same group, version, method and bound parameters."""
    world = World()
    assert await world.value("Shop.find", first[0], **first[1]) == 1
    outcome = await world.done("Shop.find", second[0], **second[1])
    assert outcome.encoded == b"1"
    assert (world.shop.runs, outcome.cached) == (runs, runs == 1)


@pytest.mark.parametrize(
    ("more", "runs"),
    [
        pytest.param({}, 1, id="the same caller"),
        pytest.param({"locale": "uk"}, 2, id="another language"),
        pytest.param({"principal": Principal("ann")}, 2, id="another principal"),
        pytest.param({"principal": Principal(claims={"iss": "b"})}, 2, id="another issuer's principal"),
        pytest.param({"headers": {"x-tenant": "acme"}}, 2, id="another header"),
        pytest.param({"headers": {"x-other": "acme"}}, 1, id="a header that does not matter"),
    ],
)
async def test_what_an_answer_depends_on(more: dict[str, Any], runs: int) -> None:
    """`vary` names what tells calls apart beside their parameters."""
    world = World()
    await world.value("Shop.local")
    await world.value("Shop.local", **more)
    assert world.shop.runs == runs


@pytest.mark.parametrize(
    ("principal", "runs"),
    [
        pytest.param(Principal("bob", frozenset("ab")), 1, id="the same scopes of another caller"),
        pytest.param(Principal("ann", frozenset("a")), 2, id="fewer"),
        pytest.param(Principal("ann", frozenset("abc")), 2, id="more"),
        pytest.param(Principal("ann"), 2, id="none"),
    ],
)
async def test_answers_that_depend_on_scopes(principal: Principal, runs: int) -> None:
    """`scopes` tells apart who may do something else, and nobody else."""
    world = World()
    await world.value("Shop.allowed", principal=Principal("ann", frozenset("ba")))
    await world.value("Shop.allowed", principal=principal)
    assert world.shop.runs == runs


async def test_null_is_an_answer() -> None:
    """A kept null is a hit."""
    world = World()
    assert await world.value("Shop.nothing") is None
    assert (await world.done("Shop.nothing")).cached
    assert world.shop.runs == 1


async def test_errors_are_never_kept() -> None:
    """A method that failed runs again."""
    world = World()
    await world.call("Shop.fail")
    await world.call("Shop.fail")
    assert world.shop.runs == 2
    assert await world.pool.entries() == []


@pytest.mark.parametrize(
    ("method", "environment", "kept"),
    [
        ("Shop.dev", "dev", True),
        ("Shop.dev", "prod", False),
        ("Shop.local", "prod", True),
        ("Shop.local", "dev", False),
    ],
)
async def test_environments(method: str, environment: str, kept: bool) -> None:
    """Results are kept in the environments that the mark names: `prod` by default."""
    world = World(environment=environment)
    await world.value(method)
    assert (await world.done(method)).cached is kept


@pytest.mark.parametrize(("ttl", "kept"), [(None, True), (5.0, True), (0.0, False)])
async def test_the_operator_tunes_the_ttl(ttl: float | None, kept: bool) -> None:
    """`cache_ttl` replaces the mark's ttl, and 0 switches off."""
    world = World(tuning={("general", "Shop.local"): Tuning(cache_ttl=ttl)})
    await world.value("Shop.local")
    assert (await world.done("Shop.local")).cached is kept


async def test_what_is_not_read_is_written_all_the_same() -> None:
    """`ignore_cache` makes the result anew for everybody."""
    world = World()
    await world.value("Shop.find", ["tea"])
    world.shop.stock["tea"] = 2
    assert await world.value("Shop.find", ["tea"]) == 1
    assert await world.value("Shop.find", ["tea"], ignore_cache=True) == 2
    assert await world.value("Shop.find", ["tea"]) == 2


async def test_a_refused_call_is_not_answered_from_the_cache() -> None:
    """Whatever is kept, parameters of a wrong shape are refused."""
    world = World()
    await world.value("Shop.find", ["tea"])
    assert not isinstance(await world.call("Shop.find", {"name": ["tea"]}), Done)


# Forgetting


async def test_a_success_drops_what_it_made_stale() -> None:
    """Once a write is answered nobody reads what was before, in no group, through no worker."""
    writer = World()
    reader = World(writer.pool, writer.shop)
    for group in ("general", "mcp"):
        assert await reader.value("Shop.find", ["tea"], group=group) == 1
    await writer.done("Shop.put", {"name": "tea", "number": 2})
    for group in ("general", "mcp"):
        assert await reader.value("Shop.find", ["tea"], group=group) == 2
    assert (await writer.done("Shop.find", ["tea"])).cached


async def test_a_failure_drops_nothing() -> None:
    """Results stay where the write has failed."""
    world = World()
    await world.value("Shop.find", ["tea"])
    await world.call("Shop.spoil")
    assert (await world.done("Shop.find", ["tea"])).cached


async def test_a_slow_reader_cannot_bring_back_the_past() -> None:
    """A call that read before a write and ends after it is not kept."""
    world = World()
    world.shop.go.clear()
    slow = asyncio.create_task(world.value("Shop.find", ["tea"]))
    await world.shop.reading.wait()
    await world.done("Shop.put", {"name": "tea", "number": 2})
    world.shop.go.set()
    assert await slow == 1
    assert await world.value("Shop.find", ["tea"]) == 2


async def test_warming_up() -> None:
    """With `warm_up` the dropped result is made anew after the answer, by the parameters that the two share."""
    world = World()
    await world.value("Shop.find", ["tea"])
    outcome = await world.done("Shop.refill", {"name": "tea", "number": 5})
    assert outcome.after is not None
    assert world.shop.runs == 1
    await outcome.after()
    assert world.shop.runs == 2
    assert await world.value("Shop.find", ["tea"]) == 5
    assert world.shop.runs == 2


async def test_a_lost_generation_makes_everything_stale() -> None:
    """A pool that forgets a method's generation never brings old entries back."""
    world = World()
    await world.value("Shop.find", ["tea"])
    assert await world.pool.delete("rpc_cache:Shop.find:generation")
    await world.value("Shop.find", ["tea"])
    assert world.shop.runs == 2


# A pool that is broken, and entries that are


async def test_a_broken_pool_is_a_miss() -> None:
    """While the store is away calls run, and the observer is told; afterwards all is well."""
    world = World()
    await world.value("Shop.find", ["tea"])
    world.pool.away = True
    assert await world.value("Shop.find", ["tea"]) == 1
    await world.done("Shop.put", {"name": "tea", "number": 2})
    assert world.notes.names == ["cache.error", "cache.error"]
    assert world.shop.runs == 2
    world.pool.away = False
    assert (await world.done("Shop.find", ["tea"])).cached


async def test_a_full_pool_does_not_matter() -> None:
    """A result that cannot be kept is answered."""
    room_for_a_generation = 500
    world = World(AwayPool(room_for_a_generation))
    assert await world.value("Shop.find", ["tea"]) == 1
    assert await world.value("Shop.find", ["tea"]) == 1
    assert world.notes.names == ["cache.error", "cache.error"]


def damages() -> list[Any]:
    return [
        pytest.param(lambda raw: raw[:-1], id="cut at the end"),
        pytest.param(lambda raw: raw[:10], id="cut in the head"),
        pytest.param(lambda raw: b"", id="empty"),
        pytest.param(lambda raw: raw + b"\0", id="longer than it was"),
        pytest.param(lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), id="a bit flipped in the result"),
        pytest.param(lambda raw: raw[:8] + bytes([raw[8] ^ 128]) + raw[9:], id="a bit flipped in the seal"),
        pytest.param(lambda raw: b"RGC0" + raw[4:], id="of another format"),
        pytest.param(lambda raw: b"1", id="something else"),
    ]


@pytest.mark.parametrize("damage", damages())
async def test_a_damaged_entry_is_a_miss(damage: Any) -> None:
    """What is not exactly what was stored is never answered; it is told and stored anew."""
    world = World()
    await world.value("Shop.find", ["tea"])
    [key] = await world.pool.entries()
    raw = await world.pool.get(key)
    assert raw is not None
    await world.pool.set(key, damage(raw), 60)
    outcome = await world.done("Shop.find", ["tea"])
    assert (outcome.encoded, outcome.cached, world.notes.names) == (b"1", False, ["cache.damaged"])
    assert (await world.done("Shop.find", ["tea"])).cached


async def test_an_entry_under_another_key_is_a_miss() -> None:
    """An entry answers only the call that it was stored for, wherever it has got to."""
    world = World()
    world.shop.stock["milk"] = 7
    await world.value("Shop.find", ["tea"])
    [key] = await world.pool.entries()
    tea = await world.pool.get(key)
    await world.value("Shop.find", ["milk"])
    [other] = [entry for entry in await world.pool.entries() if entry != key]
    assert tea is not None
    await world.pool.set(other, tea, 60)
    assert await world.value("Shop.find", ["milk"]) == 7
    assert world.notes.names == ["cache.damaged"]
