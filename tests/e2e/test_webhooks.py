"""Calls with a callback against a real daemon and a real receiver, without a queue."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noted, noting
from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.http import Answer
from tests.support.receiver import Receiver, receiver

SECRET = "0123456789abcdef"
SIGNED = ((re.compile(r"t=\d+,v1=[0-9a-f]+"), "t=<moment>,v1=<signature>"),)
PLUGIN = """
import asyncio
import pathlib

import rpcgw as rpc


@rpc.procedure("Demo")
class Demo:
    async def double(self, number: int) -> int:
        return 2 * number

    async def fail(self) -> int:
        raise rpc.ApplicationError("no", code=7)

    async def hold(self, gate: str) -> str:
        pathlib.Path(gate + ".begun").touch()
        while not pathlib.Path(gate).exists():
            await asyncio.sleep(0.01)
        return gate


@rpc.procedure("Demo", version=2)
class Demo2(Demo):
    async def newer(self) -> int:
        return 2


plugin = rpc.Plugin(procedures=[Demo, Demo2])
"""


def config(served: Receiver, **jobs: Any) -> dict[str, Any]:
    return {
        "ufo_json_rpc": {"security": {"protected_api": False}},
        "jobs": {"webhooks": {"allow": [f"{served.url}/hooks/"], "secret": SECRET}, **jobs},
    }


@pytest.fixture(scope="module")
def listening() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture(scope="module")
def daemon_of_all(listening: Receiver) -> Iterator[Daemon]:
    with daemon(config=config(listening, retries=1), plugins={"demo.py": PLUGIN}) as made:
        yield made


@pytest.fixture
def served(listening: Receiver) -> Receiver:
    """The receiver, with nothing received yet."""
    listening.received.clear()
    listening.answers.clear()
    return listening


@pytest.fixture
def running(daemon_of_all: Daemon, served: Receiver, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, daemon_of_all):
        yield daemon_of_all


def call(
    running: Daemon, callback: str, method: str = "Demo.double", path: str = "/rpc", identifier: Any = 7, **params: Any
) -> Any:
    message = {"jsonrpc": "2.0", "method": method, "params": {**params, "$rpc": {"callback": callback}}}
    if identifier is not None:
        message["id"] = identifier
    headers = {"traceparent": "00-1-2-01", "X-Request-Id": "req", "X-Other": "no", "Cookie": "no"}
    answer = running.post(path, message, headers)
    return answer.json() if answer.body else answer.status


def test_delivered(running: Daemon, served: Receiver, record_property: Note) -> None:
    """A-RPC-33, A-RPC-34: answered at once; then POSTed with JSON headers, tracing fields, a signature, nothing else."""
    callback = f"{served.url}/hooks/a?b=c"
    assert call(running, callback, number=21) == {
        "id": 7,
        "result": {"async": True, "callback": callback},
        "jsonrpc": "2.0",
    }
    [got] = served.wait()
    assert got.path == "/hooks/a?b=c"
    assert got.body == b'{"id":7,"result":42,"jsonrpc":"2.0"}'
    record_property("exchange", noted(f"POST {got.path}", got.headers.items(), got.body, Answer(204, (), b""), SIGNED))
    moment, signature = (part.partition("=")[2] for part in got.headers.pop("rpcgw-signature").split(","))
    expected = hmac.new(SECRET.encode(), moment.encode() + b"." + got.body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(signature, expected)
    assert abs(time.time() - int(moment)) < 60
    assert got.headers == {
        "host": served.url.removeprefix("http://"),
        "content-type": "application/json",
        "accept": "application/json",
        "content-length": str(len(got.body)),
        "connection": "close",
        "traceparent": "00-1-2-01",
        "x-request-id": "req",
    }


def test_errors_are_delivered(running: Daemon, served: Receiver) -> None:
    """A-RPC-33: a method's error and a refusal of its parameters are envelopes like any other."""
    call(running, f"{served.url}/hooks/", "Demo.fail", identifier=1)
    call(running, f"{served.url}/hooks/", number="x", identifier=2)
    codes = {got.json()["id"]: got.json()["error"]["code"] for got in served.wait(2)}
    assert codes == {1: 7, 2: -32602}


@pytest.mark.parametrize(
    "callback",
    [
        pytest.param("http://10.0.0.1/hooks/", id="an address that is not on the list"),
        pytest.param("{url}/other", id="a path that is not on the list"),
        pytest.param("{url}/hooks/../other", id="a way up"),
        pytest.param("hooks", id="no URL"),
        pytest.param(None, id="null"),
    ],
)
def test_refused(running: Daemon, served: Receiver, callback: str | None) -> None:
    """A-RPC-29: a callback that must not be used is -32602 with its path, and the call is not run."""
    error = call(running, callback and callback.format(url=served.url), number=1)["error"]  # type: ignore[arg-type]  # null is a case
    assert (error["code"], list(error["data"]["extra"])) == (-32602, ["[params][$rpc][callback]"])
    assert served.received == []


def test_the_version_counts(running: Daemon, served: Receiver) -> None:
    """A method is looked up in the version of the request, before it is answered."""
    assert call(running, f"{served.url}/hooks/", "Demo.newer")["error"]["code"] == -32601
    assert call(running, f"{served.url}/hooks/", "Demo.newer", "/rpc/v2")["result"]["async"]
    assert served.wait()[0].json()["result"] == 2


