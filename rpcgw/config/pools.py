"""`pools` and the pool that `ufo_json_rpc.cache.pool` names. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from rpcgw.api.problems import Problem
from rpcgw.config.document import Document
from rpcgw.config.nodes import Path
from rpcgw.config.redisaddress import is_redis, redis_address
from rpcgw.config.settings import PoolSettings, ResultCacheSettings
from rpcgw.config.sources import absolute
from rpcgw.config.wording import choices, meant

DEFAULT_POOL = "default"
CACHE_POOL = "ufo_json_rpc.cache.pool"
"""The name of the pool that is given as a URL where a name could stand."""

_SHAPES = "file:<directory>, memory: or redis://host:port/db"


def build_pools(
    document: Document, base: str, state_dir: str, *, workers: int
) -> tuple[dict[str, PoolSettings], ResultCacheSettings, list[Problem]]:
    """All pools by name, the settings of the result cache, and what is wrong."""
    problems: list[Problem] = []
    pools = {DEFAULT_POOL: PoolSettings(f"file:{state_dir}/pools/{DEFAULT_POOL}")}
    for name, given in document.get("pools", default={}).items():
        path: Path = ("pools", name) if isinstance(given, str) else ("pools", name, "url")
        pool = PoolSettings(given) if isinstance(given, str) else PoolSettings(**given)
        url, wrong = _url(document, path, base, pool.url)
        problems += wrong
        pools[name] = replace(pool, url=url)
    cache = ResultCacheSettings(**document.get("ufo_json_rpc", "cache", default={}))
    chosen, wrong = _cache_pool(document, base, cache.pool, pools)
    cache = replace(cache, pool=chosen)
    if workers > 1 and pools[chosen].url == "memory:":
        text = f"{workers} workers cannot share a pool in memory: each has its own sessions, results and locks."
        path = ("pools", chosen) if chosen != CACHE_POOL else ("ufo_json_rpc", "cache", "pool")
        problems.append(document.warning(path, "shared-nothing", text, "use a pool of files or Redis"))
    return pools, cache, problems + wrong


def _cache_pool(
    document: Document, base: str, wanted: str, pools: dict[str, PoolSettings]
) -> tuple[str, list[Problem]]:
    path = ("ufo_json_rpc", "cache", "pool")
    if wanted in pools:
        return wanted, []
    if ":" in wanted:
        url, wrong = _url(document, path, base, wanted)
        pools[CACHE_POOL] = PoolSettings(url)
        return CACHE_POOL, wrong
    text = f'There is no pool "{wanted}". The pools are {choices(pools)}.'
    hint = meant(wanted, pools) or f"write it under pools, say pools: {{{wanted}: redis://127.0.0.1:6379/0}}"
    return DEFAULT_POOL, [document.problem(path, "unknown-pool", text, hint)]


def _url(document: Document, path: Path, base: str, url: str) -> tuple[str, list[Problem]]:
    """A pool's URL with an absolute directory, and what is wrong with it; URLs hold passwords and are never shown."""
    name = ".".join(str(step) for step in path)
    if url == "memory:":
        return url, []
    if url.startswith("file:") and url != "file:":
        directory = re.sub(r"^file:(//(?=/))?", "", url)
        return f"file:{absolute(base, document.beside(path, directory))}", []
    if not is_redis(url):
        return url, [document.problem(path, "bad-value", f'"{name}" must be {_SHAPES}.')]
    try:
        redis_address(url)
    except ValueError as error:
        return url, [document.problem(path, "bad-value", f'"{name}" {error}.')]
    return url, []
