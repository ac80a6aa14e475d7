"""`rpcgw` as people meet it: what it has, and how it ends when they change their mind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rpcgw.cli.commands import COMMANDS, cli


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_summed_up_in_a_line(name: str) -> None:
    """What `rpcgw --help` says of a command is whole in a terminal of 80 columns."""
    listed = CliRunner().invoke(cli, ["--help"], terminal_width=80).output.partition("Commands:\n")[2]
    (summary,) = [line for line in listed.splitlines() if line.startswith(f"  {name} ")]
    assert summary.endswith(".")
    assert not summary.endswith("...")


@pytest.mark.parametrize("library", ["click", "asyncio"])
def test_ctrl_c_while_libraries_are_loaded(library: str, tmp_path: Path) -> None:
    """An early Ctrl-C ends it with status 1 and a word, as a later one does: no traceback."""
    (tmp_path / f"{library}.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "gateway.yaml").write_text("")
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "rpcgw", "check"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", "Aborted!")


def test_no_command_loads_an_http_server() -> None:
    """What only workers need is not loaded by commands, but for `bench`: they would take half as long again to begin."""
    modules = ", ".join(home for name, home in COMMANDS.items() if name != "bench")
    script = f"import sys, {modules}; print(*{{'aiohttp', 'prometheus_client', 'uvloop', 'jinja2'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_each_command_is_one_of_click() -> None:
    """Every name of the table is there to be run."""
    context = click.Context(cli)
    assert [name for name in COMMANDS if not isinstance(cli.get_command(context, name), click.Command)] == []
