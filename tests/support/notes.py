"""What a test's plugin notes while the daemon runs: JSON lines in `notes.jsonl`, in the daemon's folder."""

from __future__ import annotations

import json
from typing import Any

from tests.support.daemon import Daemon, wait_until

SECONDS = 10.0


def notes(served: Daemon, name: str | None = None, **fields: Any) -> list[dict[str, Any]]:
    """Return what has been noted so far: of a name (the member `note`), and with these fields."""
    file = served.folder / "notes.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [
        line
        for line in found
        if name in (None, line["note"]) and all(line.get(field) == value for field, value in fields.items())
    ]


def wait_for_notes(served: Daemon, number: int, name: str | None, **fields: Any) -> list[dict[str, Any]]:
    """Wait until so many notes are there; return them."""
    wait_until(
        lambda: len(notes(served, name, **fields)) >= number,
        SECONDS,
        lambda: f"no {number} {name} {fields} in {notes(served)[-20:]}",
    )
    return notes(served, name, **fields)
