"""How long to wait, and what it means that nobody can count."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.api.rates import Rate
from rpcgw.kernel.ports import StoreError
from rpcgw.kernel.rates import Rates, retry_after, seconds_until_free

TEN = Rate(10, 60)


@pytest.mark.parametrize(
    ("previous", "current", "left", "wait"),
    [
        pytest.param(0, 10, 20.0, 20.0, id="a window used up: until the next one begins, and a moment more"),
        pytest.param(10, 5, 60.0, 30.0, id="until enough of the last window has faded"),
        pytest.param(20, 9, 30.0, 27.0, id="a window that counted more fades no faster"),
        pytest.param(0, 20, 20.0, 50.0, id="more than allowed, after the rate was lowered"),
        pytest.param(5, 2, 10.0, 0.0, id="free already"),
        pytest.param(0, 0, 10.0, 0.0, id="never counted"),
    ],
)
def test_the_wait(previous: int, current: int, left: float, wait: float) -> None:
    """The weighted count falls below the amount after exactly so many seconds."""
    assert seconds_until_free(TEN, previous, current, left) == pytest.approx(wait)


@pytest.mark.parametrize(("wait", "text"), [(0.2, "1"), (1.0, "2"), (59.9, "60")])
def test_retry_after_is_never_too_early(wait: float, text: str) -> None:
    """Whole seconds, and one more at a border: a count falls below the amount only after it."""
    assert retry_after(wait) == text


class Away:
    async def hit(self, rate: Rate, *key: str) -> float:
        raise StoreError("gone")


class Full:
    async def hit(self, rate: Rate, *key: str) -> float:
        return 3.0


class Notes:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))


@pytest.mark.parametrize(
    ("open_when_away", "passes"), [pytest.param(True, True, id="open"), pytest.param(False, False, id="closed")]
)
async def test_nobody_can_count(open_when_away: bool, passes: bool) -> None:
    """The setting decides, and the operator is told."""
    notes = Notes()
    rates = Rates(Away(), notes, open_when_away=open_when_away)  # type: ignore[arg-type]
    assert (await rates.hit("address", TEN, "a") == 0.0) is passes
    assert notes.events == [("limit.error", {"limit": "address", "reason": "gone"})]


async def test_a_limit_that_is_reached_is_told() -> None:
    """Which, whose, and for how long."""
    notes = Notes()
    assert await Rates(Full(), notes).hit("address", TEN, "203.0.113.9") == 3.0  # type: ignore[arg-type]
    assert notes.events == [("limit.reached", {"limit": "address", "key": "203.0.113.9", "wait": 3.0})]
