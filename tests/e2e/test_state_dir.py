"""A state directory that keeps nothing, or nothing more."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Daemon, folder, serving
from tests.support.http import Answer
from tests.support.refusal import refusal

OPEN = {"security": {"protected_api": False}}
PLUGIN = """
import os

import rpcgw as rpc


@rpc.procedure("Work", groups=["general", "mcp"])
class Work:
    async def where(self) -> int:
        \"\"\"Tell who serves.\"\"\"
        return os.getpid()

    @rpc.cache(ttl=60)
    async def kept(self) -> int:
        \"\"\"Tell it again.\"\"\"
        return os.getpid()

    @rpc.lock()
    async def alone(self) -> int:
        \"\"\"Tell it alone.\"\"\"
        return os.getpid()
"""


def test_a_daemon_that_can_keep_nothing_says_where_and_what_to_do() -> None:
    """It ends with 78 and the option's line, without a traceback."""
    refused = refusal(config={"state_dir": "occupied/var", "ufo_json_rpc": OPEN}, files={"occupied": "a file"})
    (line,) = refused.about("error[state-dir]")
    assert refused.code == 78
    assert line.startswith("gateway.yaml:2:")
    assert "occupied/var: Not a directory" in line
    assert "Traceback" not in refused.said


def test_a_second_daemon_is_told_of_the_first() -> None:
    """Two daemons with one state directory both serve, and the later one warns whom it shares it with."""
    config = {"state_dir": "var", "ufo_json_rpc": OPEN}
    with folder(config=config, plugins={"work.py": PLUGIN}) as place, serving(place) as first:
        assert first.logs("state.shared") == []
        with serving(place) as second:
            warned = second.wait_log("state.shared")
            assert (warned["level"], warned["process"]) == ("warning", first.pid)
            assert warned["state_dir"] == str(place / "var")


def test_a_disk_that_fills_up_stops_only_what_must_be_kept() -> None:
    """Calls succeed, cached ones too; sessions and locks are refused; the same worker serves when there is room again."""
    config = {"state_dir": "var", "environment": "prod", "ufo_json_rpc": OPEN}
    with (
        folder(config=config, plugins={"work.py": PLUGIN}) as place,
        small_disk(place / "var"),
        serving(place) as served,
    ):
        worker = call(served, "Work.where")["result"]
        assert call(served, "Work.alone")["result"] == worker
        fill(place / "var/ballast")

        assert call(served, "Work.where")["result"] == worker
        assert call(served, "Work.kept")["result"] == worker
        assert call(served, "Work.alone")["error"]["code"] == -32603
        refused = initialize(served)
        assert refused.status == 503
        assert int(refused.header("Retry-After") or 0) > 0
        assert served.get("/metrics").status == 200
        for event in ("lock.error", "cache.error"):
            assert "No space left on device" in served.wait_log(event)["error"]

        (place / "var/ballast").unlink()
        assert call(served, "Work.alone")["result"] == worker
        assert initialize(served).status == 200


def call(served: Daemon, method: str) -> dict[str, Any]:
    """Call a procedure of the plugin; an error is an answer too."""
    answer: dict[str, Any] = served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method}).json()
    return answer


def initialize(served: Daemon) -> Answer:
    """Ask for a session."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    accept = {"Accept": "application/json, text/event-stream"}
    return served.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, accept)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system of a megabyte at this place."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"needs to mount a file system of its own: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(file: Path) -> None:
    """Write until there is no room for another byte."""
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))
