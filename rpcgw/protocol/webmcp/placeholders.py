"""`{name}` in a template (W-09): which names stand in it. Pure; templates are filled in the page."""

from __future__ import annotations

import re
from typing import Final

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z0-9_-]+)\}")


def placeholders(template: str) -> list[str]:
    """The names in a template, each once, in order."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))
