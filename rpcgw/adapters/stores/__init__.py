"""Stores behind `rpcgw.kernel.ports.Pool`: files (the default), memory, Redis. `open_pool` makes one of a URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rpcgw.kernel.ports import Pool

__all__ = ["SCHEMES", "open_pool"]


def _files(url: str, directory: str) -> Pool:
    from rpcgw.adapters.stores.files import FilePool  # noqa: PLC0415 -- a store is imported where one is configured

    return FilePool(str(Path(directory) / url.removeprefix("file:")))


def _memory(url: str, directory: str) -> Pool:  # noqa: ARG001 -- one signature for all
    from rpcgw.adapters.stores.memory import MemoryPool  # noqa: PLC0415 -- as above

    return MemoryPool()


def _redis(url: str, directory: str) -> Pool:  # noqa: ARG001 -- one signature for all
    from rpcgw.adapters.stores.redis import RedisPool  # noqa: PLC0415 -- its import takes 0.3 s and 38 MiB

    return RedisPool(url)


SCHEMES: dict[str, Callable[[str, str], Pool]] = {"file": _files, "memory": _memory, "redis": _redis, "unix": _redis}
"""What a pool's URL may begin with."""


def open_pool(url: str, directory: str) -> Pool:
    """The pool that `pools.<name>.url` names; connects to nothing and creates nothing yet.

    `file:` takes a path; a relative or an empty one is below `directory`. Raises `ValueError` for an unknown scheme.
    """
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in SCHEMES:
        raise ValueError(f"{scheme!r} is no kind of pool; known are {', '.join(sorted(SCHEMES))}")
    return SCHEMES[scheme](url, directory)
