"""Calls with a callback through `/rpc`: what is answered at once, and what happens then."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.api.context import ANONYMOUS
from rpcgw.endpoints.deferred import Deferral, NamedQueue
from rpcgw.endpoints.rpc import Services, answer, facts_of
from rpcgw.endpoints.webhooks import Webhooks
from rpcgw.exchange import Head, Inbound, Reply
from rpcgw.protocol.jsonrpc import Endpoint
from tests.unit.endpoints.desk import HOOK, Desk

ENDPOINT = Endpoint(
    name="general",
    prefix="/rpc",
    group="general",
    versions=(1, 2),
    document=lambda *_: None,
    negotiate=lambda _: "en",
    version=2,
    presented=lambda headers: headers.get("x-token"),
)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def deferral(desk: Desk, webhooks: Webhooks | None, *, queued: bool = False, waiting: int = 2) -> Deferral:
    queue = NamedQueue("q", desk) if queued else None
    return Deferral(
        desk, desk, lambda call: call.method != "unknown", webhooks, queue=queue, concurrency=1, waiting=waiting
    )


async def post(desk: Desk, deferred: Deferral | None, body: Any, **fields: str) -> Reply:
    services = Services(desk, desk, desk, desk, deferral=deferred)
    named = CIMultiDict({name.replace("_", "-"): value for name, value in fields.items()})
    head = Head("POST", "/rpc/v2", "", named)
    return await answer(ENDPOINT, services, facts_of(ENDPOINT), ANONYMOUS, Inbound(head, json.dumps(body).encode()))


def request(method: str = "echo", identifier: Any = 7, callback: str = HOOK, **params: Any) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "method": method, "params": {**params, "$rpc": {"callback": callback}}}
    return body if identifier is None else {**body, "id": identifier}


def read(reply: Reply) -> Any:
    assert isinstance(reply.body, bytes)
    return json.loads(reply.body) if reply.body else None


ACCEPTED = {"id": 7, "result": {"async": True, "callback": HOOK}, "jsonrpc": "2.0"}


async def test_accepted(desk: Desk) -> None:
    """The answer is immediate, and nothing has run when it goes out."""
    reply = await post(desk, deferral(desk, desk.webhooks()), request(a=1))
    assert read(reply) == ACCEPTED
    assert desk.calls == []
    assert desk.sent == []


async def test_run_and_delivered(desk: Desk) -> None:
    """After the answer the call runs, its envelope goes to the callback, and `rpc.post_response` fires then."""
    reply = await post(
        desk, deferral(desk, desk.webhooks()), request(a=1), traceparent="00-1", X_Request_Id="r", Cookie="c"
    )
    assert reply.after is not None
    await reply.after()
    [(url, body, fields)] = desk.sent
    assert url == HOOK
    assert json.loads(body) == {"id": 7, "result": {"a": 1}, "jsonrpc": "2.0"}
    assert fields == {
        "traceparent": "00-1",
        "x-request-id": "r",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    assert (desk.calls[0].version, desk.calls[0].ray_id) == (2, "7")
    assert desk.answered == ["post_response"]


async def test_errors_are_delivered(desk: Desk) -> None:
    """A call that fails later is an envelope like any other."""
    reply = await post(desk, deferral(desk, desk.webhooks()), request("fail"))
    assert read(reply) == ACCEPTED
    assert reply.after is not None
    await reply.after()
    assert json.loads(desk.sent[0][1])["error"]["code"] == -32603


async def test_unknown_method(desk: Desk) -> None:
    """A method that the version does not have is told at once."""
    reply = await post(desk, deferral(desk, desk.webhooks()), request("unknown"))
    assert read(reply).get("result") != ACCEPTED["result"]
    assert [call.method for call in desk.calls] == ["unknown"]
    assert desk.sent == []


@pytest.mark.parametrize(
    ("callback", "words"),
    [
        pytest.param("https://evil.example.com/", "is not among the addresses", id="not on the list"),
        pytest.param("https://hooks.example.com/#x", "must be an absolute", id="no URL"),
        pytest.param("nonsense", "must be an absolute", id="nonsense"),
    ],
)
async def test_refused(desk: Desk, callback: str, words: str) -> None:
    """A callback that must not be used is -32602 with its path, and the call does not run."""
    error = read(await post(desk, deferral(desk, desk.webhooks()), request(callback=callback)))["error"]
    assert error["code"] == -32602
    assert words in error["data"]["extra"]["[params][$rpc][callback]"][0]
    assert all(call.refused is not None for call in desk.calls)


async def test_refused_by_resolution() -> None:
    """A name that stands for a private address is refused before anything runs."""
    desk = Desk(addresses={"hooks.example.com": ["192.168.1.1"]})
    error = read(await post(desk, deferral(desk, desk.webhooks()), request()))["error"]
    assert "resolves to an address" in error["message"]


@pytest.mark.parametrize("there", [pytest.param(True, id="no allow-list"), pytest.param(False, id="another surface")])
async def test_without_webhooks(desk: Desk, there: bool) -> None:
    """Where there are no webhooks a callback is refused, not dropped."""
    error = read(await post(desk, deferral(desk, None) if there else None, request()))["error"]
    assert "webhooks are not allowed here" in error["message"]


async def test_a_notification_stays_one(desk: Desk) -> None:
    """A notification with a callback is a notification: 204, run, and nothing sent."""
    reply = await post(desk, deferral(desk, desk.webhooks()), request(identifier=None, a=1))
    assert (reply.status, reply.body) == (204, b"")
    assert reply.after is not None
    await reply.after()
    assert [call.params for call in desk.calls] == [{"a": 1}]
    assert desk.sent == []


async def test_in_a_batch(desk: Desk) -> None:
    """Items with a callback are deferred, the others are answered; the deferred ones do not wait for each other."""
    items = [request("gate", 1), {"jsonrpc": "2.0", "id": 2, "method": "echo", "params": {"b": 2}}, request("echo", 3)]
    reply = await post(desk, deferral(desk, desk.webhooks()), items)
    assert [(item["id"], "async" in item["result"]) for item in read(reply)] == [(1, True), (2, False), (3, True)]
    assert reply.after is not None
    desk.gate.set()
    await reply.after()
    assert sorted(json.loads(body)["id"] for _, body, _ in desk.sent) == [1, 3]


async def test_bounded(desk: Desk) -> None:
    """So many run at once, so many wait, and what comes beyond is refused until there is room again."""
    deferred = deferral(desk, desk.webhooks(), waiting=2)
    replies = [await post(desk, deferred, request("gate", number)) for number in (1, 2)]
    tasks = [asyncio.ensure_future(reply.after()) for reply in replies if reply.after is not None]
    while not desk.running:
        await asyncio.sleep(0)
    assert desk.running == 1
    error = read(await post(desk, deferred, request("gate", 3)))["error"]
    assert (error["code"], "Too many calls" in error["message"]) == (-32300, True)
    desk.gate.set()
    await asyncio.gather(*tasks)
    assert read(await post(desk, deferred, request("gate", 7))) == ACCEPTED


async def test_cut(desk: Desk) -> None:
    """A deferred call that the daemon's end cuts is told to the operator."""
    reply = await post(desk, deferral(desk, desk.webhooks()), request("gate"))
    assert reply.after is not None
    task = asyncio.ensure_future(reply.after())
    while not desk.running:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [told["method"] for told in desk.named("job.abandoned")] == ["gate"]


async def test_queued(desk: Desk) -> None:
    """With a queue the call is in it before the client is told, whole, with the client's token."""
    reply = await post(desk, deferral(desk, desk.webhooks(), queued=True), request(a=1), X_Token="t", tracestate="s")
    assert read(reply) == ACCEPTED
    assert reply.after is None
    assert desk.calls == []
    assert json.loads(desk.messages[0]) == {
        "request": {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "echo",
            "params": {"a": 1, "$rpc": {"rayId": "7", "callback": HOOK}},
        },
        "token": "t",
        "group": "general",
        "version": 2,
        "locale": "en",
        "headers": {"tracestate": "s"},
    }


async def test_the_queue_is_away(desk: Desk) -> None:
    """Where the queue does not take the call, the client is told that, and it does not run."""
    desk.failing = True
    error = read(await post(desk, deferral(desk, desk.webhooks(), queued=True), request()))["error"]
    assert (error["code"], error["message"]) == (-32300, "The call cannot be deferred just now; try again later")
    assert [told["reason"] for told in desk.named("job.refused")] == ["away"]
