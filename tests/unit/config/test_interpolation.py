"""Variables in scalars."""

from __future__ import annotations

import pytest

from rpcgw.config.interpolation import Variables, interpolate
from rpcgw.config.nodes import plain
from rpcgw.config.parsing import parse
from rpcgw.config.sources import Sources

ENV = {
    "NAME": "ann",
    "EMPTY": "",
    "N": "42",
    "F": "1.5",
    "YES": "Yes",
    "OFF": "off",
    "JSON": '{"a": [1, null]}',
    "LIST": 'a, "b,c"',
    "BAD": "x\nserver: {bind: evil}",
    "SECRET_FILE": "secret.json",
    "NOWHERE": "nowhere.txt",
    "DOLLAR": "${NAME}%env(NAME)%",
}
VARIABLES = Variables(ENV, Sources("g.yaml", "/srv", {"conf/secret.json": '{"k": 1}'}), "conf/g.yaml")


def filled(scalar: str) -> tuple[object, list[str]]:
    text = "v: '" + scalar.replace("'", "''") + "'\n"
    node, problems = parse(text, "conf/g.yaml")
    assert node is not None
    assert problems == []
    node, problems = interpolate(node, VARIABLES)
    return plain(node).get("v"), [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        pytest.param("plain", "plain", id="text without variables"),
        pytest.param("${NAME}", "ann", id="a compose variable"),
        pytest.param("%env(NAME)%", "ann", id="a symfony variable"),
        pytest.param("a-${NAME}-%env(N)%-b", "a-ann-42-b", id="several inside a text"),
        pytest.param("${NOPE:-x y}", "x y", id="a default of an unset variable"),
        pytest.param("${EMPTY:-x}", "x", id="a default of an empty variable"),
        pytest.param("${EMPTY}", "", id="an empty variable is empty"),
        pytest.param("${NOPE:-}", "", id="an empty default"),
        pytest.param("${NAME:?needed}", "ann", id="a required variable that is set"),
        pytest.param("%env(int:N)%", 42, id="an integer"),
        pytest.param("%env(float:F)%", 1.5, id="a float"),
        pytest.param("%env(float:N)%", 42.0, id="a whole number as a float"),
        pytest.param("%env(string:N)%", "42", id="a number as text"),
        pytest.param("%env(bool:YES)%", True, id="Yes is true"),
        pytest.param("%env(bool:OFF)%", False, id="off is false"),
        pytest.param("%env(bool:EMPTY)%", False, id="empty is false"),
        pytest.param("%env(json:JSON)%", {"a": [1, None]}, id="a JSON value"),
        pytest.param("%env(csv:LIST)%", ["a", "b,c"], id="a list of comma-separated values"),
        pytest.param("%env(csv:EMPTY)%", [], id="an empty list"),
        pytest.param("%env(file:SECRET_FILE)%", '{"k": 1}', id="a file beside the YAML file"),
        pytest.param("%env(json:file:SECRET_FILE)%", {"k": 1}, id="processors in a chain"),
        pytest.param("is %env(bool:YES)%", "is true", id="a switch inside a text"),
        pytest.param("100%% $$ ${NAME}", "100% $ ann", id="escaped signs"),
        pytest.param("%%env(NAME)%%", "%env(NAME)%", id="an escaped symfony variable"),
        pytest.param("$${NAME}", "${NAME}", id="an escaped compose variable"),
        pytest.param("50% of $NAME, 20% more", "50% of $NAME, 20% more", id="lone signs"),
        pytest.param("${BAD}", "x\nserver: {bind: evil}", id="a variable adds no keys"),
        pytest.param("${DOLLAR}", "${NAME}%env(NAME)%", id="values are not read again"),
    ],
)
def test_values(scalar: str, value: object) -> None:
    """A scalar that is one processor has its type; all else is text."""
    found, problems = filled(scalar)
    assert problems == []
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("scalar", "problem"),
    [
        pytest.param("${NOPE}", "[env-unset] The environment variable NOPE is not set. (set it, or write ${NOPE:-default})", id="an unset compose variable"),
        pytest.param("a %env(int:NOPE)%", "[env-unset] The environment variable NOPE is not set. (set it, or write ${NOPE:-default})", id="an unset symfony variable"),
        pytest.param("${EMPTY:?give a token}", "[env-unset] The environment variable EMPTY is not set or empty: give a token", id="a required variable says its message"),
        pytest.param("${NOPE:?}", "[env-unset] The environment variable NOPE is not set or empty.", id="a required variable without a message"),
        pytest.param("%env(int:NAME)%", '[env-value] The environment variable NAME is no "int": it must be a whole number.', id="no integer"),
        pytest.param("%env(float:NAME)%", '[env-value] The environment variable NAME is no "float": it must be a number.', id="no float"),
        pytest.param("%env(bool:NAME)%", '[env-value] The environment variable NAME is no "bool": it must be one of true, yes, on, 1, false, no, off, 0, or empty.', id="no switch"),
        pytest.param("%env(json:NAME)%", '[env-value] The environment variable NAME is no "json": it must be JSON.', id="no JSON"),
        pytest.param("%env(file:NOWHERE)%", '[missing-file] The file "nowhere.txt", named by the environment variable NOWHERE, cannot be read: it was not there when the configuration was read.', id="no file"),
        pytest.param("%env(inte:N)%", '[env-syntax] Unknown processor "inte". Available processors are "bool", "int", "float", "string", "json", "csv", "file". (did you mean "int"?)', id="an unknown processor"),
        pytest.param("%env(base64:N)%", '[not-available] The processor "base64": this version does not do it yet. (available are "bool", "int", "float", "string", "json", "csv", "file")', id="a planned processor"),
        pytest.param("%env(string:json:JSON)%", '[env-syntax] The processor "string" of JSON gets no text to work on.', id="a chain that does not fit"),
        pytest.param("%env()%", '[env-syntax] "%env()%" names no variable. (write %env(NAME)%)', id="no name"),
        pytest.param("%env(NAME", '[env-syntax] "%env(" has no end. (write %env(NAME)% or ${NAME})', id="a symfony variable without an end"),
        pytest.param("${NAME", '[env-syntax] "${" has no end. (write %env(NAME)% or ${NAME})', id="a compose variable without an end"),
        pytest.param("${NAME:+x}", '[env-syntax] "${NAME:+x}" is not a variable. (write ${NAME}, ${NAME:-default} or ${NAME:?message})', id="an unknown operator"),
        pytest.param("a %env(csv:LIST)%", "[env-syntax] A list or a mapping cannot stand inside a longer text.", id="a list inside a text"),
        pytest.param("%kernel.environment%", "[not-available] %kernel.environment%: this version does not do parameters yet. (write %% for a percent sign)", id="a parameter"),
    ],
)  # fmt: skip
def test_problems(scalar: str, problem: str) -> None:
    """What cannot be filled in is named with its place and left out; no value is shown."""
    assert filled(scalar) == (None, [f"conf/g.yaml:1:4: error{problem}"])
