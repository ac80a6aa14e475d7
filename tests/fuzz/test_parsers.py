"""Every parser that faces the network, with the corpus and with what grows of it.

`make test` tries some hundred inputs a parser, the same each time. `make fuzz` goes on for as long as it is told, guided
by what the inputs reach, and keeps in the corpus what broke a promise.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.kept import CORPUS, entries
from tests.fuzz.parsers import PARSERS

EXAMPLES = 150
CASES = [pytest.param(name, path, id=f"{name}-{path.name}") for name in PARSERS for path in entries(name)]
NAMES = list(PARSERS)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """An entry of the corpus with some of it cut, doubled, replaced, or swapped for a part of another one."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 16)))
        other = draw(st.sampled_from(seeds))
        at = draw(st.integers(0, len(other)))
        piece = draw(
            st.binary(max_size=6)
            | st.just(data[start:end] * 2)
            | st.just(other[at : at + 16])
            | json_values.map(lambda value: json.dumps(value).encode())
        )
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.parametrize(("name", "path"), CASES)
def test_the_corpus_holds(name: str, path: Path) -> None:
    """What broke something once, or says how inputs look, keeps its promise."""
    PARSERS[name](path.read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_whatever_grows_of_it_holds_too(name: str) -> None:
    """Accepted inputs are stable, refused ones have a status of the table, and nothing else comes out."""
    seeds = [path.read_bytes() for path in entries(name)]

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(mutated(seeds) | st.binary(max_size=64) | json_values.map(lambda value: json.dumps(value).encode()))
    def holds(data: bytes) -> None:
        PARSERS[name](data)

    holds()


def test_every_parser_has_a_corpus_and_no_corpus_is_a_stranger() -> None:
    """Each has some entries, and each folder is a parser's."""
    assert {path.name for path in CORPUS.iterdir()} == set(PARSERS)
    assert all(len(entries(name)) >= 2 for name in PARSERS)


def test_the_corpus_is_small() -> None:
    """It is read in every run."""
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 200_000
