"""How often something may happen. A pure value."""

from __future__ import annotations

from rpcgw.api.records import record


@record(frozen=True, slots=True)
class Rate:
    """`amount` times in any `seconds`, counted in a window that slides (`rpcgw.kernel.rates`)."""

    amount: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.amount}/{self.seconds} s"
