"""The procedure that rpcgw brings itself."""

from __future__ import annotations

from rpcgw.api.marks import inline, procedure


@procedure("")
class Ping:
    """In the group `general` alone, in each version that the group has."""

    @inline
    def ping(self) -> str:
        """Say that the server answers.

        Returns:
            The word PONG.
        """
        return "PONG"
