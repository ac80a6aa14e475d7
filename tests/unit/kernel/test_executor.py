"""The pipeline: its order, its failures, its deadlines, and that nothing is held when a call is over."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from annotated_types import Ge

import rpcgw as rpc
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.api.context import Principal
from rpcgw.kernel.background import Strays
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.deadline import GRACE
from rpcgw.kernel.executor import Tuning
from rpcgw.kernel.gate import PASSED, Assertion
from rpcgw.kernel.listeners import compile_listeners
from rpcgw.kernel.threads import Threads
from tests.unit.kernel.world import Worker

WAIT = 10.0
SOON = 0.1
"""Seconds within which a call has begun, on any machine."""


@dataclass
class Notes:
    """An observer that writes down."""

    lines: list[tuple[Any, ...]] = field(default_factory=list)

    def call_started(self, call: Call) -> None:
        self.lines.append(("started", call.method))

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None:
        assert seconds >= 0
        self.lines.append(("finished", outcome.code if isinstance(outcome, Failed) else "done"))

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None:
        self.lines.append(("failed", type(cause).__name__, code))

    def event(self, name: str, /, **fields: Any) -> None:
        self.lines.append((name, fields))

    @property
    def names(self) -> list[str]:
        return [line[0] for line in self.lines]


class World(Worker):
    """A worker over any procedures, with a pool and locks in memory."""

    def __init__(
        self,
        *procedures: object,
        listeners: list[Callable[..., Any]] | None = None,
        tuning: Mapping[tuple[str, str], Tuning] | None = None,
        environment: str = "prod",
        threads: Threads | None = None,
        strays: Strays | None = None,
        grace: float = GRACE,
    ) -> None:
        compiled, problems = compile_listeners(listeners or [])
        assert problems == []
        self.notes = Notes()
        self.pool = MemoryPool()
        super().__init__(
            *procedures,
            pool=self.pool,
            observer=self.notes,
            listeners=compiled,
            tuning=tuning,
            environment=environment,
            threads=threads,
            strays=strays,
            grace=grace,
        )

    async def held(self) -> list[str]:
        return await self.pool.keys("rpc_lock:")


@pytest.fixture(autouse=True, params=["executed", "begun"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every promise here holds for calls that are executed, and for those that are begun at once."""
    if request.param == "begun":
        monkeypatch.setattr(Worker, "run", Worker.begin)
    return str(request.param)


