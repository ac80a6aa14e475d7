"""When a server that does not answer is asked again."""

from __future__ import annotations

import pytest

from rpcgw.adapters.redis.outage import FIRST_PAUSE, LONGEST_PAUSE, PATIENCE, Outage

TRIAL = 1.0


def away(now: float = 0.0) -> Outage:
    outage = Outage()
    for _ in range(PATIENCE):
        assert outage.admits(now, TRIAL)
        outage.failed(now)
    return outage


def test_a_few_failures_are_not_an_outage() -> None:
    """An answer in between begins the count anew."""
    outage = Outage()
    for _ in range(10):
        for _ in range(PATIENCE - 1):
            outage.failed(0.0)
        outage.answered()
    assert not outage.away
    assert outage.admits(0.0, TRIAL)


def test_everybody_is_refused_while_a_server_is_away() -> None:
    """Until the pause is over nobody asks."""
    outage = away()
    assert outage.away
    assert not outage.admits(0.0, TRIAL)
    assert not outage.admits(0.9 * FIRST_PAUSE, TRIAL)


def test_one_at_a_time_finds_out() -> None:
    """After the pause one command is a trial; further ones are refused until it has its outcome."""
    outage = away()
    assert outage.admits(FIRST_PAUSE, TRIAL)
    assert not outage.admits(FIRST_PAUSE, TRIAL)
    outage.answered()
    assert not outage.away
    assert all(outage.admits(FIRST_PAUSE, TRIAL) for _ in range(3))


def test_pauses_grow_to_a_limit() -> None:
    """A server that stays away is asked less and less, but never less than every half second."""
    outage, now, pauses = away(), FIRST_PAUSE, []
    assert outage.admits(now, TRIAL)
    for _ in range(8):
        outage.failed(now)
        pause = 0.0
        while not outage.admits(now + pause, TRIAL):
            pause += 0.01
        now += pause
        pauses.append(round(pause, 2))
    assert pauses == sorted(pauses)
    assert pauses[0] == pytest.approx(2 * FIRST_PAUSE, abs=0.02)
    assert pauses[-1] == pytest.approx(LONGEST_PAUSE, abs=0.02)


def test_a_trial_that_never_ends_is_followed_by_another() -> None:
    """Its caller may have left."""
    outage = away()
    assert outage.admits(FIRST_PAUSE, TRIAL)
    assert not outage.admits(FIRST_PAUSE + 0.9 * TRIAL, TRIAL)
    assert outage.admits(FIRST_PAUSE + TRIAL, TRIAL)


def test_what_went_out_before_makes_no_pause_longer() -> None:
    """Thirty commands that fail together are one outage."""
    outage = away()
    for _ in range(30):
        outage.failed(0.01)
    assert outage.admits(FIRST_PAUSE, TRIAL)
