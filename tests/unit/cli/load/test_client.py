"""The load client against a server that answers what a row says."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from rpcgw.cli.load.client import Load, Place, Result, load, percentile
from rpcgw.cli.load.wire import Answered, Asked

ASKED = Asked("/x", b"{}")
RIGHT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
WRONG = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"

Answers = Callable[[int], bytes | None]
"""What the request of a number (from 1) is answered with; None hangs up."""


def is_ok(answer: Answered) -> bool:
    return answer.body == b"ok"


@asynccontextmanager
async def serving(answers: Answers, *, piece: int = 1 << 16) -> AsyncIterator[Place]:
    """A server that writes its answers in pieces of so many bytes."""
    count = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while True:
                await reader.readuntil(b"{}")
                count += 1
                answer = answers(count)
                if answer is None:
                    break
                for start in range(0, len(answer), piece):
                    writer.write(answer[start : start + piece])
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield Place("127.0.0.1", server.sockets[0].getsockname()[1])


async def run(answers: Answers, *, piece: int = 1 << 16, connections: int = 2, count: int = 50) -> Result:
    async with serving(answers, piece=piece) as place:
        return await load(place, ASKED, is_ok, Load(connections, 20, count, silence=0.3))


@pytest.mark.parametrize("answer", [RIGHT, CHUNKED], ids=["a length", "chunks"])
@pytest.mark.parametrize("piece", [1, 40, 1 << 16], ids=["byte by byte", "in pieces", "at once"])
async def test_every_right_answer_counts(answer: bytes, piece: int) -> None:
    """However an answer comes, it counts once, with a latency; the load ends with the last that was wanted."""
    result = await run(lambda _: answer, piece=piece)
    assert (result.wrong, result.told) == (0, [])
    assert 50 <= result.answers == len(result.latencies) < 52
    assert 0 < min(result.latencies) <= result.seconds < 20
    assert result.rps == pytest.approx(result.answers / result.seconds)


WRONGS = [
    pytest.param(lambda n: WRONG if n == 30 else RIGHT, 1, "no", id="one wrong body among right ones of its length"),
    pytest.param(lambda n: RIGHT.replace(b"200", b"500") if n == 30 else RIGHT, 0, "", id="the judge alone decides"),
    pytest.param(lambda n: WRONG, 50, "no", id="all of them"),
]


@pytest.mark.parametrize(("answers", "wrong", "told"), WRONGS)
async def test_every_answer_is_judged(answers: Answers, wrong: int, told: str) -> None:
    """One wrong answer among many is seen, and the load goes on."""
    result = await run(answers, connections=1)
    assert (result.answers, result.wrong) == (50, wrong)
    assert len(result.told) == min(wrong, 3)
    assert all(text.endswith(told) for text in result.told)


ENDS = [
    pytest.param(lambda n: None if n == 5 else RIGHT, "the connection was lost", id="the server hangs up"),
    pytest.param(lambda n: b"" if n == 5 else RIGHT, "no answer within", id="the server is silent"),
    pytest.param(lambda n: RIGHT + RIGHT if n == 5 else RIGHT, "more came", id="two answers to one request"),
    pytest.param(
        lambda n: b"HTTP/1.1 200 OK\r\n\r\n" if n == 5 else RIGHT, "Content-Length", id="an answer without end"
    ),
]


@pytest.mark.parametrize(("answers", "told"), ENDS)
async def test_a_broken_connection_is_told(answers: Answers, told: str) -> None:
    """What ends a connection before its time counts as wrong, with the reason; the load ends all the same."""
    async with serving(answers) as place:
        result = await load(place, ASKED, is_ok, Load(1, 0.2, silence=0.3))
    assert (result.answers, result.wrong) == (4, 1)
    assert told in result.told[0]


async def test_nobody_there() -> None:
    """Nobody listening is an error, not a result."""
    async with serving(lambda _: RIGHT) as place:
        pass
    with pytest.raises(OSError, match=r"refused|Connect call failed"):
        await load(place, ASKED, is_ok, Load(1, 0.1))


PLACES = [
    pytest.param(Place("h", 80), "h", id="the scheme's own port goes without saying"),
    pytest.param(Place("h", 8080), "h:8080", id="another port"),
    pytest.param(Place("::1", 8080), "[::1]:8080", id="an IPv6 address"),
]


@pytest.mark.parametrize(("place", "name"), PLACES)
def test_the_host_field(place: Place, name: str) -> None:
    """`Host` is as RFC 9110 section 7.2 has it."""
    assert place.name == name


SHARES = [(0.0, 1.0), (0.5, 3.0), (0.99, 4.0), (1.0, 4.0)]


@pytest.mark.parametrize(("share", "value"), SHARES)
def test_a_percentile_is_one_of_the_latencies(share: float, value: float) -> None:
    """No figure is made up between two."""
    assert percentile(array("d", [4.0, 1.0, 3.0, 2.0]), share) == value


def test_no_latency_has_no_percentile() -> None:
    """Without answers it is 0."""
    assert percentile(array("d"), 0.5) == 0
