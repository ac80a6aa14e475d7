"""Plugins that cannot be used, or are there twice: everything else serves, and everybody who asks is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import CONFIG, Daemon, cli, daemon, folder
from tests.support.refusal import refusal

BROKEN = "import rpcgw as rpc\n\nraise RuntimeError('no database')\n"
SOUND = """
import rpcgw as rpc


@rpc.procedure("{name}")
class {name}:
    def hello(self) -> str:
        \"\"\"Greet.\"\"\"
        return "{says}"


plugin = rpc.Plugin(procedures=[{name}])
"""
GOOD = SOUND.format(name="Good", says="here")
MANIFEST = """
[project]
name = "{name}"
version = "1.0"

[project.entry-points."rpcgw.plugins"]
{entry} = "{module}:plugin"
"""
STRICT = f"plugins: {{strict: true}}\n{CONFIG}"


def tree(name: str, module: str, source: str, *, entry: str = "") -> dict[str, str]:
    """A distribution as a source tree in the plugins directory, by the name of its folder."""
    return {
        f"{module}/pyproject.toml": MANIFEST.format(name=name, entry=entry or module, module=module),
        f"{module}/{module}.py": source,
    }


def installed(name: str, module: str, source: str) -> dict[str, str]:
    """The same as `pip install --target` leaves it in the plugins directory."""
    info = f"{name.replace('-', '_')}-1.0.dist-info"
    return {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/entry_points.txt": f"[rpcgw.plugins]\n{module} = {module}:plugin\n",
    }


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    """A daemon with a sound plugin, a broken one, and one that lies in the directory twice."""
    twice = SOUND.format(name="Twice", says="source")
    plugins = {
        "good.py": GOOD,
        "broken.py": BROKEN,
        **tree("acme-twice", "twice", twice),
        **{f"lib/{name}": text for name, text in installed("acme-twice", "twice", twice).items()},
    }
    with daemon(plugins=plugins, env={"PYTHONPATH": "plugins/lib"}) as running:
        yield running


def test_everything_else_serves_without_a_quarantined_plugin(served: Daemon) -> None:
    """A plugin that raises when it is imported takes nobody with it."""
    answer = served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Good.hello"}).json()
    assert answer["result"] == "here"


def test_a_quarantined_plugin_is_logged_with_its_traceback(served: Daemon) -> None:
    """One line at level error, with all that its author needs."""
    (line,) = served.logs("plugin.quarantined")
    assert (line["level"], line["plugin"], line["reason"]) == ("error", "broken", "RuntimeError: no database")
    assert line["location"].endswith("plugins/broken.py")
    assert 'plugins/broken.py", line 3' in line["exception"]


def test_a_person_reads_its_traceback_line_by_line() -> None:
    """`serve --dev` prints it as Python does, not as one line of JSON."""
    with daemon(plugins={"broken.py": "def load():\n    return 1 / 0\n\n\nload()\n"}, arguments=["--dev"]) as served:
        lines = served.stderr().splitlines()
    begins = lines.index("Traceback (most recent call last):")
    assert "plugin.quarantined" in lines[begins - 1]
    assert lines[begins + 1].endswith('plugins/broken.py", line 5, in <module>')
    assert lines[begins + 2] == "    load()"
    assert lines[begins + 3].endswith('plugins/broken.py", line 2, in load')
    assert "ZeroDivisionError: division by zero" in lines[begins + 4 :]


def test_a_quarantined_plugin_leaves_the_daemon_ready(served: Daemon) -> None:
    """`/readyz?verbose` lists it, and stays 200."""
    answer = served.get("/readyz?verbose")
    parts = {part["name"]: part for part in answer.json()["parts"]}
    assert (answer.status, answer.json()["status"]) == (200, "ready")
    assert parts["plugin:broken"] == {"name": "plugin:broken", "ready": False, "detail": "RuntimeError: no database"}
    assert parts["plugin:good"]["ready"]


def test_a_quarantined_plugin_is_listed(served: Daemon) -> None:
    """`rpcgw plugins` says why, and ends with 0: it did what it was asked."""
    done = cli("plugins", "--json", cwd=served.folder)
    states = {row["name"]: (row["state"], row["reason"]) for row in json.loads(done.stdout)}
    assert done.returncode == 0
    assert states["broken"] == ("quarantined", "RuntimeError: no database")
    assert states["good"] == ("loaded", "")


def test_check_takes_a_quarantined_plugin_for_a_problem(served: Daemon) -> None:
    """`rpcgw check` ends with 1 and names the file."""
    done = cli("check", cwd=served.folder)
    (line,) = [line for line in done.stderr.splitlines() if "error[plugin-import]" in line]
    assert done.returncode == 1
    assert "plugins/broken.py:3: " in line
    assert "RuntimeError: no database" in line


def test_a_distribution_that_is_found_twice_is_one_plugin(served: Daemon) -> None:
    """The source tree wins, it serves once, and one line of the log names both places."""
    rows = json.loads(cli("plugins", "--json", cwd=served.folder, env={"PYTHONPATH": "plugins/lib"}).stdout)
    (row,) = [row for row in rows if row["name"] == "twice"]
    (line,) = served.logs("plugin.twice")
    assert (row["origin"], row["state"]) == ("source", "loaded")
    assert "acme-twice" in line["text"]
    assert "plugins/twice" in line["text"]
    assert "plugins/lib" in line["text"]


def test_a_strict_configuration_refuses_a_plugin_that_cannot_be_imported() -> None:
    """With `plugins.strict: true` it ends with 78 and the place, and says what makes it so."""
    refused = refusal(config=STRICT, plugins={"good.py": GOOD, "broken.py": BROKEN})
    (line,) = refused.about("error[plugin-import]")
    assert refused.code == 78
    assert "plugins/broken.py" in line
    assert "RuntimeError: no database" in line
    assert refused.about("help:", "plugins.strict")
    assert "everything else serves" not in refused.said


def test_check_tells_of_a_quarantined_plugin_beside_other_problems() -> None:
    """What keeps the rest from serving hides nothing."""
    wrong = f"plugins: {{config: {{nobody: {{}}}}}}\n{CONFIG}"
    with folder(config=wrong, plugins={"broken.py": BROKEN}) as place:
        done = cli("check", "--json", cwd=place)
    codes = {problem["code"] for problem in json.loads(done.stdout)}
    assert done.returncode == 1
    assert codes == {"plugin-import", "unknown-plugin"}


def test_two_distributions_with_the_same_method_and_version() -> None:
    """A problem that names the line of each: nobody serves by chance."""
    one, other = SOUND.format(name="Same", says="one"), SOUND.format(name="Same", says="other")
    plugins = {**tree("acme-one", "one", one), **tree("acme-other", "other", other)}
    with folder(plugins=plugins) as place:
        done = cli("check", cwd=place)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "error[duplicate]" in line]
    assert "one/one.py:5" in line
    assert "other/other.py:5" in line


@pytest.mark.parametrize(
    ("arguments", "code"), [pytest.param((), 0, id="a warning"), pytest.param(("--strict",), 1, id="a strict check")]
)
def test_warnings_are_problems_to_a_strict_check_only(warned: Path, arguments: tuple[str, ...], code: int) -> None:
    """A warning is told either way; the exit status is 1 only with `--strict`."""
    done = cli("check", *arguments, cwd=warned)
    assert "warning[unknown-method]" in done.stderr
    assert done.returncode == code


@pytest.fixture(scope="module")
def warned() -> Iterator[Path]:
    """A configuration that tunes a method which nobody brings: a warning and no error."""
    with folder(config=f"methods: {{Nobody.here: {{deadline: 1}}}}\n{CONFIG}") as place:
        yield place


OPENING = """
from contextlib import asynccontextmanager

