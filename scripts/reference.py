"""Writes docs/reference/ from the code: settings, routes, problems, errors, metrics, events, commands, names to import.

reference.py            write the pages
reference.py --check    say which pages are stale, and end with 1 where any is
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

import rpcgw
import rpcgw.testing
from rpcgw.adapters.telemetry.families import FAMILIES
from rpcgw.adapters.telemetry.slotfile import COUNTER, HISTOGRAM
from rpcgw.api import webmcp
from rpcgw.api.errors import RpcError
from rpcgw.api.events import EVENT_NAMES
from rpcgw.cli.commands import COMMANDS, cli
from rpcgw.config.codes import CODES
from rpcgw.config.validation import schema
from scripts.problem_codes import CLIENTS, PLUGINS, TOOLS

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Written by scripts/reference.py: change the code, then `make reference`. -->\n"
SHORT_KINDS = {COUNTER: "counter", HISTOGRAM: "histogram"}


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def code(value: object) -> str:
    """Something as code."""
    return f"`{value}`"


# -- settings and routes


@dataclasses.dataclass(frozen=True)
class Setting:
    """One option of a schema by its dotted path; `*` stands for a name of the user's, or an item of a list."""

    path: str
    kind: str
    default: str
    text: str


def settings(name: str) -> Iterator[Setting]:
    """Every option of a schema, in its order."""
    whole = schema(name)
    yield from _settings(whole, whole.get("$defs", {}), "")


