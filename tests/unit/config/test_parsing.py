"""YAML text to values with places."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcgw.api.problems import Place
from rpcgw.config.nodes import Table, place_of, plain
from rpcgw.config.parsing import core_value, parse, read_slowly


def values(text: str) -> object:
    node, problems = parse(text, "f.yaml")
    assert problems == []
    return None if node is None else plain(node)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("", None, id="nothing is null"),
        pytest.param("~", None, id="a tilde is null"),
        pytest.param("Null", None, id="Null is null"),
        pytest.param("nUll", "nUll", id="nUll is text"),
        pytest.param("True", True, id="True is true"),
        pytest.param("yes", "yes", id="yes is text"),
        pytest.param("no", "no", id="no is text"),
        pytest.param("on", "on", id="on is text"),
        pytest.param("off", "off", id="off is text"),
        pytest.param("y", "y", id="y is text"),
        pytest.param("12", 12, id="digits are an integer"),
        pytest.param("-007", -7, id="leading zeros are decimal"),
        pytest.param("0o17", 15, id="0o is octal"),
        pytest.param("017", 17, id="a leading zero is not octal"),
        pytest.param("0x1F", 31, id="0x is hexadecimal"),
        pytest.param("0b11", "0b11", id="there are no binary numbers"),
        pytest.param("1_000", "1_000", id="underscores make text"),
        pytest.param("12:30:45", "12:30:45", id="there are no base-60 numbers"),
        pytest.param("2027-01-31", "2027-01-31", id="a date is text"),
        pytest.param("1.5", 1.5, id="a fraction is a float"),
        pytest.param("1.", 1.0, id="a trailing dot is a float"),
        pytest.param("-.5e3", -500.0, id="an exponent is a float"),
        pytest.param("1e3", 1000.0, id="an exponent without a dot is a float"),
        pytest.param("-.inf", -math.inf, id="-.inf is minus infinity"),
        pytest.param(".5.5", ".5.5", id="two dots are text"),
        pytest.param("٣", "٣", id="digits of other scripts are text"),
    ],
)
def test_core_schema(text: str, value: object) -> None:
    """A plain scalar is what YAML 1.2's core schema says, and nothing that 1.1 would guess."""
    found = core_value(text)
    assert (found, type(found)) == (value, type(value))


