"""jinja2's home: a template and its values -> the bytes of a page. All is escaped; what is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FOLDER: Final = Path(__file__).parents[2] / "pages" / "templates"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """The page."""
    return _environment().get_template(template).render(values).encode()
