"""Running a batch: each item once those that it waits for have run, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Generic, TypeVar

_Outcome = TypeVar("_Outcome")


async def run(
    waits: Mapping[int, Collection[int]], limit: int, execute: Callable[[int], Awaitable[_Outcome]]
) -> dict[int, _Outcome]:
    """The outcomes of items by their place.

    Args:
        waits: Which items each one waits for; nobody waits for itself in the end, and what is no key is not waited for.
        limit: How many are under way at a time.
        execute: Runs one item; it does not raise.
    """
    crew = _Crew(waits, limit, execute)
    async with asyncio.TaskGroup() as group:
        crew.hire(group, len(crew.ready))
    return crew.outcomes


class _Crew(Generic[_Outcome]):
    """Tasks that take whatever is ready until nothing is."""

    def __init__(
        self, waits: Mapping[int, Collection[int]], limit: int, execute: Callable[[int], Awaitable[_Outcome]]
    ) -> None:
        self.outcomes: dict[int, _Outcome] = {}
        self._limit = limit
        self._execute = execute
        self._busy = 0
        self._children: dict[int, list[int]] = {}
        self._missing: dict[int, int] = {}
        for place, parents in waits.items():
            awaited = [parent for parent in parents if parent in waits]
            self._missing[place] = len(awaited)
            for parent in awaited:
                self._children.setdefault(parent, []).append(place)
        self.ready = deque(place for place, missing in self._missing.items() if not missing)

    def hire(self, group: asyncio.TaskGroup, wanted: int) -> None:
        """So many tasks more, as far as the limit allows."""
        for _ in range(min(wanted, self._limit - self._busy)):
            self._busy += 1
            group.create_task(self._work(group))

    async def _work(self, group: asyncio.TaskGroup) -> None:
        while self.ready:
            place = self.ready.popleft()
            self.outcomes[place] = await self._execute(place)
            freed = self._freed(place)
            if freed:
                self.ready.extend(freed)
                # One of them is taken by this task itself.
                self.hire(group, len(freed) - 1)
        self._busy -= 1

    def _freed(self, place: int) -> list[int]:
        freed = []
        for child in self._children.get(place, ()):
            self._missing[child] -= 1
            if not self._missing[child]:
                freed.append(child)
        return freed
