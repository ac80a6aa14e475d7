"""What a client says that it can do (MCP, ClientCapabilities). Pure."""

from __future__ import annotations

from typing import Any, Final

MOST: Final = 64
"""How many names are kept of a client, and of how many characters; what it sends is not ours to bound otherwise."""


def declared(capabilities: Any) -> tuple[str, ...]:
    """The names of capabilities, and with a dot those of their parts: `elicitation`, `elicitation.url`."""
    if type(capabilities) is not dict:
        return ()
    names: list[str] = []
    for name, parts in capabilities.items():
        names.append(name)
        names += [f"{name}.{part}" for part in parts] if type(parts) is dict else []
    return tuple(name for name in names if len(name) <= MOST)[:MOST]
