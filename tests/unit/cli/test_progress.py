"""What the terminal says of something that lasts."""

import time

import pytest

from rpcgw.cli.progress import PATIENCE, Progress, working


def test_what_is_quick_is_not_mentioned() -> None:
    """Nothing is said before something lasts."""
    assert Progress("compiling").line(time.monotonic()) == ""


def test_the_line_of_something_that_lasts() -> None:
    """The line tells what, how far, and for how long."""
    progress = Progress("calling Report.make")
    progress.tell(3, 4, "pages")
    line = progress.line(time.monotonic() + PATIENCE + 7)
    assert "calling Report.make 75% pages" in line
    assert line.endswith(" s")


def test_progress_without_an_end() -> None:
    """Where nobody knows the end, the figure itself is told."""
    progress = Progress("counting")
    progress.tell(12)
    assert "counting 12" in progress.line(time.monotonic() + 1)


def test_nothing_is_written_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error that is no terminal stays clean."""
    with working("compiling") as progress:
        progress.tell(1, 2)
    assert capsys.readouterr().err == ""
