"""Large pieces of requests take turns; small ones wait for nobody."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from rpcgw.adapters.http.turns import LARGE, Gate, Turns
from rpcgw.exchange import Inbound, Reply
from tests.unit.adapters.http.wires import Wire, settle

Serve = Callable[..., Any]
Make = Callable[..., Any]

HEAD = b"POST /call HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
SMALL = b"1\r\nx\r\n0\r\n\r\n"
MOST = 1 << 20


def chunked(body: bytes, size: int) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class Valve(Wire):
    """A transport that knows whether it is read from."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


# -- whose turn it is


async def test_turns_come_one_by_one_in_order() -> None:
    """What else is due comes between; once nobody waits the turn is to be had again."""
    turns, done, last = Turns(asyncio.get_running_loop()), list[str](), asyncio.Event()
    assert turns.take()
    for name in "abc":
        assert not turns.take()
        turns.wait(partial(done.append, name))
    turns.wait(last.set)
    assert done == []
    between = 0
    async with asyncio.timeout(5):
        while not last.is_set():
            known = len(done)
            await asyncio.sleep(0)
            assert len(done) <= known + 1
            between += 1
        while not turns.take():
            await asyncio.sleep(0)
    assert done == ["a", "b", "c"]
    assert between > len(done)


GATES = [
    pytest.param((), True, id="nobody minds"),
    pytest.param(("pause_reading",), False, id="the protocol wants nothing"),
    pytest.param(("pause_reading", "resume_reading"), True, id="it wants more"),
    pytest.param(("hold",), False, id="held"),
    pytest.param(("hold", "resume_reading"), False, id="held, whatever the protocol wants"),
    pytest.param(("hold", "pause_reading", "resume_reading"), False, id="held, and the protocol has changed its mind"),
    pytest.param(("hold", "release"), True, id="released"),
    pytest.param(("hold", "pause_reading", "release"), False, id="released, and the protocol wants nothing"),
    pytest.param(("pause_reading", "hold", "release"), False, id="released, and it never wanted anything"),
    pytest.param(("pause_reading", "hold", "release", "resume_reading"), True, id="released, and it wants more later"),
]


@pytest.mark.parametrize(("steps", "reading"), GATES)
def test_a_gate_is_open_where_both_want_it(steps: tuple[str, ...], reading: bool) -> None:
    """Neither undoes what the other one wants."""
    valve = Valve()
    gate = Gate(valve)
    for step in steps:
        getattr(gate, step)()
    assert valve.reading is reading


# -- connections


async def test_a_large_piece_waits_where_another_has_the_turn(serve: Serve, make_entrance: Make) -> None:
    """Nothing more is read from its connection until then; a small request is answered at once."""
    bodies: list[bytes] = []
    served = await serve(replace(make_entrance(keeping(bodies)), max_body_bytes=MOST))
    first, second, third = await connected(served, 3)
    first.feed(HEAD + chunked(b"a" * LARGE, LARGE))
    second.feed(HEAD + chunked(b"b" * LARGE, LARGE))
    third.feed(HEAD + SMALL)
    assert (first.reading, second.reading, third.reading) == (True, False, True)
    async with asyncio.timeout(5):
        while len(bodies) < 3:
            await settle()
    assert [body[:1] for body in bodies] == [b"a", b"x", b"b"]
    assert second.reading
    for wire in (first, second, third):
        wire.leave()


async def test_who_leaves_meanwhile_is_not_read(serve: Serve, make_entrance: Make) -> None:
    """Its turn is left out, and whoever comes after it has theirs."""
    bodies: list[bytes] = []
    served = await serve(replace(make_entrance(keeping(bodies)), max_body_bytes=MOST))
    wires = await connected(served, 3)
    for name, wire in zip((b"a", b"b", b"c"), wires, strict=True):
        wire.feed(HEAD + chunked(name * LARGE, LARGE))
    wires[1].leave()
    async with asyncio.timeout(5):
        while len(bodies) < 2:
            await settle()
    assert [body[:1] for body in bodies] == [b"a", b"c"]
    wires[0].leave()
    wires[2].leave()


@pytest.mark.parametrize("size", [1000, LARGE, 300_000])
async def test_many_large_bodies_arrive_whole(serve_fast: Serve, make_entrance: Make, size: int) -> None:
    """Each as it was sent, in whatever chunks, though all come at once."""
    served = await serve_fast(replace(make_entrance(), max_body_bytes=MOST))
    sent = [random.Random(number).randbytes(700_000) for number in range(8)]
    clients = [await served.connect() for _ in sent]
    asked = (
        client.ask(body=chunked(body, size), Transfer_Encoding="chunked")
        for client, body in zip(clients, sent, strict=True)
    )
    async with asyncio.timeout(30):
        answers = await asyncio.gather(*asked)
    assert [answer.body == body for answer, body in zip(answers, sent, strict=True)] == [True] * len(sent)


class Fed(Valve):
    """A connection of a door, without a network."""

    def feed(self, data: bytes) -> None:
        assert self.protocol is not None
        self.protocol.data_received(data)

    def leave(self) -> None:
        assert self.protocol is not None
        self.closed = True
        self.protocol.connection_lost(None)


async def connected(served: Any, count: int) -> list[Fed]:
    """So many connections to a door."""
    make, wires = served.door.protocol(), [Fed() for _ in range(count)]
    for wire in wires:
        served.door._connections.accepted()
        wire.set_protocol(make())
        assert wire.protocol is not None
        wire.protocol.connection_made(wire)
    await settle()
    return wires


def keeping(bodies: list[bytes]) -> Callable[[Inbound], Reply]:
    """An endpoint that keeps what it is sent."""

    def answer(inbound: Inbound) -> Reply:
        bodies.append(inbound.body)
        return Reply(200, b"{}")

    return answer
