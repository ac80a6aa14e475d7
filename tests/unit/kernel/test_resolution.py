"""Objects by id: noted, looked up together, put in place."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.kernel.instances import bind_resolvers
from rpcgw.kernel.resolution import compile_finders, convert_resolving
from rpcgw.kernel.table import Registration, compile_methods
from rpcgw.kernel.threads import Threads


@dataclasses.dataclass
class User:
    id: int


@dataclasses.dataclass
class Tag:
    word: str
    thread: str = ""


@dataclasses.dataclass(frozen=True)
class Order:
    buyer: User
    tags: tuple[Tag, ...] = ()
    shown: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", f"order of {self.buyer.id}")


class Store:
    """What a lifespan yields; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []


@rpc.resolver(User, by=int)
async def find_user(number: int, store: Store) -> User | None:
    store.asked.append(number)
    if number == 13:
        raise rpc.DataNotFound("Nobody has this number")
    return User(number) if number < 100 else None


@rpc.resolver(Tag, by=str)
def find_tag(word: str, store: Store) -> Tag | None:
    store.asked.append(word)
    return Tag(word, threading.current_thread().name)


@rpc.procedure("Shop")
class Shop:
    def buy(self, order: Order, by: User | None = None, others: list[User] | None = None, count: int = 1) -> None: ...


TABLE, PROBLEMS = compile_methods([Registration(Shop)], [find_user, find_tag])


class World:
    def __init__(self) -> None:
        self.store = Store()
        self.threads = Threads()
        bound, problems = bind_resolvers([find_user, find_tag], [self.store])
        assert not problems
        self.finders = compile_finders(bound, self.threads)
        self.method = (TABLE.methods("general", 1) or {})["Shop.buy"]

    async def convert(self, **arguments: Any) -> dict[str, Any]:
        return await convert_resolving(self.method, arguments, self.finders)


@pytest.fixture
def world() -> Any:
    made = World()
    yield made
    made.threads.close()


async def test_objects_are_in_place_before_what_holds_them(world: World) -> None:
    """A DTO is made with the objects, and its own code sees them."""
    values = await world.convert(order={"buyer": 1, "tags": ["a"]}, by=2)
    assert values["order"].shown == "order of 1"
    assert values["by"] == User(2)
    assert not PROBLEMS


async def test_each_id_is_looked_up_once(world: World) -> None:
    """However often a call names it."""
    values = await world.convert(order={"buyer": 1}, by=1, others=[1, 2, 1])
    assert values["others"] == [User(1), User(2), User(1)]
    assert sorted(world.store.asked) == [1, 2]


async def test_sync_resolvers_run_in_threads(world: World) -> None:
    """They may block without stopping the loop."""
    values = await world.convert(order={"buyer": 1, "tags": ["a"]})
    assert values["order"].tags[0].thread != threading.current_thread().name


async def test_everything_wrong_is_told_at_once(world: World) -> None:
    """What is not found beside what is refused; nullable ones become null."""
    with pytest.raises(rpc.AssertionFailed, match=r"^Invalid data for Shop\.buy$") as refused:
        await world.convert(order={"buyer": 100}, by=101, others=[1, 102, "x"])
    assert refused.value.extra == {
        "order.buyer": ["not found"],
        "others[1]": ["not found"],
        "others[2]": ["must be an integer"],
    }


async def test_without_ids_nothing_is_looked_up(world: World) -> None:
    """A refusal that no look-up could mend comes at once."""
    with pytest.raises(rpc.AssertionFailed):
        await world.convert(order={"buyer": "x"})
    assert world.store.asked == []


async def test_what_a_resolver_raises_is_the_calls_failure(world: World) -> None:
    """Its own error reaches the caller."""
    with pytest.raises(rpc.DataNotFound, match="Nobody"):
        await world.convert(order={"buyer": 13}, by=2)


def test_what_a_resolver_needs_and_nobody_provides() -> None:
    """It is a problem of the plugin, told where the resolver stands."""
    _, problems = bind_resolvers([find_user], [])
    assert [(problem.code, problem.place.file) for problem in problems] == [("procedure-parameter", __file__)]
    assert "'store' of find_user" in problems[0].text
