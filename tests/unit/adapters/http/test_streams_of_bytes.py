"""No bytes are two different requests to the two doors: streams that are split, joined, pipelined and corrupted.

The measure is aiohttp's own door, fed byte by byte: what it sees then is what a stream means. Fed in larger pieces it
may drop a sound request that came together with a broken one; so it may see less, but never anything else. It sees more
where an upgrade was asked for at a path that nothing is at: what comes later than the head of that is lost on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpcgw.adapters.http.door import Door
from rpcgw.adapters.http.health import Part
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Entrance, Inbound, Reply
from tests.golden.http_streams import HEAD, ORDINARY, SMUGGLED, STREAMS
from tests.unit.adapters.http.wires import Outcome, Seen, feed, seen

LIMIT = 1000


class Doors:
    """Both doors' protocols before one entrance that takes anything, keeps it and answers what it was sent."""

    def __init__(self) -> None:
        self.fast, self.slow = (self._door(fast_front=fast) for fast in (True, False))
        self._seen: list[Seen] = []

    def _door(self, *, fast_front: bool) -> Door:
        async def parts() -> Sequence[Part]:
            return ()

        async def answer(_: Principal, inbound: Inbound) -> Reply:
            self._seen.append(seen(inbound))
            return Reply(200, b"<" + inbound.body + b">", (("Content-Type", "text/plain"),))

        too_large = Reply(413, b"too large", (("Content-Type", "text/plain"),))
        entrance = Entrance("call", "/call", ("POST",), LIMIT, lambda _: ANONYMOUS, lambda _: too_large, answer)
        return Door([entrance], parts=parts, report=lambda name, /, **fields: None, fast_front=fast_front)

    async def open(self) -> None:
        for door in (self.fast, self.slow):
            await door.open([])

    async def close(self) -> None:
        for door in (self.fast, self.slow):
            await door.drain(0.0, 0.0)

    async def ask(self, door: Door, pieces: Sequence[bytes]) -> Outcome:
        def make(kept: list[Seen]) -> asyncio.Protocol:
            self._seen = kept
            door._connections.accepted()
            return door.protocol()()

        return await feed(make, pieces)


async def agree(data: bytes, *cuttings: Sequence[bytes]) -> None:
    """Both doors see the same requests in `data` and say the same, in whatever pieces it comes."""
    doors = Doors()
    await doors.open()
    try:
        meant = await doors.ask(doors.slow, [data[place : place + 1] for place in range(len(data))])
        for pieces in cuttings:
            slow = await doors.ask(doors.slow, pieces)
            fast = await doors.ask(doors.fast, pieces)
            measures = (meant.seen[: len(fast.seen)], slow.seen[: len(fast.seen)])
            assert fast.seen in measures, "the front sees nothing that is not there"
            assert len(fast.seen) >= len(slow.seen), "and no less than aiohttp does"
            if len(fast.seen) == len(slow.seen):
                assert (fast.written, fast.closed) == (slow.written, slow.closed), pieces
    finally:
        await doors.close()


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    """The pieces between these places."""
    ends = sorted({place % len(data) for place in places} - {0}) if data else []
    return [data[begin:end] for begin, end in zip([0, *ends], [*ends, len(data)], strict=True)]


def cuttings(data: bytes) -> list[list[bytes]]:
    """Whole, byte by byte, around the blank line, halved, before the last byte, by seven."""
    blank = data.find(b"\r\n\r\n")
    places: tuple[Iterable[int], ...] = (
        [],
        range(len(data)),
        [blank + 4],
        [blank + 2],
        [len(data) // 2],
        [len(data) - 1],
        range(0, len(data), 7),
    )
    return [cut(data, each) for each in places]


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in STREAMS.items()])
async def test_streams_that_invite_confusion(data: bytes) -> None:
    """Each means the same to both doors, however it is cut."""
    await agree(data, *cuttings(data))


PIECES = st.sampled_from(
    [
        *STREAMS.values(),
        ORDINARY,
        SMUGGLED,
        HEAD,
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b" ",
        b"0\r\n\r\n",
        b"Content-Length: 3\r\n",
    ]
)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """A few of them joined, some of their bytes lost, doubled, changed or put in."""
    data = bytearray(b"".join(draw(st.lists(PIECES, min_size=1, max_size=4)))[:4000])
    for place, how, byte in draw(st.lists(st.tuples(st.integers(0, 3999), st.integers(0, 3), st.binary(max_size=3)))):
        begin = place % (len(data) + 1)
        end = begin + (1 if how in (0, 1) else 0)
        data[begin:end] = {0: b"", 1: byte, 2: byte, 3: bytes(data[begin : begin + 20])}[how]
    return bytes(data)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=streams(), places=st.lists(st.integers(0, 3999), max_size=6))
async def test_streams_that_are_broken_at_random(data: bytes, places: list[int]) -> None:
    """Whatever the bytes, the front sees no request that aiohttp does not see."""
    await agree(data, cut(data, places))
