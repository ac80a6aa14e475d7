"""`server.json`, held against the registry's own schema and its rules of publication."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rpcgw.protocol.mcp.clients import Connection
from rpcgw.protocol.mcp.serverjson import SCHEMA, Card, Finding, Icon, findings, server_json

REGISTRY = json.loads((Path(__file__).parents[3] / "golden/serverjson/server.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(REGISTRY, format_checker=jsonschema.FormatChecker())

ICON = Icon("https://example.com/icon.png", "image/png", ("128x128",), "light")
CARD = Card("io.github.your-org/your-app", "Your App", "Exposes Your App as tools.", (ICON,))
HERE = Connection("your-app", "https://example.com/mcp")


def test_the_schema_is_the_current_one() -> None:
    """The document names the schema that it was checked against."""
    assert REGISTRY["$id"] == SCHEMA


def test_every_member() -> None:
    """C-05, C-12, C-13, C-15: members, their names and their order."""
    assert list(server_json(CARD, 2, HERE).items()) == [
        ("$schema", SCHEMA),
        ("name", "io.github.your-org/your-app"),
        ("title", "Your App"),
        ("description", "Exposes Your App as tools."),
        ("version", "v2"),
        (
            "icons",
            [
                {
                    "src": "https://example.com/icon.png",
                    "mimeType": "image/png",
                    "sizes": ["128x128"],
                    "theme": "light",
                }
            ],
        ),
        ("remotes", [{"type": "streamable-http", "url": "https://example.com/mcp"}]),
    ]


@pytest.mark.parametrize("card", [Card(), Card(name="", title="", description="")], ids=["unset", "empty"])
def test_what_nobody_says_is_left_out(card: Card) -> None:
    """C-12: no name where none is set, and no empty member; no `remotes` where nobody knows the address."""
    assert server_json(card, 1, None) == {"$schema": SCHEMA, "version": "v1"}


@pytest.mark.parametrize(
    ("connection", "name", "value"),
    [
        pytest.param(replace(HERE, protected=True), "Authorization", "Bearer {token}", id="a bearer token"),
        pytest.param(replace(HERE, protected=True, header="X-Token"), "X-Token", "{token}", id="a header of its own"),
    ],
)
def test_a_protected_server_tells_which_header_it_wants(connection: Connection, name: str, value: str) -> None:
    """The header is there with a variable in the place of the token, marked as required and secret."""
    document = server_json(CARD, 1, connection)
    (header,) = document["remotes"][0]["headers"]
    assert (header["name"], header["value"]) == (name, value)
    assert header["isRequired"] and header["isSecret"] and header["variables"]["token"]["isSecret"]  # noqa: PT018 -- three flags, one promise
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    "card",
    [
        CARD,
        Card("a.b/cc", None, "x" * 100),
        Card("io.github.a/b2", "t" * 100, "d", (Icon("https://a/b.svg", sizes=("any",)), Icon("https://a/b"))),
    ],
)
def test_what_can_be_published_satisfies_the_schema(card: Card) -> None:
    """The registry's schema takes it, and no rule is broken."""
    document = server_json(card, 1, HERE)
    assert list(VALIDATOR.iter_errors(document)) == []
    assert findings(document) == []


def icon(**change: Any) -> Card:
    return replace(CARD, icons=(replace(ICON, **change),))


BROKEN = [
    pytest.param(replace(CARD, name=None), HERE, ("name",), True, id="no name"),
    pytest.param(replace(CARD, name="noslash"), HERE, ("name",), True, id="a name without a slash"),
    pytest.param(replace(CARD, name="a.b/c/d"), HERE, ("name",), True, id="a name with two slashes"),
    pytest.param(replace(CARD, name="io.github/-app"), HERE, ("name",), False, id="a part that begins with a dash"),
    pytest.param(replace(CARD, name="io.github/a"), HERE, ("name",), False, id="a part of one character"),
    pytest.param(replace(CARD, name="a." + "b" * 197 + "/c"), HERE, ("name",), True, id="a name of 201 characters"),
    pytest.param(replace(CARD, title="t" * 101), HERE, ("title",), True, id="a title of 101 characters"),
    pytest.param(replace(CARD, title="  "), HERE, ("title",), False, id="a blank title"),
    pytest.param(replace(CARD, description=None), HERE, ("description",), True, id="no description"),
    pytest.param(replace(CARD, description="d" * 101), HERE, ("description",), True, id="101 characters of description"),
    pytest.param(icon(src="http://example.com/i.png"), HERE, ("icons", 0, "src"), False, id="an icon over http"),
    pytest.param(icon(src="data:image/png;base64,AA"), HERE, ("icons", 0, "src"), False, id="an icon in itself"),
    pytest.param(icon(src="/icon.png"), HERE, ("icons", 0, "src"), False, id="a relative icon"),
    pytest.param(icon(src="https://[x"), HERE, ("icons", 0, "src"), False, id="an icon at no address"),
    pytest.param(icon(src="https://a/" + "x" * 246), HERE, ("icons", 0, "src"), True, id="an icon's address of 256"),
    pytest.param(icon(mime_type="image/gif"), HERE, ("icons", 0, "mimeType"), True, id="a media type of its own"),
    pytest.param(icon(sizes=("48x48", "128")), HERE, ("icons", 0, "sizes"), True, id="a size with one side"),
    pytest.param(icon(theme="blue"), HERE, ("icons", 0, "theme"), True, id="a theme of its own"),
    pytest.param(CARD, None, ("remotes",), False, id="no address"),
    pytest.param(CARD, replace(HERE, url="/mcp"), ("remotes", 0, "url"), True, id="a relative address"),
    pytest.param(CARD, replace(HERE, url="http://example.com/mcp"), ("remotes", 0, "url"), False, id="plain http"),
    pytest.param(CARD, replace(HERE, url="https://localhost/mcp"), ("remotes", 0, "url"), False, id="this machine"),
    pytest.param(CARD, replace(HERE, url="https://127.0.0.1:8/mcp"), ("remotes", 0, "url"), False, id="its number"),
    pytest.param(CARD, replace(HERE, url="https://a.localhost/"), ("remotes", 0, "url"), False, id="a name of it"),
]  # fmt: skip


@pytest.mark.parametrize(("card", "connection", "path", "by_schema"), BROKEN)
def test_what_cannot_be_published(
    card: Card, connection: Connection | None, path: tuple[str | int, ...], by_schema: bool
) -> None:
    """One finding, at the member that is wrong; the rules that the schema has are found by the schema too."""
    document = server_json(card, 1, connection)
    assert [finding.path for finding in findings(document)] == [path]
    assert VALIDATOR.is_valid(document) is not by_schema


def test_a_name_in_snake_case_is_found() -> None:
    """The schema lets it pass and everybody ignores it."""
    document = {**server_json(CARD, 1, HERE), "icons": [{"src": "https://e.com/i.png", "mime_type": "image/png"}]}
    assert findings(document) == [Finding(("icons", 0, "mime_type"), "must be written mimeType")]
