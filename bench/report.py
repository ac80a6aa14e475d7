"""The report: tables for people, JSON for programs, and the same in docs/performance.md. Pure, but for writing."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.measuring import Figure, Runs
from bench.targets import FLOOR, Row
from bench.verdicts import Verdict

BEGIN: Final = "<!-- make bench: begin -->"
END: Final = "<!-- make bench: end -->"

PLOT: Final = "![What a small call costs, in bare aiohttp handlers](performance/cpu.svg)"
JSON: Final = "Every run, with the floors around it: [figures.json](performance/figures.json)."

TARGET_HEAD: Final = ("target", "measured", "must", "aim", "verdict")
CASE_HEAD: Final = (
    *(
        "case",
        "a second",
        "x floor",
        "CPU us",
        "x floor",
        "p50 ms",
        "p99 ms",
        "busy",
        "start s",
        "RSS idle",
        "after, MiB",
    ),
)
_METRICS: Final = ("rps", "cpu", "p50", "p99", "busy", "start", "idle", "after")


@dataclass(frozen=True, slots=True)
class About:
    """What a report is about: the machine, the load generator, the hash of the configuration, when and how long."""

    machine: str
    generator: str
    configuration: str
    version: str
    measured: str
    rounds: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"rpcgw {self.version}, {self.machine}; load by {self.generator}; "
            f"{self.rounds} rounds of {self.seconds:g} s; gateway.yaml.example {self.configuration}; {self.measured}"
        )


def number(value: float | None, unit: str = "") -> str:
    """A figure as people read it: three digits that count."""
    if value is None:
        return "-"
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def target_cells(row: Row) -> tuple[str, ...]:
    """A target as the cells of its row."""
    target = row.target
    sign = "at most" if target.better == "less" else "at least"
    must = "-" if row.bound is None else f"{sign} {number(row.bound, target.unit)}"
    return target.title, number(row.reading.value, target.unit), must, number(target.aim, target.unit), _verdict(row)


def _verdict(row: Row) -> str:
    if row.verdict is Verdict.NOISY:
        return f"noisy: {row.reading.note or f'the floor wandered by {row.reading.spread:.0%}'}"
    note = row.reading.note.splitlines()[0][:100] if row.reading.note else ""
    return f"{row.verdict}: {note}" if row.verdict is Verdict.UNMEASURED and note else str(row.verdict)


def case_cells(name: str, runs: Runs) -> tuple[str, ...]:
    """A case as the cells of its row: medians of its runs."""
    if not runs.runs:
        return (name, *("-",) * (len(CASE_HEAD) - 1))
    middle = _median(run.figure for run in runs.runs)
    ratios = [statistics.median(run.ratio(metric) for run in runs.runs) for metric in ("rps", "cpu")]
    return (name, *_cells(middle, *(f"{ratio:.2f}" for ratio in ratios)))


def floor_cells(found: Mapping[str, Runs]) -> tuple[str, ...]:
    """The floor's own row."""
    floors = [floor for runs in found.values() for run in runs.runs for floor in run.floors]
    if not floors:
        return (FLOOR, *("-",) * (len(CASE_HEAD) - 1))
    return (FLOOR, *_cells(_median(floors), "1", "1"))


def _cells(middle: Mapping[str, float], throughput: str, cpu: str) -> tuple[str, ...]:
    return (
        *(
            f"{middle['rps']:.0f}",
            throughput,
            f"{middle['cpu']:.1f}",
            cpu,
            f"{middle['p50']:.2f}",
            f"{middle['p99']:.2f}",
        ),
        *(f"{middle['busy']:.0%}", f"{middle['start']:.2f}", f"{middle['idle']:.0f}", f"{middle['after']:.0f}"),
    )


def _median(figures: Iterable[Figure]) -> dict[str, float]:
    seen = list(figures)
    return {metric: statistics.median(getattr(figure, metric) for figure in seen) for metric in _METRICS}


def plain(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table for a terminal."""
    cells = [list(head), *map(list, lines)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table for a document."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *lines))


def as_json(about: About, rows: Sequence[Row], found: Mapping[str, Runs]) -> dict[str, Any]:
    """All figures."""
    return {
        "about": asdict(about),
        "targets": [
            {
                "title": row.target.title,
                "value": row.reading.value,
                "unit": row.target.unit,
                "must": row.target.must,
                "aim": row.target.aim,
                "better": row.target.better,
                "spread": row.reading.spread,
                "verdict": str(row.verdict),
                "note": row.reading.note,
            }
            for row in rows
        ],
        "cases": {
            name: {
                "failed": runs.failed,
                "runs": [
                    {"figure": asdict(run.figure), "floors": [asdict(floor) for floor in run.floors]}
                    for run in runs.runs
                ],
            }
            for name, runs in found.items()
        },
    }


def written(document: str, about: About, rows: Sequence[Row], found: Mapping[str, Runs]) -> str:
    """A document with these figures between its marks, in the place of those that were there."""
    cases = markdown(CASE_HEAD, [floor_cells(found), *(case_cells(name, runs) for name, runs in found.items())])
    parts = (f"{about}.", markdown(TARGET_HEAD, map(target_cells, rows)), PLOT, cases, JSON)
    made = "\n\n".join((BEGIN, *parts, END))
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: made, document, count=1, flags=re.DOTALL)
