"""What is remembered of tokens, and for how long."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from rpcgw.access.oauth import Invalid, Unavailable
from rpcgw.adapters.oauth.authority import RememberingAuthority
from rpcgw.adapters.oauth.jwt import Verified
from rpcgw.api.context import Principal

ALICE = Principal("alice", claims={"iss": "x"})


@dataclass
class Server:
    """What an issuer says of tokens, until `until`."""

    says: Principal | Invalid | Unavailable = ALICE
    until: float = 100.0
    asked: list[str] = field(default_factory=list)
    answers: asyncio.Event | None = None

    async def ask(self, token: str, now: float) -> Verified:
        self.asked.append(token)
        if self.answers is not None:
            await self.answers.wait()
        return self.says, self.until


async def test_a_token_is_asked_for_once() -> None:
    """What was said holds to its end, and not a moment longer."""
    server = Server()
    authority = RememberingAuthority(server)
    assert authority.recall("t", 0.0) is None
    assert await authority.identify("t", 0.0) == ALICE
    assert authority.recall("t", 99.9) == ALICE
    assert authority.recall("t", 100.0) is None
    assert server.asked == ["t"]


async def test_a_refusal_is_remembered_where_it_has_a_time() -> None:
    """A server that is asked about each token is spared those that it knows nothing of."""
    authority = RememberingAuthority(Server(Invalid("no")))
    await authority.identify("t", 0.0)
    assert authority.recall("t", 50.0) == Invalid("no")


async def test_an_outage_is_not_remembered() -> None:
    """The next request asks again."""
    authority = RememberingAuthority(Server(Unavailable("away")))
    await authority.identify("t", 0.0)
    assert authority.recall("t", 0.0) is None


async def test_what_is_remembered_is_bounded() -> None:
    """The token that was learnt of longest ago goes first."""
    authority = RememberingAuthority(Server(), most=2)
    for token in "abc":
        await authority.identify(token, 0.0)
    assert [authority.recall(token, 0.0) is not None for token in "abc"] == [False, True, True]


async def test_refusals_crowd_out_no_good_token() -> None:
    """However many made-up tokens come, those that are known stay so."""
    server = Server()
    authority = RememberingAuthority(server, most=2)
    await authority.identify("good", 0.0)
    server.says = Invalid("no")
    for token in "abc":
        await authority.identify(token, 0.0)
    assert [authority.recall(token, 0.0) for token in ("good", "a", "c")] == [ALICE, None, Invalid("no")]


async def test_a_token_that_is_taken_back() -> None:
    """What was said last counts."""
    server = Server(until=10.0)
    authority = RememberingAuthority(server)
    await authority.identify("t", 0.0)
    server.says, server.until = Invalid("no"), 30.0
    await authority.identify("t", 20.0)
    assert authority.recall("t", 20.0) == Invalid("no")


async def test_many_callers_with_one_token_ask_once() -> None:
    """A slow server hears one question; a caller who leaves takes the answer from nobody."""
    server = Server(answers=asyncio.Event())
    authority = RememberingAuthority(server)
    waiting = [asyncio.ensure_future(authority.identify("t", 0.0)) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    assert server.answers is not None
    server.answers.set()
    assert await asyncio.gather(*waiting[1:]) == [ALICE] * 49
    assert server.asked == ["t"]
