"""What well-known clients make of a list of tools: which of them would drop, mangle or refuse what. Pure.

The rules are what clients and the models behind them enforce beyond the protocol, as their users reported it; where a
setting mends a finding, the rule names it. A rule that rests on a default of ours is about a choice (`Rule.choice`);
all others are about tools that their authors can mend.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rpcgw.api.records import record
from rpcgw.protocol.mcp.schemas import subschemas
from rpcgw.protocol.mcp.tools import LONGEST_PORTABLE_NAME

Descriptor = Mapping[str, Any]
"""A tool as `tools/list` shows it."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_COMPOSITION: Final = ("anyOf", "oneOf", "allOf", "not", "if", "enum", "const", "$ref")
_LONGEST_DESCRIPTION: Final = 1024
_MOST_TOOLS: Final = 128
_FEW_TOOLS: Final = 40
_HEAVY: Final = 100_000
"""Bytes of a whole list: about 25 000 tokens, from which on Claude Code warns."""


@record(frozen=True, slots=True)
class Rule:
    """What some clients enforce on each tool.

    `finds` gives what is wrong with a tool, said shortly; `clients` and `effect` say who does what about it. `setting`
    and `value` mend it, where something does, else `advice`.
    """

    code: str
    finds: Callable[[Descriptor], Iterable[str]]
    text: str
    clients: tuple[str, ...]
    effect: str
    setting: str = ""
    value: str = ""
    advice: str = ""

    @property
    def choice(self) -> bool:
        """Whether a setting mends it: then the operator may want it so."""
        return bool(self.setting)


@record(frozen=True, slots=True)
class Finding:
    """Tools that a rule finds fault with, by name, each with what is wrong ("" where the rule says it all)."""

    rule: Rule
    tools: Mapping[str, str]


@record(frozen=True, slots=True)
class Budget:
    """What some clients enforce on a whole list: no more than `most` of what `measures` counts.

    `mild` says that little is lost beyond it.
    """

    code: str
    measures: Callable[[Sequence[Descriptor]], int]
    most: int
    unit: str
    clients: tuple[str, ...]
    effect: str
    advice: str
    mild: bool = False