import rpcgw as rpc


@asynccontextmanager
async def opened():
    {opening}
    yield None


@rpc.procedure("Shop")
class Shop:
    def __init__(self{parameter}) -> None:
        {making}

    def hello(self) -> str:
        \"\"\"Greet.\"\"\"
        return "here"


plugin = rpc.Plugin(procedures=[Shop], lifespan=opened)
"""


@pytest.mark.parametrize(
    ("parts", "code", "said"),
    [
        pytest.param({"opening": "raise OSError('no database')"}, 1, ["OSError: no database; in the lifespan of the plugin 'shop', at ", "plugins/shop.py:"], id="its lifespan raises: that may pass, and is tried again by whoever started it"),
        pytest.param({"making": "raise OSError('no key')"}, 78, ["plugins/shop.py:15: error[procedure-constructor] Shop(...) raised OSError: no key"], id="a constructor raises"),
        pytest.param({"parameter": ", stock: list"}, 78, ["plugins/shop.py:15: error[procedure-parameter] the parameter 'stock' of Shop(...) cannot be filled"], id="a constructor wants what nobody yields"),
    ],
)  # fmt: skip
def test_a_plugin_that_cannot_be_opened(parts: dict[str, str], code: int, said: list[str]) -> None:
    """The daemon does not start, and says once which plugin it was, and where."""
    source = OPENING.format(**{"opening": "pass", "parameter": "", "making": "pass", **parts})
    refused = refusal(config=CONFIG, plugins={"shop.py": source})
    assert refused.code == code
    printed = [line for line in refused.said.splitlines() if not line.startswith("{")]
    (line,) = [line for line in printed if said[0] in line]
    assert [words for words in said if words not in line] == []
