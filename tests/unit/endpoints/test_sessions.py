"""Where sessions are kept: what the pool is asked for, what is remembered, and for how long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.endpoints import sessions as kept
from rpcgw.endpoints.census import Census
from rpcgw.endpoints.sessions import LocalRevocations, Sessions
from rpcgw.kernel.ports import StoreError
from rpcgw.protocol.mcp import Limits
from rpcgw.protocol.mcp.revisions import NEWEST_SESSION
from rpcgw.protocol.mcp.sessions import key
from tests.unit.endpoints.house import Clock, House, house

TTL = 100.0


class Counted:
    """A pool that counts what it is asked for; `full` makes writing fail, `meanwhile` runs once before it answers."""

    def __init__(self, clock: Clock) -> None:
        self.asked: list[str] = []
        self.full = False
        self.unlisted = False
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        self._pool = MemoryPool(now=clock.monotonic)

    def __getattr__(self, name: str) -> Any:
        async def ask(*args: Any) -> Any:
            self.asked.append(name)
            if (self.full and name in ("set", "touch")) or (self.unlisted and name == "enlist"):
                raise StoreError("no space left")
            answer = await getattr(self._pool, name)(*args)
            if (meanwhile := self.meanwhile) is not None:
                self.meanwhile = None
                await meanwhile()
            return answer

        return ask

    def count(self, name: str) -> int:
        return self.asked.count(name)


def worker(beside: House | None = None, revocations: LocalRevocations | None = None) -> tuple[House, Counted]:
    if beside is not None:
        made = house(beside=beside, revocations=revocations, limits=Limits(session_ttl=TTL))
        assert isinstance(made.pool, Counted)
        return made, made.pool
    made = house(limits=Limits(session_ttl=TTL), revocations=revocations)
    pool = Counted(made.clock)
    again = house(beside=made, pool=pool, revocations=revocations, limits=Limits(session_ttl=TTL))
    return again, pool


async def begin(place: House, principal: Principal = ANONYMOUS) -> str:
    return await place.services.sessions.begin(place.endpoint, principal, NEWEST_SESSION)


async def serves(place: House, session_id: str, principal: Principal = ANONYMOUS) -> bool:
    """What the endpoint does to find out."""
    store = place.services.sessions
    found = store.recall(place.endpoint, principal, session_id) or await store.find(
        place.endpoint, principal, session_id
    )
    return found is not None


async def test_a_session_is_remembered_for_a_second() -> None:
    """The pool is asked once a second and session, not once a call."""
    place, pool = worker()
    session = await begin(place)
    for _ in range(50):
        assert await serves(place, session)
    assert pool.count("look") == 0
    place.clock.time += kept.REMEMBERED
    for _ in range(50):
        assert await serves(place, session)
    assert pool.count("look") == 1


async def test_a_session_in_use_lives_on_by_one_write_per_tenth_of_its_time() -> None:
    """Expiry slides; a busy session costs at most ten writes in its time to live."""
    place, pool = worker()
    session = await begin(place)
    for _ in range(300):
        place.clock.time += 1
        assert await serves(place, session)
    assert pool.count("touch") == 30
    assert pool.count("set") == 1


async def test_several_workers_write_no_more_than_one() -> None:
    """The tenth is the session's, not each worker's: the pool tells when a session was prolonged, by whomever."""
    one, pool = worker()
    workers = [one, worker(beside=one)[0], worker(beside=one)[0], worker(beside=one)[0]]
    session = await begin(one)
    for _ in range(300):
        one.clock.time += 1
        for each in workers:
            assert await serves(each, session)
    assert pool.count("touch") == 30


async def test_a_session_that_nobody_uses_expires() -> None:
    """After `session_ttl` it is gone, remembered or not."""
    place, _ = worker()
    session = await begin(place)
    place.clock.time += TTL
    assert not await serves(place, session)


async def test_a_memory_never_outlives_its_session() -> None:
    """A session asked for just before its end is not served after it."""
    place, pool = worker()
    session = await begin(place)
    pool.full = True  # it cannot be prolonged
    place.clock.time += TTL - 0.5
    assert await serves(place, session)
    place.clock.time += 0.6
    assert not await serves(place, session)


async def test_another_worker_finds_the_session_and_prolongs_it() -> None:
    """Any worker serves any session; one that never saw it before knows from its age that it must be written."""
    one, pool = worker()
    session = await begin(one)
    two, _ = worker(beside=one)
    assert await serves(two, session)
    assert pool.count("touch") == 0
    one.clock.time += TTL / 2
    assert await serves(two, session)
    one.clock.time += TTL - 1
    assert await serves(one, session)


async def test_after_delete_no_worker_of_the_host_serves_the_session() -> None:
    """The workers' common number grows with DELETE, and nothing that was remembered before counts any more."""
    revocations = LocalRevocations()
    one, _ = worker(revocations=revocations)
    two, _ = worker(beside=one, revocations=revocations)
    session = await begin(one)
    assert await serves(two, session)
    assert await one.services.sessions.end(one.endpoint, ANONYMOUS, session)
    assert not await serves(two, session)
    assert not await serves(one, session)


