"""`rpcgw serve` without click: what it understands means what click says it means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from rpcgw.cli.plain import serving
from rpcgw.cli.serve import command
from rpcgw.daemon.options import Options

PLAIN = [
    pytest.param([], id="what stands here"),
    pytest.param(["-c", "other.yaml"], id="a file"),
    pytest.param(["--config", "gateway.yml", "--workers", "3"], id="long names"),
    pytest.param(["-c", "gone.yaml", "-c", "other.yaml"], id="the last of two files"),
    pytest.param(["--bind", "127.0.0.1:80", "--bind", "unix:/run/x.sock"], id="two addresses"),
    pytest.param(["--env", "test"], id="an environment"),
    pytest.param(["--workers", "007"], id="a number with zeros"),
]
LEFT = [
    pytest.param(["--help"], id="help"),
    pytest.param(["--dev"], id="a flag"),
    pytest.param(["--workers=2"], id="a value in the same word"),
    pytest.param(["-cother.yaml"], id="a short option with its value"),
    pytest.param(["--conf", "other.yaml"], id="a part of a name"),
    pytest.param(["--workers"], id="a value is missing"),
    pytest.param(["--workers", "0"], id="no workers"),
    pytest.param(["--workers", "two"], id="a word for a number"),
    pytest.param(["--bind", "nowhere"], id="no address"),
    pytest.param(["-c", "gone.yaml"], id="a file that is not there"),
    pytest.param(["-c", "--workers"], id="an option for a value"),
    pytest.param(["-c", ""], id="an empty value"),
    pytest.param(["more", "words"], id="words"),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gateway.yml", "other.yaml"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RPCGW_ENV", raising=False)


def by_click(words: list[str]) -> Options:
    """What click makes of the same words."""
    return Options(**command.make_context("serve", list(words)).params)


@pytest.mark.parametrize("words", PLAIN)
def test_plain_words_mean_what_click_says(words: list[str]) -> None:
    """They come out as the same options."""
    assert serving(["serve", *words], {}) == by_click(words)


@pytest.mark.parametrize("name", ["prod", ""])
def test_the_environment_may_be_named_by_a_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`RPCGW_ENV` stands for `--env`, and an empty one for nothing."""
    monkeypatch.setenv("RPCGW_ENV", name)
    assert serving(["serve"], {"RPCGW_ENV": name}) == by_click([])
    assert serving(["serve", "--env", "test"], {"RPCGW_ENV": name}) == by_click(["--env", "test"])


@pytest.mark.parametrize("words", LEFT)
def test_the_rest_is_left_to_click(words: list[str]) -> None:
    """What is no plain pair of an option and a sound value is not understood here."""
    assert serving(["serve", *words], {}) is None


@pytest.mark.parametrize("words", [[], ["check"], ["check", "-c", "other.yaml"]])
def test_other_commands_are_clicks(words: list[str]) -> None:
    """Only `serve` is known here."""
    assert serving(words, {}) is None


def test_nothing_stands_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no configuration click says so."""
    (tmp_path / "gateway.yml").unlink()
    assert serving(["serve"], {}) is None
    with pytest.raises(click.UsageError):
        by_click([])


def test_click_is_not_loaded_for_it() -> None:
    """That is what it is for."""
    script = "import sys, rpcgw.cli.plain, rpcgw.daemon.supervisor; print('click' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"
    )
