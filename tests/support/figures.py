"""What fault tests measure, for the table of docs/operations.md: a test asks for the fixture `figure` and tells it.

    def test_ten_reloads_lose_nothing(figure: Figure) -> None:
        ...
        figure("Ten reloads under load", "requests lost, of 41,310", lost, promised="0")

`make ops-report` runs every test that asks for the fixture. A figure is told beside an assertion, not instead of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

PROPERTY = "figure"
"""pytest's user property under which a figure travels, from xdist's workers too."""

Note = Callable[[str, object], None]


class Figure(Protocol):
    """Keeps one measured value."""

    def __call__(self, case: str, measured: str, value: float | str, unit: str = "", *, promised: str = "") -> None:
        """Note one row of the table.

        Args:
            case: What happened, say "Redis frozen for five seconds"; rows of one case stand together.
            measured: What was measured, say "until sessions are served again".
            value: The outcome; a float is shown with three significant digits.
            unit: Stands behind the value: "s", "ms", "KiB".
            promised: What the value has to be, say "at most 2 s".
        """


def figure_by(note: Note) -> Figure:
    """Return what keeps figures through pytest's `record_property`."""

    def figure(case: str, measured: str, value: float | str, unit: str = "", *, promised: str = "") -> None:
        row = {"case": case, "measured": measured, "value": f"{shown(value)} {unit}".rstrip(), "promised": promised}
        note(PROPERTY, row)

    return figure


def shown(value: float | str) -> str:
    """Return a value as the table has it."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.3g}"