def _schemas(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and all inside it, with the parameter that each belongs to."""
    if type(schema) is not dict:
        return
    yield path, schema
    named = schema.get("properties")
    properties = named if type(named) is dict else {}
    for name, inner in properties.items():
        yield from _schemas(inner, path or name)
    for inner in subschemas({keyword: value for keyword, value in schema.items() if keyword != "properties"}):
        yield from _schemas(inner, path)


def _both(tool: Descriptor) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _schemas(tool["inputSchema"])
    yield from _schemas(tool.get("outputSchema"))


def _dots(tool: Descriptor) -> Iterator[str]:
    if "." in tool["name"]:
        yield ""


def _letters(tool: Descriptor) -> Iterator[str]:
    if not _NAME.fullmatch(tool["name"].replace(".", "")):
        yield ""


def _long_name(tool: Descriptor) -> Iterator[str]:
    if len(tool["name"]) > LONGEST_PORTABLE_NAME:
        yield f"{len(tool['name'])} characters"


def _references(tool: Descriptor) -> Iterator[str]:
    if any("$ref" in schema for _, schema in _schemas(tool["inputSchema"])):
        yield ""


def _root_keywords(tool: Descriptor) -> Iterator[str]:
    yield from (keyword for keyword in _COMPOSITION if keyword in tool["inputSchema"])


def _property_names(tool: Descriptor) -> Iterator[str]:
    for _, schema in _schemas(tool["inputSchema"]):
        named = schema.get("properties")
        if type(named) is dict:
            yield from (name for name in named if not _PROPERTY.fullmatch(name))


def _bare_arrays(tool: Descriptor) -> Iterator[str]:
    for path, schema in _both(tool):
        if _is_array(schema.get("type")) and not schema.keys() & {"items", "prefixItems"}:
            yield path


def _is_array(declared: object) -> bool:
    return declared == "array" or (type(declared) is list and "array" in declared)


def _type_lists(tool: Descriptor) -> Iterator[str]:
    for path, schema in _schemas(tool["inputSchema"]):
        declared = schema.get("type")
        if type(declared) is list and len([name for name in declared if name != "null"]) > 1:
            yield path


def _no_description(tool: Descriptor) -> Iterator[str]:
    text = tool.get("description", "")
    if not text.strip() or text in (tool["name"], tool.get("title")):
        yield ""


def _long_description(tool: Descriptor) -> Iterator[str]:
    length = len(tool.get("description", ""))
    if length > _LONGEST_DESCRIPTION:
        yield f"{length} characters"


_CLAUDE: Final = ("claude.ai", "Claude Desktop")
_OPENAI: Final = ("OpenAI Responses API", "ChatGPT", "Codex")

RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "client-dotted-name",
        _dots,
        "a dot in the name",
        (*_CLAUDE, *_OPENAI),
        "take letters, digits, _ and - only, and may drop the whole server",
        setting="tools.naming",
        value="underscore",
    ),
    Rule(
        "client-name",
        _letters,
        "a character in the name that is no letter, digit, _ or -",
        (*_CLAUDE, *_OPENAI, "VS Code"),
        "may drop the whole server",
        advice="give the procedure an alias",
    ),
    Rule(
        "client-name-length",
        _long_name,
        f"a name of more than {LONGEST_PORTABLE_NAME} characters",
        (*_CLAUDE, *_OPENAI, "Gemini CLI"),
        "refuse the tool or cut its name",
        advice="give the procedure a shorter alias",
    ),
    Rule(
        "client-references",
        _references,
        "$ref in the input schema",
        ("Gemini CLI", "Copilot CLI", "opencode", "Claude managed agents"),
        "refuse the schema",
        setting="tools.refs",
        value="inline",
    ),
    Rule(
        "client-root-keyword",
        _root_keywords,
        "a keyword beside type, properties and required at the root of the input schema",
        ("Claude Code", "Claude API", "OpenAI Responses API"),
        "drop the tool without a word",
        advice="state alternatives inside one parameter",
    ),
    Rule(
        "client-property-name",
        _property_names,
        "a parameter whose name has other characters than letters, digits, _, . and -, or more than 64",
        ("Claude Code", "Claude API"),
        "refuse every request of the session",
        advice="rename the parameter",
    ),
    Rule(
        "client-array-items",
        _bare_arrays,
        "an array that does not say what its items are",
        ("VS Code", "OpenAI Responses API", "Gemini CLI"),
        "refuse the tool, some of them all tools",
        advice="annotate list[...] with its item's type",
    ),
    Rule(
        "client-type-union",
        _type_lists,
        "a list of several types for one value",
        ("Gemini CLI", "MCP Inspector --strict"),
        "refuse or report the schema",
        advice="write the alternatives as anyOf",
    ),
    Rule(
        "client-no-description",
        _no_description,
        "no description beyond the name",
        ("clients",),
        "leave the model to guess from the name",
        advice="write a docstring, or a text in a catalogue",
    ),
    Rule(
        "client-long-description",
        _long_description,
        f"a description of more than {_LONGEST_DESCRIPTION} characters",
        ("OpenAI Responses API", "Codex"),
        "refuse or cut it",
        advice="shorten it; details fit into the parameters' descriptions",
    ),
)


def _weight(tools: Sequence[Descriptor]) -> int:
    return len(msgspec.json.encode(tools))


BUDGETS: Final[tuple[Budget, ...]] = (
    Budget(
        "client-many-tools",
        len,
        _MOST_TOOLS,
        "tools",
        ("VS Code", "OpenAI Responses API"),
        "take no more than 128 at once, those of other servers included",
        "split the group in two",
    ),
    Budget(
        "client-several-tools",
        len,
        _FEW_TOOLS,
        "tools",
        ("Cursor",),
        "may send only the first 40 to the model",
        "split the group in two",
        mild=True,
    ),
    Budget(
        "client-heavy-list",
        _weight,
        _HEAVY,
        "bytes",
        ("Claude Code",),
        "warns of lists that fill the context, at about 25 000 tokens",
        "split the group in two, or shorten descriptions",
    ),
)
"""From the largest to the smallest of one measure: only the first that is exceeded speaks."""


def lint(tools: Sequence[Descriptor]) -> list[Finding]:
    """What the rules find in a list of tools, by rule."""
    found = []
    for rule in RULES:
        wrong = {tool["name"]: list(dict.fromkeys(rule.finds(tool))) for tool in tools}
        named = {name: ", ".join(filter(None, faults)) for name, faults in wrong.items() if faults}
        if named:
            found.append(Finding(rule, named))
    return found


def exceeded(tools: Sequence[Descriptor]) -> list[tuple[Budget, int]]:
    """The budgets that a list exceeds, each with what was measured; of several for one measure, the largest."""
    found: dict[Callable[[Sequence[Descriptor]], int], tuple[Budget, int]] = {}
    for budget in BUDGETS:
        measured = budget.measures(tools)
        if measured > budget.most and budget.measures not in found:
            found[budget.measures] = (budget, measured)
    return list(found.values())
