"""Who is told of an event, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.api.context import ANONYMOUS, CallContext
from rpcgw.api.events import EVENT_NAMES, PreExecute
from rpcgw.api.marks import listens
from rpcgw.kernel.listeners import Listeners, compile_listeners, fire

CONTEXT = CallContext(ANONYMOUS, "general", 1, "x", "rpc", "en", "ray")


@listens(PreExecute)
def plain(event: PreExecute) -> None:
    event.params["told"].append("plain")


@listens(PreExecute, priority=-5)
async def late(event: PreExecute) -> None:
    event.params["told"].append("late")


@listens(PreExecute, priority=10)
async def early(event: PreExecute) -> str:
    event.params["told"].append("early")
    return "ignored"


@listens(PreExecute)
def second(event: PreExecute) -> str:
    event.params["told"].append("second")
    return "ignored"


@listens(PreExecute, priority=5)
def veto(event: PreExecute) -> None:
    raise ValueError("no")


async def test_high_priorities_come_first_and_equals_keep_their_order() -> None:
    """Listeners are ordered by priority, sync and async alike; what they return means nothing."""
    listeners, problems = compile_listeners([late, plain, second, early])
    event = PreExecute(CONTEXT, {"told": []})
    await fire(listeners.pre_execute, event)
    assert problems == []
    assert event.params["told"] == ["early", "plain", "second", "late"]


async def test_a_listener_that_raises_ends_the_round() -> None:
    """A veto is the caller's to handle, and those after it are not told."""
    listeners, _ = compile_listeners([plain, veto, early])
    event = PreExecute(CONTEXT, {"told": []})
    with pytest.raises(ValueError, match="no"):
        await fire(listeners.pre_execute, event)
    assert event.params["told"] == ["early"]


@pytest.mark.parametrize("event", EVENT_NAMES, ids=lambda event: event.__name__)
def test_each_event_has_its_listeners(event: type) -> None:
    """Every event class of the vocabulary can be listened to, and only its own listeners are kept for it."""

    @listens(event)
    def listen(_: Any) -> None: ...

    listeners, problems = compile_listeners([listen])
    kept = [getattr(listeners, name) for name in Listeners.__dataclass_fields__]
    assert problems == []
    assert sorted(kept) == [(), (), (), (), (), (listen,)]
    assert listeners.any


def test_nobody_listens() -> None:
    """Without listeners there is nothing to do."""
    assert compile_listeners([]) == (Listeners(), [])
    assert not Listeners().any


def unmarked(event: object) -> None: ...


@listens(int)
def astray(event: object) -> None: ...


@pytest.mark.parametrize(
    ("function", "code", "text"),
    [
        pytest.param(unmarked, "listener-unmarked", "unmarked is given as a listener and is not marked", id="no mark"),
        pytest.param(astray, "listener-event", "astray listens to int, which is no event", id="no event"),
    ],
)
def test_what_cannot_listen_is_a_problem(function: Any, code: str, text: str) -> None:
    """A listener without a mark, or of something that is no event, is named with its place."""
    _, problems = compile_listeners([function])
    [problem] = problems
    assert (problem.code, problem.text) == (code, text)
    assert problem.place.file == __file__
    assert problem.place.line > 0
