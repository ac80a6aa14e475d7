"""`rpcgw token`: what a client is given, and what the configuration accepts it by."""

from __future__ import annotations

import hashlib
import re

import pytest
import yaml
from click.testing import CliRunner

from rpcgw.cli.commands import cli


def line(text: str) -> dict[str, str]:
    """An entry of `groups.<group>.tokens`."""
    (entry,) = yaml.safe_load(text)
    assert isinstance(entry, dict)
    return entry


def test_a_new_token_and_its_line() -> None:
    """The second line is the SHA-256 of the first; the token has at least 256 random bits."""
    done = CliRunner().invoke(cli, ["token", "new", "--name", "billing"])
    token, entry = done.output.splitlines()
    assert re.fullmatch(r"[A-Za-z0-9_-]{43,}", token)
    assert line(entry) == {"name": "billing", "sha256": hashlib.sha256(token.encode()).hexdigest()}


def test_no_token_comes_twice() -> None:
    """Each token is a new one."""
    made = {CliRunner().invoke(cli, ["token", "new"]).output.splitlines()[0] for _ in range(3)}
    assert len(made) == 3


@pytest.mark.parametrize("given", ["abc\n", "abc", "abc\r\n"], ids=["a line", "no end of line", "a line of Windows"])
def test_the_line_of_a_token_that_there_is(given: str) -> None:
    """A token comes by standard input, never by the command line."""
    done = CliRunner().invoke(cli, ["token", "hash"], input=given)
    assert line(done.output)["sha256"] == hashlib.sha256(b"abc").hexdigest()


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        pytest.param(["token", "hash"], "", id="no token at all"),
        pytest.param(["token", "hash"], "\n", id="an empty line"),
        pytest.param(["token", "new", "--name", 'a"b'], "", id="a name that YAML would not take"),
    ],
)
def test_refused(arguments: list[str], given: str) -> None:
    """Wrong usage ends with status 2."""
    assert CliRunner().invoke(cli, arguments, input=given).exit_code == 2