def test_a_notification_stays_one(running: Daemon, served: Receiver) -> None:
    """A notification with a callback is a notification: 204, and nothing is sent."""
    before = len(running.calls())
    assert call(running, f"{served.url}/hooks/", identifier=None, number=1) == 204
    wait_until(lambda: len(running.calls()) == before + 1, 10, running.stderr)
    served.stays_at(0, 0.3)


def test_tried_again(running: Daemon, served: Receiver) -> None:
    """A receiver that cannot take it now is asked again; the signature is of that moment."""
    served.answers = [503]
    before = len(running.logs("webhook.delivered"))
    call(running, f"{served.url}/hooks/", number=1)
    first, second = served.wait(2)
    assert first.body == second.body
    assert running.wait_log("webhook.delivered", count=before + 1)["attempts"] == 2


def test_not_followed(running: Daemon, served: Receiver) -> None:
    """A-RPC-34: a redirect is not followed; what is no 2xx is told to the operator."""
    served.answers = [307]
    call(running, f"{served.url}/hooks/", number=1)
    told = running.wait_log("webhook.failed")
    assert (told["status"], told["attempts"], told["reason"]) == (307, 1, "answered 307")
    served.stays_at(1, 0.3)
    metrics = running.get("/metrics").text
    assert 'rpcgw_webhooks_total{outcome="failed"} 1.0' in metrics


def test_private_addresses(served: Receiver) -> None:
    """A name that stands for this machine is refused, unless the operator says otherwise."""
    name = served.url.replace("127.0.0.1", "localhost")
    for private, expected in ((False, "error"), (True, "result")):
        jobs = {"webhooks": {"allow": [name], "allow_private": private}}
        with daemon(config={**config(served), "jobs": jobs}, plugins={"demo.py": PLUGIN}) as running:
            assert expected in call(running, f"{name}/x", number=1)
    assert served.wait()[0].path == "/x"


def test_no_webhooks_by_default(served: Receiver) -> None:
    """A-RPC-29: without an allow-list a callback is refused."""
    with daemon(plugins={"demo.py": PLUGIN}) as running:
        error = call(running, f"{served.url}/hooks/", number=1)["error"]
    assert error["data"]["extra"] == {"[params][$rpc][callback]": ["webhooks are not allowed here"]}


def test_bounded(served: Receiver) -> None:
    """So many calls are taken, and further ones refused until there is room."""
    with daemon(config=config(served, concurrency=1, waiting=2), plugins={"demo.py": PLUGIN}) as running:
        gate = running.folder / "gate"
        callback = f"{served.url}/hooks/"
        for number in (1, 2):
            assert "result" in call(running, callback, "Demo.hold", identifier=number, gate=str(gate))
        wait_until((running.folder / "gate.begun").exists, 10, running.stderr)
        wait_until(
            lambda: "error" in call(running, callback, "Demo.hold", identifier=3, gate=str(gate)), 10, running.stderr
        )
        gate.touch()
        assert {got.json()["id"] for got in served.wait(2)} >= {1, 2}


def test_drained(served: Receiver) -> None:
    """A daemon that is told to end ends what it has accepted, and delivers it."""
    with daemon(config=config(served), plugins={"demo.py": PLUGIN}) as running:
        gate = running.folder / "gate"
        call(running, f"{served.url}/hooks/", "Demo.hold", gate=str(gate))
        wait_until((running.folder / "gate.begun").exists, 10, running.stderr)
        running.process.terminate()
        running.wait_log("stopping")
        gate.touch()
        assert running.process.wait(20) == 0
        assert served.wait()[0].json()["result"] == str(gate)


@contextlib.contextmanager
def slow_receiver(said: bytes) -> Iterator[str]:
    """Take what comes, and answer with a letter each second; the URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = threading.Event()

        def answer() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    for at in range(len(said)):
                        if ended.wait(1):
                            return
                        connection.sendall(said[at : at + 1])
                    ended.wait(30)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


def test_slow_receivers(record_property: Note) -> None:
    """A-RPC-34: one that says nothing has 10 seconds, one that says something every second 15 in all."""
    with slow_receiver(b"") as silent, slow_receiver(b"HTTP/1.1 200 OK\r\n" * 2) as slow:
        jobs = {"retries": 0, "webhooks": {"allow": [f"{silent}/", f"{slow}/"]}}
        settings = {"ufo_json_rpc": {"security": {"protected_api": False}}, "jobs": jobs}
        with daemon(config=settings, plugins={"demo.py": PLUGIN}) as running, noting(record_property, running):
            begun = time.monotonic()
            for url in (slow, silent):
                assert call(running, f"{url}/", number=1)["result"]["async"] is True
            running.wait_log("webhook.failed")
            first = time.monotonic() - begun
            running.wait_log("webhook.failed", count=2)
            second = time.monotonic() - begun
            hosts = [line["host"] for line in running.logs("webhook.failed")]
    assert hosts == [silent.removeprefix("http://"), slow.removeprefix("http://")]
    assert 9.5 < first < 14.5
    assert 14.5 < second < 25
