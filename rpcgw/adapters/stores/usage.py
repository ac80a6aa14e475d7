"""The usage log as a worker writes it: one task, in batches, in a thread of its own.

Whoever adds something waits until it is kept, or is told that it is not: nothing is lost without a word.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from math import inf
from typing import Final, TypeVar

from rpcgw.adapters.stores.ledger import Ledger
from rpcgw.api.records import record
from rpcgw.kernel.ports import Clock, Observer, StoreError
from rpcgw.protocol.webmcp.beacons import Begun, Ended, Told
from rpcgw.protocol.webmcp.statistics import Answered, Query, Use

BATCH: Final = 500
LINGER: Final = 0.05
"""Seconds that a batch is waited for, so that beacons that come together are written together."""
LATE: Final = 5.0
"""Seconds for which an end waits for its beginning: another worker may write that."""
RETRY: Final = 0.5
"""Seconds between two looks for a beginning, where nothing else is written."""
BETWEEN_PRUNES: Final = 3600.0

_Done = TypeVar("_Done")


class UsageLog:
    """Writes what beacons tell, removes what is old, answers queries; from `start` to `close`."""

    def __init__(
        self, writer: Ledger, reader: Ledger, clock: Clock, observer: Observer, *, keep: int = 0, waiting: int = 5000
    ) -> None:
        """Make a log.

        Args:
            writer: What the task writes with.
            reader: Another connection to the same database, so that a long query holds up nobody.
            clock: The time that calls are removed by.
            observer: Is told what became of each beacon (`webmcp.beacon`).
            keep: Seconds for which calls are kept; 0 keeps them for ever.
            waiting: How many beacons may wait to be written; further ones are refused.
        """
        self._writer, self._reader = writer, reader
        self._clock, self._observer = clock, observer
        self._keep, self._most = keep, waiting
        self._waiting: deque[_Waiting] = deque()
        self._late: list[tuple[float, Ended]] = []
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self._writing = ThreadPoolExecutor(1, "usage-write")
        self._reading = ThreadPoolExecutor(1, "usage-read")

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def add(self, told: Told) -> None:
        """Keep what a beacon tells; returns once it is kept. An end may still wait for its beginning.

        Raises:
            StoreError: It is not kept.
        """
        if len(self._waiting) >= self._most or self._stopping:
            self._count(told, "overflow")
            raise StoreError("the usage log does not keep up")
        waiting = _Waiting(told, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._wake.set()
        await waiting.kept

    async def read(self, query: Query) -> Answered:
        """What there is for a query. Raises `StoreError` where the log cannot be read."""
        return await _within(self._reading, partial(self._reader.read, query, self._clock.now()))

    async def rows(self, query: Query) -> list[Use]:
        """The calls of a query, the newest first. Raises `StoreError` where the log cannot be read."""
        return await _within(self._reading, partial(self._reader.rows, query, self._clock.now()))

    async def close(self) -> None:
        """Write what waits, and give back everything."""
        self._stopping = True
        self._wake.set()
        if self._task is not None:
            await self._task
        for _, end in self._late:
            self._count(end, "unmatched")
        await _within(self._writing, self._writer.close)
        await _within(self._reading, self._reader.close)
        self._writing.shutdown()
        self._reading.shutdown()

    async def _run(self) -> None:
        prune_at = -inf
        while self._waiting or not self._stopping:
            if self._clock.monotonic() >= prune_at and not self._stopping:
                prune_at = self._clock.monotonic() + BETWEEN_PRUNES
                await self._prune()
            await self._rest()
            await self._write([self._waiting.popleft() for _ in range(min(len(self._waiting), BATCH))])

    async def _rest(self) -> None:
        """Until something waits; a moment longer, so that what comes together is written together."""
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY if self._late else BETWEEN_PRUNES):
                await self._wake.wait()
        self._wake.clear()
        if not self._stopping:
            await asyncio.sleep(LINGER)
        if len(self._waiting) > BATCH:
            self._wake.set()

    async def _write(self, batch: Sequence[_Waiting]) -> None:
        late, self._late = self._late, []
        told = [*(waiting.told for waiting in batch), *(end for _, end in late)]
        if not told:
            return
        try:
            found = await _within(self._writing, partial(self._writer.write, told))
        except StoreError as error:
            self._late = late
            self._failed(batch, error)
            return
        now = self._clock.monotonic()
        ends = [*(now + LATE for _ in batch), *(until for until, _ in late)]
        became = Counter[tuple[str, str]]()
        for each, was_there, until in zip(told, found, ends, strict=True):
            if isinstance(each, Begun):
                became[each.site, "begun"] += 1
            elif was_there:
                became[each.site, "ended"] += 1
            elif now < until:  # its beginning may be what another worker is about to write
                self._late.append((until, each))
            else:
                became[each.site, "unmatched"] += 1
        for (site, outcome), count in became.items():
            self._observer.event("webmcp.beacon", site=site, outcome=outcome, count=count)
        for waiting in batch:
            waiting.settle()

    def _failed(self, batch: Sequence[_Waiting], error: StoreError) -> None:
        self._observer.event("webmcp.log_failed", reason=str(error), refused=len(batch))
        for waiting in batch:
            self._count(waiting.told, "failed")
            waiting.settle(error)

    async def _prune(self) -> None:
        try:
            removed = await _within(self._writing, partial(self._writer.prune, int(self._clock.now()), self._keep))
        except StoreError as error:
            self._observer.event("webmcp.log_failed", reason=str(error), refused=0)
            return
        if removed:
            self._observer.event("webmcp.pruned", calls=removed)

    def _count(self, told: Told, outcome: str) -> None:
        self._observer.event("webmcp.beacon", site=told.site, outcome=outcome)


@record(frozen=True, slots=True)
class _Waiting:
    """What a beacon tells, and who waits for it to be kept."""

    told: Told
    kept: asyncio.Future[None]

    def settle(self, error: StoreError | None = None) -> None:
        """Let it be known, unless nobody waits any more."""
        if self.kept.done():
            return
        if error is None:
            self.kept.set_result(None)
        else:
            self.kept.set_exception(error)


async def _within(pool: ThreadPoolExecutor, work: Callable[[], _Done]) -> _Done:
    return await asyncio.get_running_loop().run_in_executor(pool, work)
