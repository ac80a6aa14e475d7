"""Variables in scalars."""

from __future__ import annotations

import pytest

from rpcgw.config.interpolation import Variables, interpolate
from rpcgw.config.nodes import Node, Table, plain
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
    "B64": "0L/RgNC40LLRltGC",
    "DSN": "redis://us%20er:p%40ss@db.example:6380/2?timeout=1#f",
    "BARE": "http://h",
    "QUERY": "a=1&b=x%20y",
    "BLANKS": "  x ",
    "PATTERN": "100%% of %host.name% for %env(NAME)%",
    "LOOP": "%env(resolve:LOOP)%",
    "TOKEN_FILE": "token.txt",
    "LOST_FILE": "nowhere.txt",
    "BOTH": "own",
    "BOTH_FILE": "token.txt",
}
FILES = {"conf/secret.json": '{"k": 1}', "conf/token.txt": "s3 cret\n"}
PARAMETERS = """
    host.name: tools.example
    port: 8080
    ratio: 1.5
    "on": true
    nothing: ~
    list: [a, "%port%", "${NAME}"]
    map: {host: "%host.name%"}
    url: "https://%host.name%:%port%"
    env(FALLBACK): fb
"""


def parameters() -> dict[str, Node]:
    node, problems = parse(PARAMETERS, "p.yaml")
    assert isinstance(node, Table)
    assert problems == []
    return node.entries


