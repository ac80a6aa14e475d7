"""Counters, gauges and histograms over a slot file, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rpcgw.adapters.telemetry import families
from rpcgw.adapters.telemetry.families import FAMILIES
from rpcgw.adapters.telemetry.slotfile import COUNTER, HISTOGRAM, SlotFile
from rpcgw.adapters.telemetry.slots import Slots


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SlotFile]:
    file = SlotFile(str(tmp_path / "g1-0.slot"))
    yield file
    file.close()


def cells(file: SlotFile, name: bytes, count: int = 1) -> list[float]:
    view, start = file.series(1, name, count)
    return list(view[start : start + count])


def test_a_number_goes_up_down_and_is_set(file: SlotFile) -> None:
    """What was added stands in the cell."""
    number = Slots(file).number(families.IN_FLIGHT)
    number.add()
    number.add(2)
    number.add(-1)
    assert cells(file, b'["rpcgw_calls_in_flight"]') == [2.0]
    number.set(7)
    assert cells(file, b'["rpcgw_calls_in_flight"]') == [7.0]


@pytest.mark.parametrize(
    ("value", "bucket"),
    [
        pytest.param(0.0, 0, id="nothing is in the first"),
        pytest.param(0.0005, 0, id="a bound belongs to its bucket"),
        pytest.param(0.0006, 1, id="above a bound is the next one"),
        pytest.param(10.0, 13, id="the last bound"),
        pytest.param(11.0, 14, id="above all is the unbounded one"),
    ],
)
def test_a_value_falls_into_one_bucket(file: SlotFile, value: float, bucket: int) -> None:
    """A bucket's upper bound is included (Prometheus: le), and the sum is kept beside."""
    Slots(file).histogram(families.CALL_SECONDS, "rpc", "general", "ping").observe(value)
    name = b'["rpcgw_call_duration_seconds","rpc","general","ping"]'
    found = cells(file, name, families.CALL_SECONDS.cells)
    assert found[:-1] == [1.0 if index == bucket else 0.0 for index in range(15)]
    assert found[-1] == value


def test_a_family_has_so_many_series(file: SlotFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit everything new counts as `other`; what is known goes on by its name."""
    few = replace(families.REQUESTS, limit=2)
    monkeypatch.setitem(FAMILIES, few.name, few)
    slots = Slots(file)
    for endpoint in ("a", "b", "c", "d", "a"):
        slots.number(few, endpoint, "200").add()
    assert cells(file, b'["rpcgw_requests_total","a","200"]') == [2.0]
    assert cells(file, b'["rpcgw_requests_total","b","200"]') == [1.0]
    assert cells(file, b'["rpcgw_requests_total","other","other"]') == [2.0]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_names_are_as_prometheus_asks(family: families.Family) -> None:
    """Counters end in _total, units are base units, only histograms have bounds, and every metric says what it is."""
    assert family.name.startswith("rpcgw_")
    assert family.name.endswith("_total") == (family.kind == COUNTER)
    assert bool(family.bounds) == (family.kind == HISTOGRAM)
    assert family.text.endswith(".")
