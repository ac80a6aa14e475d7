"""What is installed is what was looked at: every lock names exact versions with their hashes, and nothing else.

`make audit` asks whether one of them is known to be unsafe, where the service that knows can be reached.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
LOCKS = sorted(REQUIREMENTS.glob("*.lock"))
PINNED = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>[^\s;]+)( ; .+)?")


def entries(lock: Path) -> list[str]:
    """The requirements of a lock, each with its hashes on one line."""
    text = lock.read_text("utf-8").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def versions(lock: Path) -> set[str]:
    """Each name with its version."""
    return {entry.split()[0] for entry in entries(lock)}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_entry_is_one_version_with_its_hashes(lock: Path) -> None:
    """No range, no URL, no index, no option: what a registry gives out later has no effect."""
    assert entries(lock)
    for entry in entries(lock):
        requirement, *hashes = entry.split(" --hash=")
        assert PINNED.fullmatch(requirement.strip()), entry
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one.strip()) for one in hashes), entry


def test_what_is_shipped_is_what_was_tested() -> None:
    """The daemon's lock is a part of the developers'."""
    assert versions(REQUIREMENTS / "runtime.lock") <= versions(REQUIREMENTS / "dev.lock")
