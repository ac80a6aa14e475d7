"""The result cache in the hands of plugins."""

from __future__ import annotations

from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.kernel.control import CacheControl
from rpcgw.kernel.instances import instantiate
from tests.unit.kernel.cached_world import CachedWorld, Names
from tests.unit.kernel.world import Numbers


@rpc.procedure("Farm", groups=["mcp"])
class Farm:
    """Results that are kept; `runs` counts what was not."""

    def __init__(self) -> None:
        self.runs = 0

    @rpc.cache(by="animal")
    async def count(self, animal: str, year: int = 2026) -> int:
        """Count."""
        self.runs += 1
        return self.runs

    @rpc.cache(vary=("locale",))
    async def name(self) -> int:
        """Be called something."""
        self.runs += 1
        return self.runs

    @rpc.cache()
    async def broken(self) -> int:
        """Fail."""
        raise rpc.DataNotFound

    async def plain(self) -> int:
        """Keep nothing."""
        return 1


class Yard:
    """A worker, and what a plugin holds of its cache."""

    def __init__(self) -> None:
        self.farm = Farm()
        self.world = CachedWorld(self.farm)
        self.notes = Names()
        self.cache = CacheControl(Numbers(), self.notes)

    async def open(self) -> None:
        await self.cache.open(self.world.executor)
        await self.cache.close()

    async def cached(self, method: str, params: Any = None, **more: Any) -> bool:
        return (await self.world.done(method, params, **more)).cached


@pytest.fixture
async def yard() -> Yard:
    made = Yard()
    await made.open()
    return made


COW: dict[str, object] = {"animal": "cow"}
HEN: dict[str, object] = {"animal": "hen"}


async def test_warm(yard: Yard) -> None:
    """A result that was made by hand is answered without running, and made by hand again it is a new one."""
    await yard.cache.warm("Farm.count", COW)
    assert await yard.cached("Farm.count", COW)
    assert not await yard.cached("Farm.count", HEN)
    await yard.cache.warm("Farm.count", COW)
    assert await yard.world.value("Farm.count", COW) == 3


async def test_warm_elsewhere(yard: Yard) -> None:
    """Group and language say whose result is made."""
    await yard.cache.warm("Farm.name", group="mcp", locale="uk")
    assert await yard.cached("Farm.name", group="mcp", locale="uk")
    assert not await yard.cached("Farm.name", group="mcp", locale="en")
    assert not await yard.cached("Farm.name", locale="uk")


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        pytest.param(None, [], id="everything"),
        pytest.param({}, [], id="no parameters are all parameters"),
        pytest.param({"animal": "cow"}, ["hen"], id="a subset that is declared"),
        pytest.param({"year": 2025}, [], id="a subset that is not, so everything"),
    ],
)
async def test_delete(yard: Yard, params: dict[str, object] | None, kept: list[str]) -> None:
    """Results go in all groups: those of the values, where they can be told apart by them."""
    for animal in (COW, HEN):
        for group in ("general", "mcp"):
            await yard.world.done("Farm.count", animal, group=group)
    await yard.cache.delete("Farm.count", params)
    for group in ("general", "mcp"):
        found = [animal["animal"] for animal in (COW, HEN) if await yard.cached("Farm.count", animal, group=group)]
        assert found == kept


@pytest.mark.parametrize(
    ("order", "text"),
    [
        pytest.param(lambda c: c.warm("Farm.nosuch"), "no results of 'Farm.nosuch'", id="warm what is not there"),
        pytest.param(lambda c: c.warm("Farm.plain"), "no results of 'Farm.plain'", id="warm what is not kept"),
        pytest.param(lambda c: c.warm("Farm.name", version=2), "in version 2", id="warm in another version"),
        pytest.param(lambda c: c.delete("Farm.plain"), "no cached method 'Farm.plain'", id="delete what is not kept"),
        pytest.param(lambda c: c.delete("Farm.count", {"x": 1}), "no parameter 'x'", id="delete by nothing"),
    ],
)
async def test_mistakes(yard: Yard, order: Any, text: str) -> None:
    """A name that means nothing is said to the plugin."""
    with pytest.raises(LookupError, match=text):
        await order(yard.cache)


async def test_a_method_that_fails(yard: Yard) -> None:
    """What the method raises is the plugin's."""
    with pytest.raises(rpc.DataNotFound):
        await yard.cache.warm("Farm.broken")


async def test_before_the_worker_is_open() -> None:
    """What a lifespan asks for is done once the worker opens: first what goes, then what is made. Mistakes are logged."""
    yard = Yard()
    await yard.world.done("Farm.count", COW)
    await yard.world.done("Farm.count", HEN)
    await yard.cache.warm("Farm.count", COW)
    await yard.cache.warm("Farm.broken")
    await yard.cache.warm("Farm.nosuch")
    await yard.cache.delete("Farm.count")
    assert yard.farm.runs == 2
    await yard.open()
    assert yard.farm.runs == 3
    assert await yard.cached("Farm.count", COW)
    assert not await yard.cached("Farm.count", HEN)
    assert yard.notes.names == ["cache.order_failed", "cache.order_failed"]


async def test_a_constructor_is_given_it() -> None:
    """A procedure with a parameter of the type has the house's cache, beside what its lifespan yields."""

    @rpc.procedure("Keeper")
    class Keeper:
        def __init__(self, name: str, cache: rpc.ResultCache, more: rpc.ResultCache | None = None) -> None:
            self.held = (name, cache, more)

    cache = CacheControl(Numbers(), Names())
    made, problems = instantiate([Keeper], ["ann"], {rpc.ResultCache: cache})
    assert problems == []
    keeper = made[Keeper]
    assert isinstance(keeper, Keeper)
    assert keeper.held == ("ann", cache, cache)
