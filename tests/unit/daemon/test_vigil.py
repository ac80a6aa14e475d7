"""When the watchdog may be told that all is well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from rpcgw.daemon.options import Needs
from rpcgw.daemon.vigil import lives


@dataclass
class Member:
    """As much of a worker as is looked at."""

    served: bool
    beat: float


@dataclass
class Generation:
    """As much of a generation as is looked at."""

    members: list[Member]
    needs: Needs = field(default_factory=lambda: Needs((), blocked=30.0))

    def __iter__(self) -> Any:
        return iter(self.members)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        pytest.param([Member(True, 100.0)], True, id="one that serves and beats"),
        pytest.param([Member(False, 100.0), Member(True, 75.0)], True, id="one that starts, one that serves"),
        pytest.param([Member(True, 60.0)], False, id="one that stands still"),
        pytest.param([Member(False, 100.0)], False, id="one that only starts"),
        pytest.param([], False, id="nobody"),
    ],
)
def test_lives(members: list[Member], expected: bool) -> None:
    """At time 100 somebody has to serve, and to have been heard within `blocked` seconds."""
    generation: Any = Generation(members)
    assert lives(generation, 100.0) is expected
