"""Stores behind `rpcgw.kernel.ports.Pool`: files (the default), memory, Redis. `open_pool` makes one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rpcgw.config.redisaddress import REDIS_SCHEMES
from rpcgw.config.settings import PoolSettings
from rpcgw.kernel.ports import Pool

__all__ = ["SCHEMES", "open_pool"]


def _files(settings: PoolSettings, directory: str) -> Pool:
    from rpcgw.adapters.stores.files import FilePool  # noqa: PLC0415 -- a store is imported where one is configured

    return FilePool(str(Path(directory) / settings.url.removeprefix("file:")))


def _memory(settings: PoolSettings, directory: str) -> Pool:  # noqa: ARG001 -- one signature for all
    from rpcgw.adapters.stores.memory import MemoryPool  # noqa: PLC0415 -- as above

    return MemoryPool()


def _redis(settings: PoolSettings, directory: str) -> Pool:  # noqa: ARG001 -- one signature for all
    from rpcgw.adapters.stores.redis import RedisPool  # noqa: PLC0415 -- its import takes 0.3 s and 38 MiB

    return RedisPool(settings.url, settings.timeout, settings.connections)


SCHEMES: dict[str, Callable[[PoolSettings, str], Pool]] = {
    "file": _files,
    "memory": _memory,
    **dict.fromkeys(REDIS_SCHEMES, _redis),
}
"""What a pool's URL may begin with."""


def open_pool(settings: PoolSettings, directory: str) -> Pool:
    """The pool that `pools.<name>` describes; connects to nothing and creates nothing yet.

    `file:` takes a path; a relative or an empty one is below `directory`. Raises `ValueError` for an unknown scheme.
    """
    scheme, colon, _ = settings.url.partition(":")
    if not colon or scheme not in SCHEMES:
        raise ValueError(f"{scheme!r} is no kind of pool; known are {', '.join(sorted(SCHEMES))}")
    return SCHEMES[scheme](settings, directory)
