"""A queue's messages, one by one: admitted as over HTTP, run, answered, or dead with a reason."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from rpcgw.access.oauth import Invalid
from rpcgw.access.tokens import compile_tokens
from rpcgw.api.context import Principal
from rpcgw.endpoints.jobs import Served, Services, handle
from rpcgw.kernel.ports import Delivery, Handled
from tests.unit.endpoints.desk import HOOK, NOW, Desk

PING = {"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"a": 1}}
SHA = hashlib.sha256(b"s3cret").hexdigest()
OLD = hashlib.sha256(b"old").hexdigest()


class Issuer:
    """Every token is a subject's, who may read."""

    def recall(self, token: str, now: float) -> Principal | Invalid | None:
        return None

    async def identify(self, token: str, now: float) -> Principal | Invalid:
        return Principal(token, frozenset({"read"}), {"iss": "x"})


GROUPS = {
    "general": Served(None, lambda accepted: accepted or "en"),
    "closed": Served(compile_tokens("X", [("crm", SHA, None), ("gone", OLD, NOW - 1)]), lambda _: "en"),
    "readers": Served(compile_tokens("X", []), lambda _: "en", Issuer(), frozenset({"read"})),
    "writers": Served(compile_tokens("X", []), lambda _: "en", Issuer(), frozenset({"read", "write"})),
}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def services(desk: Desk) -> Services:
    return Services("q", desk, desk, desk, desk, GROUPS, desk.webhooks(), retries=2, max_body_bytes=10_000)


async def given(desk: Desk, message: Any, count: int = 1) -> Handled:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return await handle(services(desk), Delivery(body, count, "1-0"))


def with_callback(callback: str = HOOK, **envelope: Any) -> dict[str, Any]:
    return {"request": {**PING, **envelope, "params": {"a": 1, "$rpc": {"callback": callback, "rayId": "ray"}}}}


async def test_done(desk: Desk) -> None:
    """A message runs through the executor as surface queue; the envelope is the answer, and it is told."""
    handled = await given(desk, {"request": PING, "locale": "uk", "version": 2})
    assert handled.answer is not None
    assert json.loads(handled.answer) == {"id": 1, "result": {"a": 1}, "jsonrpc": "2.0"}
    [call] = desk.calls
    assert (call.surface, call.version, call.locale, call.principal.name) == ("queue", 2, "uk", "anonymous")
    assert desk.answered == ["post_response"]
    [told] = desk.named("job.done")
    assert (told["queue"], told["method"], told["key"]) == ("q", "echo", "1-0")


async def test_callback(desk: Desk) -> None:
    """The answer goes to the callback, with the message's tracing fields."""
    await given(desk, {**with_callback(), "headers": {"traceparent": "00-1"}})
    [(url, body, fields)] = desk.sent
    assert (url, json.loads(body)["result"], fields["traceparent"]) == (HOOK, {"a": 1}, "00-1")
    assert desk.calls[0].ray_id == "ray"


async def test_a_failed_call_is_done_too(desk: Desk) -> None:
    """An error is an answer: delivered, told, and not run again."""
    handled = await given(desk, with_callback(method="fail"))
    assert handled.dead == ""
    assert json.loads(desk.sent[0][1])["error"]["code"] == -32603
    assert [told["code"] for told in desk.named("job.failed")] == [-32603]


async def test_a_receiver_that_refuses(desk: Desk) -> None:
    """A webhook that nobody takes does not make the call run again."""
    desk.failing = True
    assert (await given(desk, with_callback())).dead == ""
    assert len(desk.named("webhook.failed")) == len(desk.named("job.done")) == 1


async def test_notification(desk: Desk) -> None:
    """Without an id there is no answer, and a callback is not used."""
    message = with_callback()
    del message["request"]["id"]
    assert (await given(desk, message)).answer is None
    assert desk.sent == []
    assert len(desk.calls) == 1


async def test_token(desk: Desk) -> None:
    """A protected group's calls run as whom the token stands for."""
    await given(desk, {"request": PING, "group": "closed", "token": "s3cret"})
    assert desk.calls[0].principal.name == "crm"


async def test_access_token(desk: Desk) -> None:
    """Where access tokens are taken they are taken here too."""
    await given(desk, {"request": PING, "group": "readers", "token": "alice"})
    assert desk.calls[0].principal.name == "alice"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        pytest.param(b"garbage", "the message is no JSON", id="garbage"),
        pytest.param({"request": [PING]}, "the request cannot be read", id="a batch"),
        pytest.param({"request": PING, "group": "closed"}, "refused: no token", id="no token"),
        pytest.param({"request": PING, "group": "closed", "token": "x"}, "refused: not a token of this group", id="a wrong token"),
        pytest.param({"request": PING, "group": "closed", "token": "old"}, "refused: a token that has expired", id="an old token"),
        pytest.param({"request": PING, "group": "writers", "token": "alice"}, "refused: the token lacks write", id="an access token without the group's scopes"),
        pytest.param({"request": PING, "group": "nowhere"}, "no route of kind rpc serves the group 'nowhere'", id="a group without a route"),
        pytest.param(with_callback("https://evil.example.com/"), "the callback is not among", id="a callback elsewhere"),
        pytest.param({"request": PING, "x": "x" * 10_000}, "larger than 10000 bytes", id="a message without end"),
    ],
)  # fmt: skip
async def test_dead(desk: Desk, message: Any, reason: str) -> None:
    """What can never be done is dead, says why, and never runs."""
    handled = await given(desk, message)
    assert handled.answer is None
    assert reason in handled.dead
    assert desk.calls == []
    assert [told["reason"] for told in desk.named("job.dead")] == [handled.dead]


async def test_without_webhooks(desk: Desk) -> None:
    """Where webhooks are not allowed, a message that asks for one is dead."""
    handled = await handle(replace(services(desk), webhooks=None), Delivery(json.dumps(with_callback()).encode(), 1))
    assert handled.dead == "webhooks are not allowed here (jobs.webhooks.allow)"


@pytest.mark.parametrize(
    ("count", "runs"),
    [
        pytest.param(1, 1, id="the first time"),
        pytest.param(3, 1, id="the last time"),
        pytest.param(4, 0, id="once too often"),
    ],
)
async def test_redelivered(desk: Desk, count: int, runs: int) -> None:
    """A job that was begun again is told; one that outlived too many workers is dead."""
    handled = await given(desk, {"request": PING}, count)
    assert len(desk.calls) == runs
    assert ("given out 3 times" in handled.dead) is (runs == 0)
    assert len(desk.named("job.retried")) == (runs if count > 1 else 0)