@rpc.procedure("Demo")
class Demo:
    """Procedures of every kind."""

    async def add(self, a: Annotated[int, Ge(0)], b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    def threaded(self, a: int) -> list[int]:
        """Run in a thread."""
        return [a, int(threading.current_thread() is not threading.main_thread())]

    @rpc.inline
    def inline(self, a: int) -> list[int]:
        """Run on the loop."""
        return [a, int(threading.current_thread() is not threading.main_thread())]

    async def who(self, ctx: rpc.CallContext, a: int = 0) -> list[Any]:
        """Look at the call."""
        return [ctx.principal.name, ctx.group, ctx.version, ctx.method, ctx.surface, ctx.locale, ctx.ray_id, a]

    async def until(self, ctx: rpc.CallContext) -> bool:
        """Look at the deadline."""
        return ctx.deadline is not None and ctx.deadline > asyncio.get_running_loop().time()


@pytest.mark.parametrize(
    ("method", "params", "value"),
    [
        pytest.param("Demo.add", {"a": 2, "b": 3}, 5, id="named parameters"),
        pytest.param("Demo.add", [2, 3], 5, id="positions"),
        pytest.param("Demo.add", {"a": 2}, 3, id="a default"),
        pytest.param("Demo.add", {"a": 2, "z": 9}, 3, id="an unknown name is dropped"),
        pytest.param("Demo.threaded", {"a": 1}, [1, 1], id="a sync method runs in a thread"),
        pytest.param("Demo.inline", {"a": 1}, [1, 0], id="an inline method runs on the loop"),
        pytest.param("Demo.until", None, False, id="no deadline"),
    ],
)
async def test_a_call_succeeds(method: str, params: Any, value: Any) -> None:
    """T-14: a call has its method's value, and the observer is told once that it began and ended."""
    world = World(Demo)
    assert await world.value(method, params) == value
    assert world.notes.lines == [("started", method), ("finished", "done")]


async def test_a_method_sees_its_call() -> None:
    """The `CallContext` says who calls, from where, and what."""
    more = {"principal": Principal("ann"), "locale": "uk", "ray_id": "r1", "surface": "mcp"}
    assert await World(Demo).value("Demo.who", {"a": 7}, **more) == [
        "ann",
        "general",
        1,
        "Demo.who",
        "mcp",
        "uk",
        "r1",
        7,
    ]


async def test_a_method_sees_its_deadline() -> None:
    """`CallContext.deadline` is a time of the event loop's clock."""
    assert await World(Demo).value("Demo.until", timeout=WAIT) is True


async def test_nothing_to_do_afterwards() -> None:
    """Without listeners of rpc.post_response there is no `after`."""
    outcome = await World(Demo).call("Demo.add", [1])
    assert isinstance(outcome, Done)
    assert outcome.after is None


@pytest.mark.parametrize(
    ("method", "params", "more", "refusal", "names"),
    [
        pytest.param("Demo.gone", [], {}, (-32601, "MethodNotFound"), [], id="no such method"),
        pytest.param("Demo.add", [1], {"version": 3}, (-32601, "MethodNotFound"), [], id="no such version"),
        pytest.param("Demo.add", [1], {"group": "mcp"}, (-32601, "MethodNotFound"), [], id="no such group"),
        pytest.param("Demo.add", {}, {}, (-32602, "InvalidParams"), ["a"], id="a missing parameter"),
        pytest.param("Demo.add", {"a": "x"}, {}, (-32602, "InvalidParams"), ["a"], id="a wrong type"),
        pytest.param("Demo.add", {"a": -1}, {}, (-32602, "AssertionFailed"), ["a"], id="a broken rule"),
        pytest.param(
            "Demo.add",
            {"a": 1, "z": 1},
            {"strict": True},
            (-32602, "InvalidParams"),
            ["z"],
            id="unknown to a strict surface",
        ),
        pytest.param(
            "Demo.add",
            {"a": 1},
            {"gated": Assertion({"a": ["no"]})},
            (-32602, "AssertionFailed"),
            ["a"],
            id="a refusal that the gate gave before",
        ),
    ],
)
async def test_a_call_is_refused(
    method: str, params: Any, more: dict[str, Any], refusal: tuple[int, str], names: list[str]
) -> None:
    """T-09, T-16: what does not fit never runs; one error, told once, that names what is wrong."""
    world = World(Demo)
    failed = await world.failure(method, params, **more)
    code, exception = refusal
    assert (failed.code, failed.data["exception"]) == refusal
    assert list(failed.data.get("extra", {})) == names
    assert world.notes.lines == [("started", method), ("failed", exception, code), ("finished", code)]


REPEATED = pytest.mark.parametrize(
    "params", [{"a": "x"}, {"a": -1}, {}], ids=["a wrong type", "a broken rule", "missing"]
)


@REPEATED
async def test_a_mistake_that_comes_again_is_told_again(params: dict[str, Any]) -> None:
    """In the same words, to the client and to the observer."""
    world = World(Demo)
    first, second = await world.failure("Demo.add", params), await world.failure("Demo.add", params)
    assert (second.code, second.message, second.data) == (first.code, first.message, first.data)
    assert world.notes.names == ["started", "failed", "finished"] * 2


@REPEATED
async def test_what_a_listener_makes_of_a_refusal_is_not_said_to_others(params: dict[str, Any]) -> None:
    """Its words are this call's own."""

    @rpc.listens(rpc.ErrorRaised)
    def scribble(event: rpc.ErrorRaised) -> None:
        words = event.error.extra["a"]
        assert isinstance(words, list)
        words.append("scribbled")

    world = World(Demo, listeners=[scribble])
    for _ in range(2):
        assert (await world.failure("Demo.add", params)).data["extra"]["a"][1:] == ["scribbled"]


async def test_an_unknown_method_is_named_with_its_version() -> None:
    """The text of -32601 says what was looked for and where."""
    failed = await World(Demo).failure("Demo.gone", version=2)
    assert failed.message == 'The group "general" has no method "Demo.gone" in version 2'


async def test_a_version_that_nobody_has_is_not_called_by_a_number() -> None:
    """Surfaces ask for version 0 where a client named one that the group does not have."""
    failed = await World(Demo).failure("Demo.add", version=0)
    assert (failed.code, failed.message) == (-32601, 'The group "general" has no such version')


async def test_a_name_without_end_is_not_repeated_in_full() -> None:
    """What a client made up comes back to it short."""
    failed = await World(Demo).failure("x" * 10_000)
    assert failed.message == f'The group "general" has no method "{"x" * 100}" in version 1'


async def test_the_operator_may_refuse_unknown_names() -> None:
    """`refuse_unknown` makes an unknown parameter an error."""
    world = World(Demo, tuning={("general", "Demo.add"): Tuning(refuse_unknown=True)})
    assert (await world.failure("Demo.add", {"a": 1, "z": 1})).code == -32602


async def test_the_gate_is_not_asked_twice() -> None:
    """A verdict that the surface brings counts: here one that the gate would never have given."""
    assert await World(Demo).value("Demo.add", {"a": -1}, gated=PASSED) == 0


# Events


@dataclass
class Trail:
    """Listeners of every event that leave a trace."""

    told: list[str] = field(default_factory=list)

    def listeners(self, **replacing: Callable[[Any], None]) -> list[Callable[..., Any]]:
        def listener(event: type, name: str) -> Callable[..., Any]:
            @rpc.listens(event)
            async def listen(event: Any) -> None:
                self.told.append(name)
                if name in replacing:
                    replacing[name](event)

            return listen

        return [
            listener(rpc.RequestReceived, "request"),
            listener(rpc.PreExecute, "pre_execute"),
            listener(rpc.PreResponse, "pre_response"),
            listener(rpc.PostExecute, "post_execute"),
            listener(rpc.ErrorRaised, "error"),
            listener(rpc.PostResponse, "post_response"),
        ]


def setting(**fields: Any) -> Callable[[Any], None]:
    def replace(event: Any) -> None:
        for name, value in fields.items():
            setattr(event, name, value)

    return replace


def raising(error: BaseException) -> Callable[[Any], None]:
    def veto(event: Any) -> None:
        raise error

    return veto


async def test_events_come_in_order() -> None:
    """A success fires four events before its answer and one after it."""
    trail = Trail()
    world = World(Demo, listeners=trail.listeners())
    outcome = await world.call("Demo.add", [1])
    assert trail.told == ["request", "pre_execute", "pre_response", "post_execute"]
    assert isinstance(outcome, Done)
    assert outcome.after is not None
    await outcome.after()
    assert trail.told[4:] == ["post_response"]


@pytest.mark.parametrize(
    ("params", "told"),
    [
        pytest.param({"a": "x"}, ["request", "error"], id="a wrong type"),
        pytest.param({"a": -1}, ["request", "error"], id="a broken rule"),
    ],
)
async def test_a_refusal_fires_rpc_error(params: Any, told: list[str]) -> None:
    """T-17: every failure is told once to the listeners of rpc.error."""
    trail = Trail()
    await World(Demo, listeners=trail.listeners()).failure("Demo.add", params)
    assert trail.told == told


async def test_an_unknown_method_fires_both() -> None:
    """A call to nowhere was accepted, and failed."""
    trail = Trail()
    await World(Demo, listeners=trail.listeners()).failure("Demo.gone")
    assert trail.told == ["request", "error"]


@pytest.mark.parametrize("stage", ["request", "pre_execute", "pre_response", "post_execute"])
async def test_a_listener_may_veto(stage: str) -> None:
    """T-16: what a listener raises before the answer is the call's error, told once."""
    trail = Trail()
    world = World(Demo, listeners=trail.listeners(**{stage: raising(rpc.ApplicationError("no", code=7))}))
    failed = await world.failure("Demo.add", [1])
    assert (failed.code, failed.message) == (7, "no")
    assert trail.told[-2:] == [stage, "error"]
    assert world.notes.names == ["started", "failed", "finished"]


@pytest.mark.parametrize(
    ("stage", "fields", "value"),
    [
        pytest.param("request", {"params": {"a": 40}}, 41, id="the parameters as they came"),
        pytest.param("request", {"params": [40, 2]}, 42, id="by position"),
        pytest.param(
            "pre_execute", {"params": {"a": -40, "b": 0}}, -40, id="the checked parameters, not checked again"
        ),
        pytest.param("pre_response", {"result": "other"}, "other", id="the answer"),
        pytest.param("post_execute", {"result": "other"}, 2, id="not the raw result"),
    ],
)
async def test_a_listener_may_replace(stage: str, fields: dict[str, Any], value: Any) -> None:
    """What an event leaves open can be replaced, and the pipeline goes on with it."""
    world = World(Demo, listeners=Trail().listeners(**{stage: setting(**fields)}))
    assert await world.value("Demo.add", {"a": 1}) == value


@pytest.mark.parametrize(
    "change", [setting(params={"a": "x"}), lambda event: event.params.update(a="x")], ids=["replaced", "in place"]
)
async def test_replaced_parameters_are_checked_anew(change: Callable[[Any], None]) -> None:
    """A verdict from before a rpc.request listener does not count, and the caller's own parameters stay as they were."""
    world = World(Demo, listeners=Trail().listeners(request=change))
    sent = {"a": 1}
    failed = await world.failure("Demo.add", sent, gated=PASSED)
    assert (failed.code, failed.data["exception"]) == (-32602, "InvalidParams")
    assert sent == {"a": 1}


async def test_a_listener_may_replace_the_error() -> None:
    """rpc.error is where an error answer is changed; the log still has what was raised."""
    error = rpc.DataNotFound("nothing")
    world = World(Demo, listeners=Trail().listeners(error=setting(error=error)))
    assert (await world.failure("Demo.add", {"a": -1})).message == "nothing"
    assert ("failed", "AssertionFailed", -32404) in world.notes.lines


@pytest.mark.parametrize(
    "change",
    [raising(ValueError("bug")), raising(SystemExit(1)), setting(error="no error")],
    ids=["raises", "exits", "replaces it by something else"],
)
async def test_a_broken_error_listener_does_not_disturb(change: Callable[[Any], None]) -> None:
    """The client gets the error that there was."""
    world = World(Demo, listeners=Trail().listeners(error=change))
    assert (await world.failure("Demo.add", {"a": -1})).code == -32602


async def test_a_broken_late_listener_does_not_disturb() -> None:
    """What a listener of rpc.post_response raises is noted; the others are told all the same."""
    trail = Trail()
    broken = Trail().listeners(post_response=raising(ValueError("bug")))
    world = World(Demo, listeners=[*broken, *trail.listeners()])
    outcome = await world.call("Demo.add", [1])
    assert isinstance(outcome, Done)
    assert outcome.after is not None
    await outcome.after()
    assert trail.told[-1] == "post_response"
    assert world.notes.names == ["started", "finished", "listener.error"]


# Failures of the procedure


class Quit(BaseException):
    pass


def recurse() -> None:
    recurse()


class Coded(Exception):
    @property
    def code(self) -> int:
        raise SystemExit(3)


class Unmade(rpc.RpcError):
    """Its author forgot `super().__init__`."""

    def __init__(self) -> None:
        pass


class Wordless(rpc.RpcError):
    """Whoever asks for its words ends the process."""

    def __init__(self) -> None:
        super().__init__()
        del self.message

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(3) if name == "message" else AttributeError(name)


def cancelled() -> None:
    raise asyncio.CancelledError


def circle() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


def throw(error: BaseException) -> None:
    raise error


BAD: dict[str, Callable[[], Any]] = {
    "foreign": lambda: throw(ValueError("secret")),
    "own": lambda: throw(rpc.ApplicationError("said", code=4010, extra={"a": 1})),
    "exit": lambda: throw(SystemExit(1)),
    "interrupt": lambda: throw(KeyboardInterrupt()),
    "quit": lambda: throw(Quit()),
    "stop": lambda: throw(StopIteration()),
    "recursion": recurse,
    "cancelled": cancelled,
    "closing": lambda: throw(GeneratorExit()),
    "coded": lambda: throw(Coded()),
    "unmade": lambda: throw(Unmade()),
    "wordless": lambda: throw(Wordless()),
    "object": object,
    "circle": circle,
}


@rpc.procedure("Bad")
class Bad:
    """Procedures that go wrong."""

    async def on_loop(self, how: str) -> Any:
        """Go wrong."""
        return BAD[how]()

    def in_thread(self, how: str) -> Any:
        """Go wrong in a thread."""
        return BAD[how]()

    @rpc.inline
    def inline(self, how: str) -> Any:
        """Go wrong inline."""
        return BAD[how]()

    async def number(self) -> float:
        """Give no number."""
        return float("nan")

    @rpc.lock()
    async def locked(self, how: str) -> Any:
        """Go wrong with a lock in hand."""
        return BAD[how]()


@pytest.mark.parametrize("kind", ["on_loop", "in_thread", "inline", "locked"])
@pytest.mark.parametrize(
    ("how", "code", "exception", "words"),
    [
        pytest.param("foreign", -32603, "InternalError", "Internal JSON-RPC error", id="an unforeseen exception"),
        pytest.param("own", 4010, "ApplicationError", "said", id="an error of the author's"),
        pytest.param("exit", -32603, "InternalError", "Internal", id="an exit"),
        pytest.param("interrupt", -32603, "InternalError", "Internal", id="an interrupt"),
        pytest.param("quit", -32603, "InternalError", "Internal", id="a BaseException"),
        pytest.param("stop", -32603, "InternalError", "Internal", id="a StopIteration"),
        pytest.param("recursion", -32603, "InternalError", "Internal", id="an endless recursion"),
        pytest.param("cancelled", -32603, "InternalError", "Internal", id="a cancellation that nobody asked for"),
        pytest.param("closing", -32603, "InternalError", "Internal", id="a GeneratorExit of its own"),
        pytest.param("coded", -32603, "InternalError", "Internal", id="an exception whose code is an exit"),
        pytest.param("unmade", -32603, "InternalError", "Internal", id="an error of the author's that is half made"),
        pytest.param("wordless", -32603, "InternalError", "Internal", id="an error whose words are an exit"),
        pytest.param("object", -32603, "InternalError", "has no JSON form", id="a result without a JSON form"),
        pytest.param("circle", -32603, "InternalError", "contains itself", id="a result that contains itself"),
    ],
)
async def test_a_procedure_goes_wrong(kind: str, how: str, code: int, exception: str, words: str) -> None:
    """Whatever a procedure does, the caller gets an RPC error, it is logged once, and nothing stays locked."""
    world = World(Bad)
    failed = await world.failure(f"Bad.{kind}", {"how": how})
    assert (failed.code, failed.data["exception"]) == (code, exception)
    assert words in failed.message
    assert "secret" not in str(failed.body())
    assert world.notes.names == ["started", "failed", "finished"]
    assert await world.held() == []


async def test_a_refusal_at_once_keeps_nothing_of_what_ran() -> None:
    """Neither the task nor the caller's frames wait for the garbage collector, as they would by way of its traceback."""
    executor = World(Bad).executor

    def refused() -> weakref.ref[BaseException]:
        call = Call("Bad.on_loop", "general", 1, {"how": "own"}, "1", "rpc")
        outcome = executor.begin(call)
        assert isinstance(outcome, Failed)
        return weakref.ref(outcome.error)

    gc.collect()
    gc.disable()
    try:
        assert refused()() is None
    finally:
        gc.enable()


async def test_nan_is_no_number() -> None:
    """A result that its type promises to be a number is one, or the call fails."""
    assert (await World(Bad).failure("Bad.number")).code == -32603


async def test_dev_tells_what_happened() -> None:
    """T-17: in dev the client sees text, place and trace of what was raised."""
    failed = await World(Bad, environment="dev").failure("Bad.on_loop", {"how": "foreign"})
    assert failed.message == "secret"
    assert failed.data["previous"]["exception"] == "ValueError"
    assert failed.data["file"] == __file__


# Deadlines, locks, and callers that leave


@pytest.fixture
async def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the loop's clock on: what is to happen at a time happens then, and nothing before."""
    loop, passed = asyncio.get_running_loop(), [0.0]
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + passed[0])

    def move(seconds: float) -> None:
        passed[0] += seconds

    return move


