"""`make bench`: measure, print, judge, and write down."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import cases, gateways, loads, measuring, plot, probes, report, targets
from bench.machine import CORES, ROOT, described
from bench.verdicts import Verdict
from rpcgw import __version__

DOCUMENT = ROOT / "docs" / "performance.md"
FIGURES = ROOT / "docs" / "performance"

ROUNDS, SECONDS = 2, 3.0
SHORT_ROUNDS, SHORT_SECONDS = 2, 1.0


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, help=f"how often each case runs ({ROUNDS})")
    parser.add_argument("--seconds", type=float, help=f"how long each run takes ({SECONDS:g})")
    parser.add_argument("--only", default="", metavar="WORDS", help="only rows and cases whose name contains this")
    parser.add_argument("--list", action="store_true", help="say what there is to measure, and measure nothing")
    parser.add_argument("--short", action="store_true", help="CPU ratios and slopes only, judged by wide bounds")
    parser.add_argument("--generator", choices=("wrk", "built-in"), default=loads.preferred(), help="what loads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/performance.md and beside it")
    parser.add_argument("--assert", dest="judge", action="store_true", help="exit 1 where a target is missed")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run all of it; the exit status."""
    options = options_of(arguments)
    wanted = [target for target in targets.TARGETS if _wanted(target, options)]
    named = {name for target in wanted for name in target.source.cases}
    chosen = [case for case in cases.CASES if case.name in named or (not options.short and options.only in case.name)]
    if options.list:
        print("\n".join(["targets:", *(f"  {t.title}" for t in wanted), "cases:", *(f"  {c.name}" for c in chosen)]))
        return 0
    os.sched_setaffinity(0, {CORES.load})
    plan = measuring.Plan(
        rounds=options.rounds or (SHORT_ROUNDS if options.short else ROUNDS),
        seconds=options.seconds or (SHORT_SECONDS if options.short else SECONDS),
        driver=loads.driver(options.generator),
        keep=options.short,
    )
    found = measuring.by_connections(cases.FLOOR, chosen, plan)
    probed = probes.all_of({t.source.probe for t in wanted if isinstance(t.source, targets.Probed)}, plan)
    rows = targets.rows(found, probed, wanted, short=options.short)
    about = report.About(
        machine=described(),
        generator=options.generator,
        configuration=gateways.fingerprint(),
        version=__version__,
        measured=datetime.now(UTC).strftime("%Y-%m-%d"),
        rounds=plan.rounds,
        seconds=plan.seconds,
    )
    show(about, rows, found, short=options.short)
    if options.json:
        options.json.write_text(json.dumps(report.as_json(about, rows, found), indent=2) + "\n", "utf-8")
    if options.write and not options.only:
        write(about, rows, found)
    return int(options.judge and any(row.verdict is Verdict.MISSED for row in rows))


def _wanted(target: targets.Target, options: argparse.Namespace) -> bool:
    if options.short and target.short is None:
        return False
    return options.only in target.title or any(options.only in name for name in target.source.cases)


def show(about: report.About, rows: list[targets.Row], found: dict[str, measuring.Runs], *, short: bool) -> None:
    """Print both tables."""
    print(f"\n{about}\n")
    print(
        report.plain(report.CASE_HEAD, [report.floor_cells(found), *(report.case_cells(*one) for one in found.items())])
    )
    print()
    print(report.plain(report.TARGET_HEAD, [report.target_cells(row, short=short) for row in rows]))


def write(about: report.About, rows: list[targets.Row], found: dict[str, measuring.Runs]) -> None:
    """Write the figures into the documents."""
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / "figures.json").write_text(json.dumps(report.as_json(about, rows, found), indent=2) + "\n", "utf-8")
    (FIGURES / "cpu.svg").write_text(plot.bars(found, cases.SHOWN, cases.OURS_SHOWN), "utf-8")
    DOCUMENT.write_text(report.written(DOCUMENT.read_text("utf-8"), about, rows, found), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
