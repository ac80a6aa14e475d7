"""The pipeline: one call, from params to outcome, in the order that every surface shares.

rpc.request -> method look-up -> rate -> bind -> cache read -> assertions -> conversion -> rpc.pre_execute -> lock
-> invoke -> rpc.pre_response -> rpc.post_execute -> encode -> cache write; any failure -> rpc.error once -> a rendered
error; rpc.post_response is what `Done.after` fires once the answer is on the wire.

Results that a success makes stale are dropped before it is answered, so that a client who reads after it has written
never reads what was before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, cast

import msgspec

from rpcgw.api.context import CallContext, Principal
from rpcgw.api.errors import (
    Abandoned,
    InternalError,
    InvalidParams,
    MethodNotFound,
    RpcError,
    RuntimeFault,
    TooManyRequests,
)
from rpcgw.api.events import ErrorRaised, PostExecute, PostResponse, PreExecute, PreResponse, RequestReceived
from rpcgw.api.rates import Rate
from rpcgw.kernel.background import Background, Strays
from rpcgw.kernel.cache import NOWHERE, CachePolicy, Hit, Miss, ResultCache
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.codec import NoJsonForm, decode, encode
from rpcgw.kernel.content import unpacked
from rpcgw.kernel.deadline import GRACE, Deadlines, Guard
from rpcgw.kernel.driving import Work, answerable, ended, first_step, resumed
from rpcgw.kernel.failure import PYTHON, Names, as_rpc_error, is_exposed, render
from rpcgw.kernel.flights import LEASE_TTL, Flights, Turn
from rpcgw.kernel.gate import PASSED, Assertion, Passed, Shape, Verdict
from rpcgw.kernel.identity import Identity
from rpcgw.kernel.language import ENGLISH, Phrase
from rpcgw.kernel.listeners import Listeners, Ordered, fire
from rpcgw.kernel.lock import CallLocks, PoolLocks, lock_name
from rpcgw.kernel.messages import Errors, Texts
from rpcgw.kernel.method import Method
from rpcgw.kernel.plan import Plan, compile_plans, shortest
from rpcgw.kernel.ports import Clock, Ids, Locks, Observer, Pool
from rpcgw.kernel.protection import Protections
from rpcgw.kernel.rates import Rates, retry_after
from rpcgw.kernel.relations import WarmUp
from rpcgw.kernel.resolution import compile_finders, convert_resolving
from rpcgw.kernel.scopes import refusal
from rpcgw.kernel.substitution import Find
from rpcgw.kernel.table import MethodTable
from rpcgw.kernel.threads import Threads
from rpcgw.kernel.tuning import Tuning, Tunings

__all__ = ["Executor", "Tuning"]

Params = dict[str, Any] | list[Any] | None
Performed = tuple[dict[str, Any], Any, bytes]


class Executor:
    """Runs calls, for one event loop. `execute` never raises but for a cancellation from outside.

    `plans` and `cache` are there for those who look after kept results (`control`).

    Args:
        table: The methods.
        instances: The procedures' instances, by class.
        listeners: Who listens to events.
        tuning: What the operator tunes, by group and method.
        environment: Where this runs: which caches are in use, and what clients see of errors (T-17).
        clock, ids, observer: The ports of these names.
        pool: Where results are kept.
        locks: What marked methods lock with.
        threads: Where sync procedures run; a pool of default size where None.
        strays: Where async procedures go on that do not end at their deadline; as many as `Strays` has it where None.
        grace: For how many seconds a call may clean up after its deadline.
        cache_prefix: What stands before the keys of results.
        lease_ttl: For how many seconds others wait for a process that died while it made a result.
        resolvers: Plugins' resolvers, each ready to be called with an id.
        languages: What the product says to clients, by locale; English where there is none.
        error_names: What clients see as the classes of rpcgw's own errors.
        rates: Who counts how often methods are called; None where nobody does.
        identities: What procedures may do with callers' tokens, by group; nothing where none is said.
    """

    def __init__(
        self,
        table: MethodTable,
        instances: Mapping[type, object],
        *,
        clock: Clock,
        ids: Ids,
        observer: Observer,
        pool: Pool,
        locks: Locks,
        listeners: Listeners | None = None,
        tuning: Tunings | None = None,
        environment: str = "prod",
        threads: Threads | None = None,
        strays: Strays | None = None,
        grace: float = GRACE,
        cache_prefix: str = "rpc_cache",
        lease_ttl: float = LEASE_TTL,
        resolvers: Mapping[Find, Callable[[Any], Any]] | None = None,
        languages: Mapping[str, Texts] | None = None,
        error_names: Names = PYTHON,
        rates: Rates | None = None,
        identities: Mapping[str, Identity] | None = None,
    ) -> None:
        self._listeners = listeners or Listeners()
        self._listened = self._listeners.any
        self._ids = ids
        self._observer = observer
        self._exposed = is_exposed(environment)
        self._languages = languages or {}
        self._error_names = error_names
        self._identities = identities or {}
        self._encode = self._inspected if self._exposed else _encode
        self._monotonic = clock.monotonic
        self._threads = threads or Threads()
        self._strays = strays or Strays()
        self._rates = rates
        protections = Protections(observer, clock.monotonic)
        self.plans = compile_plans(table, instances, tuning or {}, environment, self._threads, protections=protections)
        self._served = self.plans
        self._off: dict[str, frozenset[str]] = {}
        self.cache = ResultCache(pool, ids, observer, cache_prefix)
        self._background = Background()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._locks = CallLocks(locks, observer, self._background)
        leases = CallLocks(PoolLocks(pool, ids, f"{cache_prefix}:"), observer, self._background)
        self._flights = Flights(self.cache, leases, observer, lease_ttl)
        self._deadlines = Deadlines(grace)
        self._finders = compile_finders(resolvers or {}, self._threads)

    def offer(self, group: str, off: frozenset[str]) -> None:
        """Run these methods of a group no more, and all of its others."""
        self._off[group] = off
        self._served = {key: plan for key, plan in self.plans.items() if key[2] not in self._off.get(key[0], ())}

    async def execute(self, call: Call) -> Outcome:
        """Run one call to its outcome; the observer is told once of its start, its failure and its end.

        Raises:
            CancelledError: The caller's task was cancelled; locks and threads are given back all the same.
        """
        self._observer.call_started(call)
        started = self._monotonic()
        plan = self._served.get((call.group, call.version, call.method))
        limit = None if plan is None else plan.deadline
        seconds = call.timeout if limit is None else shortest(call.timeout, limit)
        return await self._settled(call, started, seconds, partial(self._run, call, plan))

    def begin(self, call: Call) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Run a call in the current task: its outcome, where it was there without any waiting.

        Else what `execute` gives, to be awaited in this very task: the call may have begun.
        """
        plan = self._served.get((call.group, call.version, call.method))
        if plan is None and call.refused is None and not self._listened and not self._exposed:
            return self._not_run(call)
        if (
            plan is None
            or not plan.direct
            or self._listened
            or call.refused is not None
            or not plan.method.scopes <= call.principal.scopes
        ):
            return self.execute(call)
        return self._at_once(call, plan)

    def _at_once(self, call: Call, plan: Plan) -> Outcome | Coroutine[Any, Any, Outcome]:
        """The first step of a call that nothing surrounds; it is mostly the last one, too."""
        if (loop := self._loop) is None:
            loop = self._loop = asyncio.get_running_loop()
        task: asyncio.Task[Any] = asyncio.current_task(loop)  # type: ignore[assignment]  # a call runs in a task
        before = task.cancelling()
        self._observer.call_started(call)
        started = self._monotonic()
        over, failure = True, None
        work: Work[Any] | None = None
        given: Any = None
        try:
            values = self._values(call, plan)
            if not isinstance(values, dict):
                return self._refused(call, plan, values, started)
            work = plan.invoke(values, _UNSEEN)
            over, given = first_step(work)
            if over and task.cancelling() == before:
                encoded = self._encode(plan.method, given)
                if call.strict and type(given) is not plan.method.evident:
                    self._kept(call, plan.method, encoded)
                done = Done(encoded)
                self._observer.call_finished(call, done, self._monotonic() - started)
                return done
        except BaseException as cause:  # noqa: BLE001 -- whatever the author's code raises is this call's failure
            failure = cause
        own = task.cancelling() - before
        if isinstance(failure, RpcError) and not own:  # nobody who listens is to be waited for
            failed = self._failed(call, failure, failure)
            failure.__traceback__ = None  # told; its frames would keep each other, and the task
            self._observer.call_finished(call, failed, self._monotonic() - started)
            return failed
        if over or work is None:
            return self._settled(call, started, None, lambda _: ended(task, own, failure or asyncio.CancelledError()))
        seconds = call.timeout if plan.deadline is None else shortest(call.timeout, plan.deadline)
        return self._settled(call, started, seconds, partial(self._rest, call, plan, work, given), own)

    def _not_run(self, call: Call) -> Failed:
        """The outcome of a call of a method that is not there."""
        self._observer.call_started(call)
        started = self._monotonic()
        error = _not_found(call)
        failed = self._failed(call, error, error)
        self._observer.call_finished(call, failed, self._monotonic() - started)
        return failed

    def _values(self, call: Call, plan: Plan) -> dict[str, Any] | Shape | Assertion:
        """What a procedure takes that needs no resolver, or what keeps its arguments from it."""
        method, gated = plan.method, call.gated
        texts = self._languages.get(call.locale, ENGLISH)
        if gated is not None and call.strict and method.arguments.gated:  # the gate has seen to the names as well
            bound: dict[str, Any] = call.params  # type: ignore[assignment]  # the gate takes nothing else
        else:
            bound = method.bind(call.params, strict=call.strict, refuse_unknown=plan.refuse_unknown, texts=texts)
        objection = None if gated is PASSED else _objection(method, bound, gated, texts)
        if objection is None:
            return method.convert(bound, texts=texts)
        if self._exposed:  # whoever is shown errors is shown where they were raised
            _pass(method, bound, objection, texts)
        return objection

    def _refused(self, call: Call, plan: Plan, objection: Shape | Assertion, started: float) -> Failed:
        """The outcome of a call whose arguments do not fit; one for all of which the gate says the same."""
        texts = self._languages.get(call.locale, ENGLISH)
        memo, key = objection.memo, (self, id(texts))
        if memo is not None and key in memo:
            failed: Failed = memo[key]
            self._observer.call_failed(call, failed.error, failed.code)
        else:
            error = plan.method.refusal(objection, texts)
            failed = self._failed(call, error, error)
            if memo is not None:
                memo[key] = msgspec.structs.replace(failed, ready=failed.encoded)
        self._observer.call_finished(call, failed, self._monotonic() - started)
        return failed

    async def _rest(self, call: Call, plan: Plan, work: Work[Any], waiting: object, guard: Guard | None) -> Done:
        """What is left of a call that waits for something."""
        result = await self._held(resumed(work, waiting), guard)
        if guard is not None:
            guard.stop()
        return Done(self._kept(call, plan.method, self._encode(plan.method, result)))

    async def _settled(
        self, call: Call, started: float, seconds: float | None, run: Callable[[Guard | None], Work[Done]], own: int = 0
    ) -> Outcome:
        """The outcome of work that runs within `seconds`; the observer is told of its end. `own` as in `answerable`."""
        outcome: Outcome = _ABANDONED
        try:
            if seconds is None:
                outcome = await answerable(run(None), own)
            else:
                with self._deadlines.guard(seconds) as guard:
                    outcome = await answerable(run(guard), own)
        except BaseException as cause:  # whatever the author's code raises is this call's failure, SystemExit too
            # A CancelledError that nobody sent to this task is one of those: the procedure awaited something cancelled.
            if _is_closed(cause) or (isinstance(cause, asyncio.CancelledError) and _is_cancelled()):
                raise
            outcome = await self._fail(call, cause)
        finally:
            self._observer.call_finished(call, outcome, self._monotonic() - started)
        return outcome

    async def _run(self, call: Call, plan: Plan | None, guard: Guard | None) -> Done:
        context = self._context(call, plan, guard)
        params, gated = call.params, call.gated
        if self._listeners.request:
            params, gated = await self._received(call, context), None
        if plan is None or call.refused is not None or not plan.method.scopes <= call.principal.scopes:
            raise call.refused or _refusal(call, plan)
        if plan.rate is not None:
            await self._count(plan.rate, call)
        method = plan.method
        texts = self._languages.get(call.locale, ENGLISH)
        bound = method.bind(params, strict=call.strict, refuse_unknown=plan.refuse_unknown, texts=texts)
        miss: Miss | None = None
        if plan.cache is not None:
            found = await self.cache.read(plan.cache, call, {**method.defaults, **bound})
            if isinstance(found, Hit):
                return _done(method, self._kept(call, method, found.encoded), cached=True)
            miss = found
        _pass(method, bound, gated, texts)
        if plan.resolving:
            values = await convert_resolving(method, bound, self._finders, texts)
        else:
            values = method.convert(bound, texts=texts)
        if plan.plain and not self._listened:
            result = await self._held(plan.invoke(values, context), guard)
            if guard is not None:
                guard.stop()
            return Done(self._kept(call, method, self._encode(method, result)))
        return await self._complete(call, plan, context, bound=bound, values=values, guard=guard, miss=miss)

    async def _complete(
        self,
        call: Call,
        plan: Plan,
        context: CallContext,
        *,
        bound: dict[str, Any],
        values: dict[str, Any],
        guard: Guard | None,
        miss: Miss | None,
    ) -> Done:
        """From rpc.pre_execute to the end, or from another call's result if one is being made (`flights`)."""
        if plan.cache is None or miss is None:
            work = self._perform(call, plan, context, values=values, bound=bound, guard=guard)
            values, result, encoded = await work
        else:
            turn = await self._turn(call, plan.cache, miss)
            if isinstance(turn, Hit):
                return _done(plan.method, self._kept(call, plan.method, turn.encoded), cached=True)
            work = self._perform(call, plan, context, values=values, bound=bound, guard=guard)
            values, result, encoded = await self._in_turn(turn, plan.cache, work)
        if plan.drops:
            # Whatever becomes of the caller.
            given = {**plan.method.defaults, **bound}
            await self._background.finish(self.cache.invalidate(plan.drops, given))
        if not self._listeners.post_response and not plan.warms:
            return _done(plan.method, encoded)
        event = PostResponse(context, values, result)
        return _done(plan.method, encoded, after=partial(self._answered, call, plan, bound, event))

    async def _count(self, rate: Rate, call: Call) -> None:
        """Count a call of a method with a rate, if somebody counts."""
        if self._rates is None:
            return
        if wait := await self._rates.hit("method", rate, call.group, call.method):
            seconds = retry_after(wait)
            raise TooManyRequests(Phrase("error.rate", method=call.method, seconds=seconds), retry_after=wait)

    async def _turn(self, call: Call, policy: CachePolicy, miss: Miss) -> Hit | Turn:
        if call.ignore_cache or miss is NOWHERE:
            return await self._flights.lead(policy, miss)
        return await self._flights.board(policy, miss)

    async def _in_turn(self, turn: Turn, policy: CachePolicy, work: Coroutine[Any, Any, Performed]) -> Performed:
        """Do the work, keep what it gives, and tell those who wait for it, however it ends."""
        try:
            performed = await work
            await self.cache.write(policy, turn.miss, performed[2])
        except (asyncio.CancelledError, GeneratorExit):
            turn.end()
            raise
        except BaseException:  # told like any other failure; those who wait for the result are told first
            turn.end(failed=True)
            raise
        turn.end(performed[2])
        return performed

    async def _received(self, call: Call, context: CallContext) -> Params:
        """What rpc.request listeners leave of the parameters.

        A change in place is as good as a replacement and cannot be seen, so the gate is always asked anew; it is cheap.
        """
        params = call.params
        event = RequestReceived(context, params.copy() if params is not None else {})
        await fire(self._listeners.request, event)
        return event.params

    async def _perform(
        self,
        call: Call,
        plan: Plan,
        context: CallContext,
        *,
        values: dict[str, Any],
        bound: dict[str, Any],
        guard: Guard | None,
    ) -> Performed:
        """The parameters that counted, the answer's value, and its JSON."""
        if plan.lock is None and not self._listened:
            result = await self._held(plan.invoke(values, context), guard)
        else:
            values, result = await self._with_events(plan, context, values, bound, guard)
        if guard is not None:
            guard.stop()
        return values, result, self._kept(call, plan.method, self._encode(plan.method, result))

    def _kept(self, call: Call, method: Method, encoded: bytes) -> bytes:
        """A result for a surface that holds both sides to the advertised form: one that breaks it is no answer."""
        if call.strict and (broken := method.kept(encoded, self._languages.get(call.locale, ENGLISH))):
            said = "; ".join(_listed(broken)[:_MOST_SAID])
            raise InternalError(Phrase("error.result", method=method.name, broken=said))
        return encoded

    def _inspected(self, method: Method, result: object) -> bytes:
        """Where errors are shown: say what of a result its type does not promise, such as fields of a subclass."""
        encoded = _encode(method, result)
        if misfits := method.misfits(encoded):
            self._observer.event("result.unexpected", level="warning", method=method.name, misfits=_listed(misfits))
        return encoded

    async def _with_events(
        self, plan: Plan, context: CallContext, values: dict[str, Any], bound: dict[str, Any], guard: Guard | None
    ) -> tuple[dict[str, Any], Any]:
        """From rpc.pre_execute to rpc.post_execute: the parameters that counted, and the answer's value."""
        listeners = self._listeners
        if listeners.pre_execute:
            before = PreExecute(context, values)
            await fire(listeners.pre_execute, before)
            values = before.params
        if plan.lock is None:
            result = await self._held(plan.invoke(values, context), guard)
        else:
            # What a resolver found may change from call to call; what it was found by does not.
            named = {**values, **bound} if plan.resolving else values
            result = await self._locked(plan, context, values, named, guard)
        answer = result
        if listeners.pre_response:
            response = PreResponse(context, values, result)
            await fire(listeners.pre_response, response)
            answer = response.result
        if listeners.post_execute:
            await fire(listeners.post_execute, PostExecute(context, values, result))
        return values, answer

    async def _locked(
        self, plan: Plan, context: CallContext, values: dict[str, Any], named: dict[str, Any], guard: Guard | None
    ) -> Any:
        assert plan.lock is not None, "only locked methods come here"
        held = await self._locks.take(lock_name(plan.method, plan.lock, named), plan.lock)
        try:
            return await self._held(plan.invoke_noting(values, context, held.ended), guard)
        finally:
            await held.leave()

    def _held(self, work: Awaitable[Any], guard: Guard | None) -> Awaitable[Any]:
        """A procedure that runs, which its deadline leaves to itself where it does not end."""
        return work if guard is None else guard.hold(cast("Work[Any]", work), self._strays.leave)

    async def _answered(self, call: Call, plan: Plan, bound: Mapping[str, Any], event: PostResponse) -> None:
        await self._tell(self._listeners.post_response, event)
        given = {**plan.method.defaults, **bound}
        for warm_up in plan.warms:
            await self._warm_up(call, warm_up, given)

    async def _warm_up(self, call: Call, warm_up: WarmUp, given: Mapping[str, Any]) -> None:
        """Make a dropped result anew, with what the two methods' parameters have in common."""
        plan = self.plans.get((call.group, call.version, warm_up.method))
        if plan is None or plan.cache is None:
            return
        await self.execute(
            msgspec.structs.replace(
                call,
                method=warm_up.method,
                params=warm_up.params(plan.method, given),
                id=self._ids.token(),
                timeout=None,
                ignore_cache=True,
                gated=None,
                client=None,
            )
        )

    async def _fail(self, call: Call, cause: BaseException) -> Failed:
        error = as_rpc_error(cause, exposed=self._exposed)
        if self._listeners.error:
            event = ErrorRaised(self._new_context(call, None), cause, error)
            await self._tell(self._listeners.error, event)
            replaced: object = event.error
            error = replaced if isinstance(replaced, RpcError) else error
        return self._failed(call, cause, error)

    def _failed(self, call: Call, cause: BaseException, error: RpcError) -> Failed:
        """The outcome of a call that went wrong; where its error cannot be told, of one that nobody foresaw."""
        tell = partial(
            render, exposed=self._exposed, names=self._error_names, texts=self._languages.get(call.locale, ENGLISH)
        )
        try:
            failed = tell(error)
        except BaseException as broken:  # noqa: BLE001 -- a class of an author's own may do anything, SystemExit too
            broken.__context__ = cause
            unforeseen = InternalError()
            unforeseen.__cause__ = cause = broken
            failed = tell(unforeseen)
        self._observer.call_failed(call, cause, failed.code)
        return failed

    async def _tell(self, listeners: Ordered, event: object) -> None:
        """Fire an event after the fact: what a listener raises is logged, and the others are told all the same."""
        for listen in listeners:
            try:
                await fire((listen,), event)
            except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 -- the outcome is settled; a listener must not take it back
                name = getattr(listen, "__qualname__", repr(listen))
                self._observer.event("listener.error", listener=name, event_type=type(event).__name__, error=error)

    def _context(self, call: Call, plan: Plan | None, guard: Guard | None) -> CallContext:
        if self._listened or (plan is not None and plan.takes_context):
            return self._new_context(call, guard.when if guard is not None else None)
        return _UNSEEN

    def _new_context(self, call: Call, deadline: float | None) -> CallContext:
        context = CallContext(
            principal=call.principal,
            group=call.group,
            version=call.version,
            method=call.method,
            surface=call.surface,
            locale=call.locale,
            ray_id=call.ray_id,
            deadline=deadline,
            headers=call.headers,
            client=call.client,
            caller=partial(self._called, call),
        )
        identity = self._identities.get(call.group) if call.token is not None else None
        return context if identity is None else identity.lent(context, call.token)

    async def _called(self, call: Call, method: str, params: Mapping[str, Any] | Sequence[Any] | None, /) -> Any:
        """Make a call out of another one, in a task of its own: what it logs carries its ids, and only that."""
        if call.depth >= _DEEPEST:
            raise RuntimeFault(Phrase("error.depth", most=_DEEPEST))
        made = msgspec.structs.replace(
            call,
            method=method,
            params=None if params is None else _plain_params(params),
            id=self._ids.token(),
            timeout=None,
            ignore_cache=False,
            strict=False,
            gated=None,
            refused=None,
            client=None,
            depth=call.depth + 1,
        )
        outcome = await asyncio.get_running_loop().create_task(self.execute(made))
        if isinstance(outcome, Failed):
            raise outcome.error
        if outcome.after is not None:
            self._background.spawn(_follow(outcome.after))
        return decode(outcome.encoded)

    async def close(self) -> None:
        """Let go of what is still held; idle threads end."""
        await self._background.settle()
        self._threads.close()
        self._strays.close()


