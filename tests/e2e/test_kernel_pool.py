"""Where results and sessions lie: in the pool that the operator chose, both of them, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Session

PLUGIN = """
import rpcgw as rpc


@rpc.procedure("Demo", groups=["general"])
class Demo:
    runs = 0

    @rpc.cache(ttl=60)
    async def kept(self) -> int:
        Demo.runs += 1
        return Demo.runs


plugin = rpc.Plugin(procedures=[Demo])
"""
ROUTES = {"rpc": {"resource": "rpc", "prefix": "/rpc"}, "mcp": {"resource": "mcp", "prefix": "/mcp"}}


@contextmanager
def chosen(pool: str, pools: dict[str, Any], record_property: Note) -> Iterator[Daemon]:
    config = {
        "ufo_json_rpc": {"security": {"protected_api": False}, "cache": {"pool": pool, "prefix": "shop"}},
        "pools": pools,
    }
    with daemon(config=config, routes=ROUTES, plugins={"demo.py": PLUGIN}) as made, noting(record_property, made):
        yield made


def use(served: Daemon) -> str:
    """Keep a result, and begin a session; the session's id."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "Demo.kept"}
    assert [served.post("/rpc", message).json()["result"] for _ in range(2)] == [1, 1]
    session = Session(served)
    assert session.result("Demo.kept")["structuredContent"] == {"result": 1}
    assert session.id is not None
    return session.id


def keys_of(url: str) -> list[str]:
    """Every key of a Redis database."""
    with Redis.from_url(url) as client:
        found: list[bytes] = client.keys()
    return [key.decode() for key in found]


def held(directory: Path) -> bytes:
    """All that the files below a directory hold."""
    return b"".join(file.read_bytes() for file in directory.rglob("*") if file.is_file())


def test_a_pool_of_files(record_property: Note) -> None:
    """A-RPC-82: `cache.pool` names one of `pools`: results and sessions are in its directory, and not in the default one."""
    with chosen("mine", {"mine": {"url": "file:elsewhere"}}, record_property) as served:
        session = use(served)
        found, default = held(served.folder / "elsewhere"), held(served.folder / "var" / "pools")
    assert f"ufo_mcp_general_{session}".encode() in found
    assert b"shop:" in found
    assert session.encode() not in default
    assert b"shop:" not in default


def test_a_pool_in_redis(record_property: Note, redis_url: str) -> None:
    """A-RPC-82: the same of a Redis, whose keys of sessions begin with nothing of ours (C-21)."""
    with chosen("shared", {"shared": {"url": redis_url}}, record_property) as served:
        session = use(served)
        found, default = keys_of(redis_url), held(served.folder / "var" / "pools")
    assert f"ufo_mcp_general_{session}" in found
    assert [key for key in found if key.startswith("shop:")]
    assert session.encode() not in default


def test_a_pool_that_is_not_there(record_property: Note) -> None:
    """A-RPC-82: a name that nobody gave is a problem at its place."""
    with pytest.raises(AssertionError, match="nowhere"), chosen("nowhere", {}, record_property):
        pass
