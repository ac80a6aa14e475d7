"""What lines look like, and what they hide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rpcgw.adapters.telemetry.rendering import Format, Mask, renderer, traceback_of


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no")


FIELDS = {"timestamp": "2026-11-30T17:00:00.000Z", "level": "info", "event": "call", "method": "Catalog.search"}


@pytest.mark.parametrize(
    ("form", "line"),
    [
        pytest.param("json", b'{"timestamp":"2026-11-30T17:00:00.000Z","level":"info","event":"call","method":"Catalog.search","n":1.5,"ok":true}\n', id="json"),
        pytest.param("logfmt", b"timestamp=2026-11-30T17:00:00.000Z level=info event=call method=Catalog.search n=1.5 ok=true\n", id="logfmt"),
        pytest.param("console", b"2026-11-30T17:00:00.000Z [info     ] call                           method=Catalog.search n=1.5 ok=True\n", id="console"),
    ],
)  # fmt: skip
def test_the_forms(form: Format, line: bytes) -> None:
    """One line, the same fields in each form, in the order given."""
    assert renderer(form)({**FIELDS, "n": 1.5, "ok": True}) == line


NASTY: list[Any] = [
    pytest.param("a\nb\r\nc", id="line ends"),
    pytest.param("\x1b[2J\x07\x9b", id="what moves a cursor"),
    pytest.param("\u2028\u2029\x85", id="line ends of other alphabets"),
    pytest.param('say "hi" a=b', id="quotes and equals signs"),
    pytest.param("lone \ud800 surrogate", id="half a character"),
    pytest.param({"deep": ["a\nb", {1: object()}]}, id="objects inside lists"),
    pytest.param(Rude(), id="an object that cannot be shown"),
    pytest.param(b"\xff\n", id="bytes"),
    pytest.param(float("nan"), id="not a number"),
    pytest.param(10**400, id="a number of no machine's size"),
    pytest.param(None, id="nothing"),
]


@pytest.mark.parametrize("form", ["json", "logfmt", "console"])
@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("place", ["event", "field"])
def test_nothing_breaks_a_line(form: Format, value: object, place: str) -> None:
    """Whatever a field holds, it is one line, without control characters, in UTF-8."""
    line = renderer(form)({**FIELDS, place: value})
    assert line.endswith(b"\n")
    text = line[:-1].decode()
    assert not [character for character in text if ord(character) < 32 or character in "\x7f\x85\x9b"]
    if form == "json":
        assert json.loads(text)["method"] == "Catalog.search"


@pytest.mark.parametrize("form", ["json", "logfmt", "console"])
@pytest.mark.parametrize("key", ["a b", "a=b", "a\nb", "", "ключ"])
def test_any_key_will_do(form: Format, key: str) -> None:
    """A key that the form does not know is made fit, not refused."""
    line = renderer(form)({**FIELDS, key: 1})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


def test_a_traceback_is_lines_on_the_console_only() -> None:
    """A person reads it as it is; programs get one line."""
    fields = {**FIELDS, "exception": "Traceback\n  File x\nValueError: no"}
    assert b"\n  File x\n" in renderer("console")(dict(fields))
    assert renderer("json")(dict(fields)).count(b"\n") == 1
    assert renderer("logfmt")(dict(fields)).count(b"\n") == 1


@pytest.mark.parametrize(
    ("key", "hidden"),
    [
        pytest.param("password", True, id="the name itself"),
        pytest.param("Authorization", True, id="in any case"),
        pytest.param("X-API-Key", True, id="with dashes"),
        pytest.param("ufo_rpc_token_value", True, id="inside a longer name"),
        pytest.param("principal", False, id="another name"),
        pytest.param("keyboard", False, id="a name that only looks like it"),
    ],
)
def test_secrets_are_masked_by_the_name_of_their_key(key: str, hidden: bool) -> None:
    """The value of a key that names a secret is nowhere in the line, at any depth."""
    mask = Mask(("password", "token", "authorization", "api_key"))
    for fields in ({key: "s3cret"}, {"params": {"list": [{key: "s3cret"}]}}, {"headers": {key: {"v": ["s3cret"]}}}):
        assert (b"s3cret" not in renderer("json")(mask(fields))) == hidden


def test_what_is_too_deep_to_search_is_masked_whole() -> None:
    """A secret cannot be hidden by depth."""
    value: Any = {"password": "s3cret"}
    for _ in range(30):
        value = {"a": value}
    assert b"s3cret" not in renderer("json")(Mask(("password",))({"value": value}))


def test_an_absent_secret_is_not_said_to_be_one() -> None:
    """None stays None: that no token came is worth knowing."""
    assert Mask(("token",))({"token": None}) == {"token": None}


def test_masking_changes_a_copy() -> None:
    """What was logged goes on to be used."""
    params = {"password": "s3cret"}
    Mask(("password",))({"params": params})
    assert params == {"password": "s3cret"}


def test_a_traceback_has_its_causes_and_an_end() -> None:
    """Both exceptions are told; one of a hundred thousand characters keeps its beginning and its end."""
    error = ValueError("x" * 100_000 + "the end")
    error.__cause__ = KeyError("inner")
    text = traceback_of(error)
    assert "KeyError: 'inner'" in text
    assert text.endswith("the end")
    assert len(text) < 17_000
