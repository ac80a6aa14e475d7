"""Where MCP sessions are kept: in the kernel's cache pool, with a short memory in front of it.

A session is found on every worker and every host that shares the pool. What a worker remembers of one it trusts for a
bounded time, and only while `Revocations` stands where it stood before the pool was asked: a session that was ended is
served by no worker of its host once DELETE has been answered. By other hosts it is served no more a second later: where
they share the pool they have its `News`, and remember nothing while that is not known to be complete.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from rpcgw.api.context import Principal
from rpcgw.endpoints.census import Census
from rpcgw.kernel.ports import Clock, Ids, News, Observer, Pool, Revocations, StoreError
from rpcgw.protocol.mcp import Endpoint, sessions
from rpcgw.protocol.mcp.revisions import Revision
from rpcgw.protocol.mcp.sessions import Session

REMEMBERED: Final = 1.0
"""Seconds for which the pool's word is taken for granted."""

REMEMBERED_WITH_NEWS: Final = 10.0
"""The same where whoever takes it back says so; of short sessions a tenth of their time, but no less than above."""

MOST_REMEMBERED: Final = 10_000
"""How many sessions a worker remembers, some 500 bytes each; the one that was asked for least recently goes first."""


class LocalRevocations:
    """`Revocations` of a host with a single worker."""

    def __init__(self) -> None:
        self._count = 0

    def current(self) -> int:
        """The number as it is now."""
        return self._count

    def advance(self) -> None:
        """Let it grow."""
        self._count += 1


class _Memory(msgspec.Struct, frozen=True):
    """What a worker knows of a session: until when, since which state of the revocations, and whose it is, on what."""

    session: Session
    until: float
    state: int
    endpoint: Endpoint
    principal: Principal


class _Since(msgspec.Struct, frozen=True):
    """How things stood before the pool was asked."""

    state: int
    heard: int
    asked: float


class Sessions:
    """The sessions of all endpoints, `memory` of them remembered. `begin`, `find` and `end` may raise `StoreError`."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        ids: Ids,
        observer: Observer,
        revocations: Revocations,
        *,
        news: News | None = None,
        memory: int = MOST_REMEMBERED,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._ids = ids
        self._observer = observer
        self._revocations = revocations
        self._news = news
        self._most = memory
        self._census = Census(pool, clock, observer)
        self._memories: OrderedDict[str, _Memory] = OrderedDict()
        if news is not None:
            news.follow(self._forget, self._memories.clear)

    async def begin(
        self, endpoint: Endpoint, principal: Principal, revision: Revision, capabilities: tuple[str, ...] = ()
    ) -> str:
        """Make a session; its id is all that the client is told."""
        session_id = self._ids.token()
        session = sessions.made(endpoint, principal, revision, self._clock.now(), capabilities)
        key, ttl = sessions.key(endpoint.group, session_id), endpoint.limits.session_ttl
        since = self._since()
        await self._pool.set(key, sessions.packed(session), ttl)
        self._remember(key, session, since, min(self._trust(ttl), ttl), (endpoint, principal))
        await self._census.enlist(endpoint.group, session_id, ttl)
        self._observer.event("session.created", group=endpoint.group, revision=revision.name)
        return session_id

    def recall(self, endpoint: Endpoint, principal: Principal, session_id: str) -> Session | None:
        """A session that is remembered and may still be trusted; None means that the pool must be asked."""
        memory = self._memories.get(sessions.key(endpoint.group, session_id))
        if memory is None or memory.state != self._revocations.current():
            return None
        now, news = self._clock.monotonic(), self._news
        if memory.until <= now or (news is not None and news.good_until <= now):
            return None
        if (memory.principal is principal and memory.endpoint is endpoint) or sessions.belongs(
            memory.session, endpoint, principal
        ):
            return memory.session
        return None

    async def find(self, endpoint: Endpoint, principal: Principal, session_id: str) -> Session | None:
        """The session, which then lives on; None where it has ended or never was, for this caller on this endpoint."""
        if not sessions.is_plausible(session_id):
            return None
        key, ttl = sessions.key(endpoint.group, session_id), endpoint.limits.session_ttl
        since = self._since()
        owned = await self._owned(key, endpoint, principal)
        if owned is None:
            return None
        session, left = owned
        if sessions.slide_due(ttl, ttl - left):
            prolonged = await self._prolong(key, ttl, left)
            if prolonged is None:
                self._memories.pop(key, None)
                return None
            if prolonged > left:
                await self._census.enlist(endpoint.group, session_id, ttl)
            left = prolonged
        self._remember(key, session, since, min(self._trust(ttl), left), (endpoint, principal))
        return session

    async def end(self, endpoint: Endpoint, principal: Principal, session_id: str) -> bool:
        """End a session everywhere; says whether there was one for this caller."""
        if not sessions.is_plausible(session_id):
            return False
        key = sessions.key(endpoint.group, session_id)
        if await self._owned(key, endpoint, principal) is None:
            return False
        ended = await self._pool.withdraw(key)
        self._revocations.advance()
        self._memories.pop(key, None)
        await self._census.strike(endpoint.group, session_id)
        if ended:
            self._observer.event("session.ended", group=endpoint.group)
        return ended

    async def _owned(self, key: str, endpoint: Endpoint, principal: Principal) -> tuple[Session, float] | None:
        """The caller's session, and the seconds that it still lives: the pool knows it, whoever prolonged it last."""
        found = await self._pool.look(key)
        session = None if found is None else sessions.unpacked(found[0])
        if found is None or session is None or not sessions.belongs(session, endpoint, principal):
            self._memories.pop(key, None)
            self._observer.event("session.refused", group=endpoint.group)
            return None
        return session, found[1]

    async def _prolong(self, key: str, ttl: float, left: float) -> float | None:
        """Let a session live on: the seconds that it has then, or None where it has ended.

        A store that cannot write now must not end a session that it still has.
        """
        try:
            return ttl if await self._pool.touch(key, ttl) else None
        except StoreError as error:
            self._observer.event("session.store_error", operation="touch", reason=str(error))
            return left

    def _trust(self, ttl: float) -> float:
        """Seconds for which a session of this time to live is remembered."""
        return REMEMBERED if self._news is None else max(REMEMBERED, min(REMEMBERED_WITH_NEWS, ttl / 10))

    def _since(self) -> _Since:
        """What is to be noted before the pool is asked: its answer may be out of date when it comes."""
        heard = 0 if self._news is None else self._news.heard
        return _Since(self._revocations.current(), heard, self._clock.monotonic())

    def _forget(self, key: str) -> None:
        self._memories.pop(key, None)

    def _remember(
        self, key: str, session: Session, since: _Since, seconds: float, of: tuple[Endpoint, Principal]
    ) -> None:
        """Trust the pool's word so long from before it was asked; not where something was taken back meanwhile."""
        self._memories.pop(key, None)
        if self._news is not None and self._news.heard != since.heard:
            return
        memory = _Memory(session, since.asked + seconds, since.state, *of)
        while len(self._memories) >= self._most:
            self._memories.popitem(last=False)
        self._memories[key] = memory
