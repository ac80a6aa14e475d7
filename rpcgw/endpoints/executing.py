"""What endpoints run calls with."""

from __future__ import annotations

from typing import Protocol

from rpcgw.kernel.call import Call, Outcome


class Executor(Protocol):
    """Runs one call. Whatever goes wrong is an outcome, not an exception."""

    async def execute(self, call: Call) -> Outcome:
        """Run a call to its end."""
