"""`rpcgw completion`: scripts that shells take."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from rpcgw.cli.commands import cli
from rpcgw.cli.completion import SHELLS


def script(shell: str) -> str:
    done = CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_each_shell(shell: str) -> None:
    """Each script asks the program in the way that it answers."""
    assert f"_RPCGW_COMPLETE={shell}_complete" in script(shell)


def test_bash_takes_it() -> None:
    """The script has no mistake of syntax."""
    bash = shutil.which("bash")
    assert bash is not None
    subprocess.run([bash, "-n"], input=script("bash"), text=True, check=True)


def test_the_program_completes() -> None:
    """Asked as the script asks, the program names what fits."""
    found = CliRunner().invoke(
        cli, prog_name="rpcgw", env={"_RPCGW_COMPLETE": "bash_complete", "COMP_WORDS": "rpcgw ser", "COMP_CWORD": "1"}
    )
    assert found.output.split() == ["plain,serve"]
