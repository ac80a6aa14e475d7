"""Importing plugins: what loads, and what is quarantined for which reason."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rpcgw.api.problems import Place
from rpcgw.discovery.discover import discover
from rpcgw.discovery.found import LoadedPlugin, Quarantined
from rpcgw.discovery.load import load_all

MARKED = """
import rpcgw as rpc

@rpc.procedure("Hello")
class Hello:
    def greet(self) -> str:
        return "hi"
"""


@pytest.fixture(autouse=True)
def _imports_undone() -> Iterator[None]:
    path, meta, modules = list(sys.path), list(sys.meta_path), set(sys.modules)
    yield
    sys.path[:], sys.meta_path[:] = path, meta
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def load_from(directory: Path) -> tuple[list[LoadedPlugin], list[Quarantined]]:
    return load_all(c for c in discover(str(directory)).candidates if c.origin != "venv")


def test_marked_classes_suffice(tmp_path: Path) -> None:
    """A single file need not name a plugin: its marked classes are one."""
    (tmp_path / "hello_marked.py").write_text(MARKED)
    loaded, quarantined = load_from(tmp_path)
    assert quarantined == []
    assert [cls.__name__ for cls in loaded[0].plugin.procedures] == ["Hello"]  # type: ignore[attr-defined]  # classes


def test_source_tree_with_texts(tmp_path: Path) -> None:
    """A source tree is imported from its root, and its catalogues lie beside its module."""
    package = tmp_path / "tree" / "src" / "acme_tree"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import rpcgw as rpc\nplugin = rpc.Plugin(translations='texts')\n")
    (tmp_path / "tree" / "pyproject.toml").write_text(
        '[project]\nname="acme-tree"\n[project.entry-points."rpcgw.plugins"]\ntree="acme_tree:plugin"\n'
    )
    loaded, _ = load_from(tmp_path)
    assert loaded[0].catalogues == str(package / "texts")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("import no_such_module_anywhere", "No module named", id="a missing dependency"),
        pytest.param("def broken(:", "SyntaxError", id="a syntax error"),
        pytest.param("raise SystemExit(3)", "SystemExit: 3", id="an exit"),
        pytest.param("x = 1", "it defines no plugin", id="nothing marked"),
        pytest.param("plugin = 3", "is a int, not an rpc.Plugin", id="a plugin of the wrong kind"),
        pytest.param(
            "import threading\nstop = threading.Event()\nthreading.Thread(target=stop.wait, daemon=True).start()\n"
            + MARKED,
            "it starts threads when it is imported",
            id="a thread at import",
        ),
    ],
)
def test_quarantine(tmp_path: Path, source: str, reason: str) -> None:
    """What cannot be used is quarantined with its reason; the rest loads."""
    (tmp_path / "bad_plugin.py").write_text(source)
    (tmp_path / "good_plugin.py").write_text(MARKED)
    loaded, quarantined = load_from(tmp_path)
    stop = getattr(sys.modules.get("bad_plugin"), "stop", None)
    if stop is not None:
        stop.set()
    assert [plugin.name for plugin in loaded] == ["good_plugin"]
    assert [plugin.name for plugin in quarantined] == ["bad_plugin"]
    assert reason in quarantined[0].reason


@pytest.mark.parametrize(
    ("source", "line"),
    [
        pytest.param("\n\nraise RuntimeError\n", 3, id="raised at the top"),
        pytest.param("def late():\n    return missing\n\nlate()\n", 2, id="in a function: the innermost line"),
        pytest.param("import json\n\njson.loads('no JSON')\n", 3, id="in a library: the plugin's own line"),
        pytest.param("one = 1\ntwo = = 2\n", 2, id="no Python"),
        pytest.param("one = 1\n", 0, id="nothing marked: the file"),
    ],
)
def test_the_line_at_fault(tmp_path: Path, source: str, line: int) -> None:
    """A quarantined plugin is named with the line of its own code where its author has to look."""
    path = tmp_path / "hello_lines.py"
    path.write_text(source)
    (refused,) = load_from(tmp_path)[1]
    assert refused.place == Place(str(path), line)


def test_the_traceback_begins_with_the_plugin(tmp_path: Path) -> None:
    """How Python came to import a plugin is no help to its author: the traceback begins with the author's own line."""
    path = tmp_path / "hello_trace.py"
    path.write_text("import json\n\njson.loads('no JSON')\n")
    (refused,) = load_from(tmp_path)[1]
    head, first, source, *rest = refused.traceback.splitlines()
    assert (head, first.strip()) == ("Traceback (most recent call last):", f'File "{path}", line 3, in <module>')
    assert source.strip() == "json.loads('no JSON')"
    assert rest[-1].startswith("json.decoder.JSONDecodeError: ")


def test_the_directory_wins(tmp_path: Path) -> None:
    """A plugin's own module comes from the directory even where the path has another of the same name."""
    elsewhere = tmp_path / "elsewhere"
    plugins = tmp_path / "plugins"
    for folder, word in ((elsewhere, "other"), (plugins, "mine")):
        folder.mkdir()
        (folder / "shadowed_plugin.py").write_text(f"{MARKED}\nWORD = {word!r}\n")
    sys.path.insert(0, str(elsewhere))
    load_from(plugins)
    assert sys.modules["shadowed_plugin"].WORD == "mine"
