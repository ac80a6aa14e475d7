"""Who takes a connection when several workers could."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from typing import Any

import pytest

from rpcgw.adapters.http.connections import AWAY, Connections, Share
from rpcgw.adapters.http.door import Door
from rpcgw.exchange import Entrance

SHARES = [
    pytest.param([0, 0], False, id="both idle"),
    pytest.param([1, 0], False, id="one more is no lead"),
    pytest.param([2, 0], True, id="two more are"),
    pytest.param([0, 5], False, id="behind"),
    pytest.param([9, AWAY], False, id="the sibling takes none"),
    pytest.param([9], False, id="alone"),
]


@pytest.mark.parametrize(("cells", "ahead"), SHARES)
def test_who_is_ahead_lets_others_go_first(cells: list[int], ahead: bool) -> None:
    """More than one connection above the least loaded that takes any."""
    assert Share(cells, 0).ahead() is ahead


def test_counts_are_published_while_connections_are_taken() -> None:
    """From `welcome` to `leave`, on every change, and `AWAY` before and after; emptiness is told."""
    cells, told = [AWAY, 0], []
    connections = Connections(Share(cells, 0), lambda: told.append(len(connections)))
    connections.accepted()
    assert cells == [AWAY, 0]
    connections.welcome()
    assert cells == [1, 0]
    connections.lost(None)
    assert (cells, told) == ([0, 0], [0])
    connections.leave()
    connections.accepted()
    assert (cells, len(connections)) == ([AWAY, 0], 1)


class Exhausted(socket.socket):
    """A listening socket of a process that is out of descriptors for the first few tries."""

    failures = 3
    tries = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.tries += 1
        if self.tries <= self.failures:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def listening(kind: type[socket.socket] = socket.socket) -> Any:
    listener = kind(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    return listener


CALL = b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def nothing() -> list[Any]:
    return []


def door(entrance: Entrance, events: list[str], share: Share | None = None) -> Door:
    def report(name: str, /, **_: Any) -> None:
        events.append(name)

    return Door([entrance], parts=nothing, report=report, share=share)


async def ask(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(CALL)
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_out_of_descriptors_is_waited_out(make_entrance: Callable[..., Entrance]) -> None:
    """No spinning: a pause for each failure, one report, and the connection is answered in the end."""
    events: list[str] = []
    served = door(make_entrance(), events)
    listener = listening(Exhausted)
    port = listener.getsockname()[1]
    await served.open([listener])
    assert (await ask(port)).startswith(b"HTTP/1.1 200")
    assert events == ["accept.exhausted"]
    assert listener.tries <= Exhausted.failures + 3
    await served.drain(1, 0.0)


async def test_a_stuck_sibling_costs_a_moment_and_no_connection(make_entrance: Callable[..., Entrance]) -> None:
    """A sibling that seems idle and never accepts: everything is answered all the same."""
    cells = [0, 0]
    served = door(make_entrance(), [], Share(cells, 0))
    listener = listening()
    port = listener.getsockname()[1]
    await served.open([listener])
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    assert (await ask(port)).startswith(b"HTTP/1.1 200")
    assert cells == [5, 0]
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    await served.drain(1, 0.0)
    assert cells == [AWAY, 0]


async def test_the_last_one_takes_who_has_connected_and_nobody_can_any_more(
    make_entrance: Callable[..., Entrance],
) -> None:
    """What waits in the queue is answered; who comes later is refused, though others hold the socket too."""
    served, listener = door(make_entrance(), []), listening()
    address, sibling = listener.getsockname(), listener.dup()
    await served.open([listener])
    with sibling, socket.create_connection(address, 10) as early:  # the loop had no turn to accept it
        early.sendall(CALL)
        drained = asyncio.create_task(served.drain(20, 5.0, last=True))
        assert (await asyncio.to_thread(early.recv, 4096)).startswith(b"HTTP/1.1 200")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 10)
        await drained


async def test_another_one_leaves_the_queue_to_its_siblings(make_entrance: Callable[..., Entrance]) -> None:
    """At a reload nobody is refused: the new generation's workers take who waits, and who comes."""
    served, listener = door(make_entrance(), []), listening()
    address, sibling = listener.getsockname(), listener.dup()
    await served.open([listener])
    with sibling, socket.create_connection(address, 10) as early:
        await served.drain(20, 5.0)
        with socket.create_connection(address, 10) as later:
            for client in (early, later):
                taken, peer = sibling.accept()
                taken.close()
                assert peer == client.getsockname()
