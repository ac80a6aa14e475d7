"""`rpcgw check`, `rpcgw serve` and `rpcgw schema` as people, programs and GitHub see them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import ROOT, cli, folder
from tests.support.refusal import refusal

WRONG = """\
server:
    bnd: 127.0.0.1:8080
ufo_json_rpc:
    security:
        clients_tokens: hidden
"""
SCHEMA = json.loads((ROOT / "rpcgw" / "config" / "schema" / "gateway.json").read_text("utf-8"))
AVAILABLE = ", ".join(f'"{name}"' for name in SCHEMA["properties"]["server"]["properties"])
TOLD = f"""\
gateway.yaml:2:5: error[unknown-option] Unrecognized option "bnd" under "server". Available options are {AVAILABLE}.
    2 |     bnd: 127.0.0.1:8080
      |     ^
    help: did you mean "bind"?
gateway.yaml:5:9: error[wrong-type] "ufo_json_rpc.security.clients_tokens" must be a list, not this string.
    5 |         clients_tokens: ***
      |         ^
    help: write [a, b], or one `- a` line for each
"""


@pytest.fixture(scope="module")
def wrong() -> Iterator[Path]:
    with folder(config=WRONG) as place:
        yield place


def test_as_a_compiler_prints_them(wrong: Path) -> None:
    """Place, text, line, caret and help on standard error; no secret, no colour where nobody would see it."""
    done = cli("check", cwd=wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{TOLD}gateway.yaml: 2 problem(s), 0 warning(s)\n"


def test_plugins_that_cannot_be_imported_are_told_beside_what_is_wrong_in_the_files() -> None:
    """All at once: a mistake in gateway.yaml does not hide the plugin that cannot be imported."""
    with folder(config=WRONG, plugins={"broken.py": "import nowhere_to_be_found\n"}) as place:
        done = cli("check", cwd=place)
    assert done.returncode == 1
    assert "error[unknown-option]" in done.stderr
    assert "error[plugin-import] plugin 'broken' cannot be used" in done.stderr


def test_for_programs(wrong: Path) -> None:
    """--json prints every problem with its parts."""
    done = cli("check", "--json", cwd=wrong, env={"GITHUB_ACTIONS": "true"})
    first, second = json.loads(done.stdout)
    assert (first["file"], first["line"], first["column"], first["level"]) == ("gateway.yaml", 2, 5, "error")
    assert (first["code"], first["hint"]) == ("unknown-option", 'did you mean "bind"?')
    assert second["text"] == '"ufo_json_rpc.security.clients_tokens" must be a list, not this string.'


def test_for_github(wrong: Path) -> None:
    """In a workflow problems are annotations on standard output too."""
    done = cli("check", cwd=wrong, env={"GITHUB_ACTIONS": "true"})
    first, _ = done.stdout.splitlines()
    assert first.startswith("::error file=gateway.yaml,line=2,col=5,title=unknown-option::Unrecognized option")


def test_a_route_with_nothing_to_serve() -> None:
    """A group whose name nobody's procedures have is a warning at its route, which --strict fails."""
    routes = "rpc: {resource: rpc, prefix: /rpc}\nmcp: {resource: mcp, prefix: /mcp, defaults: {api_group: mpc}}\n"
    with folder(routes=routes) as place:
        done = cli("check", cwd=place)
        strict = cli("check", "--strict", cwd=place)
    assert (done.returncode, strict.returncode) == (0, 1)
    assert done.stderr.startswith("routes.yaml:2:1: warning[empty-group] the route \"mcp\" serves the group 'mpc'")
    assert "there are methods in general" in done.stderr


PROCEDURE = '''
import rpcgw as rpc


@rpc.procedure("It", groups=["GROUP"])
class It:
    def run(self) -> int:
        """Run."""
        return 1
'''


@pytest.mark.parametrize(
    ("group", "warned"),
    [
        pytest.param("genral", True, id="nearly a group that is served: a slip"),
        pytest.param("reports", False, id="a name of its own: meant for another gateway"),
    ],
)
def test_a_procedure_that_nobody_serves(group: str, warned: bool) -> None:
    """A group that a plugin has mistyped is a warning at the method."""
    source = PROCEDURE.replace("GROUP", group)
    with folder(plugins={"it.py": source}) as place:
        said = cli("check", cwd=place).stderr
    assert (
        f"it.py:7: warning[unserved-group] It.run is in the group '{group}', which no route serves" in said
    ) is warned
    assert ('help: did you mean "general"?' in said) is warned


def test_a_start_says_the_same() -> None:
    """A daemon that cannot start prints the same lines and ends with 78."""
    refused = refusal(config=WRONG)
    assert refused.code == 78
    assert TOLD in refused.said


def test_schemas(wrong: Path) -> None:
    """`rpcgw schema` prints what is installed, and says where."""
    printed = cli("schema", "routes", cwd=wrong)
    path = cli("schema", "routes", "--path", cwd=wrong)
    assert json.loads(printed.stdout) == json.loads(Path(path.stdout.strip()).read_text("utf-8"))
    assert cli("schema", "nothing", cwd=wrong).returncode == 2


def test_origins_need_a_configuration(wrong: Path) -> None:
    """Wrong usage is said, and ends with 2."""
    assert cli("check", "--origins", cwd=wrong).returncode == 2


def test_print_config_tells_problems_too(wrong: Path) -> None:
    """What can be read is shown, what cannot is told."""
    done = cli("check", "--print-config", "--origins", cwd=wrong)
    assert done.returncode == 1
    assert TOLD in done.stderr
    assert '    bind: "127.0.0.1:8080"' in done.stdout
