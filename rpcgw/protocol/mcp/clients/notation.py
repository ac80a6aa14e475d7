"""Small trees of plain values as JSON, TOML and YAML text for a person to paste. Pure.

Only what client configurations are made of: mappings, lists of mappings or of scalars, text, numbers and booleans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

Format = Literal["json", "toml", "yaml"]
Tree = Mapping[str, Any]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NO_TEXT: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that some reader of YAML takes for something else than text."""


def json_text(tree: Any) -> str:
    """Indented JSON (RFC 8259) with a line end."""
    return msgspec.json.format(msgspec.json.encode(tree), indent=2).decode() + "\n"


def compact(tree: Any) -> str:
    """JSON without blanks, for links and command lines."""
    return msgspec.json.encode(tree).decode()


def toml_text(tree: Tree) -> str:
    """TOML 1.0: `tree` holds tables of tables, `[outer.inner]`; what is nested deeper is written inline."""
    return "\n".join(
        f"[{_toml_key(outer)}.{_toml_key(inner)}]\n{''.join(_toml_pairs(entries))}"
        for outer, tables in tree.items()
        for inner, entries in tables.items()
    )


def yaml_text(tree: Tree) -> str:
    """YAML 1.2 in block style; text is quoted wherever a reader could take it for something else."""
    return "".join(_yaml_block(tree, ""))


TEXT: Final[Mapping[Format, Callable[[Tree], str]]] = {"json": json_text, "toml": toml_text, "yaml": yaml_text}


def _toml_pairs(entries: Tree) -> Iterator[str]:
    for key, value in entries.items():
        yield f"{_toml_key(key)} = {_toml_value(value)}\n"


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else compact(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items()) + " }"
    return compact(value)  # text, booleans, integers and lists of them look the same in both


def _yaml_block(tree: Tree, indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_yaml_scalar(key)}:\n"
            yield from _yaml_block(value, f"{indent}  ")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{indent}{_yaml_scalar(key)}:\n"
            yield from _yaml_items(value, f"{indent}  ")
        else:
            yield f"{indent}{_yaml_scalar(key)}: {_yaml_scalar(value)}\n"


def _yaml_items(items: list[Tree], indent: str) -> Iterator[str]:
    for item in items:
        first, *rest = _yaml_block(item, f"{indent}  ")
        yield f"{indent}- {first.lstrip()}"
        yield from rest


def _yaml_scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXT:
        return value
    return compact(value)  # JSON is YAML