def _settings(part: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[Setting]:
    for key, found in _parts(part):
        inner = _resolved(found, definitions)
        own = f"{path}.{key}" if path else key
        if key != "*" or "description" in inner:
            yield Setting(own, _kind(inner), _default(inner), inner.get("description", ""))
        yield from _settings(inner, definitions, own)


def _parts(part: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from part.get("properties", {}).items()
    for inner in (part.get("additionalProperties"), part.get("items")):
        if isinstance(inner, dict):
            yield "*", inner


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part with what it refers to; what it says itself goes before."""
    return {**definitions[part["$ref"].rpartition("/")[2]], **part} if "$ref" in part else part


def _kind(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return ", ".join(code(json.dumps(value).strip('"')) for value in part["enum"])
    kinds = part.get("type", "any")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)


def _default(part: Mapping[str, Any]) -> str:
    return code(json.dumps(part["default"], ensure_ascii=False)) if "default" in part else ""


def settings_page() -> str:
    """gateway.yaml."""
    rows = ([code(s.path), s.kind, s.default, s.text] for s in settings("gateway"))
    return (
        "# Settings\n\nWhat may stand in `gateway.yaml`. `*` stands for a name that you choose, "
        "or for an item of a list.\n"
        "The file `gateway.yaml.example` shows them all in their places.\n"
        "`rpcgw check --print-config --origins` says what is in effect, and where it was said.\n\n"
        + table(["option", "type", "default", "what it says"], rows)
    )


def routes_page() -> str:
    """routes.yaml and catalogues."""
    parts = ["# Routes and texts\n\n"]
    for name, title in (("routes", "routes.yaml"), ("translations", "rpc.&lt;locale&gt;.yaml")):
        rows = ([code(s.path), s.kind, s.default, s.text] for s in settings(name))
        said = schema(name)["description"]
        parts.append(f"## {title}\n\n{said}\n\n{table(['option', 'type', 'default', 'what it says'], rows)}\n")
    return "".join(parts)


# -- problems, errors, metrics, events


def problems_page() -> str:
    """The codes of problems."""
    parts = [
        "# Problems\n\nWhat stands in brackets in a problem of `rpcgw check` and `rpcgw serve`. Codes are stable.\n"
    ]
    heads = {
        "Configuration": CODES,
        "Plugins and texts": PLUGINS,
        "Tools of web pages": TOOLS,
        "What well-known clients make of tools": CLIENTS,
    }
    for head, codes in heads.items():
        rows = ([code(name), text] for name, text in sorted(codes.items()))
        parts.append(f"\n## {head}\n\n{table(['code', 'what it means'], rows)}")
    return "".join(parts)


def errors_page() -> str:
    """The errors that clients see."""
    kinds = [found for found in _public().values() if isinstance(found, type) and issubclass(found, RpcError)]
    codes = {"ApplicationError": "yours, outside -32768..-32000", "ServerError": "-32000, or yours of -32099..-32000"}
    rows = (
        [code(kind.__name__), codes.get(kind.__name__, str(kind.code)), _first(kind)]
        for kind in sorted(kinds, key=lambda kind: (-kind.code, kind.__name__))
    )
    return (
        "# Errors\n\nWhat a client sees as an error's `code`. A procedure raises one of these, or a class that derives "
        "from one.\nIn `prod` an unforeseen error has a text that says nothing; `dev` and `test` show everything.\n\n"
        + table(["class", "code", "when"], rows)
    )


def metrics_page() -> str:
    """The metrics."""
    rows = (
        [
            code(family.name),
            SHORT_KINDS.get(family.kind, "gauge"),
            ", ".join(map(code, family.labels)),
            family.text,
        ]
        for family in FAMILIES.values()
    )
    return "# Metrics\n\nWhat `/metrics` says, in the format of Prometheus, of all workers together.\n\n" + table(
        ["metric", "type", "labels", "what it says"], rows
    )


def events_page() -> str:
    """The events of a call."""
    parts = ["# Events\n\n", _prose(inspect.getdoc(sys.modules["rpcgw.api.events"]) or ""), "\n"]
    for kind, name in EVENT_NAMES.items():
        fields = ", ".join(code(field.name) for field in dataclasses.fields(kind))
        parts.append(f"\n## {kind.__name__}\n\nName: `{name}`. Fields: {fields}.\n\n{_prose(_text(kind))}\n")
    return "".join(parts)


# -- commands


def commands_page() -> str:
    """The commands, without those that installed packages bring."""
    context = click.Context(cli, info_name="rpcgw")
    parts = ["# Commands\n\n`rpcgw COMMAND --help` says the same on the terminal.\n"]
    for name in sorted(COMMANDS):
        command = cli.get_command(context, name)
        assert command is not None
        parts += _command(command, click.Context(command, info_name=name, parent=context))
    return "".join(parts)


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"\n## {context.command_path}\n\n`{usage}`\n\n{_prose(inspect.cleandoc(command.help or ''))}\n"
    records = [found for param in command.params if (found := param.get_help_record(context)) and found[1]]
    if records:
        yield "\n" + table(["option", "what it does"], ([code(name), text] for name, text in records))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, click.Context(inner, info_name=name, parent=context))


# -- names to import


def _public() -> dict[str, Any]:
    homes: Mapping[str, Sequence[str]] = rpcgw._HOMES  # noqa: SLF001 -- the table of what is public
    return {name: getattr(rpcgw, name) for names in homes.values() for name in names}


def api_page() -> str:
    """What plugins import, and what their tests import."""
    parts = ["# Names to import\n\n## In plugins: `import rpcgw as rpc`\n"]
    for name, value in sorted(_public().items(), key=lambda pair: pair[0].lower()):
        parts.append(_entry(f"rpc.{name}", value))
    said = _prose(inspect.getdoc(webmcp) or "", dedented=True)
    parts.append(f"\n## Tools of web pages: `from rpcgw.api import webmcp`\n\n{said}\n")
    named = ((name, getattr(webmcp, name)) for name in webmcp.__all__)
    parts += (_entry(f"webmcp.{name}", value) for name, value in named if isinstance(value, type))
    parts.append(
        "\n## In tests: `rpcgw.testing`\n\n" + _prose(inspect.getdoc(rpcgw.testing) or "", dedented=True) + "\n"
    )
    for name in rpcgw.testing.__all__:
        value = getattr(rpcgw.testing, name)
        parts.append(_entry(name, value))
        if name == "PluginGateway":
            parts += (_entry(f"{name}.{own}", member, 4) for own, member in _members(value))
    return "".join(parts)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    yield from ((name, value) for name, value in vars(kind).items() if not name.startswith("_") and value.__doc__)


def _entry(name: str, value: Any, level: int = 3) -> str:
    shown = f"\n`{name.rpartition('.')[2]}{_signature(value)}`\n" if callable(value) else ""
    return f"\n{'#' * level} {name}\n{shown}\n{_prose(_text(value))}\n"


def _signature(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, BaseException):
        value = value.__init__
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    kept = [param.replace(annotation=param.empty) for name, param in found.parameters.items() if name != "self"]
    return re.sub(r" at 0x[0-9a-f]+", "", str(found.replace(parameters=kept, return_annotation=found.empty)))


def _text(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _first(value: Any) -> str:
    return _text(value).split("\n\n")[0].replace("\n", " ")


SECTION = re.compile(r"^(Args|Raises|Returns):\n((?:    .*\n?|\n)+)", re.MULTILINE)
ITEM = re.compile(r"^    (\w[\w., ]*): ", re.MULTILINE)


def _prose(text: str, *, dedented: bool = False) -> str:
    """A docstring as Markdown: its sections become lists, what is indented stays as it is."""
    if dedented:
        return _blocks(text)
    return _blocks(SECTION.sub(lambda found: f"{found[1]}:\n\n{_items(found[2])}\n", text + "\n").rstrip())


def _items(body: str) -> str:
    items = ITEM.sub(lambda found: f"* `{found[1]}`: ", body)
    return "\n".join(f"  {line.strip()}" if line[:1] == " " else line for line in items.splitlines())


def _blocks(text: str) -> str:
    """What is indented by four in a docstring is Python."""
    parts = re.split(r"((?:^    .*\n?(?:\n(?=    ))?)+)", text, flags=re.MULTILINE)
    return "".join(
        f"```python\n{textwrap.dedent(part).strip()}\n```\n" if part.startswith("    ") else part for part in parts
    )


PAGES_BY_NAME: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "routes.md": routes_page,
    "problems.md": problems_page,
    "errors.md": errors_page,
    "metrics.md": metrics_page,
    "events.md": events_page,
    "commands.md": commands_page,
    "api.md": api_page,
}


def pages() -> dict[str, str]:
    """The pages as the code wants them, by file name."""
    return {name: MADE + "\n" + make().rstrip() + "\n" for name, make in PAGES_BY_NAME.items()}


def stale() -> list[str]:
    """Which pages are not as the code wants them."""
    return [name for name, text in pages().items() if not _is(PAGES / name, text)]


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text("utf-8") == text


def main(arguments: Sequence[str]) -> None:
    """Write the pages, or say which are stale."""
    if "--check" in arguments:
        found = stale()
        sys.exit(f"stale: {', '.join(found)}; make reference writes them anew" if found else 0)
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (PAGES / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
