"""`--dev` waits here until the content of source files changes: not their times, and not what the gateway writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from watchfiles import Change, DefaultFilter, awatch

from rpcgw.daemon.contents import Contents, Digests, is_source

DEBOUNCE_MS = 100
SETTLED_MS = 300


class Sources(DefaultFilter):
    """Files that may change the gateway: configuration, catalogues, code; and directories, which may hold some."""

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change of this path counts."""
        return (is_source(Path(path).name) or Path(path).is_dir()) and super().__call__(change, path)


class Watch:
    """Source files at or below `paths`, without what lies in `besides` (the state directory)."""

    def __init__(self, paths: Sequence[str], besides: Iterable[str] = ()) -> None:
        self._contents = Contents(paths, besides)
        self._filter = Sources()
        self._before = self.contents()
        self.watched: frozenset[str] = frozenset()
        """The directories that a change is waited for in."""

    async def changed(self) -> None:
        """Return once any content differs from what it was at first, or at the last return."""
        while not await self._changed_in(self._contents.directories()):
            continue

    async def _changed_in(self, directories: set[str]) -> bool:
        """Whether a content differs; False where there are other directories to watch by now."""
        self.watched = frozenset(directories)
        stop = asyncio.Event()
        settled = False
        try:
            # Directories, not files, are watched: a file that an editor replaces stays watched.
            async for changes in awatch(
                *directories,
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
                    return True
                if self._contents.directories() != directories:
                    return False
        finally:
            stop.set()
        return False

    def contents(self) -> Digests:
        """The content of all source files as it is now."""
        return self._contents.now()
