"""A gateway in operation: pools open, plugins' lifespans entered, an executor that runs calls."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from functools import partial
from typing import Any

from rpcgw.adapters.stores import open_pool
from rpcgw.api.cache import ResultCache
from rpcgw.api.errors import ConfigError
from rpcgw.api.plugin import Environment
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.api.switch import MethodSwitch
from rpcgw.config.settings import PoolSettings
from rpcgw.daemon.identities import open_identities
from rpcgw.daemon.ports import HostClock, RandomIds
from rpcgw.daemon.switched import Switching
from rpcgw.gateway.model import Gateway, PluginRuntime
from rpcgw.kernel.background import Strays
from rpcgw.kernel.control import CacheControl
from rpcgw.kernel.executor import Executor
from rpcgw.kernel.failure import PYTHON, UFO
from rpcgw.kernel.instances import House, bind_resolvers, instantiate, provided_values
from rpcgw.kernel.lock import PoolLocks
from rpcgw.kernel.ports import Clock, Ids, Observer, Pool, Tracer
from rpcgw.kernel.rates import Rates
from rpcgw.kernel.signature import place_of
from rpcgw.kernel.substitution import Find
from rpcgw.kernel.switches import EVERYTHING, Offered
from rpcgw.kernel.threads import Threads, nobody

HOST_CLOCK = HostClock()


@record(frozen=True, slots=True)
class Runtime:
    """What endpoints and commands run calls with.

    `processors` are made data processors, by the `id` of what they were made of.
    """

    gateway: Gateway
    executor: Executor
    pool: Pool
    pools: Mapping[str, Pool]
    clock: Clock
    ids: Ids
    observer: Observer
    processors: Mapping[int, Any] = field(default_factory=dict)
    rates: Rates | None = None
    tracer: Tracer | None = None
    switches: Offered = EVERYTHING


@asynccontextmanager
async def open_runtime(
    gateway: Gateway,
    observer: Observer,
    exhausted: Callable[[], None] = nobody,
    *,
    tracer: Tracer | None = None,
    clock: Clock = HOST_CLOCK,
    opener: Callable[[PoolSettings, str], Pool] = open_pool,
    rates: Rates | None = None,
    switching: Switching | None = None,
) -> AsyncIterator[Runtime]:
    """Open everything that calls need; close it in the opposite order.

    Args:
        gateway: What was compiled.
        observer: Who is told what happens.
        exhausted: Called when procedures are stuck beyond repair: the process should be replaced.
        tracer: What traces calls; None: nothing is traced.
        clock: The time that calls, caches and sessions go by.
        opener: Makes a pool of its settings and the state directory.
        rates: Who counts how often things happen; None where nothing is limited.
        switching: How this process shares with others what is switched off; None where it is alone.

    Raises:
        ConfigError: A procedure cannot be made of what its plugin provides.
        Exception: whatever a plugin's lifespan raises.
    """
    settings = gateway.settings
    ids = RandomIds()
    async with AsyncExitStack() as stack:
        pools: dict[str, Pool] = {}
        for name, pool_settings in settings.pools.items():
            pools[name] = opener(pool_settings, settings.state_dir)
            stack.push_async_callback(pools[name].close)
        cache = CacheControl(ids, observer)
        switches = (switching or Switching()).opened(gateway, observer)
        made = await _made(gateway, stack, cache, switches)
        pool = pools[settings.cache.pool]
        identities = await stack.enter_async_context(open_identities(settings, clock))
        executor = Executor(
            gateway.table,
            made.instances,
            clock=clock,
            ids=ids,
            observer=observer,
            pool=pool,
            locks=PoolLocks(pool, ids),
            listeners=gateway.listeners,
            tuning=gateway.tunings,
            environment=settings.environment,
            threads=Threads(exhausted=exhausted),
            strays=Strays(exhausted=exhausted),
            cache_prefix=settings.cache.prefix,
            resolvers=made.resolvers,
            languages=gateway.wording.languages,
            error_names=UFO if settings.errors.names == "ufo" else PYTHON,
            rates=rates,
            identities=identities,
        )
        stack.push_async_callback(executor.close)
        for group in gateway.table.groups:
            switches.follow(group, partial(executor.offer, group))
        await cache.open(executor)
        stack.push_async_callback(cache.close)
        yield Runtime(gateway, executor, pool, pools, clock, ids, observer, made.processors, rates, tracer, switches)


@record(slots=True)
class _Made:
    """Every procedure of every plugin, and its resolvers, made of what its lifespan yields."""

    instances: dict[type, object] = field(default_factory=dict)
    resolvers: dict[Find, Callable[[Any], Any]] = field(default_factory=dict)
    processors: dict[int, object] = field(default_factory=dict)


async def _made(gateway: Gateway, stack: AsyncExitStack, cache: ResultCache, switches: MethodSwitch) -> _Made:
    made = _Made()
    house: House = {ResultCache: cache, MethodSwitch: switches}
    problems: list[Problem] = []
    used = {part.find for part in gateway.table.resolving}
    for plugin in gateway.running:
        provided = provided_values(await _provided(plugin, gateway, stack, cache, switches))
        instances, wrong = instantiate(plugin.procedures, provided, house)
        resolvers, unfilled = bind_resolvers(
            [part for part in plugin.converters if callable(part) and part in used], provided, house
        )
        made.instances.update(instances)
        made.resolvers.update(resolvers)
        problems += [*wrong, *unfilled]
        for part in plugin.processors:
            instances, wrong = instantiate([part], provided, house)
            made.processors.update({id(part): instance for instance in instances.values()})
            problems += wrong
    of_plugins = {_class_of(procedure) for plugin in gateway.running for procedure in plugin.procedures}
    built_in = [r.procedure for r in gateway.table.procedures if _class_of(r.procedure) not in of_plugins]
    instances, wrong = instantiate(built_in, ())
    made.instances.update(instances)
    if problems := [*problems, *wrong]:
        raise ConfigError(problems)
    return made


def _class_of(procedure: object) -> type:
    return procedure if isinstance(procedure, type) else type(procedure)


async def _provided(
    plugin: PluginRuntime, gateway: Gateway, stack: AsyncExitStack, cache: ResultCache, switches: MethodSwitch
) -> object:
    if plugin.lifespan is None:
        return None
    settings = gateway.settings
    offered = {
        "settings": plugin.settings,
        "environment": Environment(settings.environment, settings.state_dir, plugin.name),
        "cache": cache,
        "switch": switches,
    }
    try:
        return await stack.enter_async_context(plugin.lifespan(**_taken(plugin.lifespan, offered)))
    except Exception as error:
        error.add_note(f"in the lifespan of the plugin {plugin.name!r}, at {place_of(inspect.unwrap(plugin.lifespan))}")
        raise


def _taken(function: Callable[..., Any], offered: Mapping[str, object]) -> dict[str, object]:
    """Of what is offered, the parameters that a lifespan names."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in offered.items() if name in names}
