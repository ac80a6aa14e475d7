"""What lies in a plugins directory, and what of it is found."""

from pathlib import Path

import pytest

from rpcgw.discovery.discover import discover

PYPROJECT = """\
[project]
name = "Acme.Catalog"
version = "1.2.0"

[project.entry-points."rpcgw.plugins"]
catalog = "acme_catalog:plugin"
"""


def dist_info(folder: Path, name: str, points: str, version: str = "3") -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[rpcgw.plugins]\n{points}\n")


def own(directory: Path) -> list[tuple[str, str, str, str]]:
    found = discover(str(directory)).candidates
    return [(c.name, c.distribution, c.version, c.origin) for c in found if c.origin != "venv"]


def test_source_tree(tmp_path: Path) -> None:
    """A folder with a pyproject.toml is a plugin, its `src` the place to import from."""
    (tmp_path / "catalog" / "src").mkdir(parents=True)
    (tmp_path / "catalog" / "pyproject.toml").write_text(PYPROJECT)
    assert own(tmp_path) == [("catalog", "acme-catalog", "1.2.0", "source")]
    assert discover(str(tmp_path)).candidates[0].root == str(tmp_path / "catalog" / "src")


def test_installed_package(tmp_path: Path) -> None:
    """What `pip install --target` leaves is found by its metadata."""
    dist_info(tmp_path, "acme_tools", "tools = acme_tools:plugin")
    assert own(tmp_path) == [("tools", "acme-tools", "3", "installed")]


def test_single_file(tmp_path: Path) -> None:
    """A file is a plugin named after itself; private names and other kinds are passed over."""
    for name in ("hello.py", "_private.py", "readme.txt"):
        (tmp_path / name).write_text("")
    assert own(tmp_path) == [("hello", "file:hello", "", "file")]


def test_one_distribution_twice(tmp_path: Path) -> None:
    """A source tree and an installed copy of one distribution are one plugin, and a note says which is used."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "pyproject.toml").write_text(PYPROJECT)
    dist_info(tmp_path, "acme_catalog", "catalog = acme_catalog:plugin", "9")
    assert own(tmp_path) == [("catalog", "acme-catalog", "1.2.0", "source")]
    assert discover(str(tmp_path)).notes == (
        f"plugin 'catalog' (acme-catalog) was found in {tmp_path / 'catalog'} and in {tmp_path}: the first is used",
    )


@pytest.mark.parametrize("directory", ["", "/nonexistent"], ids=["none is set", "it is missing"])
def test_no_directory(directory: str) -> None:
    """Without a plugins directory only the venv counts."""
    assert {c.origin for c in discover(directory).candidates} <= {"venv"}


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        pytest.param("[project\n", "Expected ']' at the end of a table declaration", id="no TOML"),
        pytest.param("project = 3\n", "project and project.entry-points must be tables", id="a project that is a number"),
        pytest.param("[project]\nentry-points = 3\n", "project and project.entry-points must be tables", id="entry points that are a number"),
        pytest.param("[project]\nname = ['a']\n", "project.name must be a text", id="a name that is a list"),
        pytest.param('[project.entry-points]\n"rpcgw.plugins" = "x"\n', 'project.entry-points."rpcgw.plugins" must be lines', id="plugins that are a text"),
        pytest.param('[project.entry-points."rpcgw.plugins"]\na = 3\n', 'project.entry-points."rpcgw.plugins" must be lines', id="a plugin that is a number"),
    ],
)  # fmt: skip
def test_broken_manifest(tmp_path: Path, manifest: str, reason: str) -> None:
    """A pyproject.toml that cannot be used is a plugin that cannot be loaded, and says why; it is no crash."""
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "pyproject.toml").write_text(manifest)
    assert own(tmp_path) == [("bad", "bad", "", "source")]
    assert discover(str(tmp_path)).candidates[0].target.startswith(f"!{tmp_path}/bad/pyproject.toml: {reason}")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """A manifest that cannot be read is told as one that cannot be used is."""
    (tmp_path / "bad" / "pyproject.toml").mkdir(parents=True)
    assert own(tmp_path) == [("bad", "bad", "", "source")]
    assert discover(str(tmp_path)).candidates[0].target == f"!{tmp_path}/bad/pyproject.toml: Is a directory"


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    """Plugins that cannot be looked for are told of, too."""
    (tmp_path / "plugins").write_text("")
    (found,) = [each for each in discover(str(tmp_path / "plugins")).candidates if each.origin != "venv"]
    assert (found.name, found.target) == ("plugins", "!the directory cannot be read: Not a directory")


def test_a_package_without_plugins_is_none(tmp_path: Path) -> None:
    """A source tree that names no plugin is not rpcgw's."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert own(tmp_path) == []


@pytest.mark.parametrize(("name", "better"), [("not-a-module", "not_a_module"), ("2nd", "plugin_2nd")])
def test_a_file_that_python_cannot_import(tmp_path: Path, name: str, better: str) -> None:
    """A file that was meant as a plugin is not passed over in silence: the reason is a name that would do."""
    (tmp_path / f"{name}.py").write_text("")
    (found,) = [each for each in discover(str(tmp_path)).candidates if each.origin != "venv"]
    assert (found.name, found.target) == (name, f"!Python cannot import a file of this name; call it {better}.py, say")


def test_a_file_that_is_called_as_a_module_of_python(tmp_path: Path) -> None:
    """It would never be imported: Python's own module is, in its place."""
    (tmp_path / "typing.py").write_text("")
    (found,) = [each for each in discover(str(tmp_path)).candidates if each.origin != "venv"]
    assert (found.name, found.target) == ("typing", "!Python has a module typing of its own; call it my_typing.py, say")
