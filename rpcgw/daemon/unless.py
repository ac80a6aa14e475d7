"""Work that is given up where something else comes first. Stdlib only."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

_T = TypeVar("_T")


async def unless(event: asyncio.Event, work: Coroutine[Any, Any, _T] | asyncio.Future[_T]) -> _T | None:
    """The work's result; None, with the work given up, where the event comes first. Raises what the work raises."""
    working, waiting = asyncio.ensure_future(work), asyncio.create_task(event.wait())
    await asyncio.wait([working, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if working.done():
        return working.result()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
    return None
