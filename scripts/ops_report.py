"""Runs the tests that measure how the daemon bears faults, and writes their figures into docs/operations.md.

They are those that ask for the fixture `figure` (tests/support/figures.py). Without arguments all of them run, and each
kind of fault has to be among them. Arguments go to pytest; what they leave out keeps the figures that it had. Exits 1
where a test fails or a fault is missing; the document is left as it was then.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/operations.md"
PROPERTY = FIXTURE = "figure"
BEGIN = "<!-- make ops-report: begin -->"
END = "<!-- make ops-report: end -->"
HEAD = ("what happens", "measured", "value", "promised")

FAULTS = (
    "reloads",
    "kill -9",
    "started again empty",
    "Redis frozen",
    "Redis slowed",
    "slowloris",
    "10,000 x idle",
    "header fields",
    "bodies",
    "1,000 x slow procedures",
    "10,000 connections",
    "Sessions opened and dropped",
    "Fuzzing",
)
"""What a report is about: each of them stands in the name of some case."""

Row = tuple[str, str, str, str]
"""Case, what was measured, the value, what is promised."""


@dataclass(eq=False)
class Recorder:
    """A pytest plugin: keeps to the tests that measure, and what they noted."""

    rows: list[Row] = field(default_factory=list)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out every test that measures nothing."""
        wanted = [item for item in items if FIXTURE in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test noted."""
        if report.when == "call" and report.passed:
            noted = [value for name, value in report.user_properties if name == PROPERTY]
            self.rows += [as_row(value) for value in noted if isinstance(value, Mapping)]


def as_row(noted: Mapping[str, str]) -> Row:
    """Return what a test noted as a row."""
    return noted["case"], noted["measured"], noted["value"], noted["promised"]


def read_rows(text: str) -> list[Row]:
    """Return the rows of a document's table."""
    inside = text.partition(BEGIN)[2].partition(END)[0]
    lines = [line.strip().strip("|").split("|") for line in inside.splitlines() if line.startswith("|")]
    return [(cells[0].strip(), cells[1].strip(), cells[2].strip(), cells[3].strip()) for cells in lines[2:]]


def joined(old: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """Return old rows under new values, and new rows; those of one case together, in the order they were first seen."""
    found = {row[:2]: row for row in old} | {row[:2]: row for row in new}
    cases = list(dict.fromkeys(case for case, _ in found))
    return sorted(found.values(), key=lambda row: cases.index(row[0]))


def missing(rows: Iterable[Row]) -> list[str]:
    """Return the faults that no row is about."""
    cases = {row[0] for row in rows}
    return [fault for fault in FAULTS if not any(fault in case for case in cases)]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table of Markdown."""
    lines = [HEAD, ("---",) * len(HEAD), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def written(text: str, rows: Sequence[Row], measured: str) -> str:
    """Return a document with another table."""
    made = f"{BEGIN}\n\n{table(rows)}\n\n{measured}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: made, text, count=1, flags=re.DOTALL)


def surroundings() -> str:
    """Return when and on what was measured, as a sentence."""
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    system = f"Python {platform.python_version()}, {platform.system()} {platform.release().split('-')[0]}"
    return f"Measured last on {today}: {os.cpu_count()} processors, {system}."


def main() -> int:
    """Run, write, print, and return the exit code."""
    recorder, some = Recorder(), sys.argv[1:]
    code = pytest.main(["-q", "--durations=0", "--durations-min=1", *(some or ["tests"])], plugins=[recorder])
    if code != pytest.ExitCode.OK:
        return int(code)
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = joined(read_rows(text) if some else (), recorder.rows)
    if lost := missing(rows):
        print(f"ops-report: nothing was measured of: {', '.join(lost)}")
        return 1
    DOCUMENT.write_text(written(text, rows, surroundings()), encoding="utf-8")
    print(table(recorder.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
