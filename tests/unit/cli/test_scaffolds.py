"""`rpcgw init` and `rpcgw new-plugin`: folders to begin with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result

from rpcgw.cli.commands import cli

BIN = Path(sys.executable).parent


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_init_makes_what_check_finds_no_fault_with(tmp_path: Path) -> None:
    """A folder made by init passes the strict check, with a plugin made by new-plugin too."""
    assert run("init", str(tmp_path)).exit_code == 0
    assert run("new-plugin", "--into", str(tmp_path / "plugins"), "shop").exit_code == 0
    checked = subprocess.run(
        [BIN / "rpcgw", "check", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout) == (0, "gateway.yaml: no problems\n"), checked.stderr


def test_what_is_made_names_its_schema(tmp_path: Path) -> None:
    """The first line of every YAML file tells editors its schema, which is there and takes the file."""
    run("init", str(tmp_path))
    run("new-plugin", "--into", str(tmp_path), "shop")
    found = {path.name: path for path in tmp_path.rglob("*.yaml")}
    assert set(found) == {"gateway.yaml", "routes.yaml", "rpc.en.yaml", "rpc.uk.yaml"}
    for path in found.values():
        first, text = path.read_text("utf-8").split("\n", 1)
        schema = Path(first.removeprefix("# yaml-language-server: $schema="))
        assert schema.stem == path.stem.replace("rpc.en", "translations").replace("rpc.uk", "translations")
        jsonschema.validate(yaml.safe_load(text), json.loads(schema.read_text("utf-8")))


def test_init_never_overwrites(tmp_path: Path) -> None:
    """What stands there stays as it is, and is named."""
    (tmp_path / "gateway.yaml").write_text("mine")
    said = run("init", str(tmp_path)).output
    assert (tmp_path / "gateway.yaml").read_text() == "mine"
    assert f"kept  {tmp_path}/gateway.yaml, which stood there already" in said
    assert f"made  {tmp_path}/routes.yaml" in said


def test_init_says_what_to_do_next(tmp_path: Path) -> None:
    """The next commands are printed, for the folder that was made."""
    said = run("init", str(tmp_path / "hello")).output
    assert f"\n    cd {tmp_path}/hello\n    rpcgw check " in said
    assert said.count("cd ") == 1


def test_init_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is one line, not a traceback."""
    (tmp_path / "file").write_text("")
    done = run("init", str(tmp_path / "file" / "below"))
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("Two Words", id="a blank"),
        pytest.param("../up", id="a path"),
        pytest.param("7up", id="a digit first"),
        pytest.param("class", id="a word of Python"),
        pytest.param("-x", id="a hyphen first"),
    ],
)
def test_names_that_are_none(name: str, tmp_path: Path) -> None:
    """A plugin's name becomes a module's: other texts are refused, and nothing is made."""
    assert run("new-plugin", "--into", str(tmp_path), "--", name).exit_code == 2
    assert not list(tmp_path.iterdir())


def test_a_name_in_any_of_its_spellings(tmp_path: Path) -> None:
    """Folder, package and class follow from the name."""
    run("new-plugin", "--into", str(tmp_path), "rpcgw_My_Shop")
    manifest = (tmp_path / "my-shop" / "pyproject.toml").read_text()
    assert 'name = "rpcgw-my-shop"' in manifest
    assert 'my_shop = "rpcgw_my_shop:plugin"' in manifest
    assert "class MyShop:" in (tmp_path / "my-shop/src/rpcgw_my_shop/procedures.py").read_text()


COMMANDS = [
    pytest.param(
        ["python", "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:cacheprovider"],
        id="its own tests",
    ),
    pytest.param(["ruff", "check", "--no-cache", "."], id="ruff"),
    pytest.param(["ruff", "format", "--no-cache", "--check", "."], id="the format"),
    pytest.param(["mypy", "--cache-dir=/dev/null"], id="mypy in strict mode"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("new")
    assert run("new-plugin", "--into", str(place), "word-count").exit_code == 0
    return place / "word-count"


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_new_plugin_passes(made: Path, command: list[str]) -> None:
    """What new-plugin makes passes its own CI."""
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_template_is_left_unfilled(made: Path) -> None:
    """No placeholder and no template's name is left."""
    for path in made.rglob("*"):
        assert "@" not in path.name
        assert path.suffix != ".template"
        if path.is_file() and path.suffix in (".py", ".toml", ".yaml", ".md"):
            assert "@" not in path.read_text("utf-8").replace("@rpc.", "").replace("@dataclass", "").replace(
                "@pytest", ""
            )
