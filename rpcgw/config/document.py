"""A file that satisfies its schema: values by path, and where each stands. Pure."""

from __future__ import annotations

import re
from typing import Any

from rpcgw.api.problems import Place, Problem
from rpcgw.config.nodes import Path, Table, dotted, find, place_of, plain, walk
from rpcgw.config.sources import beside

_SECRET = re.compile(r"passw|secret|token|api_?key|^pools$|^config$|^pool$|^async$|^jwt$", re.IGNORECASE)


def is_secret(path: Path) -> bool:
    """Whether a value may be one that must not be shown: a token, a URL with a password, a plugin's setting.

    A limit's `token` is a rate.
    """
    return "limits" not in path and any(isinstance(step, str) and _SECRET.search(step) for step in path)


class Document:
    """One validated file. Values are plain JSON ones; what is absent has the default that the caller names."""

    __slots__ = ("_plain", "file", "root")

    def __init__(self, file: str, root: Table) -> None:
        self.file = file
        self.root = root
        self._plain: dict[str, Any] = plain(root)

    def get(self, *path: str | int, default: Any = None) -> Any:
        """The value at a path, or `default`."""
        found: Any = self._plain
        for step in path:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                return default
        return found

    def has(self, *path: str | int) -> bool:
        """Whether something stands at a path."""
        return find(self.root, path) is not None

    def broken(self, path: Path) -> frozenset[str]:
        """Which options of the mapping at a path were wrong, and have been reported already."""
        found = find(self.root, path)
        return found.broken if isinstance(found, Table) else frozenset()

    def place(self, *path: str | int) -> Place:
        """Where a path's key stands, or its nearest ancestor."""
        return place_of(self.root, path)

    def beside(self, path: Path, given: str) -> str:
        """A file's path that stands at a path, as seen from the file where it stands."""
        return beside(self.place(*path).file, given)

    def places(self) -> dict[str, Place]:
        """Where everything stands, by dotted path."""
        return {dotted(path): place_of(self.root, path) for path, _ in walk(self.root) if path}

    def problem(self, path: Path, code: str, text: str, hint: str = "") -> Problem:
        """An error at a path."""
        return Problem(self.place(*path), code, text, hint)

    def warning(self, path: Path, code: str, text: str, hint: str = "") -> Problem:
        """A warning at a path."""
        return Problem(self.place(*path), code, text, hint, "warning")
