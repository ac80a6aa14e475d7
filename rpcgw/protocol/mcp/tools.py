"""Tools: MCP's view of a group's methods in one version. Pure; built once, when a generation is compiled.

Every method is a tool (T-01); settings tune how it is shown, never whether. Names, schemas and hints are settled here,
titles and descriptions when a language is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.kernel.codec import decode
from rpcgw.kernel.method import Method
from rpcgw.protocol.mcp.mirrors import KEYWORD, Mirror, mirrors_of
from rpcgw.protocol.mcp.schemas import Leniency, exact_arrays, inlined
from rpcgw.protocol.texts import Texts

LONGEST_PORTABLE_NAME: Final = 64
"""Several clients refuse longer names, some of them the whole server."""
_HINTS: Final = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


@record(frozen=True, slots=True)
class ToolSettings:
    """How a group's tools are shown and called: `tools.*`, `validation_errors`, `lenient_arguments`."""

    naming: Literal["dotted", "underscore"] = "dotted"
    refs: Literal["defs", "inline"] = "defs"
    output_arrays: Literal["widened", "exact"] = "widened"
    validation_errors: Literal["protocol", "tool"] = "protocol"
    lenient_arguments: bool = False
    page_size: int = 1000


@record(frozen=True, slots=True, eq=False)
class Tool:
    """One method as a tool: its name on the wire, its schemas as they are sent, its hints, what is checked before."""

    name: str
    method: Method
    input_schema: bytes
    output_schema: bytes | None
    hints: Mapping[str, bool]
    mirrors: tuple[Mirror, ...] = ()
    leniency: Leniency | None = None
    validation_errors: Literal["protocol", "tool"] = "protocol"


@record(frozen=True, eq=False)
class Toolbox:
    """The tools of one group and version: `listed` in order, `by_name` under each spelling that a call may use."""

    listed: tuple[Tool, ...] = ()
    by_name: Mapping[str, Tool] = field(default_factory=dict)

    @cached_property
    def usual(self) -> Mapping[str, Tool]:
        """Those whose calls are all in the body, open to everybody, and whose methods do not speak to their clients."""
        return {name: tool for name, tool in self.by_name.items() if _is_usual(tool)}

    def without(self, off: frozenset[str]) -> Toolbox:
        """The same without the tools of these methods."""
        by_name = {name: tool for name, tool in self.by_name.items() if tool.method.name not in off}
        return Toolbox(tuple(tool for tool in self.listed if tool.method.name not in off), by_name)


def _is_usual(tool: Tool) -> bool:
    method = tool.method
    return not (tool.mirrors or tool.leniency or method.scopes or method.content or method.signature.contexts)


def build(
    methods: Mapping[str, Method], settings: ToolSettings, own: Mapping[str, ToolSettings] = MappingProxyType({})
) -> tuple[Toolbox, list[Problem]]:
    """The tools of a group's methods, sorted by method name, and what keeps them from being served as they are.

    `own` holds the settings of the methods that differ from the group's.
    A call may spell `Catalog.search` as `Catalog_search` too, whichever of the two is listed, unless that name is a
    method's own.
    """
    problems: list[Problem] = []
    by_name: dict[str, Tool] = {}
    listed = []
    for name, method in sorted(methods.items()):
        tool = _tool(method, own.get(name, settings), problems)
        if tool.name in by_name:
            problems.append(_collision(tool, by_name[tool.name]))
            continue
        by_name[tool.name] = tool
        listed.append(tool)
    for tool in listed:
        for spelling in (tool.method.name, _underscored(tool.method.name)):
            by_name.setdefault(spelling, tool)
    return Toolbox(tuple(listed), by_name), problems


def descriptor(tool: Tool, group: str, texts: Texts, locale: str) -> dict[str, Any]:
    """A tool as `tools/list` shows it in a language; no null members, and a description that is never empty."""
    method = tool.method
    title = texts.title(group, method, locale) or tool.name
    hints: dict[str, Any] = {"title": title} if method.title else {}
    hints |= tool.hints
    shown: dict[str, Any] = {
        "name": tool.name,
        "title": title,
        "description": texts.description(group, method, locale) or title,
        "inputSchema": msgspec.Raw(_worded_input(tool, group, texts, locale)),
    }
    if tool.output_schema is not None:
        said = {"result": texts.result(group, method, locale)}
        shown["outputSchema"] = msgspec.Raw(_worded(tool.output_schema, said))
    if hints:
        shown["annotations"] = hints
    return shown


def _worded_input(tool: Tool, group: str, texts: Texts, locale: str) -> bytes:
    """The input schema with what catalogues say of parameters; a schema of the author's own is sent as it is."""
    method = tool.method
    if method.tool.input_schema is not None:
        return tool.input_schema
    return _worded(
        tool.input_schema, {param.name: texts.parameter(group, method, param.name, locale) for param in method.params}
    )


def _worded(schema: bytes, said: Mapping[str, str]) -> bytes:
    """A schema whose properties are described by `said`, where that says anything."""
    texts = {name: text for name, text in said.items() if text}
    if not texts:
        return schema
    read = decode(schema)
    properties = read.get("properties", {})
    for name in texts.keys() & properties.keys():
        if isinstance(properties[name], dict):
            properties[name] = {**properties[name], "description": texts[name]}
    return msgspec.json.encode(read)


_MIRRORED: Final = KEYWORD.encode()


def _tool(method: Method, settings: ToolSettings, problems: list[Problem]) -> Tool:
    name = method.name if settings.naming == "dotted" else _underscored(method.name)
    problems.extend(_name_problems(method, name))
    schema = decode(method.input_schema)
    mirrors, wrong = mirrors_of(schema) if _MIRRORED in method.input_schema else ((), ())
    problems.extend(Problem(method.place, "mcp-header", f"{method.name}: {text}") for text in wrong)
    return Tool(
        name,
        method,
        _input(method, schema, settings),
        _output(method, settings),
        {hint: value for mark, hint in _HINTS.items() if (value := getattr(method.tool, mark)) is not None},
        mirrors,
        Leniency(schema) if settings.lenient_arguments else None,
        settings.validation_errors,
    )


def _input(method: Method, schema: dict[str, Any], settings: ToolSettings) -> bytes:
    """A schema of the author's own is sent as it is."""
    if settings.refs == "defs" or method.tool.input_schema is not None:
        return method.input_schema
    return msgspec.json.encode(inlined(schema))


def _output(method: Method, settings: ToolSettings) -> bytes | None:
    if method.output_schema is None or (settings.refs == "defs" and settings.output_arrays == "widened"):
        return method.output_schema
    schema = decode(method.output_schema)
    if settings.output_arrays == "exact":
        schema = exact_arrays(schema)
    return msgspec.json.encode(inlined(schema) if settings.refs == "inline" else schema)


def _underscored(name: str) -> str:
    return name.replace(".", "_")


def _name_problems(method: Method, name: str) -> list[Problem]:
    """The kernel holds names to T-02 already; what is left is what several clients do not take."""
    if len(name) <= LONGEST_PORTABLE_NAME:
        return []
    text = (
        f"the tool name {name!r} has {len(name)} characters; several clients refuse more than {LONGEST_PORTABLE_NAME}"
    )
    return [Problem(method.place, "tool-name-long", text, "a shorter alias of the procedure", "warning")]


def _collision(tool: Tool, other: Tool) -> Problem:
    text = f"{tool.method.name} and {other.method.name} ({other.method.place}) would both be the tool {tool.name}"
    return Problem(tool.method.place, "tool-collision", text, "rename one of them, or set tools.naming: dotted")
