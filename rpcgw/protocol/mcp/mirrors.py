"""Parameters that the client repeats in `Mcp-Param-*` headers (`x-mcp-header`, MCP 2026-07-28). Pure.

A gateway in front may route on such a header without reading the body; so the two must always say the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rpcgw.api.records import record
from rpcgw.exchange import Headers
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.faults import HEADER_MISMATCH, Fault
from rpcgw.protocol.mcp.schemas import Schema, subschemas

KEYWORD: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WHOLE: Final = re.compile(r"([+-]?[0-9]{1,40})(?:\.0*)?")


@record(frozen=True, slots=True)
class Mirror:
    """One annotated parameter: the chain of `properties` names that leads to it, its header, its type."""

    path: tuple[str, ...]
    label: str
    kind: str

    @property
    def header(self) -> str:
        """The header's name, in lower case."""
        return fields.PARAM + self.label.lower()


def mirrors_of(schema: Schema) -> tuple[tuple[Mirror, ...], tuple[str, ...]]:
    """The annotations of an input schema, and what is wrong with them, in words for the author.

    A client must leave out a tool whose annotations break these rules, so they are checked when plugins are compiled.
    """
    sound, wrong = [], []
    for path, part in _properties(schema, ()):
        if KEYWORD in part:
            fault = _fault(part)
            if fault:
                wrong.append(f"{'.'.join(path)}: {fault}")
            else:
                sound.append(Mirror(path, part[KEYWORD], part["type"]))
    if _count(schema) > len(sound) + len(wrong):
        wrong.append(f"{KEYWORD} stands where no chain of properties leads to it")
    names = Counter(mirror.header for mirror in sound)
    wrong.extend(f"{KEYWORD}: {mirror.label!r} is used twice" for mirror in sound if names[mirror.header] > 1)
    return tuple(sound), tuple(wrong)


def _properties(schema: Schema, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Schema]]:
    properties = schema.get("properties")
    for name, part in properties.items() if type(properties) is dict else ():
        if type(part) is dict:
            yield (*path, name), part
            yield from _properties(part, (*path, name))


def _fault(part: Schema) -> str:
    label = part[KEYWORD]
    if type(label) is not str or not _TOKEN.fullmatch(label):
        return f"{KEYWORD} must be the name of a header field"
    if part.get("type") not in ("string", "integer", "boolean"):
        return f"{KEYWORD} needs a parameter that is exactly a string, an integer or a boolean"
    return ""


def _count(schema: Any) -> int:
    if type(schema) is not dict:
        return 0
    return (KEYWORD in schema) + sum(map(_count, subschemas(schema)))


def check(mirrors: Sequence[Mirror], arguments: dict[str, Any], headers: Headers) -> Fault | None:
    """None where each header says what its argument says; an absent or null argument has no header.

    An argument of the wrong type passes: the gate has better words for it.
    """
    for mirror in mirrors:
        value = _at(arguments, mirror.path)
        found = headers.getall(mirror.header, [])
        if value is None:
            if found:
                return _mismatch(mirror, "is sent without its argument")
        elif len(found) != 1:
            return _mismatch(mirror, "is sent more than once" if found else "is missing")
        elif not _same(mirror.kind, value, fields.decoded(found[0])):
            return _mismatch(mirror, "does not say what its argument says")
    return None


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        arguments = arguments.get(name) if type(arguments) is dict else None
    return arguments


def _same(kind: str, value: Any, said: str | None) -> bool:
    if said is None:
        return False
    if kind == "boolean":
        return type(value) is not bool or said == ("true" if value else "false")
    if kind == "integer":
        whole = _WHOLE.fullmatch(said)
        return type(value) not in (int, float) or (whole is not None and int(whole[1]) == value)
    return type(value) is not str or said == value


def _mismatch(mirror: Mirror, what: str) -> Fault:
    return Fault(HEADER_MISMATCH, f"Header mismatch: Mcp-Param-{mirror.label} {what} ({'.'.join(mirror.path)})")
