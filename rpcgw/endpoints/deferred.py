"""Calls whose answer goes to a callback: accepted at once, run after the answer or by a queue's worker.

Without a queue they run in this process: a bounded number at a time, and a drain waits for them as for any other work
that follows an answer. With one, the queue has the call before the client is told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import msgspec

from rpcgw.api.errors import AsyncError, RpcError
from rpcgw.api.records import record
from rpcgw.endpoints.executing import Executor
from rpcgw.endpoints.spans import under_a_span
from rpcgw.endpoints.webhooks import Webhooks
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.codec import encode
from rpcgw.kernel.language import Phrase
from rpcgw.kernel.ports import JobQueue, Observer, StoreError, Tracer
from rpcgw.protocol.jsonrpc import answers, spans
from rpcgw.protocol.jsonrpc.jobs import Job, write_job
from rpcgw.protocol.jsonrpc.special import callback_refused


@record(frozen=True, slots=True)
class NamedQueue:
    """The queue that deferred calls go through."""

    name: str
    queue: JobQueue


class Deferral:
    """Accepts calls with a callback, for one process.

    Args:
        executor: What runs calls.
        observer: Who is told what happens.
        knows: Whether a call's method exists in its group and version, for its caller, and is on.
        webhooks: What sends answers; None: webhooks are not allowed.
        queue: Where calls wait; None: they run in this process.
        concurrency: How many run in this process at once.
        waiting: How many may be accepted in this process and not yet done; further ones are refused.
        tracer: What traces them; None: nothing is traced.
    """

    def __init__(
        self,
        executor: Executor,
        observer: Observer,
        knows: Callable[[Call], bool],
        webhooks: Webhooks | None = None,
        *,
        queue: NamedQueue | None = None,
        concurrency: int = 10,
        waiting: int = 1000,
        tracer: Tracer | None = None,
    ) -> None:
        self._executor = executor
        self._observer = observer
        self._knows = knows
        self._webhooks = webhooks
        self._queue = queue
        self._places = asyncio.Semaphore(concurrency)
        self._waiting = waiting
        self._accepted = 0
        self._tracer = tracer

    async def defer(self, call: Call, job: Job) -> Outcome:
        """What to answer now; a call that cannot be deferred fails through the pipeline, and does not run.

        A method that does not exist is told at once, since nobody would learn of it otherwise.
        """
        webhooks, url = self._webhooks, job.request.special.callback
        assert url is not None, "only calls with a callback come here"
        if not self._knows(call):
            return await self._executor.execute(call)
        reason = Phrase("webhook.closed") if webhooks is None else await webhooks.refuses(url)
        if webhooks is None or reason:
            return await self._refused(call, callback_refused(reason))
        accepted = encode({"async": True, "callback": url})
        if self._queue is None:
            return await self._here(call, job, webhooks, accepted)
        try:
            await self._queue.queue.put(write_job(job))
        except StoreError as error:
            self._observer.event("job.refused", queue=self._queue.name, outcome="refused", reason=str(error))
            return await self._refused(call, AsyncError(Phrase("error.not_deferred")))
        self._observer.event("job.queued", queue=self._queue.name, outcome="queued", method=call.method, id=call.id)
        return Done(accepted)

    async def _here(self, call: Call, job: Job, webhooks: Webhooks, accepted: bytes) -> Outcome:
        if self._accepted >= self._waiting:
            return await self._refused(call, AsyncError(Phrase("error.many_deferred")))
        return Done(accepted, after=partial(self._run, call, job, webhooks))

    async def _refused(self, call: Call, error: RpcError) -> Outcome:
        return await self._executor.execute(msgspec.structs.replace(call, refused=error))

    async def _run(self, call: Call, job: Job, webhooks: Webhooks) -> None:
        self._accepted += 1
        try:
            async with self._places:
                run = partial(self._delivered, webhooks, job)
                if self._tracer is None:
                    await run(call)
                else:
                    await under_a_span(self._tracer, "consumer", call, spans.attributes(call, job.request.id), run)
        except asyncio.CancelledError:
            self._observer.event(
                "job.abandoned", method=call.method, id=call.id, ray_id=call.ray_id, outcome="abandoned"
            )
            raise
        finally:
            self._accepted -= 1

    async def _delivered(self, webhooks: Webhooks, job: Job, call: Call) -> Outcome:
        identifier, url = job.request.id, job.request.special.callback
        assert identifier is not None, "a notification has no answer to send"
        assert url is not None, "only calls with a callback come here"
        outcome = await self._executor.execute(call)
        answer = answers.answer_of(identifier, outcome)
        await webhooks.deliver(url, answer, {**job.headers, **call.trace}, call.ray_id)
        if isinstance(outcome, Done) and outcome.after is not None:
            await outcome.after()
        return outcome
