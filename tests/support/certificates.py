"""Two certificates for 127.0.0.1, each its own authority, as tests/support/tls has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).with_name("tls")


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files."""

    cert: Path
    key: Path


FIRST, SECOND = (Certificate(_FOLDER / f"{name}.pem", _FOLDER / f"{name}-key.pem") for name in ("first", "second"))
