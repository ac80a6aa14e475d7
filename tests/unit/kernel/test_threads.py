"""Where sync procedures run, also those that never end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator

import pytest

from rpcgw.api.errors import ServerError
from rpcgw.kernel.threads import Threads

WAIT = 10.0


class Gate:
    """A function that says when it has begun and ends when it is let."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.open = threading.Event()

    def __call__(self) -> str:
        self.loop.call_soon_threadsafe(self.begun.set)
        assert self.open.wait(WAIT)
        return "done"


@pytest.fixture
async def gates() -> Iterator[Callable[[], Gate]]:  # type: ignore[misc]  # pytest-asyncio runs it as a generator
    made: list[Gate] = []

    def make() -> Gate:
        made.append(Gate())
        return made[-1]

    yield make
    for gate in made:
        gate.open.set()


async def give_up(threads: Threads, gate: Gate) -> None:
    """Begin a call and leave it in the middle."""
    task = asyncio.create_task(threads.run(gate, gate.ended.set))
    await asyncio.wait_for(gate.begun.wait(), WAIT)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def fail(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


async def test_what_a_function_returns() -> None:
    """The value comes back, from another thread, which sees the caller's context variables."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")
    ended: list[str] = []
    answer = await Threads(size=1).run(lambda: (variable.get(), threading.get_ident()), lambda: ended.append("ended"))
    assert answer[0] == "mine"
    assert answer[1] != threading.get_ident()
    assert ended == ["ended"]


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), SystemExit(1), KeyboardInterrupt(), StopIteration(1)],
    ids=lambda error: type(error).__name__,
)
async def test_what_a_function_raises(error: BaseException) -> None:
    """Whatever it is, it comes back to the caller, and the thread goes on to serve."""
    threads = Threads(size=1)
    # A StopIteration cannot leave a coroutine: Python makes a RuntimeError of it.
    with pytest.raises(RuntimeError if isinstance(error, StopIteration) else type(error)):
        await threads.run(fail(error))
    assert await threads.run(lambda: "next") == "next"


async def test_no_more_threads_than_slots(gates: Callable[[], Gate]) -> None:
    """A third call waits while two slots are taken, and runs as soon as one is free."""
    threads = Threads(size=2)
    first, second, third = gates(), gates(), gates()
    tasks = [asyncio.create_task(threads.run(gate)) for gate in (first, second, third)]
    await first.begun.wait()
    await second.begun.wait()
    assert not third.begun.is_set()
    first.open.set()
    await asyncio.wait_for(third.begun.wait(), WAIT)
    second.open.set()
    third.open.set()
    assert await asyncio.gather(*tasks) == ["done"] * 3


async def test_what_was_given_up_before_its_turn_never_runs(gates: Callable[[], Gate]) -> None:
    """A call that leaves the queue is forgotten, and counts as ended."""
    threads = Threads(size=1)
    busy, waiting = gates(), gates()
    running = asyncio.create_task(threads.run(busy))
    await busy.begun.wait()
    task = asyncio.create_task(threads.run(waiting, waiting.ended.set))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waiting.ended.is_set()
    assert threads.stuck == 0
    busy.open.set()
    await running
    assert await threads.run(lambda: "next") == "next"
    assert not waiting.begun.is_set()


async def test_a_stuck_thread_is_replaced(gates: Callable[[], Gate]) -> None:
    """A call that is given up in the middle does not cost a slot, and says that it ended when it really has."""
    threads = Threads(size=1, spare=1)
    stuck = gates()
    await give_up(threads, stuck)
    assert threads.stuck == 1
    assert await asyncio.wait_for(threads.run(lambda: "served"), WAIT) == "served"
    assert not stuck.ended.is_set()
    stuck.open.set()
    await asyncio.wait_for(stuck.ended.wait(), WAIT)
    assert threads.stuck == 0
    assert await threads.run(lambda: "still served") == "still served"


async def test_a_queued_call_gets_the_replacement(gates: Callable[[], Gate]) -> None:
    """Who waits for a slot gets the one that takes a stuck thread's place."""
    threads = Threads(size=1, spare=1)
    stuck = gates()
    task = asyncio.create_task(threads.run(stuck))
    await stuck.begun.wait()
    queued = asyncio.create_task(threads.run(lambda: "served"))
    await asyncio.sleep(0)
    task.cancel()
    assert await asyncio.wait_for(queued, WAIT) == "served"


async def test_too_many_stuck_threads_refuse_and_tell_once(gates: Callable[[], Gate]) -> None:
    """Past the limit calls are refused at once, the owner is told once, and calls come back when threads do."""
    told: list[str] = []
    threads = Threads(size=1, spare=1, exhausted=lambda: told.append("told"))
    stuck = [gates(), gates()]
    await give_up(threads, stuck[0])
    assert told == []
    await give_up(threads, stuck[1])
    ended: list[str] = []
    for _ in range(2):
        with pytest.raises(ServerError, match="never ended"):
            await threads.run(lambda: "never", lambda: ended.append("ended"))
    assert told == ["told"]
    assert ended == ["ended", "ended"]
    stuck[0].open.set()
    await asyncio.wait_for(stuck[0].ended.wait(), WAIT)
    assert await threads.run(lambda: "back") == "back"
    assert told == ["told"]


async def test_closing_lets_idle_threads_go() -> None:
    """After `close` no thread is left, and a late call is refused instead of waiting for ever."""
    threads = Threads(size=1)
    [thread] = await threads.run(lambda: [threading.current_thread()])
    threads.close()
    thread.join(WAIT)
    assert not thread.is_alive()
    with pytest.raises(ServerError):
        await threads.run(lambda: "late")
