"""Tokens for other services: one exchange for all who want the same one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from urllib.parse import parse_qs

import pytest

from rpcgw.adapters.oauth.exchange import MARGIN, Exchange
from rpcgw.kernel.ports import Answered, SendError


class Server:
    """Answers once `go` is set, with a token that has the exchange's number, or a refusal of `status`."""

    def __init__(self, *, lives: float | None = 600.0) -> None:
        self.go = asyncio.Event()
        self.asked: list[dict[str, list[str]]] = []
        self.status = 200
        self._lives = lives

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 0) -> Answered:
        self.asked.append(parse_qs((body or b"").decode()))
        given = {"access_token": f"made-{len(self.asked)}"} | (
            {} if self._lives is None else {"expires_in": self._lives}
        )
        await self.go.wait()
        return Answered(self.status, json.dumps(given if self.status == 200 else {"error": "no"}).encode())


class Desk:
    """An exchange over such a server, and its time."""

    def __init__(self, *, lives: float | None = 600.0) -> None:
        self.server = Server(lives=lives)
        self.time = 1000.0
        self.exchange = Exchange(self.server, "https://login.example/token", {}, lambda: self.time)  # type: ignore[arg-type]

    def ask(self, token: str = "alice", audience: str = "billing", *scopes: str) -> asyncio.Task[str]:
        return asyncio.create_task(self.exchange.exchange(token, audience, scopes))

    async def asked(self, count: int) -> None:
        while len(self.server.asked) < count:
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    "lives", [pytest.param(600.0, id="it ends later"), pytest.param(None, id="its end is not said")]
)
async def test_calls_at_the_same_time_exchange_once(lives: float | None) -> None:
    """Ten calls of one caller for one service have one token, also where it is not kept."""
    desk = Desk(lives=lives)
    calls = [desk.ask() for _ in range(10)]
    await desk.asked(1)
    desk.server.go.set()
    assert await asyncio.gather(*calls) == ["made-1"] * 10
    assert len(desk.server.asked) == 1


async def test_what_is_not_the_same() -> None:
    """Another caller, another service, other scopes: each has its own."""
    desk = Desk()
    calls = [desk.ask(), desk.ask("bob"), desk.ask("alice", "shipping"), desk.ask("alice", "billing", "read")]
    await desk.asked(4)
    desk.server.go.set()
    assert sorted(await asyncio.gather(*calls)) == ["made-1", "made-2", "made-3", "made-4"]


async def test_who_stops_waiting_stops_nobody_else() -> None:
    """The call that came first is cancelled; the others have what it asked for."""
    desk = Desk()
    first, other = desk.ask(), desk.ask()
    await desk.asked(1)
    first.cancel()
    await asyncio.wait([first])
    desk.server.go.set()
    assert await other == "made-1"
    assert first.cancelled()
    assert len(desk.server.asked) == 1


async def test_a_refusal_is_everybodys_and_is_not_kept() -> None:
    """All who wait have the error; the next call asks again."""
    desk = Desk()
    desk.server.status = 403
    calls = [desk.ask() for _ in range(3)]
    desk.server.go.set()
    assert [type(each) for each in await asyncio.gather(*calls, return_exceptions=True)] == [SendError] * 3
    desk.server.status = 200
    assert await desk.ask() == "made-2"


async def test_until_when_it_is_kept() -> None:
    """Until shortly before its end."""
    desk = Desk(lives=100.0)
    desk.server.go.set()
    assert [await desk.ask(), await desk.ask()] == ["made-1"] * 2
    desk.time += 100.0 - MARGIN
    assert await desk.ask() == "made-2"
