"""Find plugins: the venv's entry points, and what lies in the plugins directory. Imports no plugin.

The directory may hold packages installed with `pip install --target`, source trees with a `pyproject.toml`, and single
files. One distribution found more than once is one plugin: the directory wins over the venv, a source tree over an
installed package.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from rpcgw.discovery.found import ENTRY_POINT_GROUP, Candidate, Discovered, Origin

_RANK: dict[Origin, int] = {"source": 0, "file": 0, "installed": 1, "venv": 2}


def discover(directory: str) -> Discovered:
    """Look in the venv and in `directory` (which may be missing); candidates are sorted by name and distribution."""
    folder = Path(directory) if directory else None
    found = list(_installed(distributions(), "venv", ""))
    if folder is not None and folder.is_dir():
        found += _installed(distributions(path=[str(folder)]), "installed", str(folder))
        found += _source_trees(folder)
        found += _single_files(folder)
    return _once_each(found)


def normalised(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed(dists: Iterable[Distribution], origin: Origin, root: str) -> Iterator[Candidate]:
    for dist in dists:
        if "Name" not in dist.metadata:
            continue  # a broken leftover of an uninstalled package
        name = dist.metadata["Name"]
        for point in dist.entry_points:
            if point.group == ENTRY_POINT_GROUP:
                location = root or str(dist.locate_file(""))
                yield Candidate(point.name, point.value, normalised(name), dist.version, origin, location, root)


def _source_trees(folder: Path) -> Iterator[Candidate]:
    for manifest in sorted(folder.glob("*/pyproject.toml")):
        tree = manifest.parent
        project = _project(manifest)
        points = project.get("entry-points", {}).get(ENTRY_POINT_GROUP, {})
        root = tree / "src" if (tree / "src").is_dir() else tree
        for name, target in points.items():
            yield Candidate(
                name=name,
                target=target,
                distribution=normalised(project.get("name", tree.name)),
                version=str(project.get("version", "")),
                origin="source",
                location=str(tree),
                root=str(root),
            )


def _project(manifest: Path) -> dict[str, Any]:
    """The `[project]` table; a manifest that is no TOML stands for a plugin that cannot be loaded."""
    try:
        table = tomllib.loads(manifest.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        broken = f"!{manifest}: {error}"
        return {"name": manifest.parent.name, "entry-points": {ENTRY_POINT_GROUP: {manifest.parent.name: broken}}}
    project: dict[str, Any] = table.get("project", {})
    return project


def _single_files(folder: Path) -> Iterator[Candidate]:
    for file in sorted(folder.glob("*.py")):
        if file.stem.startswith("_") or not file.stem.isidentifier():
            continue
        yield Candidate(
            name=file.stem,
            target=f"{file.stem}:plugin",
            distribution=f"file:{file.stem}",
            version="",
            origin="file",
            location=str(file),
            root=str(folder),
        )


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
