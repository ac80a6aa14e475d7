"""What fault tests measure, and the table of docs/operations.md that it goes into."""

from __future__ import annotations

import pytest

from scripts.ops_report import DOCUMENT, PROPERTY, Recorder, as_row, joined, missing, read_rows, table, written
from tests.support import figures
from tests.support.figures import figure_by, shown

pytest_plugins = ["pytester"]
ROWS = [("Redis frozen", "until it serves", "0.2 s", "at most 2 s"), ("Reload", "lost", "0", "0")]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0, "0", id="none"),
        pytest.param(41310, "41,310", id="many"),
        pytest.param(1234.5, "1,234", id="a large fraction is rounded"),
        pytest.param(0.012345, "0.0123", id="three digits of a small one"),
        pytest.param(2.0, "2", id="no empty digits"),
        pytest.param("none", "none", id="words stay as they are"),
    ],
)
def test_values_are_shown_for_people(value: float | str, text: str) -> None:
    """Thousands are told apart, and fractions are no longer than they are worth."""
    assert shown(value) == text


def test_a_figure_becomes_a_row() -> None:
    """What a test tells the fixture arrives as one row, under the property that the report reads."""
    noted: list[tuple[str, object]] = []
    figure_by(lambda name, value: noted.append((name, value)))("Reload", "lost", 0, "calls", promised="0")
    [(name, value)] = noted
    assert (name, figures.PROPERTY) == (PROPERTY, PROPERTY)
    assert isinstance(value, dict)
    assert as_row(value) == ("Reload", "lost", "0 calls", "0")


def test_a_table_is_read_back() -> None:
    """What was written is found again, so that a run of some tests keeps the rows of the others."""
    text = written(DOCUMENT.read_text(encoding="utf-8"), ROWS, "Measured.")
    assert read_rows(text) == ROWS
    assert "Measured." in text
    assert written(text, ROWS, "Measured.") == text


def test_new_values_stand_where_the_old_stood() -> None:
    """A row is known by its case and what is measured; rows of one case stand together."""
    new = [("Redis frozen", "until it serves", "0.3 s", "at most 2 s"), ("Redis frozen", "connections", "4", "")]
    assert joined(ROWS, new) == [new[0], new[1], ROWS[1]]
    assert table(new).count("\n") == 3


def test_a_report_is_about_every_fault() -> None:
    """The document has a row of each; what is left out of it is named."""
    rows = read_rows(DOCUMENT.read_text(encoding="utf-8"))
    assert missing(rows) == []
    assert missing(row for row in rows if "Redis frozen" not in row[0]) == ["Redis frozen"]


def test_only_tests_that_measure_are_run(pytester: pytest.Pytester) -> None:
    """`make ops-report` runs those that ask for the fixture, and hears what they note; a failed one notes nothing."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def figure(record_property):
            def note(value):
                record_property("figure", {"case": "a", "measured": "b", "value": value, "promised": ""})
            return note

        def test_one(figure):
            figure("1")

        def test_other(figure):
            figure("2")
            assert False

        def test_unmeasured():
            assert False
        """
    )
    recorder = Recorder()
    outcome = pytester.inline_run(plugins=[recorder])
    assert outcome.countoutcomes() == [1, 0, 1]
    assert recorder.rows == [("a", "b", "1", "")]
