"""The inputs that are kept, a folder for each parser."""

from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")


def entries(parser: str) -> list[Path]:
    """Those of one parser, in order."""
    return sorted((CORPUS / parser).iterdir())
