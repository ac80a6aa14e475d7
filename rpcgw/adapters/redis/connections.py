"""Connections of redis-py, with what it lacks: files that are read once, and timeouts that lose no cancellation."""

from __future__ import annotations

import asyncio
import builtins
import ssl
from functools import cache
from typing import Any

from redis.asyncio.connection import SSLConnection
from redis.exceptions import TimeoutError  # noqa: A004 -- not of the same kind

from rpcgw.config.redisaddress import RedisAddress


def over_tls(address: RedisAddress, base: type[Any] = SSLConnection) -> type[Any]:
    """A kind of connection, made of one of redis-py's; files are read when the first one is made.

    redis-py reads the authorities anew for each connection, which takes some 50 ms of the event loop's time, and trusts
    the system's beside those that are given.
    """

    @cache
    def context() -> ssl.SSLContext:
        made = ssl.create_default_context(cafile=address.ca_file)
        made.check_hostname = address.check_hostname
        if address.cert_file is not None:
            made.load_cert_chain(address.cert_file, address.key_file)
        return made

    class Connection(base):  # type: ignore[misc]  # which of redis-py's is known when it runs
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.ssl_context.context = context()

    return Connection


def cancellable(base: type[Any]) -> type[Any]:
    """A kind of connection that may have a `socket_timeout` and ends when its task is cancelled.

    redis-py sends under `asyncio.wait_for`, which on Python 3.11 loses a cancellation that comes as the bytes are sent.
    """

    class Connection(base):  # type: ignore[misc]  # as above
        socket_timeout: float | None

        async def send_packed_command(self, command: Any, check_health: bool = True) -> None:  # noqa: FBT001, FBT002 -- redis-py's
            patience, self.socket_timeout = self.socket_timeout, None
            try:
                async with asyncio.timeout(patience):
                    await super().send_packed_command(command, check_health)
            except builtins.TimeoutError:
                await self.disconnect(nowait=True)
                raise TimeoutError("Timeout writing to socket") from None
            finally:
                self.socket_timeout = patience

    return Connection
