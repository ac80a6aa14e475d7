"""Who listens to which event, in which order; decided once from the plugins' marks."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from rpcgw.api import marks
from rpcgw.api.events import (
    EVENT_NAMES,
    ErrorRaised,
    PostExecute,
    PostResponse,
    PreExecute,
    PreResponse,
    RequestReceived,
)
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.kernel.signature import place_of

Listen = Callable[[Any], Awaitable[None] | None]
Ordered = tuple[Listen, ...]


@record(frozen=True, slots=True)
class Listeners:
    """The listeners of each event, highest priority first; an empty tuple costs a call nothing."""

    request: Ordered = ()
    pre_execute: Ordered = ()
    pre_response: Ordered = ()
    post_execute: Ordered = ()
    error: Ordered = ()
    post_response: Ordered = ()

    @property
    def any(self) -> bool:
        """Whether anybody listens to anything."""
        return bool(
            self.request
            or self.pre_execute
            or self.pre_response
            or self.post_execute
            or self.error
            or self.post_response
        )


def compile_listeners(functions: Iterable[Callable[..., Any]]) -> tuple[Listeners, list[Problem]]:
    """Arrange the plugins' listeners: by priority, and among equals in the order given."""
    problems: list[Problem] = []
    found: dict[type, list[tuple[int, Listen]]] = {event: [] for event in EVENT_NAMES}
    for function in functions:
        mark = marks.marks_of(function).get(marks.Listener)
        if isinstance(mark, marks.Listener) and mark.event in found:
            found[mark.event].append((mark.priority, function))
        else:
            problems.append(_problem(function, mark))

    def ordered(event: type) -> Ordered:
        return tuple(listen for _, listen in sorted(found[event], key=lambda entry: -entry[0]))

    compiled = Listeners(
        request=ordered(RequestReceived),
        pre_execute=ordered(PreExecute),
        pre_response=ordered(PreResponse),
        post_execute=ordered(PostExecute),
        error=ordered(ErrorRaised),
        post_response=ordered(PostResponse),
    )
    return compiled, problems


async def fire(listeners: Ordered, event: object) -> None:
    """Call each listener in turn; what one raises ends the round and is the caller's."""
    for listen in listeners:
        if (answer := listen(event)) is not None and inspect.isawaitable(answer):
            await answer


def _problem(function: Callable[..., Any], mark: object) -> Problem:
    name = getattr(function, "__qualname__", repr(function))
    place = place_of(inspect.unwrap(function))
    if isinstance(mark, marks.Listener):
        known = ", ".join(event.__name__ for event in EVENT_NAMES)
        return Problem(
            place, "listener-event", f"{name} listens to {mark.event.__name__}, which is no event", f"one of {known}"
        )
    return Problem(
        place, "listener-unmarked", f"{name} is given as a listener and is not marked", "mark it with @rpc.listens(...)"
    )
