"""Find plugins: the venv's entry points, and what lies in the plugins directory. Imports no plugin.

The directory may hold packages installed with `pip install --target`, source trees with a `pyproject.toml`, and single
files. One distribution found more than once is one plugin: the directory wins over the venv, a source tree over an
installed package.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from rpcgw.discovery.found import ENTRY_POINT_GROUP, Candidate, Discovered, Origin

_RANK: dict[Origin, int] = {"source": 0, "file": 0, "installed": 1, "venv": 2}


def discover(directory: str) -> Discovered:
    """Look in the venv and in `directory` (which may be missing); candidates are sorted by name and distribution."""
    found = list(_installed(distributions(), "venv", ""))
    if directory:
        found += _in_directory(Path(directory))
    return _once_each(found)


def _in_directory(folder: Path) -> list[Candidate]:
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        return []
    except OSError as error:
        return [_broken(folder.name, "", "file", folder, f"the directory cannot be read: {error.strerror}")]
    return [
        *_installed(distributions(path=[str(folder)]), "installed", str(folder)),
        *_source_trees(folder),
        *_single_files(folder),
    ]


def normalised(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed(dists: Iterable[Distribution], origin: Origin, root: str) -> Iterator[Candidate]:
    for dist in dists:
        # Both take their time to read, and most distributions bring no plugin.
        if ENTRY_POINT_GROUP not in (dist.read_text("entry_points.txt") or ""):
            continue
        points = dist.entry_points.select(group=ENTRY_POINT_GROUP)
        if not points or "Name" not in dist.metadata:
            continue  # without a name it is a broken leftover of an uninstalled package
        name, location = dist.metadata["Name"], root or str(dist.locate_file(""))
        for point in points:
            yield Candidate(point.name, point.value, normalised(name), dist.version, origin, location, root)


def _source_trees(folder: Path) -> Iterator[Candidate]:
    for manifest in sorted(folder.glob("*/pyproject.toml")):
        tree = manifest.parent
        try:
            name, version, points = _plugins_of(_project(manifest), tree.name)
        except _Unusable as error:
            yield _broken(tree.name, normalised(tree.name), "source", tree, f"{manifest}: {error}")
            continue
        root = tree / "src" if (tree / "src").is_dir() else tree
        for point, target in points.items():
            yield Candidate(point, target, normalised(name), version, "source", str(tree), str(root))


class _Unusable(Exception):
    """Why a manifest cannot be used."""


def _project(manifest: Path) -> object:
    """What stands under `project` in a manifest. Raises `_Unusable`."""
    import tomllib  # noqa: PLC0415 -- loaded where there is a manifest

    try:
        return tomllib.loads(manifest.read_text("utf-8")).get("project", {})
    except OSError as error:
        raise _Unusable(error.strerror) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _Unusable(str(error)) from None


def _plugins_of(project: object, folder: str) -> tuple[str, str, dict[str, str]]:
    """A project's name and version, and its entry points as plugins. Raises `_Unusable` where they are none."""
    groups = project.get("entry-points", {}) if isinstance(project, dict) else None
    if not isinstance(project, dict) or not isinstance(groups, dict):
        raise _Unusable("project and project.entry-points must be tables")
    name, points = project.get("name", folder), groups.get(ENTRY_POINT_GROUP, {})
    if not isinstance(name, str):
        raise _Unusable("project.name must be a text")
    if not isinstance(points, dict) or not all(isinstance(target, str) for target in points.values()):
        raise _Unusable(f'project.entry-points."{ENTRY_POINT_GROUP}" must be lines such as name = "module:plugin"')
    return name, str(project.get("version", "")), points


def _single_files(folder: Path) -> Iterator[Candidate]:
    for file in sorted(folder.glob("*.py")):
        stem, distribution = file.stem, f"file:{file.stem}"
        if stem.startswith("_"):
            continue
        if stem in sys.stdlib_module_names:
            reason = f"Python has a module {stem} of its own; call it my_{stem}.py, say"
            yield _broken(stem, distribution, "file", file, reason)
        elif not stem.isidentifier():
            reason = f"Python cannot import a file of this name; call it {_importable(stem)}.py, say"
            yield _broken(stem, distribution, "file", file, reason)
        else:
            yield Candidate(stem, f"{stem}:plugin", distribution, "", "file", str(file), str(folder))


def _importable(stem: str) -> str:
    name = re.sub(r"\W", "_", stem)
    return name if name.isidentifier() else f"plugin_{name}"


def _broken(name: str, distribution: str, origin: Origin, location: Path, reason: str) -> Candidate:
    """A plugin that cannot be loaded, and why."""
    return Candidate(name, f"!{reason}", distribution, "", origin, str(location))


def _once_each(found: list[Candidate]) -> Discovered:
    chosen: dict[tuple[str, str], Candidate] = {}
    notes: list[str] = []
    for candidate in sorted(found, key=lambda c: (_RANK[c.origin], c.location)):
        key = (candidate.distribution, candidate.name)
        first = chosen.setdefault(key, candidate)
        if first is not candidate and first.location != candidate.location:
            notes.append(
                f"plugin {candidate.name!r} ({candidate.distribution}) was found in {first.location} "
                f"and in {candidate.location}: the first is used"
            )
    ordered = sorted(chosen.values(), key=lambda c: (c.name, c.distribution))
    return Discovered(tuple(ordered), tuple(dict.fromkeys(notes)))
