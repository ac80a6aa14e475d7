"""Which store a URL names, and what is imported for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rpcgw.adapters.stores import open_pool
from rpcgw.adapters.stores.files import FilePool
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.adapters.stores.redis import RedisPool
from rpcgw.config.settings import PoolSettings


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        pytest.param("memory:", MemoryPool, id="memory"),
        pytest.param("file:", FilePool, id="files in the default place"),
        pytest.param("redis://127.0.0.1:6379/1", RedisPool, id="redis over tcp"),
        pytest.param("unix:///run/redis.sock?db=2", RedisPool, id="redis over a unix socket"),
        pytest.param("rediss://redis.internal/1", RedisPool, id="redis over TLS"),
        pytest.param("redis+sentinel://a,b:1/mymaster/3", RedisPool, id="redis that Sentinels know"),
        pytest.param("rediss+cluster://a,b:1", RedisPool, id="a Cluster over TLS"),
    ],
)
async def test_the_scheme_names_the_store(url: str, kind: type, tmp_path: Path) -> None:
    """One URL, one store; nothing is connected to or created."""
    pool = open_pool(PoolSettings(url), str(tmp_path / "pools"))
    assert isinstance(pool, kind)
    assert list(tmp_path.iterdir()) == []
    await pool.close()


@pytest.mark.parametrize(
    ("path", "place"),
    [
        pytest.param("", "pools", id="empty is the default place"),
        pytest.param("mine", "pools/mine", id="relative is below it"),
        pytest.param("{tmp}/elsewhere", "elsewhere", id="absolute is itself"),
    ],
)
async def test_where_files_go(path: str, place: str, tmp_path: Path) -> None:
    """The path of `file:` is resolved against the given directory."""
    await open_pool(PoolSettings("file:" + path.format(tmp=tmp_path)), str(tmp_path / "pools")).set("key", b"1", 60)
    assert (tmp_path / place).is_dir()
    assert len([file for file in (tmp_path / place).rglob("*") if len(file.name) == 38]) == 1


@pytest.mark.parametrize("url", ["", "memory", "sqlite:x", "sentinel://h"])
def test_an_unknown_store_is_named(url: str, tmp_path: Path) -> None:
    """The error lists what there is."""
    with pytest.raises(ValueError, match=r"file, memory, redis, redis\+cluster, redis\+sentinel, rediss,"):
        open_pool(PoolSettings(url), str(tmp_path))


def test_redis_is_imported_only_where_it_is_configured() -> None:
    """Its import is the dearest of all; who keeps files does not pay for it."""
    code = (
        "import sys; from rpcgw.adapters.stores import open_pool; from rpcgw.config.settings import PoolSettings as S;"
        "open_pool(S('file:'), '/x'); open_pool(S('memory:'), '/x');"
        "sys.exit('redis' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
