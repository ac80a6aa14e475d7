"""What is decided about calls before the first one."""

from __future__ import annotations

import pytest

from rpcgw.kernel.plan import shortest


@pytest.mark.parametrize(
    ("asked", "tuned", "seconds"),
    [
        pytest.param(None, None, None, id="nobody wants one"),
        pytest.param(5.0, None, 5.0, id="the caller does"),
        pytest.param(None, 5.0, 5.0, id="the operator does"),
        pytest.param(1.0, 5.0, 1.0, id="the caller wants a shorter one"),
        pytest.param(5.0, 1.0, 1.0, id="the operator wants a shorter one"),
    ],
)
def test_the_shortest_of_all_deadlines_holds(asked: float | None, tuned: float | None, seconds: float | None) -> None:
    """Whoever asks for less time gets it."""
    assert shortest(asked, tuned) == seconds
