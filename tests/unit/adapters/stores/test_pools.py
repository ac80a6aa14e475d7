"""What every store promises, run against all three."""

from __future__ import annotations

import asyncio
from typing import Protocol

import pytest

from rpcgw.kernel.ports import Pool

TTL = 60.0
SHORT = 20.0
"""More than any machine needs between two steps of a test: what has not been made old is still there."""


class Stock(Protocol):
    pool: Pool
    prefix: str

    async def expire(self, seconds: float, /) -> None: ...


VALUES = [
    pytest.param(b"value", id="a few bytes"),
    pytest.param(b"", id="nothing at all"),
    pytest.param(bytes(range(256)) * 4, id="bytes that are no text"),
    pytest.param(b"x" * 300_000, id="more than a pipe holds"),
]
KEYS = [
    pytest.param("ufo_mcp_internal_0123456789abcdef", id="a session's key"),
    pytest.param("../../etc/passwd", id="a path"),
    pytest.param("каталог 書", id="letters of the world"),
    pytest.param("a\x00b\nc", id="control characters"),
    pytest.param("k" * 5000, id="longer than a file name may be"),
    pytest.param("", id="empty"),
]


@pytest.mark.parametrize("value", VALUES)
async def test_gives_back_what_was_set(stock: Stock, value: bytes) -> None:
    """A value comes back byte for byte."""
    await stock.pool.set(stock.prefix, value, TTL)
    assert await stock.pool.get(stock.prefix) == value


@pytest.mark.parametrize("key", KEYS)
async def test_takes_any_text_for_a_key(stock: Stock, key: str) -> None:
    """Any text is a key, found by `keys` in exactly this form."""
    await stock.pool.set(stock.prefix + key, b"1", TTL)
    assert await stock.pool.get(stock.prefix + key) == b"1"
    assert await stock.pool.keys(stock.prefix) == [stock.prefix + key]


async def test_knows_nothing_of_a_key_never_set(stock: Stock) -> None:
    """An absent key is None or False, whatever is asked."""
    pool, key = stock.pool, stock.prefix
    assert await pool.get(key) is None
    assert not await pool.touch(key, TTL)
    assert not await pool.touch_if(key, b"", TTL)
    assert not await pool.delete(key)
    assert not await pool.delete_if(key, b"")


async def test_gives_several_values_in_the_order_of_their_keys(stock: Stock) -> None:
    """`get_many` is `get` for each key, whatever is missing among them or comes twice."""
    one, two, none = (f"{stock.prefix}{name}" for name in ("one", "two", "none"))
    await stock.pool.set(one, b"1", TTL)
    await stock.pool.set(two, b"", TTL)
    assert await stock.pool.get_many([two, none, one, one]) == [b"", None, b"1", b"1"]


async def test_set_replaces(stock: Stock) -> None:
    """The later value wins, and its ttl."""
    await stock.pool.set(stock.prefix, b"old", SHORT)
    await stock.pool.set(stock.prefix, b"new", TTL)
    await stock.expire(2 * SHORT)
    assert await stock.pool.get(stock.prefix) == b"new"


async def test_a_value_ends_with_its_ttl(stock: Stock) -> None:
    """After the ttl a value is gone for everybody who asks."""
    pool, key = stock.pool, stock.prefix
    await pool.set(key, b"1", SHORT)
    await stock.expire(2 * SHORT)
    assert await pool.get(key) is None
    assert await pool.keys(key) == []
    assert not await pool.touch(key, TTL)
    assert not await pool.touch_if(key, b"1", TTL)
    assert not await pool.delete_if(key, b"1")
    assert not await pool.delete(key)


async def test_add_keeps_the_first(stock: Stock) -> None:
    """`add` keeps a value once and says so."""
    assert await stock.pool.add(stock.prefix, b"first", TTL)
    assert not await stock.pool.add(stock.prefix, b"second", TTL)
    assert await stock.pool.get(stock.prefix) == b"first"


async def test_add_takes_the_place_of_the_expired(stock: Stock) -> None:
    """A key whose value has expired is free."""
    assert await stock.pool.add(stock.prefix, b"first", SHORT)
    await stock.expire(2 * SHORT)
    assert await stock.pool.add(stock.prefix, b"second", TTL)
    assert await stock.pool.get(stock.prefix) == b"second"


async def test_one_of_many_adds_wins(stock: Stock) -> None:
    """Of adds at the same time exactly one is told that it won, and its value stands."""
    values = [b"%d" % number for number in range(20)]
    won = await asyncio.gather(*(stock.pool.add(stock.prefix, value, TTL) for value in values))
    assert sum(won) == 1
    assert await stock.pool.get(stock.prefix) == values[won.index(True)]


