"""A circuit breaker's life: closed, open, half open."""

from __future__ import annotations

import pytest

from rpcgw.api import errors
from rpcgw.api.errors import CircuitOpen
from rpcgw.kernel.breaker import Breaker, State, is_fault


class World:
    """A breaker that opens after three failures, for ten seconds, until two probes succeed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.opened = 0
        self.breaker = Breaker("Bank.pay", 3, 10.0, 2, monotonic=lambda: self.now, opened=self.count)

    def count(self) -> None:
        self.opened += 1

    def call(self, *, failed: bool | None) -> None:
        probe = self.breaker.enter()
        self.breaker.leave(probe=probe, failed=failed)

    def fail(self, times: int) -> None:
        for _ in range(times):
            self.call(failed=True)


@pytest.fixture
def world() -> World:
    return World()


def test_failures_in_a_row_open_it(world: World) -> None:
    """The call after the third failure is refused, and told when to try again."""
    world.fail(3)
    with pytest.raises(CircuitOpen, match=r"Bank\.pay has failed too often and is not tried for 10 s") as refused:
        world.breaker.enter()
    assert (world.breaker.state, world.opened, refused.value.retry_after) == (State.OPEN, 1, 10.0)


@pytest.mark.parametrize(
    "between", [pytest.param(False, id="a success"), pytest.param(None, id="a caller who gave up")]
)
def test_only_failures_in_a_row_count(world: World, between: bool | None) -> None:
    """A success begins the count anew; a call that was given up says nothing."""
    world.fail(2)
    world.call(failed=between)
    world.fail(1)
    assert world.breaker.state is (State.CLOSED if between is False else State.OPEN)


def test_one_probe_at_a_time(world: World) -> None:
    """After the pause one call tries; others are refused meanwhile."""
    world.fail(3)
    world.now = 10.0
    assert world.breaker.enter()
    with pytest.raises(CircuitOpen):
        world.breaker.enter()


def test_as_many_probes_as_asked_close_it(world: World) -> None:
    """Two successes, one after the other; then calls pass as before, and three failures open it again."""
    world.fail(3)
    world.now = 10.0
    states = []
    for failed in (False, False, True, True, True):
        world.call(failed=failed)
        states.append(world.breaker.state)
    assert states == [State.HALF_OPEN, State.CLOSED, State.CLOSED, State.CLOSED, State.OPEN]
    assert world.opened == 2


def test_a_probe_that_fails_opens_it_for_another_pause(world: World) -> None:
    """One is enough."""
    world.fail(3)
    world.now = 10.0
    world.call(failed=True)
    world.now = 19.9
    with pytest.raises(CircuitOpen):
        world.breaker.enter()
    assert world.opened == 2


def test_a_probe_that_was_given_up_lets_the_next_one_try(world: World) -> None:
    """Its caller left: nobody knows more than before."""
    world.fail(3)
    world.now = 10.0
    world.call(failed=None)
    assert world.breaker.enter()


def test_what_began_before_it_opened_says_nothing(world: World) -> None:
    """A slow call that ends after the breaker has opened neither closes nor prolongs it."""
    slow = world.breaker.enter()
    world.fail(3)
    world.breaker.leave(probe=slow, failed=False)
    assert world.breaker.state is State.OPEN


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        pytest.param(OSError("no route"), True, id="what nobody foresaw"),
        pytest.param(errors.RuntimeFault(), True, id="what the procedure says of itself"),
        pytest.param(errors.ServerError(), True, id="an error of the server"),
        pytest.param(errors.DataNotFound(), False, id="what is not there"),
        pytest.param(errors.LogicError(), False, id="what makes no sense now"),
        pytest.param(errors.AssertionFailed(), False, id="the caller's data"),
        pytest.param(errors.ApplicationError(code=7), False, id="an application's own answer"),
        pytest.param(errors.CapabilityMissing("sampling"), False, id="what the client lacks"),
        pytest.param(errors.Overloaded(retry_after=1.0), False, id="a queue that is full"),
    ],
)
def test_what_says_that_a_method_does_not_work(error: Exception, fault: bool) -> None:
    """Only what the method itself has to answer for."""
    assert is_fault(error) is fault
