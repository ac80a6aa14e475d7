"""What grows of the corpus: hypothesis changes its entries, and makes others."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.kept import entries
from tests.fuzz.parsers import PARSERS

EXAMPLES = 150

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
json_texts = json_values.map(lambda value: json.dumps(value).encode())


@st.composite
def mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """An entry of the corpus with some of it cut, doubled, replaced, or swapped for a part of another one."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 16)))
        other = draw(st.sampled_from(seeds))
        at = draw(st.integers(0, len(other)))
        parts = st.binary(max_size=6) | st.sampled_from([data[start:end] * 2, other[at : at + 16]]) | json_texts
        data = data[:start] + draw(parts) + data[end:]
    return data


def inputs(name: str) -> st.SearchStrategy[bytes]:
    """What a parser is tried with."""
    return mutated([path.read_bytes() for path in entries(name)]) | st.binary(max_size=64) | json_texts


def trial(name: str, check: Callable[[bytes], None]) -> Callable[[], None]:
    """A run of a check over many inputs; fails with the smallest input that breaks it."""
    quiet = list(HealthCheck)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=quiet)
    @given(inputs(name))
    def holds(data: bytes) -> None:
        check(data)

    return holds


def broken_by(name: str, number: int) -> bytes | None:
    """An input that breaks a parser's promise, looked for once, differently for each number."""
    last = b""

    def check(data: bytes) -> None:
        nonlocal last
        last = data
        PARSERS[name](data)

    try:
        seed(number)(trial(name, check))()
    except Exception:  # noqa: BLE001 -- whatever comes out breaks the promise
        return last
    return None
