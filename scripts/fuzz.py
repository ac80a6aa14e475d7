"""Fuzzes the parsers of tests/fuzz/parsers.py, guided by what inputs reach; a broken promise is kept in the corpus.

    python -m scripts.fuzz [--seconds 30] [PARSER ...]

Each parser is a process of its own: libFuzzer ends with the process. What was found on the way stays in
.cache/fuzz-corpus, and is where the next run begins. An input that breaks a promise goes to
tests/fuzz/corpus/<parser>/found-<digest>, where `make test` tries it from then on. Where atheris is not installed,
hypothesis goes on for as long. Exits 1 where one was found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests/fuzz/corpus"
GROWN = ROOT / ".cache/fuzz-corpus"
LONGEST = 4096
"""Bytes of an input."""


def main(given: Sequence[str] | None = None) -> int:
    """Fuzz each parser in turn, and return the exit code."""
    from tests.fuzz.parsers import PARSERS  # noqa: PLC0415 -- in a parser's process only after it is instrumented

    arguments = argparse.ArgumentParser(prog="fuzz", description="Fuzz the parsers that face the network.")
    arguments.add_argument("--seconds", type=int, default=30, help="how long for each parser (30)")
    arguments.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("parsers", nargs="*", metavar="PARSER", help=f"of {', '.join(PARSERS)}")
    chosen = arguments.parse_args(given)
    if unknown := set(chosen.parsers) - set(PARSERS):
        arguments.error(f"unknown: {', '.join(sorted(unknown))}")
    guided = find_spec("atheris") is not None
    print(f"fuzz: {'guided by coverage' if guided else 'atheris is not installed: at random'}", flush=True)
    failed = [
        name
        for name in chosen.parsers or PARSERS
        if not (_guided(name, chosen.seconds) if guided else _at_random(name, chosen.seconds))
    ]
    print("fuzz: broken: " + ", ".join(failed) if failed else "fuzz: nothing was broken")
    return 1 if failed else 0


def _guided(name: str, seconds: int) -> bool:
    """Whether a parser kept its promise for so long."""
    grown, broken = GROWN / name, GROWN / f"{name}.broken"
    for folder in (grown, broken):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, "-m", "scripts.fuzz_one", name),
        *(f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-artifact_prefix={broken}/", "-verbosity=0"),
        *(str(grown), str(CORPUS / name)),
    ]
    # libFuzzer ends a process without its exit handlers: what it leaves in its temporary folder goes with that.
    with tempfile.TemporaryDirectory(prefix="rpcgw-fuzz-") as place:
        ran = subprocess.run(command, cwd=ROOT, env={**os.environ, "TMPDIR": place}, check=False)
    for path in broken.iterdir():
        keep(name, path.read_bytes())
    shutil.rmtree(broken)
    print(
        f"fuzz: {name}: {'fine' if ran.returncode == 0 else 'BROKEN'}, {len(list(grown.iterdir()))} inputs", flush=True
    )
    return ran.returncode == 0


def _at_random(name: str, seconds: int) -> bool:
    from tests.fuzz.growing import broken_by  # noqa: PLC0415 -- hypothesis is not needed otherwise

    until, seed = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        seed += 1
        if (found := broken_by(name, seed)) is not None:
            keep(name, found)
            print(f"fuzz: {name}: BROKEN", flush=True)
            return False
    print(f"fuzz: {name}: fine, {seed} rounds", flush=True)
    return True


def keep(name: str, data: bytes) -> None:
    """Keep an input in the corpus."""
    (CORPUS / name / f"found-{sha256(data).hexdigest()[:12]}").write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
