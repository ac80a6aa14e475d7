"""Entrances within limits: what is laid around one, and what is not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.access.addresses import Proxies, compile_proxies
from rpcgw.access.limits import allowances
from rpcgw.access.tokens import WRONG_TOKEN
from rpcgw.adapters.rates.shared import SharedLimiter
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.api.rates import Rate
from rpcgw.endpoints.limited import Attempts, behind, rated
from rpcgw.exchange import Entrance, Head, Inbound, Pending, Rejected, Reply, Verdict, settled
from rpcgw.kernel.rates import Rates

DAILY = 86_400
ANN = Principal("ann")
STRANGER = "203.0.113.9"


@dataclass
class World:
    """A clock, what was told, and counts in memory."""

    now: float = 1_000_000.0
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rates = Rates(SharedLimiter(None, lambda: self.now), self, self)  # type: ignore[arg-type]

    def event(self, name: str, /, **fields: Any) -> None:
        self.told.append((name, fields))

    def monotonic(self) -> float:
        return self.now

    def attempts(self, amount: int) -> Attempts:
        return Attempts(Rate(amount, DAILY), self.rates, self)  # type: ignore[arg-type]


@pytest.fixture
def world() -> World:
    return World()


def head(peer: str = STRANGER, token: str = "", **fields: str) -> Head:
    return Head("POST", "/rpc", "", CIMultiDict({"Authorization": token, **fields}), peer)


def entrance(*, later: bool = False) -> Entrance:
    """One that knows `right`, at once or after it has asked somebody."""

    def verdict(asked: Head) -> Principal | Reply:
        token = asked.headers.get("authorization")
        guard = {"right": "", "": "no token"}.get(token or "", WRONG_TOKEN)
        return Reply(403, verdict=Rejected(403, -32403, "no", guard=guard)) if guard else ANN

    def admit(asked: Head) -> Verdict:
        async def settle() -> Principal | Reply:
            return verdict(asked)

        return Pending(settle) if later else verdict(asked)

    async def answer(_: Principal, __: Inbound) -> Reply:
        return Reply(200)

    return Entrance("name", "/rpc", ("POST",), 1000, admit, lambda _: Reply(413), answer)


async def outcome(made: Entrance, asked: Head) -> str | int:
    """Who came in, or the status of the refusal."""
    verdict = await settled(made.admit(asked))
    return verdict.status if isinstance(verdict, Reply) else verdict.name


def test_what_is_not_configured_is_not_there(world: World) -> None:
    """The entrance is the very same: it costs nothing."""
    made = entrance()
    assert behind(made, Proxies()) is made
    assert rated(made, allowances(None, None, None), world.rates, "general") is made


def test_a_good_request_is_settled_at_once_where_only_attempts_are_counted(world: World) -> None:
    """Nobody is asked about a client that shows a right token."""
    assert world.attempts(3).watched(entrance()).admit(head(token="right")) is ANN


def test_a_head_names_the_client_behind_a_trusted_proxy() -> None:
    """And is left alone where there is nothing to say."""
    made = behind(entrance(), compile_proxies(["10.0.0.0/8"]))
    assert made.seen is not None
    assert made.seen(head("10.0.0.1", **{"X-Forwarded-For": STRANGER})).peer == STRANGER
    alone = head("10.0.0.1")
    assert made.seen(alone) is alone


@pytest.mark.parametrize("later", [pytest.param(False, id="known at once"), pytest.param(True, id="asked for first")])
async def test_rates_count_whom_they_are_for(world: World, later: bool) -> None:
    """By address, by token, and all together; whoever is refused for another reason is not counted."""
    made = rated(
        entrance(later=later), allowances(Rate(2, DAILY), Rate(3, DAILY), Rate(4, DAILY)), world.rates, "general"
    )
    seen = [await outcome(made, head(token="wrong")) for _ in range(9)]
    seen += [await outcome(made, head(peer, "right")) for peer in ("a", "a", "a", "b", "b", "c")]
    assert seen == [403] * 9 + ["ann", "ann", 429, "ann", 429, 429]
    assert [fields["limit"] for _, fields in world.told] == ["address", "token", "token"]


async def test_nobody_in_particular_has_no_rate_by_token(world: World) -> None:
    """Without a token there is nothing to count by."""
    made = entrance()
    made = rated(
        Entrance("name", "/rpc", ("POST",), 1, lambda _: ANONYMOUS, made.too_large, made.answer),
        allowances(None, Rate(1, DAILY), None),
        world.rates,
        "general",
    )
    assert [await outcome(made, head()) for _ in range(3)] == ["anonymous"] * 3


@pytest.mark.parametrize("later", [pytest.param(False, id="known at once"), pytest.param(True, id="asked for first")])
async def test_an_address_that_guesses_is_refused_for_a_while(world: World, later: bool) -> None:
    """Two wrong tokens are heard; after the third a right one is not either, until its time is over. Others come in."""
    made = world.attempts(2).watched(entrance(later=later))
    seen = [await outcome(made, head(token=token)) for token in ("1", "2", "3", "right")]
    seen.append(await outcome(made, head("203.0.113.10", "right")))
    world.now += 2 * DAILY
    seen.append(await outcome(made, head(token="right")))
    assert seen == [403, 403, 429, 429, "ann", "ann"]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(head(), id="no token at all"),
        pytest.param(head("127.0.0.1", "wrong"), id="from this machine"),
        pytest.param(head("", "wrong"), id="over a unix socket"),
    ],
)
async def test_what_is_no_attempt(world: World, asked: Head) -> None:
    """A client that forgets its token, and one behind which a proxy may stand that nobody named."""
    made = world.attempts(1).watched(entrance())
    assert [await outcome(made, asked) for _ in range(5)] == [403] * 5


async def test_a_refusal_says_when_to_try_again(world: World) -> None:
    """In `Retry-After`, which every protocol sends."""
    made = rated(entrance(), allowances(Rate(1, 60), None, None), world.rates, "general")
    await outcome(made, head(token="right"))
    refused = await settled(made.admit(head(token="right")))
    assert isinstance(refused, Reply)
    [(name, seconds)] = refused.headers
    assert name == "Retry-After"
    assert 0 < int(seconds) <= 121
