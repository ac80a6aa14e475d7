"""Problems as people and GitHub see them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rpcgw.api.problems import Place, Problem
from rpcgw.config.reporting import read_lines, report, workflow_commands

TEXT = "server:\n    bnd: 127.0.0.1:8080\n\tx: 1\n"


def told(problem: Problem, text: str = TEXT, *, colour: bool = False) -> list[str]:
    return list(report([problem], colour=colour, lines=lambda _: text.splitlines()))


@pytest.mark.parametrize(
    ("place", "excerpt"),
    [
        pytest.param(Place("g.yaml", 2, 5), ["    2 |     bnd: 127.0.0.1:8080", "      |     ^"], id="a caret under the column"),
        pytest.param(Place("g.yaml", 3, 2), ["    3 | \tx: 1", "      | \t^"], id="tabs stay tabs"),
        pytest.param(Place("g.yaml", 1), ["    1 | server:"], id="a line without a column has no caret"),
        pytest.param(Place("g.yaml", 1, 8), ["    1 | server:", "      |        ^"], id="a caret behind the end of a line"),
        pytest.param(Place("g.yaml", 9, 1), [], id="a line that is not there"),
        pytest.param(Place("g.yaml"), [], id="a file as a whole"),
    ],
)  # fmt: skip
def test_excerpt(place: Place, excerpt: list[str]) -> None:
    """A problem is its place, what is wrong, the line with a caret, and what to do."""
    problem = Problem(place, "unknown-option", 'Unrecognized option "bnd".', 'did you mean "bind"?')
    first, *rest = told(problem)
    assert first == f'{place}: error[unknown-option] Unrecognized option "bnd".'
    assert rest == [*excerpt, '    help: did you mean "bind"?']


def test_no_hint() -> None:
    """Where there is nothing to advise, nothing is said."""
    assert told(Problem(Place("g.yaml"), "c", "Text.", level="note")) == ["g.yaml: note[c] Text."]


@pytest.mark.parametrize(("level", "colour"), [("error", "31"), ("warning", "33"), ("note", "36")])
def test_colour(level: str, colour: str) -> None:
    """On a terminal each level has its colour, and without the colours the text is the same."""
    problem = Problem(Place("g.yaml", 2, 5), "c", "Text.", "hint", level)  # type: ignore[arg-type]  # the three levels
    painted = told(problem, colour=True)
    assert f"\x1b[1;{colour}m{level}[c]\x1b[0m" in painted[0]
    assert f"\x1b[1;{colour}m^\x1b[0m" in painted[2]
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted] == told(problem)


def test_long_line() -> None:
    """A long line is cut around the column."""
    line, caret = told(Problem(Place("a.py", 1, 301), "c", "t"), "a" * 300 + "X" + "b" * 300)[1:]
    assert len(line) < 140
    assert line[caret.index("^")] == "X"


SECRETS = [
    pytest.param("clients_tokens: abc", "clients_tokens: ***", id="the value of a secret key"),
    pytest.param("a:\n  clients_tokens:\n    - abc", "    - ***", id="an item of a secret list"),
    pytest.param("clients_tokens:\n- abc", "- ***", id="an item as deep as its key"),
    pytest.param("tokens:\n  - name: a\n    value: abc", "    value: ***", id="below a secret key"),
    pytest.param("clients_tokens: [x,\n  abc]", "  ***", id="a list over several lines"),
    pytest.param("security: {clients_tokens: [abc]}", "security: {clients_tokens: ***", id="inside a line"),
    pytest.param("pools:\n  shared: redis://u:p@h/0", "  shared: ***", id="the address of a pool"),
    pytest.param("plugins:\n  config:\n    shop:\n      key: abc", "      key: ***", id="what a plugin is told"),
    pytest.param("secret: |\n  a: b\n  abc", "  ***", id="a text over several lines"),
    pytest.param("url: http://u:p@h/", "url: http://***@h/", id="credentials of a URL"),
    pytest.param("clients_tokens: ['%env(T)%', \"${U}\"]", "clients_tokens: ['%env(T)%', \"${U}\"]", id="names of variables"),
    pytest.param("clients_tokens: ['${T:-abc}']", "clients_tokens: ***", id="a default may be a secret"),
    pytest.param("clients_tokens: [] # abc", "clients_tokens: [] # abc", id="a comment is no value"),
    pytest.param("clients_tokens: [x]\nserver:\n  bnd: y", "  bnd: y", id="not below it any more"),
    pytest.param("token_name: X-Token", "token_name: X-Token", id="the name of a header"),
    pytest.param("resource: ../config/router.yaml", "resource: ../config/router.yaml", id="a word in a value"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), SECRETS)
def test_secrets(text: str, shown: str) -> None:
    """A line that may hold a secret is shown without it."""
    number = len(text.splitlines())
    assert told(Problem(Place("g.yaml.example", number, 1), "c", "t"), text)[1] == f"{number:>5} | {shown}"


def test_code_is_shown_as_it_is() -> None:
    """Lines of Python are code, whatever words are in them."""
    assert told(Problem(Place("p.py", 1, 1), "c", "t"), 'token = "x"')[1] == '    1 | token = "x"'


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        pytest.param(
            Problem(Place("a,b.yaml", 3, 7), "c", "100%\nx", "do: this"),
            "::error file=a%2Cb.yaml,line=3,col=7,title=c::100%25%0Ax%0Ado: this",
            id="an error with a hint",
        ),
        pytest.param(Problem(Place("g.yaml"), "c", "t", level="warning"), "::warning file=g.yaml,title=c::t", id="a warning of a file"),
        pytest.param(Problem(Place("g.yaml", 1), "c", "t", level="note"), "::notice file=g.yaml,line=1,title=c::t", id="a note"),
    ],
)  # fmt: skip
def test_annotations(problem: Problem, line: str) -> None:
    """GitHub shows each problem beside its line."""
    assert list(workflow_commands([problem])) == [line]


def test_reads_no_nonsense(tmp_path: Path) -> None:
    """What is no readable file has no lines."""
    (tmp_path / "a.yaml").write_bytes(b"a\xff\nb\n")
    assert read_lines(str(tmp_path / "a.yaml")) == ["a\ufffd", "b"]
    assert [read_lines(name) for name in (str(tmp_path), str(tmp_path / "none"), "", "\0")] == [(), (), (), ()]
