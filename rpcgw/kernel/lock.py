"""Locks of calls: who may run, and letting go in every case.

A lock is held while the procedure runs, renewed in time, and let go by its owner only. Its ttl bounds how long it
outlives a holder that died, or a thread that nobody waits for any more. A store that cannot be asked refuses the call:
running without the lock is never an answer.
"""

from __future__ import annotations

import asyncio
from typing import Any

from rpcgw.api.errors import InternalError, LockedError
from rpcgw.api.marks import Lock
from rpcgw.kernel.background import Background
from rpcgw.kernel.keys import canonical_of, digest
from rpcgw.kernel.language import Phrase
from rpcgw.kernel.method import Method
from rpcgw.kernel.ports import Ids, Locks, Observer, Pool, StoreError

DEFAULT_TTL = 30.0
"""Seconds that a lock outlives its holder where the mark says nothing."""

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.2


class PoolLocks:
    """`Locks` over any pool: an owner's token that is added, and then kept or removed only if it is still there."""

    def __init__(self, pool: Pool, ids: Ids, prefix: str = "rpc_lock:") -> None:
        self._pool = pool
        self._ids = ids
        self._prefix = prefix

    async def acquire(self, name: str, ttl: float) -> str | None:
        """An owner's token, or None where another holds the lock."""
        owner = self._ids.token()
        return owner if await self._pool.add(self._prefix + name, owner.encode(), ttl) else None

    async def renew(self, name: str, owner: str, ttl: float) -> bool:
        """Hold on for `ttl` seconds more; False where the lock is no longer this owner's."""
        return await self._pool.touch_if(self._prefix + name, owner.encode(), ttl)

    async def release(self, name: str, owner: str) -> None:
        """Let go; does nothing where the lock is no longer this owner's."""
        await self._pool.delete_if(self._prefix + name, owner.encode())


def lock_name(method: Method, lock: Lock, values: dict[str, Any]) -> str:
    """What a call locks: its method in all groups and versions, and the converted value of the parameter `by`.

    Raises:
        NoJsonForm: The value has none; `NotJson` where that cannot be read back.
    """
    return f"{method.name}:{digest(canonical_of(values[lock.by]))}" if lock.by else method.name


class CallLocks:
    """Takes the locks of calls and sees to it that they are let go."""

    def __init__(self, locks: Locks, observer: Observer, background: Background) -> None:
        self._locks = locks
        self._observer = observer
        self.background = background

    async def take(self, name: str, lock: Lock) -> Held:
        """The lock `name`, waited for where the mark says so.

        Raises:
            LockedError: Another call holds it.
            InternalError: The store cannot be asked.
        """
        ttl = lock.ttl or DEFAULT_TTL
        loop = asyncio.get_running_loop()
        until = loop.time() + (lock.wait or 0)
        pause = FIRST_PAUSE
        while (held := await self._ask(name, ttl)) is None:
            left = until - loop.time()
            if left <= 0:
                raise LockedError(Phrase("error.locked", method=name.partition(":")[0]))
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 2, LONGEST_PAUSE)
        return held

    async def attempt(self, name: str, ttl: float) -> Held | None:
        """The lock `name`, or None where another holds it; a caller that leaves meanwhile leaves no lock behind.

        Raises:
            StoreError: The store cannot be asked.
        """
        # In a task of its own: the store may say yes to somebody who has gone.
        asking = self.background.spawn(self._locks.acquire(name, ttl))
        try:
            owner = await asyncio.shield(asking)
        except asyncio.CancelledError:
            self.background.spawn(self._give_back(name, asking))
            raise
        return None if owner is None else Held(self, name, owner, ttl)

    async def _ask(self, name: str, ttl: float) -> Held | None:
        try:
            return await self.attempt(name, ttl)
        except StoreError as error:
            self._observer.event("lock.error", action="acquire", lock=name, error=str(error))
            raise InternalError(Phrase("error.lock_store")) from error

    async def _give_back(self, name: str, asking: asyncio.Task[str | None]) -> None:
        await asyncio.wait([asking])
        if not asking.cancelled() and asking.exception() is None and (owner := asking.result()):
            await self.release(name, owner)

    async def renew(self, name: str, owner: str, ttl: float) -> bool:
        """Whether the lock is still this owner's, as far as can be known."""
        try:
            if await self._locks.renew(name, owner, ttl):
                return True
        except StoreError as error:
            self._observer.event("lock.error", action="renew", lock=name, error=str(error))
            return True
        self._observer.event("lock.lost", lock=name)
        return False

    async def release(self, name: str, owner: str) -> None:
        """Let go; a lock that cannot be let go ends by its ttl."""
        try:
            await self._locks.release(name, owner)
        except StoreError as error:
            self._observer.event("lock.error", action="release", lock=name, error=str(error))


class Held:
    """A lock in hand. `ended` is told when the procedure has really ended, `leave` when its caller has."""

    def __init__(self, locks: CallLocks, name: str, owner: str, ttl: float) -> None:
        self._locks = locks
        self._name = name
        self._owner = owner
        self._ttl = ttl
        self._over = False
        self._left = False
        self._timer = self._arm()

    def ended(self) -> None:
        """The procedure does not run any more."""
        self._over = True
        self._timer.cancel()
        if self._left:
            self._locks.background.spawn(self._release())

    async def leave(self) -> None:
        """Let go, now or when the procedure has ended; not renewed any more in between."""
        self._left = True
        self._timer.cancel()
        if self._over:
            await self._locks.background.finish(self._release())

    async def _release(self) -> None:
        await self._locks.release(self._name, self._owner)

    def _arm(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._ttl / 3, self._due)

    def _due(self) -> None:
        self._locks.background.spawn(self._renew())

    async def _renew(self) -> None:
        if await self._locks.renew(self._name, self._owner, self._ttl) and not (self._over or self._left):
            self._timer = self._arm()