class Slow:
    """What the test sees of a procedure that waits to be let go."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.cleaned = False
        self.loop = asyncio.get_running_loop()
        self.thread = threading.Event()

    @contextlib.contextmanager
    def cleaning(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.cleaned = True


def slow_procedure(slow: Slow) -> object:
    @rpc.procedure("Slow")
    class Procedure:
        """Procedures that wait."""

        @rpc.lock(by="id")
        async def on_loop(self, id: int) -> str:  # noqa: A002 -- a name of the API
            """Wait on the loop."""
            slow.begun.set()
            with slow.cleaning():
                await slow.go.wait()
            return "done"

        @rpc.lock(by="id")
        def in_thread(self, id: int) -> str:  # noqa: A002 -- a name of the API
            """Wait in a thread."""
            slow.loop.call_soon_threadsafe(slow.begun.set)
            with slow.cleaning():
                slow.thread.wait(WAIT)
            return "done"

    return Procedure()


@pytest.mark.parametrize(
    ("deadline", "timeout"),
    [pytest.param(WAIT, None, id="the operator's"), pytest.param(None, WAIT, id="the caller's"),
     pytest.param(9 * WAIT, WAIT, id="the caller's is shorter"),
     pytest.param(WAIT, 9 * WAIT, id="the operator's is shorter")],
)  # fmt: skip
async def test_an_async_call_ends_at_its_deadline(
    deadline: float | None, timeout: float | None, later: Callable[[float], None]
) -> None:
    """-32300 at the shortest of all deadlines; the procedure's clean-up has run, and its lock is free."""
    slow = Slow()
    world = World(slow_procedure(slow), tuning={("general", "Slow.on_loop"): Tuning(deadline=deadline)})
    late = asyncio.create_task(world.failure("Slow.on_loop", {"id": 1}, timeout=timeout))
    await slow.begun.wait()
    later(WAIT + 1.0)
    failed = await late
    assert (failed.code, failed.data) == (-32300, {"exception": "AsyncError"})
    assert slow.cleaned
    assert await world.held() == []
    assert world.notes.names == ["started", "failed", "finished"]


