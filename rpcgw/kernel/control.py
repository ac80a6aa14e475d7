"""The result cache in the hands of plugins: there before the executor is, and joined with it when the worker opens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from rpcgw.api.cache import ResultCache
from rpcgw.api.errors import RpcError
from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.kernel.background import Background
from rpcgw.kernel.call import Call, Failed
from rpcgw.kernel.executor import Executor
from rpcgw.kernel.ports import Ids, Observer
from rpcgw.kernel.relations import chosen

Order = Callable[[Executor], Awaitable[None]]


class CacheControl(ResultCache):
    """What a plugin is given. What it asks for before `open` is done then: first what goes, then what is made."""

    def __init__(self, ids: Ids, observer: Observer) -> None:
        self._ids = ids
        self._observer = observer
        self._background = Background()
        self._executor: Executor | None = None
        self._early_deletes: list[Order] = []
        self._early_warms: list[Order] = []

    async def warm(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        group: str = DEFAULT_GROUP,
        version: int = 1,
        locale: str = "en",
    ) -> None:
        """See `rpcgw.api.cache.ResultCache`."""
        own_id = self._ids.token()
        call = Call(
            method=method,
            group=group,
            version=version,
            params=dict(params or {}),
            id=own_id,
            surface="cli",
            locale=locale,
            ray_id=own_id,
            ignore_cache=True,
        )
        await self._order(partial(_warm, call), self._early_warms)

    async def delete(self, method: str, params: Mapping[str, object] | None = None) -> None:
        """See `rpcgw.api.cache.ResultCache`."""
        await self._order(partial(_delete, method, None if params is None else dict(params)), self._early_deletes)

    async def open(self, executor: Executor) -> None:
        """Calls can run now. What was to be dropped is when this returns; what was to be made is begun."""
        self._executor = executor
        await self._do(executor, self._early_deletes)
        self._background.spawn(self._do(executor, self._early_warms))

    async def close(self) -> None:
        """Wait for what is under way."""
        await self._background.settle()

    async def _order(self, order: Order, early: list[Order]) -> None:
        if self._executor is None:
            early.append(order)
        else:
            await order(self._executor)

    async def _do(self, executor: Executor, orders: list[Order]) -> None:
        for order in orders:
            try:
                await order(executor)
            except (LookupError, RpcError) as error:
                # Nobody waits for it any more; a mistake in it must not keep the worker from serving.
                self._observer.event("cache.order_failed", error=error)


async def _warm(call: Call, executor: Executor) -> None:
    plan = executor.plans.get((call.group, call.version, call.method))
    if plan is None or plan.cache is None:
        where = f"in version {call.version} of the group {call.group!r}"
        raise LookupError(f"no results of {call.method!r} are kept {where}")
    outcome = await executor.execute(call)
    if isinstance(outcome, Failed):
        raise outcome.error


async def _delete(method: str, params: Mapping[str, object] | None, executor: Executor) -> None:
    plans = [plan for plan in executor.plans.values() if plan.method.name == method and plan.method.cache]
    if not plans:
        raise LookupError(f"there is no cached method {method!r}")
    # Where the operator or the environment switched the cache off there is no policy, and nothing to drop by.
    tags = {plan.method: plan.cache.tags if plan.cache else () for plan in plans}
    await executor.cache.invalidate(chosen(tags, params), params or {})
