"""Waiting until the content of source files changes: not their times, and not what the gateway writes itself."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from watchfiles import Change, DefaultFilter, awatch

SUFFIXES = frozenset({".yaml", ".yml", ".py", ".toml", ".json", ".example"})
DEBOUNCE_MS = 100
SETTLED_MS = 300

Contents = Mapping[str, str]
"""SHA-256 by path."""


class Sources(DefaultFilter):
    """Files that may change the gateway: configuration, catalogues, code."""

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change of this path counts."""
        return Path(path).suffix in SUFFIXES and super().__call__(change, path)


class Watch:
    """Source files at or below `paths`, without what lies in `besides` (the state directory)."""

    def __init__(self, paths: Sequence[str], besides: Iterable[str] = ()) -> None:
        self._paths = paths
        self._besides = {str(Path(path)) for path in besides if path}
        self._filter = Sources()
        self._before = self.contents()

    async def changed(self) -> None:
        """Return once any content differs from what it was at first, or at the last return."""
        stop = asyncio.Event()
        settled = False
        try:
            # Directories, not files, are watched: a file that an editor replaces stays watched.
            async for changes in awatch(
                *self._directories(),
                watch_filter=self._filter,
                debounce=DEBOUNCE_MS,
                step=20,
                stop_event=stop,
                recursive=False,
                rust_timeout=SETTLED_MS,
                yield_on_timeout=True,
            ):
                if settled and not changes:
                    continue
                # Of what changed before the watch stood nobody is told: once it stands, look for oneself.
                settled = True
                if (now := self.contents()) != self._before:
                    self._before = now
                    return
        finally:
            stop.set()

    def contents(self) -> Contents:
        """The content of all source files as it is now."""
        return {path: digest for path in self._files() if (digest := _digest(path))}

    def _files(self) -> Iterator[str]:
        for path in self._paths:
            if Path(path).is_dir():
                for directory in self._below(path):
                    yield from (
                        str(file) for file in Path(directory).iterdir() if self._filter(Change.added, str(file))
                    )
            else:
                yield path

    def _directories(self) -> set[str]:
        found = set()
        for path in self._paths:
            found |= set(self._below(path)) if Path(path).is_dir() else {str(Path(path).parent)}
        return found

    def _below(self, root: str) -> Iterator[str]:
        for directory, children, _ in os.walk(root):
            children[:] = [
                name
                for name in children
                if not name.startswith(".")
                and name not in DefaultFilter.ignore_dirs
                and str(Path(directory, name)) not in self._besides
            ]
            yield directory


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:  # it has gone meanwhile
        return ""
