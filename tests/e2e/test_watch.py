"""`server.watch`: a reload for every change of content on disk, and for nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.daemon import ROUTES, Daemon, folder, serving, wait_until

CONFIG = "server: {watch: true}\nufo_json_rpc: {security: {protected_api: false}}\n"
PLUGIN = """
import rpcgw as rpc


@rpc.procedure("Demo")
class Demo:
    def tag(self) -> str:
        "What it says."
        return 'TAG'


plugin = rpc.Plugin(procedures=[Demo])
"""
CATALOGUE = "Demo.tag: { description: TEXT }\n"


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    """An edit in place."""

    def change(place: Path) -> None:
        text = (place / name).read_text()
        assert old in text
        (place / name).write_text(text.replace(old, new))

    return change


def add(name: str, text: str) -> Callable[[Path], None]:
    """A new file."""

    def change(place: Path) -> None:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)

    return change


def turn_the_link(place: Path) -> None:
    """A ConfigMap is mounted anew: one rename changes all of its files."""
    (place / "map" / "..2").mkdir()
    (place / "map" / "..2" / "more.yaml").write_text("environment: test\n")
    (place / "map" / "..new").symlink_to("..2")
    (place / "map" / "..new").replace(place / "map" / "..data")


class Row(NamedTuple):
    """A change, and the file that the log names."""

    change: Callable[[Path], None]
    file: str
    what: str


CHANGES = [
    Row(edit("gateway.yaml", "false", "false, token_name: X"), "gateway.yaml", what="configuration"),
    Row(edit("routes.yaml", "/rpc", "/new"), "routes.yaml", what="routes"),
    Row(turn_the_link, "map/more.yaml", what="an imported file of a ConfigMap"),
    Row(edit("secret", "first", "second"), "secret", what="a file that a variable names"),
    Row(edit("plugins/demo.py", "TAG", "NEW"), "plugins/demo.py", what="a plugin"),
    Row(add("plugins/more.py", "import rpcgw as rpc\nplugin = rpc.Plugin()\n"), "plugins/more.py", what="a new plugin"),
    Row(edit("translations/rpc.uk.yaml", "TEXT", "ANOTHER"), "translations/rpc.uk.yaml", what="a catalogue"),
    Row(edit("elsewhere/imported.py", "1", "2"), "elsewhere/imported.py", what="code that a plugin imports"),
    Row(
        edit("elsewhere/some-1.dist-info/RECORD", "1", "2"),
        "elsewhere/some-1.dist-info/RECORD",
        what="an installed package",
    ),
]


@pytest.fixture
def place() -> Iterator[Path]:
    """Everything that a configuration may be made of."""
    files = {
        "translations/rpc.uk.yaml": CATALOGUE,
        "secret": "first",
        "map/..1/more.yaml": "environment: prod\n",
        "elsewhere/imported.py": "VALUE = 1\n",
        "elsewhere/some-1.dist-info/RECORD": "some.py,sha256=1,1\n",
        "elsewhere/some-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: some\nVersion: 1\n",
    }
    config = "imports: [map/more.yaml]\nparameters: { secret: '${SECRET}' }\n" + CONFIG
    with folder(config=config, routes=ROUTES, plugins={"demo.py": "import imported\n" + PLUGIN}, files=files) as made:
        (made / "map" / "..data").symlink_to("..1")
        (made / "map" / "more.yaml").symlink_to("..data/more.yaml")
        yield made


@pytest.fixture
def served(place: Path) -> Iterator[Daemon]:
    """A daemon of it."""
    paths = os.pathsep.join([str(place / "elsewhere"), os.environ.get("PYTHONPATH", "")])
    with serving(place, {"PYTHONPATH": paths, "SECRET_FILE": str(place / "secret")}) as running:
        yield running


def test_each_change_is_a_reload(served: Daemon, place: Path) -> None:
    """Whatever the daemon was made of: the log says which file changed, and each change makes one generation."""
    served.wait_log("ready")
    for turn, row in enumerate(CHANGES, 1):
        row.change(place)
        begun = served.wait_log("reload.begins", count=turn, seconds=40)
        assert begun["reason"] == f"changed on disk: {place / row.file}", row.what
        served.wait_log("reload.done", count=turn, seconds=40)
    assert served.post("/new", {"jsonrpc": "2.0", "id": 1, "method": "Demo.tag"}).json()["result"] == "NEW"
    assert len(served.logs("reload.begins")) == len(CHANGES)


def test_what_is_no_change_is_no_reload(served: Daemon, place: Path) -> None:
    """Touched, written again as it was, or of no concern; a change after it is the first that is seen."""
    served.wait_log("ready")
    os.utime(place / "gateway.yaml")
    (place / "routes.yaml").write_text((place / "routes.yaml").read_text())
    (place / "notes.txt").write_text("no source")
    (place / "var" / "state.json").write_text("{}")
    served.hup()
    served.wait_log("reload.done")
    edit("plugins/demo.py", "TAG", "NEW")(place)
    served.wait_log("reload.done", count=2, seconds=40)
    assert [line["reason"] for line in served.logs("reload.begins")] == [
        "SIGHUP",
        f"changed on disk: {place}/plugins/demo.py",
    ]


def test_a_mistake_is_reported_once_and_mending_it_is_the_next_reload(served: Daemon, place: Path) -> None:
    """The old generation serves meanwhile."""
    edit("plugins/demo.py", "'TAG'", "'TAG")(place)
    served.wait_log("reload.refused", seconds=40)
    assert any("demo.py" in line["place"] for line in served.logs("problem"))
    assert served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Demo.tag"}).json()["result"] == "TAG"
    edit("plugins/demo.py", "'TAG", "'MENDED'")(place)
    served.wait_log("reload.done", seconds=40)
    assert served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Demo.tag"}).json()["result"] == "MENDED"
    assert len(served.logs("reload.refused")) == 1


def test_without_the_setting_nothing_is_watched() -> None:
    """A change waits for somebody to ask; turned on by a reload, the watch begins with it."""
    config = CONFIG.replace("server: {watch: true}\n", "")
    with folder(config=config, plugins={"demo.py": PLUGIN}) as place, serving(place) as served:
        edit("plugins/demo.py", "TAG", "NEW")(place)
        served.write({"gateway.yaml": CONFIG})
        served.hup()
        served.wait_log("reload.done", seconds=40)
        edit("plugins/demo.py", "NEW", "NEWER")(place)
        ask = {"jsonrpc": "2.0", "id": 1, "method": "Demo.tag"}
        wait_until(lambda: served.post("/rpc", ask).json()["result"] == "NEWER", 40, served.stderr)
        assert served.logs("reload.begins")[0]["reason"] == "SIGHUP"
