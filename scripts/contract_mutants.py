"""Breaks one clause after the other, in a copy of the tree, and sees that its tests notice.

For each patch in tests/contract/mutants (`<ID>.patch`, `<ID>-<word>.patch`) the tests of that id are run against a copy
that has the patch applied. It is a fault where a patch no longer applies, where a test of the id stays green under all
patches of it, where the tests cannot be collected or the daemon does not start (a patch should break the clause and
nothing else), and where the tests are red without any patch.

    python -m scripts.contract_mutants [--jobs N] [ID ...]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

from scripts.contract import MUTANTS, ROOT, read_patches, read_tests

NOT_STARTED = re.compile(r"^E\s+(\S+\.)?DaemonDidNotStart: ", re.MULTILINE)
TIME_LIMIT = 600


@dataclass(frozen=True)
class Run:
    """What pytest said of some tests: which failed, which had a daemon that did not start, and a fault of the run."""

    red: frozenset[str] = frozenset()
    unstarted: frozenset[str] = frozenset()
    fault: str | None = None
    told: str = ""


def copy_tree(target: Path) -> None:
    """Copy what git knows, and what it would know, of the working tree as it is now."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    for tools in (".venv", ".cache"):
        if (ROOT / tools).exists():
            (target / tools).symlink_to(ROOT / tools)


@contextlib.contextmanager
def copy_of_the_tree() -> Iterator[Path]:
    """Yield a copy outside of the repository, so that `git apply` sees plain files."""
    with tempfile.TemporaryDirectory(prefix="rpcgw-mutant-") as name:
        copy_tree(Path(name))
        yield Path(name)


def apply(patch: Path, tree: Path) -> str | None:
    """Apply a patch; return why it does not apply, if so."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    command = ["git", "apply", "--whitespace=nowarn", str(patch)]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


def run_tests(tree: Path, nodes: Sequence[str], limit: int = TIME_LIMIT) -> Run:
    """Run tests in a copy, against the code of that copy, for at most `limit` seconds."""
    report = tree / "report.xml"
    sources = [tree, *tree.glob("plugins/*/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *nodes]
    with contextlib.suppress(FileNotFoundError):
        report.unlink()
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return Run(fault=f"the tests took longer than {limit} s")
    if done.returncode not in (0, 1) or not report.exists():
        return Run(fault=f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return replace(read_report(report), told=done.stdout[-4000:])


def read_report(report: Path) -> Run:
    """Read which tests failed; parameters are left out of their names."""
    red, unstarted = set(), set()
    for case in ET.parse(report).iter("testcase"):
        problems = [*case.findall("failure"), *case.findall("error")]
        name = f"{case.get('classname', '')}.{case.get('name', '').partition('[')[0]}"
        if any(NOT_STARTED.search(problem.text or "") for problem in problems):
            unstarted.add(name)
        elif problems:
            red.add(name)
    return Run(frozenset(red), frozenset(unstarted))


def reported_name(node: str) -> str:
    """Return a node id as a report spells it: `tests/contract/test_a.py::test_b` as `tests.contract.test_a.test_b`."""
    file, *names = node.split("::")
    return ".".join([file.removesuffix(".py").replace("/", "."), *names])


def judge(clause: str, patches: Sequence[Path], nodes: Sequence[str]) -> list[str]:
    """Return the faults of one clause: its patches and tests against each other."""
    found: list[str] = []
    noticed: set[str] = set()
    for patch in patches:
        with copy_of_the_tree() as tree:
            refused = apply(patch, tree)
            if refused:
                found.append(f"{patch.name} no longer applies: {refused}")
                continue
            run = run_tests(tree, nodes)
        if run.fault:
            found.append(f"{patch.name}: {run.fault}")
        elif run.unstarted:
            found.append(
                f"{patch.name} breaks too much: the daemon does not start in {', '.join(sorted(run.unstarted))}"
            )
        noticed |= run.red
    green = [node for node in nodes if reported_name(node) not in noticed]
    if not found:
        found.extend(f"{node} stays green under {' and '.join(patch.name for patch in patches)}" for node in green)
    print(f"{clause}  {'red, as it must be' if not found else 'NOT NOTICED'}", flush=True)
    return [f"{clause}: {fault}" for fault in found]


def main() -> int:
    """Judge every clause that has patches, or the ids that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("ids", nargs="*", metavar="ID")
    options = parser.parse_args()
    tests = read_tests()
    patches = {name: paths for name, paths in read_patches().items() if not options.ids or name in options.ids}
    nodes = {name: [test.node for test in tests if name in test.ids] for name in patches}
    problems = [f"{name}: no patch in {MUTANTS}" for name in options.ids if name not in patches]
    problems += [f"{name}: no test names it" for name in patches if not nodes[name]]
    judged = [name for name in patches if nodes[name]]
    if judged:
        with copy_of_the_tree() as tree:
            every = sorted({node for name in judged for node in nodes[name]})
            sound = run_tests(tree, every, TIME_LIMIT * len(judged))
        problems += [f"red without any patch: {name}" for name in sorted(sound.red | sound.unstarted)]
        problems += [sound.fault] if sound.fault else []
        if problems:
            print(sound.told)
    if not problems:
        with ThreadPoolExecutor(options.jobs) as pool:
            for found in pool.map(lambda name: judge(name, patches[name], nodes[name]), judged):
                problems += found
    for problem in problems:
        print(f"contract-mutants: {problem}", file=sys.stderr)
    print(f"{sum(len(paths) for paths in patches.values())} patches for {len(judged)} clauses, {len(problems)} faults")
    return 1 if problems or not judged else 0


if __name__ == "__main__":
    sys.exit(main())
