"""`server.watch`: telling the supervisor that what it serves has changed on disk. Standard library only.

It looks every second instead of asking the system to be told: that works on every file system, sees a ConfigMap's
link being turned, and costs a `stat` a file, in a thread. Only content counts, and only once it has come to rest.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rpcgw.daemon.contents import Contents, Digests, differing
from rpcgw.daemon.lines import Lines

LOOK_EVERY = 1.0
"""Seconds between two looks; a change is told when two in a row have seen the same."""
UNSTEADY = 3
"""A file that changes during so many reloads in a row is changed by them, and stops counting."""
NAMED = 3
COARSE = 0.02
"""Seconds by which the time of a file may be behind the clock."""


class Lookout:
    """Follows what generations are compiled from.

    Before a generation is compiled say `begins`, and then either `follow` or `refused`; whatever changes after `begins`
    is told to `changed`, with the names of some files.
    """

    def __init__(self, lines: Lines, changed: Callable[[str], None]) -> None:
        self._lines = lines
        self._changed = changed
        self._contents: Contents | None = None
        self._seen: Digests = {}
        self._since = 0.0
        self._reading = False
        self._restless: Counter[str] = Counter()

    async def begins(self) -> None:
        """What is on disk now, or comes later, is what the next generation reads."""
        self._since = time.time() - COARSE
        self._reading = True
        if self._contents is not None:
            self._seen = await asyncio.to_thread(self._contents.now)

    async def follow(self, paths: Sequence[str], besides: Sequence[str] = ()) -> None:
        """This is what the generation was made of; nothing, if it is not to be watched."""
        if not paths:
            self._contents, self._seen, self._reading = None, {}, False
            return
        contents, before = Contents(paths, besides), self._seen if self._contents is not None else {}
        read, now = await asyncio.to_thread(_as_read, contents, before, self._since)
        self._contents, self._seen, self._reading = contents, self._steady(read, now), False

    async def refused(self, files: Sequence[str]) -> None:
        """What keeps it from serving stands in these files: mending one of them is a change."""
        self._reading = False
        if self._contents is not None:
            contents = Contents([*self._contents.paths, *filter(None, files)], self._contents.besides)
            self._seen = {**await asyncio.to_thread(contents.now), **self._seen}
            self._contents = contents

    async def run(self) -> None:
        """Look on."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            contents, seen = self._contents, self._seen
            if contents is None or self._reading:
                continue
            now = await asyncio.to_thread(contents.now)
            while now != seen:
                await asyncio.sleep(LOOK_EVERY)
                last, now = now, await asyncio.to_thread(contents.now)
                if last == now:
                    break
            # A reload that has begun meanwhile reads what is there, and looks for itself.
            current = contents is self._contents and seen is self._seen and not self._reading
            if now != seen and current:
                self._seen = now
                self._changed(f"changed on disk: {_named(differing(seen, now))}")

    def _steady(self, before: Digests, now: Digests) -> Digests:
        """Without the files that every reload changes, which would make reloads without end."""
        moved = differing(before, now)
        self._restless = Counter({path: self._restless[path] + 1 for path in moved})
        given_up = [path for path in moved if self._restless[path] >= UNSTEADY]
        for path in given_up:
            self._lines(
                "watch.unsteady", level="warning", path=path, text="each reload changes it: it no longer counts"
            )
        return {**before, **{path: now[path] for path in given_up if path in now}}


def _as_read(contents: Contents, before: Digests, since: float) -> tuple[Digests, Digests]:
    """What was read, as far as can be known, and what is there now.

    Of a file that was not looked at before only its time can say whether it is still as it was read.
    """
    now = contents.now()
    read = {
        path: before.get(path, digest) for path, digest in now.items() if path in before or not _written(path, since)
    }
    return read, now


def _written(path: str, since: float) -> bool:
    try:
        return Path(path).stat().st_ctime >= since
    except OSError:
        return True


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