async def test_touch_moves_the_end(stock: Stock) -> None:
    """A touched value lives on from now, as long as it is told."""
    await stock.pool.set(stock.prefix, b"1", SHORT)
    assert await stock.pool.touch(stock.prefix, TTL)
    await stock.expire(2 * SHORT)
    assert await stock.pool.get(stock.prefix) == b"1"


async def test_touch_can_shorten(stock: Stock) -> None:
    """A touch replaces the ttl, it does not add to it."""
    await stock.pool.set(stock.prefix, b"1", TTL)
    assert await stock.pool.touch(stock.prefix, SHORT)
    await stock.expire(2 * SHORT)
    assert await stock.pool.get(stock.prefix) is None


async def test_delete_says_whether_there_was_something(stock: Stock) -> None:
    """A second delete finds nothing."""
    await stock.pool.set(stock.prefix, b"1", TTL)
    assert await stock.pool.delete(stock.prefix)
    assert await stock.pool.get(stock.prefix) is None
    assert not await stock.pool.delete(stock.prefix)


async def test_delete_if_leaves_another_owners_value(stock: Stock) -> None:
    """Only the very value is removed."""
    await stock.pool.set(stock.prefix, b"mine", TTL)
    assert not await stock.pool.delete_if(stock.prefix, b"min")
    assert await stock.pool.get(stock.prefix) == b"mine"
    assert await stock.pool.delete_if(stock.prefix, b"mine")
    assert await stock.pool.get(stock.prefix) is None


async def test_touch_if_leaves_another_owners_ttl(stock: Stock) -> None:
    """Only the very value's life is changed."""
    await stock.pool.set(stock.prefix, b"mine", SHORT)
    assert not await stock.pool.touch_if(stock.prefix, b"theirs", TTL)
    await stock.expire(2 * SHORT)
    assert await stock.pool.get(stock.prefix) is None
    await stock.pool.set(stock.prefix, b"mine", SHORT)
    assert await stock.pool.touch_if(stock.prefix, b"mine", TTL)
    await stock.expire(2 * SHORT)
    assert await stock.pool.get(stock.prefix) == b"mine"


async def test_keys_are_told_apart_by_their_beginning(stock: Stock) -> None:
    """`keys` takes the prefix as text, not as a pattern."""
    prefix = stock.prefix
    for tail in ("a*1", "a*2", "ab", "[a]", "a?c", "a\\d"):
        await stock.pool.set(prefix + tail, b"1", TTL)
    assert sorted(await stock.pool.keys(prefix + "a*")) == [prefix + "a*1", prefix + "a*2"]
    assert await stock.pool.keys(prefix + "[") == [prefix + "[a]"]
    assert await stock.pool.keys(prefix + "a?") == [prefix + "a?c"]
    assert await stock.pool.keys(prefix + "a\\") == [prefix + "a\\d"]


async def test_answers_a_ping(stock: Stock) -> None:
    """A store that works raises nothing."""
    await stock.pool.ping()
    assert await stock.pool.keys(stock.prefix) == []


async def test_look_tells_how_long_a_value_lives(stock: Stock) -> None:
    """The value, and the seconds that are left of its life, whoever wrote or touched it last."""
    assert await stock.pool.look(stock.prefix) is None
    await stock.pool.set(stock.prefix, b"1", SHORT)
    await stock.pool.touch(stock.prefix, TTL)
    found = await stock.pool.look(stock.prefix)
    assert found is not None
    assert found[0] == b"1"
    assert TTL - 30 < found[1] <= TTL


async def test_an_index_knows_who_lives_and_tells_once_who_does_not(stock: Stock) -> None:
    """Members live on as they are enlisted again, leave when they are struck, and lapse when their time is over."""
    index = f"{stock.prefix}index"
    assert await stock.pool.census(index) == (0, 0)
    for member in ("struck", "lapsed", "moved", "ліва"):
        await stock.pool.enlist(index, member, SHORT)
    await stock.pool.enlist(f"{stock.prefix}other", "lapsed", TTL)
    await stock.pool.enlist(index, "moved", TTL)
    await stock.pool.strike(index, "struck")
    await stock.pool.strike(index, "nobody")
    await stock.expire(2 * SHORT)
    assert await stock.pool.census(index) == (1, 2)
    assert await stock.pool.census(index) == (1, 0)
    assert await stock.pool.census(f"{stock.prefix}other") == (1, 0)


async def test_of_several_who_ask_one_is_told(stock: Stock) -> None:
    """However many ask at once, each member that lapsed is told to one of them."""
    index = f"{stock.prefix}index"
    for number in range(20):
        await stock.pool.enlist(index, str(number), SHORT)
    await stock.expire(2 * SHORT)
    told = await asyncio.gather(*(stock.pool.census(index) for _ in range(4)))
    assert sum(lapsed for _, lapsed in told) == 20