def test_nan_is_a_float() -> None:
    """`.nan` is a float, for the schema to refuse."""
    assert math.isnan(float(core_value(".NaN") or 0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("'12'", "12", id="quotes make text"),
        pytest.param("!!str 12", "12", id="the tag str makes text"),
        pytest.param("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}, id="a block keeps its lines"),
        pytest.param("on: 1\n", {"on": 1}, id="a key stays text"),
        pytest.param("1: a\n", {"1": "a"}, id="a number as a key is text"),
        pytest.param("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}, id="an alias repeats its anchor"),
        pytest.param("\ufeffa: 1\n", {"a": 1}, id="a byte order mark is skipped"),
        pytest.param("# nothing\n", None, id="a comment alone is nothing"),
        pytest.param("--- \na: 1\n...\n", {"a": 1}, id="one marked document"),
    ],
)
def test_values(text: str, value: object) -> None:
    """What YAML 1.2 allows is read as it says."""
    assert values(text) == value


def test_places() -> None:
    """Each key and each item of a list knows its line and column."""
    node, _ = parse("a:\n  b: [10,\n      20]\n", "f.yaml")
    assert isinstance(node, Table)
    assert [place_of(node, path) for path in [("a",), ("a", "b"), ("a", "b", 1), ("a", "c")]] == [
        Place("f.yaml", 1, 1),
        Place("f.yaml", 2, 3),
        Place("f.yaml", 3, 7),
        Place("f.yaml", 1, 1),
    ]


NINE = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", 'f.yaml:3:1: error[duplicate-key] The key "a" stands twice; first at f.yaml:1:1. (keep one of them)', id="a key twice"),
        pytest.param("a:\n\tb: 1\n", "f.yaml:2:1: error[yaml-syntax] This is no YAML: found character '\\t' that cannot start any token. (indent with spaces)", id="a tab"),
        pytest.param("a: %env(X)%\n", "f.yaml:1:4: error[yaml-syntax] This is no YAML: found character '%' that cannot start any token. (put a value that begins with % in quotes)", id="a bare per cent sign"),
        pytest.param("a: [1\n", "f.yaml:2:1: error[yaml-syntax] This is no YAML: expected ',' or ']', but got '<stream end>'.", id="an open bracket"),
        pytest.param("a: 1\n---\nb: 2\n", "f.yaml:2:1: error[yaml-syntax] The file holds more than one document. (keep the first `---` only)", id="two documents"),
        pytest.param("a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3:3: error[yaml-syntax] Merge keys (<<) are not part of YAML 1.2. (write the keys out; an alias for a whole value works)", id="a merge key"),
        pytest.param("a: *x\n", "f.yaml:1:4: error[yaml-syntax] The alias *x stands before the end of its anchor, or has none.", id="an alias of nothing"),
        pytest.param("a: &x [*x]\n", "f.yaml:1:8: error[yaml-syntax] The alias *x stands before the end of its anchor, or has none.", id="an alias of itself"),
        pytest.param(f"a: &a [{', '.join('0' * 9)}]\n{NINE}", "f.yaml:6:4: error[yaml-syntax] The file unfolds to more than 100000 values. (use fewer aliases)", id="aliases that unfold without end"),
        pytest.param("[" * 10_000, "f.yaml:1:65: error[yaml-syntax] Values are nested more than 64 levels deep.", id="brackets without end"),
        pytest.param("a: !!python/object:os.system x\n", 'f.yaml:1:4: error[yaml-syntax] The tag "tag:yaml.org,2002:python/object:os.system" means nothing here. (leave the tag out)', id="a tag that would make an object"),
        pytest.param("? [a]\n: 1\n", "f.yaml:1:3: error[yaml-syntax] A key must be text. (write the key out)", id="a list as a key"),
        pytest.param("a: \x07\n", "f.yaml:1:4: error[yaml-syntax] This is no YAML: special characters are not allowed. (write control characters as escapes in double quotes)", id="a bell"),
        pytest.param('a: "\\UFFFFFFFF"\n', "f.yaml: error[yaml-syntax] The file holds an escape beyond Unicode, or an absurd version of YAML.", id="an escape beyond Unicode"),
        pytest.param('a: "\\ud800"\n', "f.yaml:1:4: error[yaml-syntax] The text holds half of a surrogate pair. (write the character itself)", id="half a surrogate pair"),
    ],
)  # fmt: skip
def test_refusals(text: str, line: str) -> None:
    """What YAML would guess, lose or blow up is a problem with its place and what to do."""
    _, problems = parse(text, "f.yaml")
    assert [str(problem) for problem in problems] == [line]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"%#@`,?~\n\t \\U0\ud800\x00é<"), max_size=60))
def test_never_raises(text: str) -> None:
    """Any text is either read, or holds nothing, or is refused with problems that say something."""
    node, problems = parse(text, "f.yaml")
    assert all(problem.text for problem in problems)
    if not problems:
        assert (node is None) == (yaml.compose(text, yaml.SafeLoader) is None)


PIECES = ["a", "b: ", "- ", "\n", "  ", "    ", '"', "'", "{", "}", "[", "]", ", ", "# c", "|", ">", "&x ", "*x", "! ", "!!str ", "? ", "1", "~", "\t", "é", "%", "@", "\\", "a: 1\n", "- b\n", "<<: "]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(TEXTS, TEXTS.map(lambda text: f"a: 1\nb:\n  - c\n  - {text}\nd: e\n")))
def test_both_readers_agree(text: str) -> None:
    """Libyaml only reads faster: values, places and problems are those that PyYAML alone finds."""
    assert parse(text, "f.yaml") == read_slowly(text, "f.yaml")


@pytest.mark.parametrize("file", ["gateway.yaml.example", "routes.yaml.example"])
def test_both_readers_agree_on_what_is_shipped(file: str) -> None:
    """So they do for the examples, with and without what stands in comments."""
    text = Path(file).read_text("utf-8")
    for each in (text, text.replace("# ", "", 1), text.replace("\n# ", "\n")):
        assert parse(each, file) == read_slowly(each, file)
