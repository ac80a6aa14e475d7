"""The lists of docs/acceptance/, their tests, and the document that is made of them belong together."""

from __future__ import annotations

import re

import pytest

from scripts.acceptance import OUTCOME, ROOT, AcceptanceTest, Line, document, faults, read_lines, read_tests

LINES = [Line("A-X-01", "One.", "List", "First"), Line("A-X-02", "Two.", "List", "Second")]


def test_every_line_has_a_test() -> None:
    """What `make acceptance` says first: no line without a test, no test of a line that is not there."""
    assert faults(read_lines(), read_tests()) == []


def test_the_document_is_of_these_lines() -> None:
    """docs/acceptance.md was written after the last change of the lists: it has each line, word by word, and no other."""
    text = (ROOT / OUTCOME).read_text(encoding="utf-8")
    shown = re.findall(r"^#### (\S+)\n\n(.*)$", text, re.MULTILINE)
    assert shown == [(line.id, line.text) for line in read_lines()]


@pytest.mark.parametrize(
    ("tests", "fault"),
    [
        pytest.param([("A-X-01",)], "A-X-02 has no test", id="a line without a test"),
        pytest.param([("A-X-01", "A-X-02"), ("A-X-03",)], "t::t names A-X-03, which no list has", id="an unknown line"),
    ],
)
def test_what_is_missing_is_told(tests: list[tuple[str, ...]], fault: str) -> None:
    """Either of the two is a fault."""
    assert faults(LINES, [AcceptanceTest("t::t", ids) for ids in tests]) == [fault]


def test_a_document_shows_what_was_noted() -> None:
    """Title, section, line, test, request, status and body; of many exchanges each is shown once, and some are cut."""
    noted = [{"request": f"GET /{'x' * (number // 2)}", "status": 404, "answer": "{}"} for number in range(2, 54)]
    text = document(LINES, [AcceptanceTest("t::t", ("A-X-01", "A-X-02"))], {"t::t": noted})
    assert (
        "## List\n\n### First\n\n#### A-X-01\n\nOne.\n\n`t::t`\n\n```http\nGET /x\n```\n\n```http\n404\n{}\n```" in text
    )
    assert text.count("### Second") == 1
    assert text.count("... and 6 more.") == 1
    assert text.endswith("Two.\n\n`t::t`: see A-X-01.\n")
