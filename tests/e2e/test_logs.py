"""What a daemon writes: calls, requests, audited calls, and everybody's records in one form."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import (
    RPCGW,
    Daemon,
    DaemonDidNotStart,
    clean_environment,
    daemon,
    end,
    folder,
    parse_log,
    wait_until,
)
from tests.support.mcp import Stateless

PLUGIN = '''
import logging
import warnings

import structlog

import rpcgw as rpc

logging.getLogger("shop.import").warning("imported")


@rpc.procedure("Shop", groups=["general", "mcp"])
class Shop:
    """Sells."""

    async def buy(self, name: str, card_token: str = "") -> str:
        logging.getLogger("shop.stdlib").warning("sold %s", name)
        structlog.get_logger().warning("sold", to=name, card_token=card_token)
        return name

    async def look(self, name: str) -> str:
        warnings.warn("look away")
        return name
'''
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = "0af7651916cd43dd8448eb211c80319c"
OPEN: dict[str, Any] = {"ufo_json_rpc": {"security": {"protected_api": False}}}


def buy(running: Daemon, params: Any, headers: dict[str, str] | None = None) -> None:
    message = {"jsonrpc": "2.0", "id": 7, "method": "Shop.buy", "params": params}
    assert running.post("/rpc?key=hidden", message, headers).json()["result"] == "tea"


def lines_of(path: Path, event: str) -> list[dict[str, Any]]:
    return [line for line in parse_log(path.read_text("utf-8")) if line["event"] == event] if path.exists() else []


def wait_lines(path: Path, event: str, count: int) -> list[dict[str, Any]]:
    wait_until(lambda: len(lines_of(path, event)) >= count, 20, lambda: f"{event} in {path}")
    return lines_of(path, event)


def test_everybody_writes_in_one_form() -> None:
    """The supervisor, plugins while they are imported and while they run, logging, structlog, warnings: all are JSON."""
    with daemon(config=OPEN, plugins={"shop.py": PLUGIN}) as running:
        buy(running, {"name": "tea", "card_token": "4111"}, {"traceparent": PARENT})
        running.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Shop.look", "params": ["x"]})
        running.raw(b"NONSENSE\r\n\r\n")
        running.wait_log("http.malformed")
        running.stop()
        text = running.stderr()
        lines = parse_log(text)
        assert len(lines) == len(text.splitlines()), text
        assert all({"timestamp", "level", "event"} <= set(line) for line in lines)
        by_event = {line["event"]: line for line in lines}
        assert by_event["imported"]["logger"] == "shop.import"
        assert (by_event["sold tea"]["logger"], by_event["sold tea"]["trace_id"]) == ("shop.stdlib", TRACE)
        assert (by_event["sold"]["method"], by_event["sold"]["card_token"]) == ("Shop.buy", "***")
        assert [line["logger"] for line in lines if "look away" in line["event"]] == ["py.warnings"]
        assert {"listening", "ready", "worker.ready", "stopped"} <= set(by_event)


@pytest.mark.parametrize("form", ["logfmt", "console"])
def test_other_forms(form: str) -> None:
    """Nothing comes out as JSON once the configuration is known."""
    with daemon(config={**OPEN, "logging": {"format": form}}, plugins={"shop.py": PLUGIN}) as running:
        buy(running, {"name": "tea"})
        wait_until(lambda: "Shop.buy" in running.stderr(), 20, running.stderr)
        assert parse_log(running.stderr()) == []


def test_one_line_a_call() -> None:
    """Which call, of which trace, by whom, through what, how it ended and how long it took; one that is refused too."""
    with daemon(config=OPEN, plugins={"shop.py": PLUGIN}) as running:
        buy(running, {"name": "tea"}, {"traceparent": PARENT})
        line = running.wait_log("call")
        assert {name: line[name] for name in ("ray_id", "trace_id", "surface", "group", "version", "method", "outcome", "principal")} == {
            "ray_id": "7",
            "trace_id": TRACE,
            "surface": "rpc",
            "group": "general",
            "version": 1,
            "method": "Shop.buy",
            "outcome": "success",
            "principal": "anonymous",
        }  # fmt: skip
        assert line["id"]
        assert line["duration_ms"] > 0
        for name in ("Shop.buy", "Shop.gone"):
            Stateless(running).send("tools/call", {"name": name, "arguments": {}})
        running.wait_log("call", count=3)
        told = [(line["method"], line["outcome"], line.get("code")) for line in running.logs("call")[1:]]
        assert told == [("Shop.buy", "refused", -32602), ("Shop.gone", "refused", -32602)]
        assert running.logs("envelope.refused") == []


def test_the_access_log_is_apart(tmp_path: Path) -> None:
    """In a file of its own: what was asked and answered, without the query; health and metrics are left out."""
    place = tmp_path / "access.log"
    config = {**OPEN, "logging": {"access": {"enabled": True, "file": str(place)}}}
    with daemon(config=config, plugins={"shop.py": PLUGIN}) as running:
        buy(running, {"name": "tea"}, {"User-Agent": "test"})
        running.get("/livez")
        running.get("/metrics")
        running.get("/nowhere")
        [call, missed] = wait_lines(place, "access", 2)
        assert (call["http_method"], call["path"], call["status"], call["user_agent"]) == ("POST", "/rpc", 200, "test")
        assert (call["bytes_in"], call["bytes_out"]) > (0, 0)
        assert (missed["path"], missed["status"], missed["endpoint"]) == ("/nowhere", 404, "none")
        assert "hidden" not in place.read_text("utf-8")
        assert stat.S_IMODE(place.stat().st_mode) & 0o007 == 0
        assert running.logs("access") == []


def test_audited_calls(tmp_path: Path) -> None:
    """Of those methods that ask for it, with their arguments where they ask for that; secrets are masked."""
    place = tmp_path / "audit.log"
    config = {
        **OPEN,
        "logging": {"audit": {"file": str(place)}},
        "defaults": {"audit": "calls"},
        "methods": {"Shop.buy": {"audit": "arguments"}, "Shop.look": {"audit": "none"}},
    }
    with daemon(config=config, plugins={"shop.py": PLUGIN}) as running:
        buy(running, ["tea", "4111"])
        running.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Shop.look", "params": ["x"]})
        running.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Shop.gone"})
        [bought, missed] = wait_lines(place, "audit", 2)
        assert bought["arguments"] == {"name": "tea", "card_token": "***"}
        assert (bought["principal"], bought["peer"], bought["outcome"]) == ("anonymous", "127.0.0.1", "success")
        assert (missed["method"], missed["outcome"], "arguments" in missed) == ("Shop.gone", "refused", False)


def test_moved_files_are_opened_anew(tmp_path: Path) -> None:
    """SIGUSR1 after logrotate has moved a file away: later lines go to a new one."""
    place = tmp_path / "access.log"
    config = {**OPEN, "logging": {"access": {"enabled": True, "file": str(place)}}}
    with daemon(config=config, plugins={"shop.py": PLUGIN}) as running:
        buy(running, {"name": "tea"})
        wait_lines(place, "access", 1)
        moved = place.rename(tmp_path / "access.log.1")
        running.kill(signal.SIGUSR1)
        wait_until(place.exists, 20, running.stderr)
        buy(running, {"name": "tea"})
        wait_lines(place, "access", 1)
        assert len(lines_of(moved, "access")) == 1


def test_a_log_that_cannot_be_opened_is_a_problem_with_its_place(tmp_path: Path) -> None:
    """The daemon does not start without its audit log, and says which line of which file to mend."""
    config = {
        **OPEN,
        "defaults": {"audit": "calls"},
        "logging": {"audit": {"file": str(tmp_path / "missing" / "audit.log")}},
    }
    with (
        pytest.raises(DaemonDidNotStart) as caught,
        daemon(config=json.dumps(config, indent=1), plugins={"shop.py": PLUGIN}),
    ):
        pass
    assert "error[log-file]" in str(caught.value)
    assert "gateway.yaml:" in str(caught.value)
    assert "exit code 78" in str(caught.value)


def test_a_worker_of_a_queue_opens_its_files_anew(tmp_path: Path, redis_url: str) -> None:
    """SIGUSR1 is for it what it is for the daemon, and no end."""
    place = tmp_path / "audit.log"
    queue = {"type": "redis", "config": {"name": "later", "dsn": redis_url}}
    config = {
        "ufo_json_rpc": {"security": {"protected_api": False}, "async": [queue]},
        "defaults": {"audit": "calls"},
        "logging": {"audit": {"file": str(place)}},
    }
    with folder(config=config, plugins={"shop.py": PLUGIN}) as home, (home / "worker.log").open("wb") as log:
        command = [str(RPCGW), "worker", "later", "-c", "gateway.yaml"]
        process = subprocess.Popen(command, cwd=home, env=clean_environment(home, None), stdout=log, stderr=log)
        try:
            wait_lines(home / "worker.log", "worker.ready", 1)
            place.rename(tmp_path / "audit.log.1")
            process.send_signal(signal.SIGUSR1)
            wait_until(place.exists, 20, (home / "worker.log").read_text)
            process.terminate()
            assert process.wait(30) == 0
        finally:
            end(process)
