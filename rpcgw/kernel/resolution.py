"""Conversion of parameters that name objects by id: the ids are noted, looked up together, and conversion runs anew.

So each object is in its place before a DTO around it is made, and a call is told of every id that is not found.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from rpcgw.kernel.messages import MESSAGES, Texts
from rpcgw.kernel.method import Method
from rpcgw.kernel.substitution import Find, Resolution
from rpcgw.kernel.threads import Threads

Finder = Callable[[Any], Awaitable[Any]]
"""Finds the object of an id; None where there is none."""

Finders = Mapping[Find, Finder]


def compile_finders(bound: Mapping[Find, Callable[[Any], Any]], threads: Threads) -> Finders:
    """Resolvers' functions, their other parameters filled, as coroutines: sync ones run in a thread."""
    return {
        find: function if inspect.iscoroutinefunction(find) else partial(_in_thread, function, threads)
        for find, function in bound.items()
    }


async def _in_thread(function: Callable[[Any], Any], threads: Threads, by: Any) -> Any:
    return await threads.run(partial(function, by))


async def convert_resolving(
    method: Method, arguments: dict[str, Any], finders: Finders, texts: Texts = MESSAGES
) -> dict[str, Any]:
    """What `method.convert` does, with objects in the place of ids.

    Raises:
        AssertionFailed: A value is refused, or an id finds nothing; all of them at once.
        Exception: whatever a resolver raises.
    """
    resolution = Resolution()
    while True:
        try:
            values = method.convert(arguments, resolution, texts)
        except Exception:  # an author's validator may stumble over what is not there yet; the last run tells the truth
            if not resolution.open:
                raise
        else:
            if not resolution.open:
                return values
        await _look_up(resolution, finders)


async def _look_up(resolution: Resolution, finders: Finders) -> None:
    wanted = resolution.open
    if len(wanted) == 1:
        find, by = wanted[0]
        resolution.found[wanted[0]] = await finders[find](by)
        return
    found = await asyncio.gather(*(finders[find](by) for find, by in wanted))
    resolution.found.update(zip(wanted, found, strict=True))
