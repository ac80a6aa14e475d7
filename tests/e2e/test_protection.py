"""Who may reach a daemon: what it refuses to serve, and whom it believes on a unix socket."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import as_yaml, cli, daemon, folder
from tests.support.http import Answer, exchange
from tests.support.refusal import refusal

OPEN: dict[str, Any] = {"security": {"protected_api": False}}
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()


class UnixConnection(http.client.HTTPConnection):
    """A connection to a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        """Connect to the file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


def ping(path: Path, headers: Mapping[str, str]) -> Answer:
    """Ping over a unix socket."""
    with closing(UnixConnection(path)) as connection:
        return exchange(connection, "POST", "/rpc", PING, {"Content-Type": "application/json", **headers})


@pytest.mark.parametrize("everywhere", ["0.0.0.0:0", "[::]:0"])
def test_an_unprotected_daemon_is_not_for_everybody(everywhere: str) -> None:
    """It ends with 78 and says at which line, whose group, and what to do."""
    with folder(config={"server": {"bind": everywhere}, "ufo_json_rpc": OPEN}) as place:
        done = cli("serve", cwd=place)
    first = done.stderr.splitlines()[0]
    assert done.returncode == 78
    assert first.startswith("gateway.yaml:3:")
    assert "error[unprotected]" in first
    assert everywhere in first
    assert "server.allow_unprotected: true" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_operator_may_say_that_it_is_for_everybody_and_a_unix_socket_needs_no_host() -> None:
    """With `server.allow_unprotected: true` it serves on all addresses; a name means nothing to a unix socket.

    Over TCP a foreign `Host` is refused (421), and a foreign `Origin` over both (403).
    """
    server = {"bind": ["0.0.0.0:0", "unix:s.sock"], "allow_unprotected": True}
    with daemon(config={"server": server, "ufo_json_rpc": OPEN}, bind=None) as running:
        foreign = {"Content-Type": "application/json", "Host": "evil.example"}
        over_tcp = running.request("POST", "/rpc", PING, {**foreign, "Host": f"127.0.0.1:{running.port}"})
        refused = running.request("POST", "/rpc", PING, foreign)
        path = running.folder / "s.sock"
        over_unix = ping(path, {"Host": "evil.example"})
        guarded = ping(path, {"Origin": "http://evil.example"})
    assert (over_tcp.status, over_tcp.json()["result"]) == (200, "PONG")
    assert refused.status == 421
    assert (over_unix.status, over_unix.json()["result"]) == (200, "PONG")
    assert guarded.status == 403


def test_a_reload_lays_no_address_open_that_is_served_until_a_restart() -> None:
    """Another `server.bind` waits for a restart: without a token, what is still for everybody is not served."""
    token = {"clients_tokens": ["t0k3n"], "protected_api": True}
    public = {"server": {"bind": "0.0.0.0:0"}, "ufo_json_rpc": {"security": token}}
    local = {"server": {"bind": "127.0.0.1:0"}, "ufo_json_rpc": OPEN}
    with daemon(config=public, bind=None) as running:
        running.write({"gateway.yaml": as_yaml(local)})
        running.hup()
        running.wait_log("reload.refused")
        problems = running.logs("problem")
        named = {"Content-Type": "application/json", "Host": f"127.0.0.1:{running.port}"}
        answer = running.request("POST", "/rpc", PING, named)
    assert {(problem["code"], "0.0.0.0:" in problem["text"]) for problem in problems} == {("unprotected", True)}
    assert all("restart the daemon" in problem["hint"] for problem in problems)
    assert answer.status == 401


def test_a_protected_group_that_nobody_has_a_token_for() -> None:
    """It ends with 78 at the route's line: nobody could call it."""
    refused = refusal(config={"ufo_json_rpc": {}})
    [line, *_] = refused.about("error[no-token]")
    assert refused.code == 78
    assert line.startswith("routes.yaml:")
    assert refused.about("help:", "clients_tokens")


def test_an_address_of_the_command_line_that_is_none() -> None:
    """What is wrong is the option, so the option is named; usage ends with 2."""
    with folder() as place:
        done = cli("serve", "--bind", "nope", cwd=place)
    assert done.returncode == 2
    assert "--bind" in done.stderr
    assert "nope is no host:port, [v6]:port or unix:/path" in done.stderr


def test_a_group_that_is_not_there() -> None:
    """`rpcgw methods` of an unknown group ends with 2 and says which there are."""
    with folder() as place:
        done = cli("methods", "--group", "nope", cwd=place)
    assert done.returncode == 2
    assert "there is no group 'nope'; there are general" in done.stderr
