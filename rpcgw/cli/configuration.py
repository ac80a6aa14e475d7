"""The effective configuration as people and programs read it: YAML with the origin of each value beside it, or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from rpcgw.config.effective import Setting
from rpcgw.config.nodes import dotted
from rpcgw.config.parsing import core_value

_INDENT = "    "
_WIDEST = 60


def as_yaml(settings: Sequence[Setting], *, origins: bool) -> list[str]:
    """Lines of YAML, as a gateway file has them; with a comment that says where each value came from."""
    lines: list[tuple[str, str]] = []
    open_sections: tuple[str, ...] = ()
    for setting in settings:
        path = tuple(str(step) for step in setting.path)
        shared = _shared(open_sections, path[:-1])
        lines += [(f"{_INDENT * depth}{_key(path[depth])}:", "") for depth in range(shared, len(path) - 1)]
        lines.append((f"{_INDENT * (len(path) - 1)}{_key(path[-1])}: {_value(setting.value)}", setting.origin))
        open_sections = path[:-1]
    if not origins:
        return [line for line, _ in lines]
    width = max((len(line) for line, origin in lines if origin and len(line) <= _WIDEST), default=0)
    return [f"{line.ljust(width)}  # {origin}" if origin else line for line, origin in lines]


def as_records(settings: Iterable[Setting]) -> list[dict[str, object]]:
    """One object for each setting."""
    return [
        {
            "setting": dotted(setting.path),
            "value": setting.value,
            "origin": setting.origin,
            "file": setting.place.file if setting.place else None,
            "line": setting.place.line if setting.place else None,
        }
        for setting in settings
    ]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _key(text: str) -> str:
    plain = text.isascii() and text.replace("_", "a").replace(".", "a").replace("-", "a").isalnum()
    return text if plain and isinstance(core_value(text), str) else msgspec.json.encode(text).decode()


def _value(value: object) -> str:
    """Any value in flow style: JSON, but `~` for nothing."""
    return "~" if value is None else msgspec.json.encode(value).decode()
