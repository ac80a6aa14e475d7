"""The files of a configuration as one snapshot: read once, handed to another process as JSON, compiled there.

Names are kept as the user gave them (relative to where the command was typed, or absolute): problems show them so.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Protocol

from rpcgw.api.records import record

_NEVER_SEEN: Final = "it was not there when the configuration was read"
_ABSENT: Final = frozenset({_NEVER_SEEN, os.strerror(errno.ENOENT).lower()})


class Unreadable(Exception):
    """A file or directory cannot be read; the text is the reason."""

    @property
    def absent(self) -> bool:
        """Whether there is nothing of that name."""
        return str(self) in _ABSENT


class Reader(Protocol):
    """Where configuration comes from: a disk, or a snapshot of one. `base` is what relative names are relative to."""

    @property
    def base(self) -> str:
        """An absolute directory."""

    def text(self, name: str) -> str:
        """A file's text. Raises `Unreadable`."""

    def listing(self, name: str) -> list[str]:
        """The names of the files of a directory, sorted. Raises `Unreadable`."""


@record(frozen=True, slots=True)
class Sources:
    """A snapshot: texts and listings by name, and why something could not be read."""

    root: str
    base: str
    files: Mapping[str, str] = field(default_factory=dict)
    listings: Mapping[str, list[str]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """JSON values that `from_json` takes; they hold secrets where the files do."""
        return {
            "root": self.root,
            "base": self.base,
            "files": dict(self.files),
            "listings": dict(self.listings),
            "failures": dict(self.failures),
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Sources:
        """The snapshot that `as_json` described."""
        return Sources(**value)

    def paths(self) -> tuple[str, ...]:
        """Every file and directory that was read or looked for, as absolute paths."""
        return tuple(absolute(self.base, name) for name in sorted({*self.files, *self.listings, *self.failures}))

    def text(self, name: str) -> str:
        """A file of the snapshot. Raises `Unreadable`."""
        if name in self.files:
            return self.files[name]
        raise Unreadable(self.failures.get(name, _NEVER_SEEN))

    def listing(self, name: str) -> list[str]:
        """A directory of the snapshot. Raises `Unreadable`."""
        if name in self.listings:
            return self.listings[name]
        raise Unreadable(self.failures.get(name, _NEVER_SEEN))


class Recorder:
    """Reads a disk and remembers what it read, so that it can be read again from memory."""

    def __init__(self, base: str | None = None) -> None:
        self._base = base or str(Path.cwd())
        self._files: dict[str, str] = {}
        self._listings: dict[str, list[str]] = {}
        self._failures: dict[str, str] = {}

    @property
    def base(self) -> str:
        """What relative names are relative to."""
        return self._base

    def text(self, name: str) -> str:
        """A file's text, in UTF-8. Raises `Unreadable`."""
        try:
            self._files[name] = Path(self._base, name).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise self._failed(name, error) from None
        return self._files[name]

    def listing(self, name: str) -> list[str]:
        """The names of a directory's files, sorted. Raises `Unreadable`."""
        try:
            found = [entry.name for entry in os.scandir(Path(self._base, name)) if entry.is_file()]
        except (OSError, ValueError) as error:
            raise self._failed(name, error) from None
        self._listings[name] = sorted(found)
        return self._listings[name]

    def snapshot(self, root: str) -> Sources:
        """All that was read so far."""
        return Sources(root, self._base, self._files, self._listings, self._failures)

    def _failed(self, name: str, error: OSError | ValueError) -> Unreadable:
        reason = _reason(error)
        self._failures[name] = reason
        return Unreadable(reason)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be opened").lower()
    return "it has an impossible name"


def beside(file: str, path: str) -> str:
    """A path that a file names, as seen from where the file itself is named."""
    return os.path.normpath(os.path.join(os.path.dirname(file), path))  # noqa: PTH118, PTH120 -- Path would drop `./..`


def absolute(base: str, name: str) -> str:
    """A name as an absolute path."""
    return os.path.normpath(os.path.join(base, name))  # noqa: PTH118 -- purely textual, no disk
