"""The benchmark's own decisions: gates, ratios, verdicts, tables; and that no server gets a figure without right answers."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from gzip import compress
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import calls, cases, gateways, plot, report, targets
from bench.__main__ import USUAL, main, options_of
from bench.calls import PRICE, REDUCED, Call, WrongAnswerError
from bench.loads import by_client, by_wrk
from bench.measuring import Case, Figure, Plan, Run, Runs, by_connections, compare, in_order
from bench.peers import work
from bench.probes import PROBES
from bench.servers import Program, server
from bench.targets import FLOOR, SLACK, TARGETS, Probed, Quotient, Target
from bench.verdicts import Better, Reading, Verdict, judged, quotient, spread
from rpcgw.cli.load.wire import Answered
from tests.support.daemon import ROOT

INFINITE = float("inf")


# -- verdicts

VERDICTS = [
    pytest.param(Reading(0.6), 0.65, "less", Verdict.MET, id="less than it must be"),
    pytest.param(Reading(0.65), 0.65, "less", Verdict.MET, id="exactly what it must be"),
    pytest.param(Reading(0.66), 0.65, "less", Verdict.MISSED, id="more than it may be"),
    pytest.param(Reading(1.4), 1.3, "more", Verdict.MET, id="more than it must be"),
    pytest.param(Reading(1.2), 1.3, "more", Verdict.MISSED, id="less than it must be, where more is better"),
    pytest.param(Reading(0.6, 0.26), 0.65, "less", Verdict.NOISY, id="good, by a floor that wandered"),
    pytest.param(Reading(9.0, 0.26), 0.65, "less", Verdict.NOISY, id="bad, by a floor that wandered"),
    pytest.param(Reading(0.6, 0.25), 0.65, "less", Verdict.MET, id="a floor that wandered as far as it may"),
    pytest.param(Reading(None), 0.65, "less", Verdict.UNMEASURED, id="nothing"),
    pytest.param(Reading(None, 0.9), 0.65, "less", Verdict.UNMEASURED, id="nothing, by a floor that wandered"),
    pytest.param(Reading(9.0), None, "less", Verdict.MET, id="nothing was promised"),
]


@pytest.mark.parametrize(("reading", "must", "better", "verdict"), VERDICTS)
def test_a_reading_gets_its_verdict(reading: Reading, must: float | None, better: Better, verdict: Verdict) -> None:
    """Met or missed only where the floor held still; else it is noisy, whatever the figure."""
    assert judged(reading, must, better) is verdict


SPREADS = [
    pytest.param([], 0, id="no floor"),
    pytest.param([5.0], 0, id="one"),
    pytest.param([4.0, 5.0, 4.5], 0.25, id="the largest over the smallest"),
    pytest.param([0.0, 5.0], INFINITE, id="a floor that answered nothing"),
]


@pytest.mark.parametrize(("values", "wanted"), SPREADS)
def test_how_far_a_floor_wanders(values: list[float], wanted: float) -> None:
    """By how much the largest lies above the smallest."""
    assert spread(values) == wanted


def test_a_quotient_is_of_medians() -> None:
    """One run that was disturbed moves nothing."""
    assert quotient([2.0, 2.5, 90.0], [1.25, 1.25, 9.0], [10.0, 12.5]) == Reading(2.0, 0.25)


def test_a_quotient_is_worth_what_the_floor_was_around_either() -> None:
    """The floors of two cases may differ (in their connections, say); what counts is how far each wandered by itself."""
    assert quotient([1.0], [1.0], [10.0, 10.0], [20.0, 22.0]).spread == pytest.approx(0.1)


@pytest.mark.parametrize(("ours", "theirs"), [([], [1.0]), ([1.0], [])], ids=["not ours", "not theirs"])
def test_a_quotient_of_nothing_is_nothing(ours: list[float], theirs: list[float]) -> None:
    """Both have to be measured."""
    assert quotient(ours, theirs, [1.0]).value is None


# -- figures


def figure(value: float) -> Figure:
    return Figure(rps=1000 / value, cpu=value, p50=value, p99=value, busy=1, start=1, idle=value, after=value)


def runs(*values: float, floor: float = 10.0, after: float | None = None) -> Runs:
    """Runs whose CPU is `value`, between floors of 10 (or `floor` before and `after` behind)."""
    around = figure(floor), figure(floor if after is None else after)
    return Runs([Run(figure(value), around) for value in values])


def test_a_run_is_held_against_the_floors_around_it() -> None:
    """The mean of the one before and the one after is its measure."""
    assert runs(30.0, floor=10.0, after=20.0).runs[0].ratio("cpu") == 2.0


FOUND = {
    "ours": runs(5.0, 5.0),
    "theirs": runs(50.0, 40.0, 60.0),
    "wild": runs(5.0, floor=10, after=13),
    "gone": Runs(failed="x"),
    "lazy": Runs([Run(replace(figure(5.0), busy=0.6), (figure(10.0), figure(10.0)))]),
}

READINGS = [
    pytest.param(Quotient("cpu", "ours"), 0.5, Verdict.MET, id="over the floor"),
    pytest.param(Quotient("cpu", "ours", "theirs"), 0.1, Verdict.MET, id="over another"),
    pytest.param(Quotient("rps", "ours", "theirs"), 10.0, Verdict.MISSED, id="throughput"),
    pytest.param(Quotient("cpu", "ours", "wild"), None, Verdict.NOISY, id="over one whose floor wandered"),
    pytest.param(Quotient("cpu", "ours", "gone"), None, Verdict.UNMEASURED, id="over one that failed"),
    pytest.param(Quotient("cpu", "ours", "none"), None, Verdict.UNMEASURED, id="over one that was never asked"),
    pytest.param(Quotient("rps", "lazy"), None, Verdict.UNMEASURED, id="throughput that is the load's"),
    pytest.param(Quotient("cpu", "lazy"), 0.5, Verdict.MET, id="CPU, which does not hang on the load"),
    pytest.param(Probed("probe", "part"), 0.3, Verdict.MET, id="by a probe"),
    pytest.param(Probed("probe", "other"), None, Verdict.UNMEASURED, id="by a probe that found nothing"),
]


@pytest.mark.parametrize(("source", "value", "verdict"), READINGS)
def test_a_target_reads_its_cases(source: Quotient | Probed, value: float | None, verdict: Verdict) -> None:
    """A row has the figure of its cases or its probe, and the verdict of that."""
    [row] = targets.rows([Target("x", source, 1.0, None)], FOUND, {"probe": {"part": Reading(0.3)}})
    assert row.verdict is verdict
    if value is not None:
        assert row.reading.value == pytest.approx(value)


USUALS = [
    pytest.param(0.5, Verdict.MET, id="as usual"),
    pytest.param(0.5 / 1.5, Verdict.MET, id="half as much again"),
    pytest.param(0.5 / 2, Verdict.MISSED, id="twice what is usual"),
    pytest.param(None, Verdict.MET, id="nothing is usual yet"),
]


@pytest.mark.parametrize(("usual", "verdict"), USUALS)
def test_the_short_form_compares_with_what_is_usual(usual: float | None, verdict: Verdict) -> None:
    """What differs between machines passes; a cost that doubles does not. What must be is the full form's matter."""
    known = {} if usual is None else {"x": usual}
    [row] = targets.rows([Target("x", Quotient("cpu", "ours"), 0.01, None, short=True)], FOUND, {}, known)
    assert row.verdict is verdict
    assert row.bound == (None if usual is None else SLACK * usual)