_ABANDONED = render(Abandoned(), exposed=False)
_QUOTED = 100
"""How many characters of a name that a client made up are said back to it."""
_DEEPEST = 20
"""How many calls may be made one out of the other: one that calls itself ends before the stack does."""
_MOST_SAID = 5
"""How much of what is wrong with a result is said."""
_UNSEEN = CallContext(Principal(), "", 0, "", "rpc", "", "")
"""Stands in where neither the method nor a listener looks at the context: making one costs more than a look-up."""


def _refusal(call: Call, plan: Plan | None) -> RpcError:
    """Why a call is not run at all: there is no such method, or it is not for this caller."""
    return (None if plan is None else refusal(plan.method, call.principal)) or _not_found(call)


def _not_found(call: Call) -> MethodNotFound:
    """The refusal of a method that is not there; versions count from 1, so version 0 is one that nobody has."""
    if not call.version:
        return MethodNotFound(Phrase("error.no_version", group=call.group))
    method = call.method[:_QUOTED]
    return MethodNotFound(Phrase("error.no_method", group=call.group, method=method, version=call.version))


def _objection(method: Method, bound: dict[str, Any], gated: Verdict | None, texts: Texts) -> Shape | Assertion | None:
    """What the gate has against arguments, if anything; `gated` is what it has said of them already."""
    verdict = method.gate(bound, texts) if gated is None else gated
    if verdict is not PASSED and not isinstance(verdict, Passed):
        return verdict
    return None


