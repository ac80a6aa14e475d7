"""Every parser that faces the network, with the corpus and with what grows of it.

`make test` tries some hundred inputs a parser, the same each time. `make fuzz` goes on for as long as it is told, guided
by what the inputs reach, and keeps in the corpus what broke a promise.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import seed

from tests.fuzz.growing import EXAMPLES, trial
from tests.fuzz.kept import CORPUS, entries
from tests.fuzz.parsers import PARSERS
from tests.support.figures import Figure

CASES = [pytest.param(name, path, id=f"{name}-{path.name}") for name in PARSERS for path in entries(name)]
SECONDS = float(os.environ.get("FUZZ_SECONDS", "1"))
ALWAYS = 20_261_130
"""A seed: the inputs are the same in each run."""


@pytest.mark.parametrize(("name", "path"), CASES)
def test_the_corpus_holds(name: str, path: Path) -> None:
    """What broke something once, or says how inputs look, keeps its promise."""
    PARSERS[name](path.read_bytes())


@pytest.mark.parametrize("name", list(PARSERS))
def test_whatever_grows_of_it_holds_too(name: str) -> None:
    """Accepted inputs are stable, refused ones have a status of the table, and nothing else comes out."""
    seed(ALWAYS)(trial(name, PARSERS[name]))()


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 120)
def test_none_breaks_in_so_many_seconds(figure: Figure) -> None:
    """One after the other, with other inputs each time; `make ops-report` takes a minute."""
    tried, until = 0, time.monotonic() + SECONDS

    def counted(parser: Callable[[bytes], None], data: bytes) -> None:
        nonlocal tried
        tried += 1
        parser(data)

    for number, name in enumerate(cycle(PARSERS), ALWAYS + 1):
        seed(number)(trial(name, partial(counted, PARSERS[name])))()
        if time.monotonic() > until:
            break
    case = f"Fuzzing of the {len(PARSERS)} parsers that face the network"
    figure(case, "inputs", tried)
    figure(case, "inputs that broke a promise", 0, promised="0")
    assert tried >= EXAMPLES


def test_every_parser_has_a_corpus_and_no_corpus_is_a_stranger() -> None:
    """Each has some entries, and each folder is a parser's."""
    assert {path.name for path in CORPUS.iterdir()} == set(PARSERS)
    assert all(len(entries(name)) >= 2 for name in PARSERS)


def test_the_corpus_is_small() -> None:
    """It is read in every run."""
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 200_000