def test_the_short_form_knows_what_is_usual_for_each_of_its_rows() -> None:
    """No row passes because nobody wrote down what to compare it with."""
    assert set(json.loads(USUAL.read_text("utf-8"))) == {target.title for target in TARGETS if target.short}


def test_every_target_can_be_measured() -> None:
    """No row asks for a case or a probe that is not there, and no two have one name."""
    known = {case.name for case in cases.CASES}
    assert len(known) == len(cases.CASES)
    assert len({target.title for target in TARGETS}) == len(TARGETS)
    for target in TARGETS:
        assert set(target.source.cases) <= known, target.title
        assert not isinstance(target.source, Probed) or target.source.probe in PROBES, target.title
    assert set(cases.SHOWN.values()) <= known


# -- gates


def answered(value: Any, *, status: int = 200, head: bytes = b"HTTP/1.1 200 OK") -> Answered:
    return Answered(status, head, json.dumps(value).encode(), 0)


def told(**result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


TEXT = {"type": "text", "text": "1699"}
RIGHT = told(content=[TEXT], structuredContent={"result": REDUCED}, isError=False)
CALL = calls.tool("discounted", PRICE, REDUCED)
TWO = [{"type": "text", "text": '{"id": 0}'}, {"type": "text", "text": '{"id": 1}'}]
ZIPPED = Answered(
    200, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip", compress(json.dumps(told(tools=[1, 2])).encode()), 0
)

RIGHTS = [
    pytest.param(CALL, answered(RIGHT), id="both forms"),
    pytest.param(CALL, answered(told(content=[TEXT])), id="the text alone"),
    pytest.param(replace(CALL, wanted=[{"id": 0}, {"id": 1}]), answered(told(content=TWO)), id="a block an object"),
    pytest.param(calls.tools(2), ZIPPED, id="compressed"),
    pytest.param(calls.rpc("x", {}, 7), answered({"id": 1, "result": 7}), id="JSON-RPC"),
    pytest.param(
        calls.rpc_batch("x", {}, 7, 2),
        answered([{"id": 1, "result": 7}, {"id": 0, "result": 7}]),
        id="a batch, any order",
    ),
    pytest.param(calls.unchanged(), Answered(304, b"HTTP/1.1 304 x", b"", 0), id="not modified"),
    pytest.param(calls.tool("x", {}, True, calls.refusal), answered(told(isError=True)), id="refused by a result"),
    pytest.param(calls.tool("x", {}, True, calls.refusal), answered({"id": 1, "error": {"code": 1}}), id="by an error"),
]

WRONGS = [
    pytest.param(CALL, answered(told(content=[TEXT], structuredContent={"result": 1700})), id="the forms differ"),
    pytest.param(CALL, answered(told(content=[{**TEXT, "text": "1700"}])), id="another value"),
    pytest.param(CALL, answered(told(content=[TEXT], isError=True)), id="the right text, as an error"),
    pytest.param(CALL, answered({"id": 1, "error": {"code": -32603}}), id="an error"),
    pytest.param(CALL, answered(RIGHT, status=500), id="another status"),
    pytest.param(CALL, Answered(200, b"HTTP/1.1 200 OK", b"<html>", 0), id="no JSON"),
    pytest.param(CALL, answered(told(content=[])), id="no content"),
    pytest.param(calls.rpc_batch("x", {}, 7, 2), answered([{"id": 0, "result": 7}]), id="half of a batch"),
    pytest.param(calls.tools(3), ZIPPED, id="too few tools"),
    pytest.param(calls.unchanged(), answered({"openrpc": "1.3.2"}), id="the whole document again"),
    pytest.param(calls.tool("x", {}, True, calls.refusal), answered(RIGHT), id="a bad call that succeeds"),
]


@pytest.mark.parametrize(("call", "answer"), RIGHTS)
def test_a_right_answer_passes(call: Call, answer: Answered) -> None:
    """Answers are read by their meaning: servers write the same in several ways."""
    call.check(answer)


@pytest.mark.parametrize(("call", "answer"), WRONGS)
def test_a_wrong_answer_does_not(call: Call, answer: Answered) -> None:
    """Whatever is wrong with it, it is named."""
    with pytest.raises(WrongAnswerError, match="answers"):
        call.check(answer)


def test_every_server_has_the_same_objects() -> None:
    """The peers' objects are those that answers are compared with."""
    assert calls.items(200) == work.ITEMS
    assert work.reduced(**PRICE) == REDUCED


# -- runs


def test_the_direction_alternates() -> None:
    """What comes early in one round comes late in the next: a machine that grows slower favours nobody."""
    assert [in_order("abc", number) for number in range(3)] == [["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c"]]


GOOD = replace(cases.FLOOR, name="good")
GOOD_LATER = replace(GOOD, name="later")
WRONG = replace(cases.FLOOR, name="wrong", call=calls.tool("discounted", PRICE, 1700))
DEAD = Case("dead", server("dead", Program((sys.executable, "-c", "raise SystemExit('no licence')", "{port}"))), CALL)
ABSENT = Case("absent", server("absent", Program(("/nowhere/python", "{port}"))), CALL)


def silent(_: str) -> None:
    """Tell nobody."""


@pytest.fixture(scope="module", params=[False, True], ids=["started for each run", "kept"])
def compared(request: pytest.FixtureRequest) -> Mapping[str, Runs]:
    plan = Plan(2, 0.3, by_client, keep=request.param, tell=silent)
    return by_connections(cases.FLOOR, [replace(GOOD, connections=3), WRONG, DEAD, ABSENT, GOOD_LATER], plan)


@pytest.mark.parametrize(
    ("name", "reason"), [("wrong", "1699, not 200 1700"), ("dead", "no licence"), ("absent", "make bench")]
)
def test_a_server_without_right_answers_gets_no_figure(compared: Mapping[str, Runs], name: str, reason: str) -> None:
    """What answers wrongly, ends, or is not there has no run, and says why; the others are measured all the same."""
    assert compared[name].runs == []
    assert reason in compared[name].failed


def test_a_server_with_right_answers_is_measured(compared: Mapping[str, Runs]) -> None:
    """The floor beside itself costs what the floor costs; a run stands between two floors, the last of one is the first of the next."""
    assert list(compared) == ["good", "wrong", "dead", "absent", "later"]
    for name in ("good", "later"):
        assert compared[name].failed == ""
        assert len(compared[name].runs) == 2
        for run in compared[name].runs:
            assert 0.3 < run.ratio("cpu") < 3
            assert run.figure.idle > 5
            assert run.figure.rps > 50


def test_floors_are_shared_by_neighbours() -> None:
    """Between two servers the floor runs once."""
    found = compare(cases.FLOOR, [GOOD, GOOD_LATER], Plan(1, 0.2, by_client, tell=silent))
    assert found["good"].runs[0].floors[1] is found["later"].runs[0].floors[0]


DRIVERS = [by_client, *([by_wrk] if shutil.which("wrk") else [])]


@pytest.mark.parametrize("driver", DRIVERS)
def test_every_body_of_a_load_is_compared(driver: Any) -> None:
    """A body that differs from the one that was found right fails the whole load, whatever loads."""
    with cases.FLOOR.server.start() as running:
        right = Answered(200, b"HTTP/1.1 200 OK", b'{"other": true}', 0)
        with pytest.raises(WrongAnswerError, match="wrong answers"):
            driver(running.port, CALL.asked, right, 2, 1)


# -- the report

ABOUT = report.About("a machine", "wrk", "abc123", "0.1.0", "2026-12-01", 2, 3.0)

NUMBERS = [
    pytest.param(None, "", "-", id="nothing"),
    pytest.param(0.4512, "", "0.451", id="three digits"),
    pytest.param(95.04, "", "95", id="no zeros behind"),
    pytest.param(1234.5, "MiB", "1234 MiB", id="whole where it is large"),
    pytest.param(0.0, "MiB", "0 MiB", id="zero is a figure"),
]


@pytest.mark.parametrize(("value", "unit", "text"), NUMBERS)
def test_a_number_is_written_for_people(value: float | None, unit: str, text: str) -> None:
    """As many digits as count."""
    assert report.number(value, unit) == text


ROWS = targets.rows(
    [
        Target("met", Quotient("cpu", "ours"), 0.65, 0.45),
        Target("noisy", Quotient("cpu", "wild"), 0.65, None),
        Target("gone", Quotient("rps", "gone"), 1, 2, "more", "x"),
    ],
    FOUND,
    {},
)
CELLS = [
    ("met", "0.5", "at most 0.65", "0.45", "met"),
    ("noisy", "0.435", "at most 0.65", "-", "noisy: the floor wandered by 30%"),
    ("gone", "-", "at least 1 x", "2 x", "not measured: x"),
]


def test_each_target_is_a_row() -> None:
    """Figure, what must be, what is aimed at, and the verdict; where there is none, why."""
    assert [report.target_cells(row) for row in ROWS] == CELLS


def test_a_case_without_runs_has_a_row_without_figures() -> None:
    """It is seen that it is missing."""
    assert report.case_cells("gone", Runs()) == ("gone", *("-",) * 10)


def test_all_figures_are_in_the_json() -> None:
    """The JSON has every run with its floors, and can be written."""
    made = json.loads(json.dumps(report.as_json(ABOUT, ROWS, FOUND)))
    assert made["about"]["configuration"] == "abc123"
    assert [one["verdict"] for one in made["targets"]] == ["met", "noisy", "not measured"]
    assert [run["figure"]["cpu"] for run in made["cases"]["theirs"]["runs"]] == [50, 40, 60]
    assert made["cases"]["ours"]["runs"][0]["floors"][1]["cpu"] == 10


def test_a_document_gets_the_figures_between_its_marks() -> None:
    """What stood there goes, what stands around stays; written twice it is the same."""
    old = f"before\n\n{report.BEGIN}\n\nold\n\n{report.END}\n\nafter\n"
    new = report.written(old, ABOUT, ROWS, FOUND)
    assert new.startswith("before\n")
    assert new.endswith("\n\nafter\n")
    assert "old" not in new
    assert "| met | 0.5 | at most 0.65 | 0.45 | met |" in new
    assert "gateway.yaml.example abc123" in new
    assert report.written(new, ABOUT, ROWS, FOUND) == new


def test_the_document_is_there_to_be_written() -> None:
    """docs/performance.md has the marks."""
    text = (ROOT / "docs" / "performance.md").read_text("utf-8")
    assert text.index(report.BEGIN) < text.index(report.END)


def test_the_plot_is_an_image_with_a_bar_a_case() -> None:
    """It is well-formed, cheapest first, and leaves out what has no figure."""
    root = ET.fromstring(plot.bars(FOUND, {"mine": "ours", "theirs": "theirs", "gone": "gone"}, "mine"))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in ("mine", "theirs", "gone", FLOOR)] == ["mine", FLOOR, "theirs"]
    widths = [float(bar.attrib["width"]) for bar in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert widths == sorted(widths)
    assert len(widths) == 3


# -- the command line


def test_what_there_is_to_measure_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """--list measures nothing; --only chooses rows by words, and the cases that they need."""
    assert main(["--list", "--only", "pjrpc"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^  (.+)$", said, re.MULTILINE) == [
        "JSON-RPC call over pjrpc on aiohttp",
        "JSON-RPC call",
        "pjrpc",
    ]


def test_the_short_form_loads_by_what_every_machine_has() -> None:
    """Nothing is chosen for it on the command line: what is usual was measured by the built-in client."""
    assert options_of(["--short"]).generator is None


PROGRAMS: Sequence[tuple[str, Program]] = [
    ("offers", gateways.offers()),
    ("12 tools", gateways.many(12)),
    ("wide", gateways.wide(2, 2)),
]


@pytest.mark.parametrize("program", [program for _, program in PROGRAMS], ids=[name for name, _ in PROGRAMS])
def test_generated_gateways_differ_from_the_example_by_plugins_alone(program: Program) -> None:
    """What is measured is what is shipped: the generated configuration imports it, and says where its plugins lie."""
    said = json.loads(program.files["gateway.yaml"])
    assert said == {"imports": [str(ROOT / "gateway.yaml.example")], "plugins": {"directory": "plugins"}}


def test_as_many_tools_are_generated_as_are_asked_for() -> None:
    """Those that the offers are count as well."""
    sources = gateways.many(12).files
    assert sum(source.count("@rpc.tool") for source in sources.values()) == 12