def _pass(method: Method, bound: dict[str, Any], gated: Verdict | None, texts: Texts) -> None:
    """Let arguments pass that nothing speaks against. Raises `InvalidParams`."""
    if (objection := _objection(method, bound, gated, texts)) is not None:
        raise method.refusal(objection, texts)


def _is_cancelled() -> bool:
    """Whether somebody cancelled the current task, as opposed to what it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_closed(cause: BaseException) -> bool:
    """Whether the caller's coroutine was closed, as opposed to a GeneratorExit out of an author's code.

    `close()` raises one anew in each suspended frame; what an author raises comes up through the frames below.
    """
    trace = cause.__traceback__
    return isinstance(cause, GeneratorExit) and (trace is None or trace.tb_next is None)


def _done(
    method: Method, encoded: bytes, *, cached: bool = False, after: Callable[[], Awaitable[None]] | None = None
) -> Done:
    if not method.content:
        return Done(encoded, cached, after)
    blocks, structured = unpacked(encoded)
    return Done(blocks, cached, after, structured)


def _encode(method: Method, result: object) -> bytes:
    try:
        return method.encode(result)
    except NoJsonForm as error:
        raise InternalError(Phrase("error.no_json", method=method.name, reason=error.reason)) from error


async def _follow(after: Callable[[], Awaitable[None]]) -> None:
    await after()


def _plain_params(params: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any] | list[Any]:
    """Parameters as a client would have sent them.

    Raises:
        InvalidParams: They have no form in JSON.
    """
    try:
        plain: dict[str, Any] | list[Any] = decode(encode(params))
    except ValueError as error:
        raise InvalidParams(Phrase("error.no_json_params", reason=str(error))) from error
    if not isinstance(plain, dict | list):
        raise InvalidParams(Phrase("error.no_json_params", reason="parameters are an object or an array"))
    return plain


def _listed(errors: Errors) -> list[str]:
    return [f"{path or 'the result'} {word}" for path, words in errors.items() for word in words]
