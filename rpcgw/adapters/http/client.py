"""The outgoing client: `rpcgw.kernel.ports.HttpClient` and `Resolver` over aiohttp and stamina.

It sends what it is given and nothing that it was not asked for: no cookies, no proxy from the environment, no
credentials, no redirects, and none of the fields that aiohttp adds by itself. Which address a connection may be made to
is asked when the socket is about to be made, so that a name that stands for another address by then does not help.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
import stamina
from aiohttp.abc import AbstractCookieJar

from rpcgw.kernel.ports import Answered, SendError, Sent

IDLE: Final = 10.0
"""Seconds in which nothing comes."""
TOTAL: Final = 15.0
"""Seconds for one attempt."""
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
_AGAIN: Final = frozenset({408, 425, 429})
_QUIET: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")

Admits = Callable[[str, int], bool]
"""Whether a connection may be made to an address and port."""


def everywhere(_: str, __: int) -> bool:
    """Any address: where the operator names the host."""
    return True


class _Unwilling(Exception):
    """An attempt that was not taken; `again` says whether another one may help."""

    def __init__(self, text: str, *, status: int | None = None, again: bool = True) -> None:
        super().__init__(text)
        self.status = status
        self.again = again


class Client:
    """One process's client; connections are made per request and not kept.

    Args:
        admits: Asked for each connection.
        idle, total, first_pause: Seconds, as above.
    """

    def __init__(
        self, admits: Admits = everywhere, *, idle: float = IDLE, total: float = TOTAL, first_pause: float = FIRST_PAUSE
    ) -> None:
        self._admits = admits
        self._idle = idle
        self._timeout = aiohttp.ClientTimeout(total=total, sock_connect=idle, sock_read=idle)
        self._first_pause = first_pause
        self._made: aiohttp.ClientSession | None = None

    async def post(self, url: str, body: bytes, fields: Callable[[], Mapping[str, str]], retries: int = 0) -> Sent:
        """POST until the receiver takes it; 408, 425, 429, 5xx and broken connections are tried again."""
        attempt = 0
        try:
            async for turn in stamina.retry_context(
                on=_may_help,
                attempts=retries + 1,
                timeout=None,
                wait_initial=self._first_pause,
                wait_max=LONGEST_PAUSE,
                wait_jitter=self._first_pause,
            ):
                with turn:
                    attempt = turn.num
                    return Sent(await self._attempt(url, body, fields()), attempt)
        except _Unwilling as error:
            raise SendError(str(error), status=error.status, attempts=attempt) from error
        raise AssertionError("stamina attempts at least once")

    async def _attempt(self, url: str, body: bytes, fields: Mapping[str, str]) -> int:
        try:
            async with self._session.post(
                url, data=body, headers=fields, timeout=self._timeout, allow_redirects=False
            ) as answer:
                status = answer.status
                answer.close()  # what it says is nobody's business here, however long it is
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise _unwilling(error) from error
        if 200 <= status < 300:
            return status
        raise _Unwilling(f"answered {status}", status=status, again=status in _AGAIN or status >= 500)

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 65_536) -> Answered:
        """GET, or POST where there is a body; an answer that is too long is not read to its end."""
        method = "GET" if body is None else "POST"
        try:
            async with self._session.request(
                method, url, data=body, headers=fields, timeout=self._timeout, allow_redirects=False
            ) as answer:
                read = b""
                while len(read) <= most and (more := await answer.content.read(most + 1 - len(read))):
                    read += more
                if len(read) > most:
                    answer.close()
                    raise SendError(f"answered with more than {most} bytes", status=answer.status)
                return Answered(answer.status, read)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise SendError(_text(error)) from error

    @asynccontextmanager
    async def stream(self, url: str, fields: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        """GET something that does not end."""
        endless = aiohttp.ClientTimeout(total=None, sock_connect=self._idle)
        try:
            async with self._session.get(url, headers=fields, timeout=endless, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise SendError(f"answered {answer.status}", status=answer.status)
                yield answer.content.iter_any()
                answer.close()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise SendError(_text(error)) from error

    async def close(self) -> None:
        """Close what is open."""
        if self._made is not None:
            await self._made.close()

    @property
    def _session(self) -> aiohttp.ClientSession:
        """Made on first use: it belongs to the loop that runs then."""
        if self._made is None:
            jar: AbstractCookieJar = aiohttp.DummyCookieJar()
            quiet: Sequence[str] = _QUIET
            connector = aiohttp.TCPConnector(
                force_close=True, use_dns_cache=False, limit=0, socket_factory=self._socket
            )
            self._made = aiohttp.ClientSession(
                connector=connector, cookie_jar=jar, trust_env=False, skip_auto_headers=quiet, auto_decompress=False
            )
        return self._made

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, place = info
        if not self._admits(place[0], place[1]):
            raise PermissionError(errno.EACCES, "the address is not one that may be connected to")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)  # noqa: FBT003 -- its only parameter, without a name
        return made


class SystemResolver:
    """`rpcgw.kernel.ports.Resolver`: what the operating system says."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address of a name."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [str(place[0]) for *_, place in found]


def _may_help(error: Exception) -> bool:
    return isinstance(error, _Unwilling) and error.again


def _unwilling(error: Exception) -> _Unwilling:
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    hopeless = isinstance(cause, PermissionError | aiohttp.InvalidURL | aiohttp.ClientConnectorCertificateError)
    return _Unwilling(_text(error), again=not hopeless)


def _text(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"no connection: {error.os_error.strerror or error.os_error}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