async def test_a_slow_pool_does_not_prolong_what_is_remembered() -> None:
    """The second begins when the pool is asked: what ended while it took its time is served no longer for that."""
    one, pool = worker()
    other, _ = worker(beside=one)
    session = await begin(one)

    async def meanwhile() -> None:
        await one.services.sessions.end(one.endpoint, ANONYMOUS, session)
        one.clock.time += 0.9

    pool.meanwhile = meanwhile
    assert await other.services.sessions.find(other.endpoint, ANONYMOUS, session)
    assert await serves(other, session)
    one.clock.time += 0.1
    assert not await serves(other, session)


async def test_another_host_serves_an_ended_session_for_a_second_at_most() -> None:
    """Hosts share the pool alone; what one of them remembers lasts for `REMEMBERED`."""
    one, _ = worker()
    other, _ = worker(beside=one)
    session = await begin(one)
    assert await serves(other, session)
    await one.services.sessions.end(one.endpoint, ANONYMOUS, session)
    one.clock.time += kept.REMEMBERED
    assert not await serves(other, session)


class Wire:
    """The news of a pool in the hands of a test: `good` says whether everything is heard, `say` is what is said."""

    def __init__(self, clock: Clock) -> None:
        self.heard = 0
        self.good = True
        self._clock = clock
        self._dropped: list[Callable[[str], None]] = []
        self._missed: list[Callable[[], None]] = []

    @property
    def good_until(self) -> float:
        return self._clock.time + 0.9 if self.good else 0.0

    def follow(self, dropped: Callable[[str], None], missed: Callable[[], None]) -> None:
        self._dropped.append(dropped)
        self._missed.append(missed)

    async def run(self) -> None: ...

    def say(self, group: str, session_id: str) -> None:
        self.heard += 1
        for dropped in self._dropped:
            dropped(key(group, session_id))

    def begin_anew(self) -> None:
        self.heard += 1
        for missed in self._missed:
            missed()


@dataclass
class Listening:
    """A host that has the pool's news."""

    place: House
    pool: Counted
    wire: Wire
    store: Sessions

    @classmethod
    def made(cls, ttl: float = TTL) -> Listening:
        made = house(limits=Limits(session_ttl=ttl))
        pool = Counted(made.clock)
        place = house(beside=made, pool=pool, limits=Limits(session_ttl=ttl))
        wire = Wire(place.clock)
        observer = place.observer
        store = Sessions(pool, place.clock, place.ids, observer, LocalRevocations(), news=wire)
        return cls(place, pool, wire, store)

    async def begin(self) -> str:
        return await self.store.begin(self.place.endpoint, ANONYMOUS, NEWEST_SESSION)

    async def find(self, session_id: str) -> bool:
        return await self.store.find(self.place.endpoint, ANONYMOUS, session_id) is not None

    def remembers(self, session_id: str) -> bool:
        return self.store.recall(self.place.endpoint, ANONYMOUS, session_id) is not None


