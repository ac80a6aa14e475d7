"""May an answer go there, and what is told of sending it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest

from rpcgw.kernel.ports import Sent
from rpcgw.protocol.jsonrpc.delivery import sign
from tests.unit.endpoints.desk import HOOK, NOW, Desk

FORBIDDEN = "resolves to an address that webhooks must not go to"


@pytest.mark.parametrize(
    ("addresses", "reason"),
    [
        pytest.param(["8.8.8.8"], "", id="a public address"),
        pytest.param(["8.8.8.8", "2606:4700::1111"], "", id="several public addresses"),
        pytest.param(["127.0.0.1"], FORBIDDEN, id="loopback"),
        pytest.param(["8.8.8.8", "10.0.0.1"], FORBIDDEN, id="one private address among public ones"),
        pytest.param(["169.254.169.254"], FORBIDDEN, id="link-local"),
        pytest.param(["::ffff:127.0.0.1"], FORBIDDEN, id="loopback as IPv6"),
        pytest.param([], FORBIDDEN, id="no address at all"),
    ],
)
async def test_resolution(addresses: Sequence[str], reason: str) -> None:
    """A name is judged by every address that it stands for."""
    desk = Desk(addresses={"hooks.example.com": addresses})
    assert await desk.webhooks().refuses(HOOK) == reason


async def test_a_name_that_does_not_resolve() -> None:
    """A host that nobody knows is refused before anything runs."""
    assert await Desk(addresses={}).webhooks().refuses(HOOK) == "has a host that does not resolve"


async def test_the_text_is_looked_at_first() -> None:
    """What the allow-list refuses is not resolved."""
    reason = await Desk(addresses={}).webhooks().refuses("https://evil.example.com/")
    assert reason == "is not among the addresses that webhooks may go to"


async def test_delivered() -> None:
    """The envelope goes out with the tracing fields and a signature of this moment; that is told."""
    desk = Desk()
    assert await desk.webhooks(secret="0123456789abcdef").deliver(HOOK, b"{}", {"traceparent": "00-1"}, "ray")
    [(url, body, fields)] = desk.sent
    assert (url, body) == (HOOK, b"{}")
    assert fields["traceparent"] == "00-1"
    assert fields["Rpcgw-Signature"] == sign("0123456789abcdef", int(NOW), b"{}")
    assert desk.events == [
        (
            "webhook.delivered",
            {"outcome": "delivered", "status": 204, "attempts": 1, "host": "hooks.example.com", "ray_id": "ray"},
        )
    ]


async def test_not_delivered() -> None:
    """A receiver that does not take it is told to the operator, and nothing is raised."""
    desk = Desk(failing=True)
    assert not await desk.webhooks().deliver(HOOK, b"{}", {}, "ray")
    [told] = desk.named("webhook.failed")
    assert (told["status"], told["attempts"], told["reason"]) == (503, 3, "answered 503")


async def test_abandoned() -> None:
    """A delivery that is cut is told too, and the cancellation passes."""

    class Slow(Desk):
        async def post(self, url: str, body: bytes, fields: Callable[[], Mapping[str, str]], retries: int = 0) -> Sent:
            self.running = 1
            await self.gate.wait()
            raise AssertionError("never")

    desk = Slow()
    task = asyncio.create_task(desk.webhooks().deliver(HOOK, b"{}", {}, "ray"))
    while not desk.running:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [told["ray_id"] for told in desk.named("webhook.abandoned")] == ["ray"]