async def test_a_sync_call_ends_at_its_deadline_and_its_lock_with_its_thread(later: Callable[[float], None]) -> None:
    """-32300 at the deadline; the lock stays until the thread has ended, and other calls go on."""
    slow = Slow()
    threads = Threads(size=1, spare=1)
    world = World(slow_procedure(slow), Demo, threads=threads)
    late = asyncio.create_task(world.failure("Slow.in_thread", {"id": 1}, timeout=WAIT))
    await slow.begun.wait()
    later(WAIT + 1.0)
    assert (await late).code == -32300
    assert threads.stuck == 1
    assert (await world.failure("Slow.in_thread", {"id": 1})).code == -32400
    assert await world.value("Demo.threaded", [5]) == [5, 1]
    slow.thread.set()
    while threads.stuck:
        await asyncio.sleep(0)
    await world.executor.close()
    assert await world.held() == []


@pytest.mark.parametrize("method", ["Slow.on_loop", "Slow.in_thread"])
async def test_a_caller_that_leaves(method: str) -> None:
    """A cancellation from outside passes through; nothing stays locked, and the call is told to have ended."""
    slow = Slow()
    world = World(slow_procedure(slow))
    task = asyncio.create_task(world.call(method, {"id": 1}, timeout=WAIT))
    await slow.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.thread.set()
    while await world.held():
        await asyncio.sleep(0)
    assert slow.cleaned
    assert world.notes.lines == [("started", method), ("finished", -32300)]
    await world.executor.close()


