"""Connections over TLS that share what is read from files.

redis-py reads the authorities anew for each connection, which takes some 50 ms of the event loop's time, and trusts the
system's beside those that are given.
"""

from __future__ import annotations

import ssl
from functools import cache
from typing import Any

from redis.asyncio.connection import SSLConnection

from rpcgw.config.redisaddress import RedisAddress


def over_tls(address: RedisAddress, base: type[Any] = SSLConnection) -> type[Any]:
    """A kind of connection, made of one of redis-py's; files are read when the first one is made."""

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