@pytest.mark.parametrize(
    ("ttl", "seconds"),
    [
        pytest.param(3600.0, kept.REMEMBERED_WITH_NEWS, id="long sessions"),
        pytest.param(50.0, 5.0, id="a tenth of short ones"),
        pytest.param(2.0, kept.REMEMBERED, id="as long as without news"),
    ],
)
async def test_with_news_a_session_is_remembered_for_longer(ttl: float, seconds: float) -> None:
    """The pool is asked once in that time, and no more than once a tenth of the session's."""
    host = Listening.made(ttl)
    session = await host.begin()
    for _ in range(2):
        host.place.clock.time += seconds - 0.01
        assert host.remembers(session)
        host.place.clock.time += 0.02
        assert not host.remembers(session)
        assert await host.find(session)
    assert host.pool.count("look") == 2


async def test_what_the_news_take_back_is_forgotten() -> None:
    """The session that was named, and no other."""
    host = Listening.made()
    ended, other = await host.begin(), await host.begin()
    host.wire.say(host.place.endpoint.group, ended)
    assert (host.remembers(ended), host.remembers(other)) == (False, True)


async def test_while_news_may_be_missed_nothing_is_remembered() -> None:
    """Each request asks the pool. What was known before a gap is known no more; after a mere delay it is."""
    host = Listening.made()
    session = await host.begin()
    host.wire.good = False
    for count in (1, 2, 3):
        assert not host.remembers(session)
        assert await host.find(session)
        assert host.pool.count("look") == count
    host.wire.good = True
    assert host.remembers(session)
    host.wire.begin_anew()
    assert not host.remembers(session)
    assert await host.find(session)
    assert host.remembers(session)


@pytest.mark.parametrize("gap", [pytest.param(False, id="a message"), pytest.param(True, id="a gap")])
async def test_news_that_come_while_the_pool_answers(gap: bool) -> None:
    """The answer may be older than they are: it is not remembered."""
    host = Listening.made()
    session = await host.begin()
    host.place.clock.time += TTL / 2

    async def meanwhile() -> None:
        host.wire.begin_anew() if gap else host.wire.say(host.place.endpoint.group, session)

    host.pool.meanwhile = meanwhile
    assert await host.find(session)
    assert not host.remembers(session)


async def test_a_session_that_is_read_while_it_ends_is_not_remembered() -> None:
    """The common number is read before the pool is asked: a DELETE in between makes the memory void."""
    revocations = LocalRevocations()
    one, pool = worker(revocations=revocations)
    session = await begin(one)
    two, _ = worker(beside=one, revocations=revocations)
    store = two.services.sessions

    async def end() -> None:
        await one.services.sessions.end(one.endpoint, ANONYMOUS, session)

    pool.meanwhile = end
    await store.find(two.endpoint, ANONYMOUS, session)
    assert store.recall(two.endpoint, ANONYMOUS, session) is None


async def test_a_prolonged_session_is_never_brought_back() -> None:
    """Sliding touches what is there: a session that was ended elsewhere stays ended."""
    one, _ = worker()
    two, _ = worker(beside=one)
    session = await begin(one)
    await two.services.sessions.end(two.endpoint, ANONYMOUS, session)
    one.clock.time += TTL / 5
    assert not await serves(one, session)
    assert await one.pool.keys("ufo_mcp_") == []


async def test_a_full_store_refuses_new_sessions_and_serves_old_ones() -> None:
    """A store that cannot write raises for `begin`; a session that it still has goes on."""
    place, pool = worker()
    session = await begin(place)
    pool.full = True
    place.clock.time += TTL / 2
    assert await serves(place, session)
    assert place.observer.named("session.store_error")
    with pytest.raises(StoreError):
        await begin(place)