async def test_a_call_that_is_closed() -> None:
    """A coroutine that nobody runs any more ends where it stands: it does not go on with an answer."""
    world = World(slow_procedure(Slow()))
    call = world.call("Slow.on_loop", {"id": 1})
    call.send(None)
    call.close()
    assert world.notes.lines == [("started", "Slow.on_loop"), ("finished", -32300)]


async def test_the_same_value_is_locked_and_another_is_not() -> None:
    """-32400 for the same value of the parameter, however it is written; other values run."""
    slow = Slow()
    world = World(slow_procedure(slow))
    first = asyncio.create_task(world.value("Slow.on_loop", {"id": 1}))
    await slow.begun.wait()
    ways: list[Any] = [{"id": 1}, [1], {"id": 1.0}]
    for same in ways:
        failed = await world.failure("Slow.on_loop", same)
        assert (failed.code, failed.message) == (-32400, "Slow.on_loop is locked by another call")
    other = asyncio.create_task(world.value("Slow.on_loop", {"id": 2}))
    slow.go.set()
    assert [await first, await other] == ["done", "done"]
    assert await world.held() == []


# Procedures that do not let themselves be stopped, and those that stop themselves


@rpc.procedure("Stubborn")
class Stubborn:
    """Procedures that go on in spite of being cancelled, until the test lets them go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def waiting(self) -> str:
        """Wait for something, again and again."""
        while not self.go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.go.wait()
        return "done"

    async def in_a_task(self) -> str:
        """Wait for a task that goes on, as `asyncio.wait_for` does."""
        return await asyncio.wait_for(self.waiting(), WAIT)

    async def in_a_crowd(self) -> tuple[str, str]:
        """Wait for several tasks that go on."""
        return await asyncio.gather(self.waiting(), self.waiting())

    async def turning(self) -> str:
        """Give the loop its turn and wait for nothing."""
        while not self.go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        return "done"

    @rpc.lock(ttl=WAIT)
    async def locked(self) -> str:
        """Wait with a lock in hand."""
        return await self.waiting()

    async def failing(self) -> str:
        """Go wrong when nobody listens any more."""
        await self.waiting()
        raise ValueError("nobody hears this")


def impatient(stubborn: Stubborn, strays: Strays) -> World:
    names = ["waiting", "in_a_task", "in_a_crowd", "turning", "locked", "failing"]
    tuning = {("general", f"Stubborn.{name}"): Tuning(deadline=SOON) for name in names}
    return World(stubborn, Demo, tuning=tuning, strays=strays, grace=0.01)


@pytest.mark.parametrize("name", ["waiting", "in_a_task", "in_a_crowd", "turning", "locked", "failing"])
async def test_a_procedure_that_swallows_its_cancellation_is_left_to_itself(name: str) -> None:
    """The caller has -32300 a moment after the deadline; the procedure goes on, is counted, and other calls run."""
    stubborn, strays = Stubborn(), Strays()
    world = impatient(stubborn, strays)
    async with asyncio.timeout(WAIT):
        failed = await world.failure(f"Stubborn.{name}")
    assert (failed.code, failed.data) == (-32300, {"exception": "AsyncError"})
    assert strays.count == 1
    assert world.notes.names == ["started", "failed", "finished"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert await world.value("Demo.add", [2, 3]) == 5
    stubborn.go.set()
    while strays.count:
        await asyncio.sleep(0)
    await world.executor.close()


async def test_the_lock_of_a_procedure_that_goes_on_ends_with_it() -> None:
    """Nobody else gets the lock while the procedure that was left to itself still runs."""
    stubborn, strays = Stubborn(), Strays()
    world = impatient(stubborn, strays)
    assert (await world.failure("Stubborn.locked")).code == -32300
    assert (await world.failure("Stubborn.locked")).code == -32400
    stubborn.go.set()
    while strays.count:
        await asyncio.sleep(0)
    await world.executor.close()
    assert await world.held() == []


async def test_too_many_procedures_that_go_on_end_the_worker() -> None:
    """As with threads that are stuck: past the limit the worker's owner is told, once."""
    told: list[int] = []
    stubborn = Stubborn()
    strays = Strays(1, lambda: told.append(strays.count))
    world = impatient(stubborn, strays)
    for _ in range(3):
        assert (await world.failure("Stubborn.waiting")).code == -32300
    assert told == [2]
    stubborn.go.set()
    while strays.count:
        await asyncio.sleep(0)


