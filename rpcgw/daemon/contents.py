"""What source files hold: digests by path, taken again only of files that may have changed. Standard library only."""

from __future__ import annotations

import glob
import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

SUFFIXES = frozenset({".yaml", ".yml", ".py", ".toml", ".json", ".example"})
"""Of files in directories those with such a name count: configuration, catalogues, code."""
IGNORED = frozenset({"__pycache__", "node_modules", "site-packages"})
RECENT = 2.0
"""Seconds for which a file may change once more without showing it: its time and size may still be the same."""

Digests = Mapping[str, str]
"""SHA-256 by path; files that are not there are left out."""


class Contents:
    """Source files at or below `paths`, without what lies in `besides` (the state directory).

    A path is a file, whatever its name; a directory, of which source files count; or a pattern with a `*`. Relative
    ones count from the current directory. Links are followed, so that a directory of links which are all turned at
    once (a ConfigMap) is seen to change. Names that begin with a dot do not count.
    """

    def __init__(self, paths: Sequence[str], besides: Iterable[str] = ()) -> None:
        self.paths = tuple(dict.fromkeys(os.path.abspath(path) for path in paths))  # noqa: PTH100 -- links stay
        self.besides = tuple(besides)
        self._besides = {os.path.normpath(path) for path in self.besides if path}
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}

    def now(self) -> Digests:
        """The content of all of them. Reads the disk, so it may take a while."""
        return {path: digest for path in self._files() if (digest := self._digest(path))}

    def directories(self) -> set[str]:
        """The directories in which a change would be seen."""
        found = set()
        for path in self.paths:
            found |= set(self._below(path)) if _is_directory(path) else {str(Path(path).parent)}
        return found

    def _files(self) -> Iterator[str]:
        for path in self.paths:
            if "*" in path:
                yield from glob.glob(path)  # noqa: PTH207 -- a whole pattern
            elif _is_directory(path):
                for directory in self._below(path):
                    yield from (str(file) for file in _entries(directory) if is_source(file.name))
            else:
                yield path

    def _below(self, root: str) -> Iterator[str]:
        seen = set()  # links may lead around in circles
        for directory, children, _ in os.walk(root, followlinks=True):
            real = os.path.realpath(directory)
            if real in seen:
                children.clear()
                continue
            seen.add(real)
            children[:] = [
                name
                for name in children
                if not name.startswith(".")
                and name not in IGNORED
                and os.path.normpath(Path(directory, name)) not in self._besides
            ]
            yield directory

    def _digest(self, path: str) -> str:
        try:
            state = Path(path).stat()
            mark = (state.st_mtime_ns, state.st_size, state.st_ino, state.st_dev)
            known, digest = self._known.get(path, ((), ""))
            if known != mark:
                began = time.time()
                digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
                if began - state.st_mtime > RECENT:
                    self._known[path] = (mark, digest)
        except OSError:  # it is not there, or has gone meanwhile
            return ""
        return digest


def is_source(name: str) -> bool:
    """Whether a file of a directory counts, by its name."""
    return Path(name).suffix in SUFFIXES and not name.startswith((".", "#"))


def _is_directory(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # nobody may look
        return False


def _entries(directory: str) -> Iterator[Path]:
    try:
        yield from Path(directory).iterdir()
    except OSError:  # it has gone meanwhile
        return


def differing(before: Digests, now: Digests) -> list[str]:
    """The paths whose content is another one: changed, come, gone."""
    return sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
