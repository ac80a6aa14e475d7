"""What a server says of opaque tokens, and for how long that is remembered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from rpcgw.access.oauth import Expected, Invalid, Unavailable
from rpcgw.adapters.oauth.introspection import AT_ONCE, WAITING, Introspection
from rpcgw.api.context import Principal
from rpcgw.kernel.ports import Answered

NOW = 1000.0
REMEMBER = 60.0
HOLDS = {"active": True, "aud": "here", "sub": "alice"}


class Server:
    """Answers with these bytes."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 0) -> Answered:
        return Answered(200, self.body)


@pytest.mark.parametrize(
    ("said", "who", "until"),
    [
        pytest.param({**HOLDS, "exp": 5000}, Principal, 1060.0, id="one that holds for long: a while"),
        pytest.param({**HOLDS, "exp": 1005}, Principal, 1035.0, id="one that ends sooner: to its end, with the leeway"),
        pytest.param(HOLDS, Principal, 1060.0, id="one without an end, which need not be said"),
        pytest.param({**HOLDS, "iss": "another"}, Invalid, 1060.0, id="another issuer's"),
        pytest.param({**HOLDS, "aud": "elsewhere"}, Invalid, 1060.0, id="another audience's"),
        pytest.param({"active": False}, Invalid, 1060.0, id="one that does not hold"),
        pytest.param({**HOLDS, "active": "true"}, Invalid, 1060.0, id="a word that is no yes"),
        pytest.param([], Unavailable, 0.0, id="no claims"),
        pytest.param(None, Unavailable, 0.0, id="nested without end"),
    ],
)
async def test_until_when(said: Any, who: type, until: float) -> None:
    """No longer than asked for, and never past the token's own end."""
    body = b"[" * 6000 if said is None else json.dumps(said).encode()
    expected = Expected("issuer", frozenset({"here"}), leeway=30.0)
    source = Introspection(Server(body), "https://login.example/introspect", {}, expected, REMEMBER)  # type: ignore[arg-type]
    answer, remembered = await source.ask("t", NOW)
    assert isinstance(answer, who)
    assert remembered == until


@pytest.mark.parametrize(
    ("said", "expires"),
    [
        pytest.param({**HOLDS, "exp": 5000}, 5030.0, id="what the server says, with the leeway"),
        pytest.param(HOLDS, None, id="nothing is said"),
    ],
)
async def test_when_the_token_ends(said: Any, expires: float | None) -> None:
    """The token's own end is the caller's; for how long the answer is remembered is not."""
    expected = Expected("issuer", frozenset({"here"}), leeway=30.0)
    server: Any = Server(json.dumps(said).encode())
    source = Introspection(server, "https://login.example/introspect", {}, expected, REMEMBER)
    who, _ = await source.ask("t", NOW)
    assert isinstance(who, Principal)
    assert who.expires == expires


class SlowServer(Server):
    """Answers once `go` is set; `most` is how many it was asked at the same time."""

    def __init__(self) -> None:
        super().__init__(json.dumps(HOLDS).encode())
        self.go = asyncio.Event()
        self.asked = self.most = self._now = 0

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 0) -> Answered:
        self.asked += 1
        self._now += 1
        self.most = max(self.most, self._now)
        await self.go.wait()
        self._now -= 1
        return await super().ask(url, fields, body, most)


async def test_many_unknown_tokens_at_once() -> None:
    """So many are asked of at a time, so many wait; the others are told that nobody can say, and nothing is sent."""
    server = SlowServer()
    expected = Expected("issuer", frozenset({"here"}))
    source = Introspection(server, "https://login.example/introspect", {}, expected, REMEMBER)  # type: ignore[arg-type]
    asking = [asyncio.create_task(source.ask(f"t{number}", NOW)) for number in range(AT_ONCE + WAITING + 50)]
    while sum(task.done() for task in asking) < 50:
        await asyncio.sleep(0)
    assert (server.asked, server.most) == (AT_ONCE, AT_ONCE)
    server.go.set()
    said = [type(who) for who, _ in await asyncio.gather(*asking)]
    assert said == [Principal] * (AT_ONCE + WAITING) + [Unavailable] * 50
    assert (server.asked, server.most) == (AT_ONCE + WAITING, AT_ONCE)


async def test_who_leaves_makes_room() -> None:
    """A task that is cancelled, waiting or asking, takes no turn with it."""
    server = SlowServer()
    expected = Expected("issuer", frozenset({"here"}))
    source = Introspection(server, "https://login.example/introspect", {}, expected, REMEMBER)  # type: ignore[arg-type]
    asking = [asyncio.create_task(source.ask(f"t{number}", NOW)) for number in range(AT_ONCE + 4)]
    while server.asked < AT_ONCE:
        await asyncio.sleep(0)
    for task in (*asking[:4], *asking[-2:]):
        task.cancel()
    await asyncio.wait([*asking[:4], *asking[-2:]])
    server.go.set()
    who = await asyncio.gather(*asking[4:-2], *(source.ask(f"more{number}", NOW) for number in range(AT_ONCE)))
    assert {type(each) for each, _ in who} == {Principal}