async def test_a_slow_clean_up_has_its_time() -> None:
    """Within the grace a procedure that was cancelled cleans up undisturbed, and its caller waits for it."""

    @rpc.procedure("Tidy")
    class Tidy:
        """Procedures that clean up."""

        async def rollback(self) -> None:
            """Take back what was begun."""
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(3):
                    await asyncio.create_task(asyncio.sleep(0.01))
                steps.append("rolled back")

    steps: list[str] = []
    strays = Strays()
    world = World(Tidy(), tuning={("general", "Tidy.rollback"): Tuning(deadline=SOON)}, strays=strays, grace=WAIT)
    assert (await world.failure("Tidy.rollback")).code == -32300
    assert (steps, strays.count) == (["rolled back"], 0)


@rpc.procedure("Suicidal")
class Suicidal:
    """Procedures that cancel the task they run in."""

    async def then_waiting(self) -> str:
        """Cancel, and wait."""
        self._cancel()
        await asyncio.sleep(0)
        return "never"

    async def then_done(self) -> str:
        """Cancel, and return."""
        self._cancel()
        return "never"

    async def twice(self) -> str:
        """Cancel more than once, with something between."""
        try:
            await self.then_waiting()
        finally:
            self._cancel()
            await asyncio.sleep(0)
        return "never"

    async def raising(self) -> str:
        """Raise what a cancellation raises."""
        raise asyncio.CancelledError("of its own")

    async def taken_back(self) -> str:
        """Cancel, and think better of it."""
        task = self._cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        task.uncancel()
        return "alive"

    @staticmethod
    def _cancel() -> asyncio.Task[Any]:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return task


@pytest.mark.parametrize("timeout", [None, WAIT])
@pytest.mark.parametrize("name", ["then_waiting", "then_done", "twice", "raising"])
async def test_a_procedure_that_cancels_itself(name: str, timeout: float | None) -> None:
    """It is a failure of the procedure like any other, and whoever called it goes on."""
    world = World(Suicidal)
    failed = await world.failure(f"Suicidal.{name}", timeout=timeout)
    assert (failed.code, failed.data) == (-32603, {"exception": "InternalError"})
    assert world.notes.names == ["started", "failed", "finished"]
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_procedure_that_thinks_better_of_it() -> None:
    """A cancellation that a procedure took back itself is none."""
    assert await World(Suicidal).value("Suicidal.taken_back") == "alive"


async def test_a_caller_that_leaves_a_procedure_that_cancelled_itself() -> None:
    """The caller's own wish counts, whatever the procedure did to itself before."""
    begun = asyncio.Event()

    @rpc.procedure("Both")
    class Both:
        """Cancelled from both sides."""

        async def ways(self) -> None:
            """Cancel, and go on until somebody else does."""
            with contextlib.suppress(asyncio.CancelledError):
                await Suicidal().then_waiting()
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(World(Both).call("Both.ways"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