async def test_memory_is_bounded() -> None:
    """The session that was asked for least recently is forgotten first, and found again in the pool."""
    place, pool = worker()
    store = Sessions(pool, place.clock, place.ids, place.observer, LocalRevocations(), memory=3)
    ids = [await store.begin(place.endpoint, ANONYMOUS, NEWEST_SESSION) for _ in range(5)]
    assert [store.recall(place.endpoint, ANONYMOUS, each) is None for each in ids] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert await store.find(place.endpoint, ANONYMOUS, ids[0])


@pytest.mark.parametrize("session_id", ["", "short", "x" * 129, "../../../etc/passwd-and", "x" * 20 + "\n", "ї" * 32])
async def test_what_cannot_be_an_id_never_reaches_the_store(session_id: str) -> None:
    """Ids are letters, digits, '-' and '_', 16 to 128 of them."""
    place, pool = worker()
    assert not await serves(place, session_id)
    assert not await place.services.sessions.end(place.endpoint, ANONYMOUS, session_id)
    assert pool.asked == []


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"\xff", b'{"revision":"1999-01-01","group":"demo","version":1,"owner":"","created":0}']
)
async def test_a_damaged_session_is_none(damage: bytes) -> None:
    """A truncated or bit-flipped entry, or one of a revision that is no longer served, is no session."""
    place, pool = worker()
    await pool.set(f"ufo_mcp_demo_{'x' * 32}", damage, TTL)
    assert not await serves(place, "x" * 32)


async def test_sessions_are_told_to_the_observer() -> None:
    """`session.created` and `session.ended`, once each: the counters are made of them."""
    place, _ = worker()
    session = await begin(place)
    await place.services.sessions.end(place.endpoint, ANONYMOUS, session)
    await place.services.sessions.end(place.endpoint, ANONYMOUS, session)
    assert [len(place.observer.named(name)) for name in ("session.created", "session.ended")] == [1, 1]


async def test_what_has_expired_is_told_once() -> None:
    """Whoever counts first tells which sessions ended unused; those that live on or were ended are none of them."""
    one, pool = worker()
    ended, unused, used = [await begin(one) for _ in range(3)]
    await one.services.sessions.end(one.endpoint, ANONYMOUS, ended)
    one.clock.time += TTL / 2
    assert await serves(one, used)
    one.clock.time += TTL / 2 + 1
    counts = [Census(pool, one.clock, one.observer) for _ in range(2)]
    assert [await each.count("demo") for each in counts] == [1, 1]
    assert [fields["count"] for fields in one.observer.named("session.expired")] == [1]
    assert not await serves(one, unused)


async def test_an_unknown_session_is_none_that_expired() -> None:
    """Refusing an id that never was, or one that was ended, counts nothing."""
    place, pool = worker()
    session = await begin(place)
    await place.services.sessions.end(place.endpoint, ANONYMOUS, session)
    assert not await serves(place, session)
    assert not await serves(place, "x" * 32)
    assert await Census(pool, place.clock, place.observer).count("demo") == 0
    assert place.observer.named("session.expired") == []


async def test_an_index_does_not_grow_where_nobody_counts() -> None:
    """New sessions see to it, once a minute, that those which have expired leave the index."""
    place, pool = worker()
    await begin(place)
    for _ in range(10):
        place.clock.time += TTL
        await begin(place)
    assert (await pool.census("rpcgw_sessions_demo"))[1] <= 1


async def test_a_session_lives_without_its_index() -> None:
    """An index that cannot be written to is told, and the session is served."""
    place, pool = worker()
    pool.unlisted = True
    session = await begin(place)
    assert await serves(place, session)
    assert [fields["operation"] for fields in place.observer.named("session.store_error")] == ["index"]
