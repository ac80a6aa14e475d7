"""What an attacker does to a daemon, in a process of its own: `python -m tests.support.flood KIND PORT COUNT`.

It says `ready` on its standard output once the flood is there, and ends when its standard input does. What it saw is the
last line: how many connections it opened, and how many the daemon has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HOST = b"Host: localhost\r\n"
AT_ONCE = 100
"""How many connections are opened at a time: a listening socket's queue is finite."""


class Attack:
    """Connections to one port, so many at a time, and what became of them."""

    def __init__(self, port: int, count: int) -> None:
        self.port = port
        self.count = count
        self.opened = 0
        self.ended = 0
        self.there = asyncio.Event()

    async def each(self, work: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
        """Keep `count` connections busy with `work`, each opened anew when it ends."""
        turns = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for _ in range(self.count):
                group.create_task(self._again(work, turns))

    async def _again(
        self, work: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], turns: asyncio.Semaphore
    ) -> None:
        while True:
            try:
                async with turns:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.opened += 1
                if self.opened >= self.count:
                    self.there.set()
                with contextlib.closing(writer):
                    await work(reader, writer)
            except OSError:
                pass
            self.ended += 1
            await asyncio.sleep(0.05)


async def idle(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Say nothing, for as long as that is allowed."""
    await reader.read()


async def resting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Ask one thing, and keep the connection."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    writer.write(
        b"POST /rpc HTTP/1.1\r\n%bContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        % (HOST, len(body), body)
    )
    await reader.read()


async def slowloris(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a head that never ends, a field every so often."""
    writer.write(b"POST /rpc HTTP/1.1\r\n" + HOST)
    number = 0
    while not reader.at_eof():
        writer.write(b"X-%d: 1\r\n" % number)
        await writer.drain()
        number += 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await reader.read(1)


async def heads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send as many fields as will be taken."""
    writer.write(b"POST /rpc HTTP/1.1\r\n" + HOST + b"X-Long: x\r\n" * 2000)
    await writer.drain()
    await reader.read()


async def bodies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a body without an end, in chunks."""
    writer.write(b"POST /rpc HTTP/1.1\r\n%bContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" % HOST)
    for _ in range(200):
        writer.write(b"10000\r\n" + bytes(0x10000) + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)
    await reader.read()


async def calls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Call what takes long."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"Desk.sleep"}'
    writer.write(
        b"POST /rpc HTTP/1.1\r\n%bContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        % (HOST, len(body), body)
    )
    await reader.read()


KINDS = {"idle": idle, "resting": resting, "slowloris": slowloris, "heads": heads, "bodies": bodies, "calls": calls}


async def attack(kind: str, port: int, count: int) -> None:
    """Do it until standard input ends."""
    made = Attack(port, count)
    going = asyncio.create_task(made.each(KINDS[kind]))
    await made.there.wait()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    going.cancel()
    await asyncio.wait([going])
    sys.stdout.write(json.dumps({"opened": made.opened, "ended": made.ended}) + "\n")
    sys.stdout.flush()


@dataclass(slots=True)
class Seen:
    """What an attacker saw."""

    opened: int = 0
    ended: int = 0


@contextlib.contextmanager
def flood(kind: str, port: int, count: int) -> Iterator[Seen]:
    """Attack a port from a process of its own until the block ends; it begins once the flood is there."""
    seen = Seen()
    command = [sys.executable, "-m", "tests.support.flood", kind, str(port), str(count)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n", f"the attacker ended with {process.poll()}"
        yield seen
        process.stdin.close()
        told = json.loads(process.stdout.readline())
        seen.opened, seen.ended = told["opened"], told["ended"]
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def most(wanted: int) -> int:
    """As many connections as wanted, or as a process may have open here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard - 500)


if __name__ == "__main__":
    asyncio.run(attack(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
