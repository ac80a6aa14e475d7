"""`make bench`: measure, print, judge, and write down."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import cases, gateways, loads, plot, probes, report
from bench.machine import CORES, ROOT, described
from bench.measuring import Case, Plan, Runs, by_connections
from bench.targets import TARGETS, Probed, Row, Target, rows
from bench.verdicts import Verdict
from rpcgw import __version__

DOCUMENT = ROOT / "docs" / "performance.md"
FIGURES = ROOT / "docs" / "performance"
USUAL = ROOT / "bench" / "usual.json"
"""What the short form compares with; `--write` renews it."""

ROUNDS, SECONDS = 2, 3.0
SHORT_ROUNDS, SHORT_SECONDS = 2, 0.6
SHORT_GENERATOR = "built-in"
"""The one that every machine has: what is usual must not hang on another."""


@dataclass(frozen=True, slots=True)
class Found:
    """All that was measured."""

    about: report.About
    rows: Sequence[Row]
    cases: Mapping[str, Runs]


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, help=f"how often each case runs ({ROUNDS})")
    parser.add_argument("--seconds", type=float, help=f"how long each run takes ({SECONDS:g})")
    parser.add_argument("--only", default="", metavar="WORDS", help="only rows and cases whose name contains this")
    parser.add_argument("--list", action="store_true", help="say what there is to measure, and measure nothing")
    parser.add_argument("--short", action="store_true", help="CPU ratios and slopes only, beside what is usual")
    parser.add_argument("--generator", choices=("wrk", "built-in"), help="what loads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--write", action="store_true", help="write the figures down, where they are not a part only")
    parser.add_argument("--assert", dest="judge", action="store_true", help="exit 1 where a target is missed")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run all of it; the exit status."""
    options = options_of(arguments)
    targets = [target for target in TARGETS if _wanted(target, options)]
    needed = {name for target in targets for name in target.source.cases}
    chosen = [case for case in cases.CASES if case.name in needed or (not options.short and options.only in case.name)]
    if options.list:
        print("\n".join(["targets:", *(f"  {t.title}" for t in targets), "cases:", *(f"  {c.name}" for c in chosen)]))
        return 0
    os.sched_setaffinity(0, {CORES.load})
    found = measured(options, targets, chosen)
    show(found)
    if options.json:
        options.json.write_text(as_text(report.as_json(found.about, found.rows, found.cases)), "utf-8")
    if options.write and not options.only:
        write(found, documents=not options.short)
    return int(options.judge and any(row.verdict is Verdict.MISSED for row in found.rows))


def _wanted(target: Target, options: argparse.Namespace) -> bool:
    if options.short and not target.short:
        return False
    return options.only in target.title or any(options.only in name for name in target.source.cases)


def measured(options: argparse.Namespace, targets: Sequence[Target], chosen: Sequence[Case]) -> Found:
    """Measure what the command line says."""
    generator = options.generator or (SHORT_GENERATOR if options.short else loads.preferred())
    plan = Plan(
        rounds=options.rounds or (SHORT_ROUNDS if options.short else ROUNDS),
        seconds=options.seconds or (SHORT_SECONDS if options.short else SECONDS),
        driver=loads.driver(generator),
        keep=options.short,
    )
    found = by_connections(cases.FLOOR, chosen, plan)
    probed = probes.all_of({t.source.probe for t in targets if isinstance(t.source, Probed)}, plan)
    about = report.About(
        machine=described(),
        generator=generator,
        configuration=gateways.fingerprint(),
        version=__version__,
        measured=datetime.now(UTC).strftime("%Y-%m-%d"),
        rounds=plan.rounds,
        seconds=plan.seconds,
    )
    usual = json.loads(USUAL.read_text("utf-8")) if options.short else None
    return Found(about, rows(targets, found, probed, usual), found)


def show(found: Found) -> None:
    """Print both tables."""
    lines = [report.floor_cells(found.cases), *(report.case_cells(*one) for one in found.cases.items())]
    print(f"\n{found.about}\n\n{report.plain(report.CASE_HEAD, lines)}\n")
    print(report.plain(report.TARGET_HEAD, map(report.target_cells, found.rows)))


def write(found: Found, *, documents: bool) -> None:
    """Write the figures into the documents; or, of the short form, what is usual from now on."""
    if not documents:
        usual = {row.target.title: row.reading.value for row in found.rows}
        USUAL.write_text(as_text(usual), "utf-8")
        return
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / "figures.json").write_text(as_text(report.as_json(found.about, found.rows, found.cases)), "utf-8")
    (FIGURES / "cpu.svg").write_text(plot.bars(found.cases, cases.SHOWN, ours="rpcgw"), "utf-8")
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(report.written(text, found.about, found.rows, found.cases), "utf-8")


def as_text(value: object) -> str:
    """A value as the JSON of a file."""
    return json.dumps(value, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
