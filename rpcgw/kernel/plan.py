"""What is decided about a method's calls before the first one: one `Plan` for each group, version and method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rpcgw.api.marks import Lock
from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.kernel.cache import CachePolicy, cache_policy
from rpcgw.kernel.invoke import Invoke, InvokeNoting, compile_invoke
from rpcgw.kernel.method import Method
from rpcgw.kernel.protection import Protections
from rpcgw.kernel.relations import Drop, Relations, WarmUp
from rpcgw.kernel.table import MethodTable
from rpcgw.kernel.threads import Threads
from rpcgw.kernel.tuning import UNTUNED, Tuning, Tunings

PlanKey = tuple[str, int, str]
"""Group, version, method."""


@record(frozen=True, slots=True)
class Plan:
    """How calls of one method run; None and empty tuples are steps that its calls do not have.

    `drops` are kept results that go after a success, `warms` those that are made anew; `plain` methods have nothing to
    do with cache and locks, and their results are what they return. Of those, `direct` ones need nothing that has to be
    waited for before they run.
    """

    method: Method
    invoke: Invoke
    invoke_noting: InvokeNoting
    deadline: float | None
    refuse_unknown: bool
    cache: CachePolicy | None
    lock: Lock | None
    drops: tuple[Drop, ...]
    warms: tuple[WarmUp, ...]
    plain: bool
    rate: Rate | None
    takes_context: bool
    resolving: bool
    direct: bool


def compile_plans(
    table: MethodTable,
    instances: Mapping[type, object],
    tuning: Tunings,
    environment: str,
    threads: Threads,
    *,
    protections: Protections,
) -> dict[PlanKey, Plan]:
    """The plan of every method in every group and version."""
    plans: dict[PlanKey, Plan] = {}
    relations = Relations(method for _, _, method in _methods(table))
    for group, version, method in _methods(table):
        tuned = tuning.get((group, method.name), UNTUNED)
        function = getattr(instances[method.procedure], method.attribute)
        running = protections.around(method.name, tuned, compile_invoke(method, function, threads))
        caching = cache_policy(method, group, environment, tuned.cache_ttl, relations.tags(method))
        plans[group, version, method.name] = _plan(method, tuned, running, caching, relations)
    return plans


def shortest(asked: float | None, tuned: float | None) -> float | None:
    """The shorter of two deadlines in seconds; None is no deadline."""
    if asked is None or tuned is None:
        return tuned if asked is None else asked
    return min(asked, tuned)


def _methods(table: MethodTable) -> Iterator[tuple[str, int, Method]]:
    for group in table.groups:
        for version in table.versions(group):
            for method in (table.methods(group, version) or {}).values():
                yield group, version, method


def _plan(
    method: Method,
    tuned: Tuning,
    running: tuple[Invoke, InvokeNoting],
    caching: CachePolicy | None,
    relations: Relations,
) -> Plan:
    drops = relations.drops(method)
    plain = not (drops or caching or method.lock or method.content)
    takes_context = bool(method.signature.contexts) or tuned.breaker is not None
    resolving = method.arguments.resolving
    return Plan(
        method=method,
        invoke=running[0],
        invoke_noting=running[1],
        deadline=tuned.deadline,
        refuse_unknown=tuned.refuse_unknown,
        cache=caching,
        lock=method.lock,
        drops=drops,
        warms=relations.warm_ups(method),
        plain=plain,
        rate=tuned.rate,
        takes_context=takes_context,
        resolving=resolving,
        direct=plain and tuned.rate is None and not takes_context and not resolving,
    )
