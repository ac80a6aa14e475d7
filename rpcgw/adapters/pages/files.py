"""The static files of pages, and the renderer, which is loaded with the first page."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from rpcgw.endpoints.console import Asset, Pages

_ROOT: Final = Path(__file__).parents[2] / "pages"
_MEDIA_TYPES: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


def pages() -> Pages:
    """What the console is made with. The files are read here, once."""
    found = sorted(path for path in (_ROOT / "static").iterdir() if path.suffix in _MEDIA_TYPES)
    return Pages(_render, {path.name: _asset(path) for path in found})


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    name = f"{path.stem}.{sha256(body).hexdigest()[:16]}{path.suffix}"
    return Asset(name, body, _MEDIA_TYPES[path.suffix])


def _render(template: str, values: Mapping[str, Any]) -> bytes:
    from rpcgw.adapters.pages.templates import render  # noqa: PLC0415 -- jinja2 is loaded with the first page

    return render(template, values)
