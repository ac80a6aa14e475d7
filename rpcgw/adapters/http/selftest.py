"""Does a connection that the fast front hands over still come to aiohttp? Asked once, before a worker accepts any."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from rpcgw.adapters.http.connections import Connections, Share

PATIENCE: Final = 5.0
"""Seconds for both answers; they take a millisecond."""
_QUESTION: Final = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
_TIMES: Final = 2
"""The second question shows that the connection stays where it was handed to."""


async def hand_over_trouble(make: Callable[[Connections], Callable[[], asyncio.BaseProtocol]]) -> str:
    """Why handing over does not work, or nothing; `make` gives what makes the fronts of these connections."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(0.0)
    factory = make(Connections(Share.alone(), lambda: None))
    transport = None
    try:
        async with asyncio.timeout(PATIENCE):
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(factory, theirs)
            return await _ask(ours)
    except TimeoutError:
        return f"aiohttp did not answer within {PATIENCE:g} s"
    except Exception as error:  # noqa: BLE001 -- whatever a new version of a library does wrong
        return f"{type(error).__name__}: {error}"
    finally:
        if transport is not None:
            transport.abort()
        ours.close()


async def _ask(connection: socket.socket) -> str:
    connection.settimeout(0.0)
    loop = asyncio.get_running_loop()
    for _ in range(_TIMES):
        await loop.sock_sendall(connection, _QUESTION)
        answer = b""
        while not answer.endswith(b"}"):
            piece = await loop.sock_recv(connection, 4096)
            if not piece:
                return f"aiohttp closed the connection after {answer[:100]!r}"
            answer += piece
        if not answer.startswith(b"HTTP/1.1 200 "):
            return f"aiohttp answered {answer[:100]!r}"
    return ""
