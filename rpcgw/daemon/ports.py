"""The small ports of a real daemon: the host's clocks, and ids from its random source."""

from __future__ import annotations

import secrets
import time

from rpcgw.api.records import record


@record(frozen=True, slots=True)
class HostClock:
    """`Clock` on the host's clocks."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)


class RandomIds:
    """`Ids` of 128 random bits, drawn from the host in blocks: a system call for each would cost as much as a call."""

    def __init__(self) -> None:
        self._block = ""
        self._at = 0

    def token(self) -> str:
        """32 hexadecimal digits."""
        if self._at == len(self._block):
            self._block, self._at = secrets.token_hex(_BYTES * _TOKENS), 0
        begin = self._at
        self._at = begin + 2 * _BYTES
        return self._block[begin : self._at]


_BYTES = 16
_TOKENS = 256
