"""`{name}` in a template (W-09): which names stand in it. Pure; the page fills them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z0-9_-]+)\}")


def placeholders(template: str) -> list[str]:
    """The names in a template, each once, in order."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def filled(template: str, values: Mapping[str, str], otherwise: str = "") -> str:
    """A template with values in it, in one pass: what stands in a value is not looked at again."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], otherwise), template)