VARIABLES = Variables(ENV, Sources("g.yaml", "/srv", FILES), parameters())


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
        pytest.param("%env(trim:BLANKS)%", "x", id="blanks cut off"),
        pytest.param("%env(not:YES)%", False, id="the opposite of a switch"),
        pytest.param("%env(not:bool:OFF)%", True, id="the opposite of a switch that was read"),
        pytest.param("%env(base64:B64)%", "привіт", id="text in base64"),
        pytest.param("%env(urlencode:DSN)%", "redis%3A%2F%2Fus%2520er%3Ap%2540ss%40db.example%3A6380%2F2%3Ftimeout%3D1%23f", id="text for a URL"),
        pytest.param("%env(url:DSN)%", {"scheme": "redis", "host": "db.example", "port": 6380, "user": "us er", "pass": "p@ss", "path": "2", "query": "timeout=1", "fragment": "f"}, id="the parts of a URL"),
        pytest.param("%env(url:BARE)%", {"scheme": "http", "host": "h", "port": None, "user": None, "pass": None, "path": None, "query": None, "fragment": None}, id="a URL of little"),
        pytest.param("%env(key:host:url:DSN)%", "db.example", id="a part of a URL"),
        pytest.param("%env(string:key:port:url:DSN)%", "6380", id="a number from inside as text"),
        pytest.param("%env(query_string:QUERY)%", {"a": "1", "b": "x y"}, id="a query"),
        pytest.param("%env(int:key:a:query_string:QUERY)%", 1, id="a number from a query"),
        pytest.param("%env(key:k:json:file:SECRET_FILE)%", 1, id="nested as deep as needed"),
        pytest.param("%env(key:1:csv:LIST)%", "b,c", id="an item of a list"),
        pytest.param("%env(resolve:PATTERN)%", "100% of tools.example for ann", id="parameters and variables in a variable"),
        pytest.param("%env(PATTERN)%", "100%% of %host.name% for %env(NAME)%", id="they are left alone without resolve"),
        pytest.param("%env(default:port:NOPE)%", 8080, id="a parameter where a variable is not set"),
        pytest.param("%env(default:port:EMPTY)%", 8080, id="a parameter where a variable is empty"),
        pytest.param("%env(default:port:NAME)%", "ann", id="no parameter where a variable is set"),
        pytest.param("%env(default:port:int:N)%", 42, id="a typed variable before the parameter"),
        pytest.param("%env(default::NOPE)%", None, id="nothing where a variable is not set"),
        pytest.param("%env(int:default::NOPE)%", None, id="nothing passes through"),
        pytest.param("%env(default:port:file:NOWHERE)%", 8080, id="a parameter where a file is not there"),
        pytest.param("%env(default:port:key:b:json:JSON)%", 8080, id="a parameter where a key is not there"),
        pytest.param("%env(defined:NAME)%", True, id="a variable that is there"),
        pytest.param("%env(defined:EMPTY)%", False, id="an empty variable is not there"),
        pytest.param("%env(defined:NOPE)%", False, id="a variable that is not there"),
        pytest.param("%env(FALLBACK)%", "fb", id="a default of a variable among the parameters"),
        pytest.param("${TOKEN}", "s3 cret", id="a secret that came as a file"),
        pytest.param("%env(TOKEN)%", "s3 cret", id="a symfony variable that came as a file"),
        pytest.param("${TOKEN:-x}", "s3 cret", id="a file goes before a default"),
        pytest.param("${BOTH}", "own", id="a variable goes before its file"),
        pytest.param("%host.name%", "tools.example", id="a parameter"),
        pytest.param("%port%", 8080, id="a parameter keeps its type"),
        pytest.param("%on%", True, id="a switch of a parameter"),
        pytest.param("%nothing%", None, id="a parameter that is nothing"),
        pytest.param("%list%", ["a", 8080, "ann"], id="a list of a parameter, its references filled in"),
        pytest.param("%map%", {"host": "tools.example"}, id="a mapping of a parameter"),
        pytest.param("%url%", "https://tools.example:8080", id="parameters that name parameters"),
        pytest.param("%host.name%:%port%", "tools.example:8080", id="parameters inside a text"),
        pytest.param("%ratio% %on%", "1.5 true", id="parameters of other types inside a text"),
        pytest.param("%%host.name%%", "%host.name%", id="an escaped parameter"),
        pytest.param("is %env(bool:YES)%", "is true", id="a switch inside a text"),
        pytest.param("100%% $$ ${NAME}", "100% $ ann", id="escaped signs"),
        pytest.param("%%env(NAME)%%", "%env(NAME)%", id="an escaped symfony variable"),
        pytest.param("$${NAME}", "${NAME}", id="an escaped compose variable"),
        pytest.param("50% of $NAME, 20% more", "50% of $NAME, 20% more", id="lone signs"),
        pytest.param("${BAD}", "x\nserver: {bind: evil}", id="a variable adds no keys"),
        pytest.param("${DOLLAR}", "${NAME}%env(NAME)%", id="values are not read again"),
    ],
)  # fmt: skip
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
        pytest.param("%env(inte:N)%", '[env-syntax] Unknown processor "inte". Available processors are "bool", "int", "float", "string", "json", "csv", "trim", "not", "base64", "url", "query_string", "urlencode", "file", "resolve", "defined", "key", "default". (did you mean "int"?)', id="an unknown processor"),
        pytest.param("%env(base64:BAD)%", '[env-value] The environment variable BAD is no "base64": it must be text in base64.', id="no base64"),
        pytest.param("%env(url:NAME)%", '[env-value] The environment variable NAME is no "url": it must be a URL with a scheme and a host.', id="no URL"),
        pytest.param("%env(key:b:json:JSON)%", '[env-value] The environment variable JSON holds nothing under the key "b".', id="no such key"),
        pytest.param("%env(key:9:csv:LIST)%", '[env-value] The environment variable LIST holds nothing under the key "9".', id="no such index"),
        pytest.param("%env(key:a:NAME)%", '[env-syntax] The processor "key" of NAME gets no mapping to look into. (write %env(key:a:json:NAME)%)', id="a key of a text"),
        pytest.param("%env(key:NAME)%", '[env-syntax] The processor "key" of NAME needs an index after it. (write %env(key:...:NAME)%)', id="a key without an index"),
        pytest.param("%env(default:NAME)%", '[env-syntax] The processor "default" of NAME needs the name of a parameter, or nothing after it. (write %env(default:...:NAME)%)', id="a default without a parameter"),
        pytest.param("%env(default:nope:NOPE)%", '[undefined-parameter] There is no parameter "nope". (write %% for a percent sign)', id="a default that is no parameter"),
        pytest.param("%env(resolve:LOOP)%", "[reference-cycle] The environment variable LOOP names itself.", id="a variable that resolves to itself"),
        pytest.param("${LOST}", '[missing-file] The file "nowhere.txt", named by the environment variable LOST_FILE, cannot be read: it was not there when the configuration was read.', id="a secret whose file is not there"),
        pytest.param("%host.nme%", '[undefined-parameter] There is no parameter "host.nme". (did you mean "host.name"?)', id="a misspelt parameter"),
        pytest.param("x %list%", "[env-syntax] A list or a mapping cannot stand inside a longer text.", id="a list of a parameter inside a text"),
        pytest.param("%env(string:json:JSON)%", '[env-syntax] The processor "string" of JSON gets no text to work on.', id="a chain that does not fit"),
        pytest.param("%env()%", '[env-syntax] "%env()%" names no variable. (write %env(NAME)%)', id="no name"),
        pytest.param("%env(NAME", '[env-syntax] "%env(" has no end. (write %env(NAME)% or ${NAME})', id="a symfony variable without an end"),
        pytest.param("${NAME", '[env-syntax] "${" has no end. (write %env(NAME)% or ${NAME})', id="a compose variable without an end"),
        pytest.param("${NAME:+x}", '[env-syntax] "${NAME:+x}" is not a variable. (write ${NAME}, ${NAME:-default} or ${NAME:?message})', id="an unknown operator"),
        pytest.param("a %env(csv:LIST)%", "[env-syntax] A list or a mapping cannot stand inside a longer text.", id="a list inside a text"),
    ],
)  # fmt: skip
def test_problems(scalar: str, problem: str) -> None:
    """What cannot be filled in is named with its place and left out; no value is shown."""
    assert filled(scalar) == (None, [f"conf/g.yaml:1:4: error{problem}"])
