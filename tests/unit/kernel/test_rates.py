"""How long to wait, and what it means that nobody can count."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.api.rates import Rate
from rpcgw.kernel.ports import Counts, StoreError
from rpcgw.kernel.rates import BELIEVED, Rates, retry_after, seconds_until_free
from tests.unit.endpoints.house import Clock

TEN = Rate(10, 60)
BOTH = Counts((TEN, ("address", "a")), (Rate(20, 60), ("address", "everybody")))


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

    async def hit_each(self, counts: Counts) -> tuple[int, float]:
        raise StoreError("gone")


class Full:
    """Nothing is within any rate before so many seconds; `asked` counts who wanted to know."""

    def __init__(self, wait: float = 3.0) -> None:
        self.wait = wait
        self.asked = 0

    async def hit(self, rate: Rate, *key: str) -> float:
        self.asked += 1
        return self.wait

    async def hit_each(self, counts: Counts) -> tuple[int, float]:
        self.asked += 1
        return len(counts.counted) - 1, self.wait


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
    rates = Rates(Away(), notes, Clock(), open_when_away=open_when_away)  # type: ignore[arg-type]
    assert (await rates.hit("address", TEN, "a") == 0.0) is passes
    assert (await rates.hit_each(BOTH) == 0.0) is passes
    assert notes.events == [("limit.error", {"limit": "address", "reason": "gone"})] * 2


async def test_a_limit_that_is_reached_is_told() -> None:
    """Which, whose, and for how long."""
    notes = Notes()
    assert await Rates(Full(), notes, Clock()).hit("address", TEN, "203.0.113.9") == 3.0  # type: ignore[arg-type]
    assert notes.events == [("limit.reached", {"limit": "address", "key": "203.0.113.9", "wait": 3.0})]


async def test_a_flood_is_refused_without_asking_for_each_of_it() -> None:
    """Who is refused waits as long as was said, is told how long that still is, and each refusal is told and counted."""
    notes, clock, full = Notes(), Clock(), Full(wait=3.0)
    rates = Rates(full, notes, clock)  # type: ignore[arg-type]
    assert rates.known(Counts((TEN, ("address", "a")))) == 0.0
    assert await rates.hit("address", TEN, "a") == 3.0
    clock.time += 0.25
    assert [await rates.hit("address", TEN, "a") for _ in range(100)] == [2.75] * 100
    assert rates.known(Counts((TEN, ("address", "a")))) == 2.75
    assert (full.asked, len(notes.events)) == (1, 102)


async def test_several_that_are_counted_together() -> None:
    """The one that refuses is told and remembered, for whoever is counted with it; the others are within theirs."""
    notes, clock, full = Notes(), Clock(), Full(wait=3.0)
    rates = Rates(full, notes, clock)  # type: ignore[arg-type]
    assert await rates.hit_each(BOTH) == 3.0
    assert notes.events == [("limit.reached", {"limit": "address", "key": "everybody", "wait": 3.0})]
    assert await rates.hit_each(Counts((TEN, ("address", "b")), BOTH.counted[1])) == 3.0
    assert rates.known(Counts(BOTH.counted[0])) == 0.0
    assert full.asked == 1


@pytest.mark.parametrize(
    ("limit", "rate", "key"),
    [
        pytest.param("address", TEN, "b", id="another key"),
        pytest.param("token", TEN, "a", id="another limit"),
        pytest.param("address", Rate(11, 60), "a", id="another rate"),
    ],
)
async def test_others_are_asked_for(limit: str, rate: Rate, key: str) -> None:
    """What is known of one is known of nobody else."""
    full = Full()
    rates = Rates(full, Notes(), Clock())  # type: ignore[arg-type]
    await rates.hit("address", TEN, "a")
    assert rates.known(Counts((rate, (limit, key)))) == 0.0
    await rates.hit(limit, rate, key)
    assert full.asked == 2


@pytest.mark.parametrize(
    ("wait", "later"),
    [
        pytest.param(0.2, 0.2, id="once the wait is over"),
        pytest.param(3600.0, BELIEVED, id="of a long wait now and then: who counts may have been told to forget"),
    ],
)
async def test_a_refusal_is_not_believed_for_long(wait: float, later: float) -> None:
    """Then whoever counts decides again."""
    clock, full = Clock(), Full(wait)
    rates = Rates(full, Notes(), clock)  # type: ignore[arg-type]
    await rates.hit("address", TEN, "a")
    clock.time += later
    full.wait = 0.0
    assert await rates.hit("address", TEN, "a") == 0.0


async def test_a_flood_of_keys_takes_no_more_memory() -> None:
    """What is remembered is bounded; who is forgotten is asked for again."""
    full = Full()
    rates = Rates(full, Notes(), Clock())  # type: ignore[arg-type]
    for number in range(25_000):
        await rates.hit("address", TEN, str(number))
    assert len(rates._refused) <= 10_000
