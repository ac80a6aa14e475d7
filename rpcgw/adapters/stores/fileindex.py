"""What lives in a directory of this host, and until when: an empty file for each member, its time stamp the end.

To count is to look at a directory: no file is opened, and nothing of the pool's values is read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress


class FileIndex:
    """The members of indexes below a directory. Raises `OSError`. Safe in threads and over processes.

    `now` is a clock in seconds since the epoch.
    """

    def __init__(self, directory: str, now: Callable[[], float]) -> None:
        self._directory = directory
        self._now = now

    def enlist(self, index: str, member: str, ttl: float) -> None:
        """Note that a member lives `ttl` seconds from now, or lives on so long."""
        path = self._path(index, member)
        end = int((self._now() + ttl) * 1e9)
        try:
            os.utime(path, ns=(end, end))
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.utime(descriptor, ns=(end, end))
            finally:
                os.close(descriptor)

    def strike(self, index: str, member: str) -> None:
        """Take a member out; one that is not there is out already."""
        with suppress(FileNotFoundError):
            os.unlink(self._path(index, member))

    def census(self, index: str) -> tuple[int, int]:
        """How many live, and of how many the time was over; those are told to one asker and are gone."""
        now = self._now()
        living = lapsed = 0
        with suppress(FileNotFoundError), os.scandir(self._folder(index)) as found:
            for file in found:
                try:
                    if file.stat().st_mtime > now:
                        living += 1
                    else:
                        os.unlink(file.path)
                        lapsed += 1
                except FileNotFoundError:
                    # Another process was faster: it tells.
                    continue
        return living, lapsed

    def _folder(self, index: str) -> str:
        return f"{self._directory}/{_name(index)}"

    def _path(self, index: str, member: str) -> str:
        return f"{self._folder(index)}/{_name(member)}"


def _name(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
