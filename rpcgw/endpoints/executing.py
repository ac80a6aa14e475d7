"""What endpoints run calls with."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from rpcgw.kernel.call import Call, Outcome


class Executor(Protocol):
    """Runs one call. Whatever goes wrong is an outcome, not an exception."""

    async def execute(self, call: Call) -> Outcome:
        """Run a call to its end."""


class Beginner(Executor, Protocol):
    """One that also runs calls without waiting."""

    def begin(self, call: Call) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Run a call in the current task: its outcome where nothing had to be waited for, else the rest of it."""
