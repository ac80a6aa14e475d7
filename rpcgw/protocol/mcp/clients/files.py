"""The files that are served for clients: one a client and notation, and an index of all. Pure."""

from __future__ import annotations

from typing import Any, Final

from rpcgw.protocol.mcp.clients.connection import PLACEHOLDER, Connection
from rpcgw.protocol.mcp.clients.notation import Format, json_text
from rpcgw.protocol.mcp.clients.table import CLIENTS, Client

INDEX: Final = "index.json"


def files(to: Connection) -> dict[str, str]:
    """Texts by file name: `<client>.json` for each client, its own notation too where that is another, the index."""
    found = {INDEX: json_text(index(to))}
    for client in CLIENTS:
        texts = {notation: text_of(client, to, notation) for notation in notations(client)}
        found |= {f"{name}.{kind}": text for name in (client.name, *client.aliases) for kind, text in texts.items()}
    return found


def notations(client: Client) -> tuple[Format, ...]:
    """What a client's configuration is served as."""
    return ("json",) if client.format == "json" else ("json", client.format)


def text_of(client: Client, to: Connection, notation: Format) -> str:
    """A configuration in one of its notations.

    JSON for a client whose file is none tells about the file instead of being it: `{file, format, text, command}`.
    """
    if notation == client.format:
        return client.text(to)
    told = {
        "file": client.places(to)[0],
        "format": client.format,
        "text": client.text(to),
        "command": client.command(to),
    }
    return json_text(told)


def index(to: Connection) -> dict[str, Any]:
    """All clients, with what installs the server in each."""
    token = {"token": {"header": to.header, "value": to.credential(PLACEHOLDER)}} if to.protected else {}
    return {
        "name": to.name,
        "url": to.url,
        **token,
        "clients": [_entry(client, to) for client in CLIENTS],
    }


def _entry(client: Client, to: Connection) -> dict[str, Any]:
    installed = {"command": client.command(to), "link": client.link(to)}
    return {
        "name": client.name,
        "title": client.title,
        "aliases": client.aliases,
        "file": client.places(to)[0],
        "files": client.places(to),
        "format": client.format,
        "manifest": to.manifest(f"{client.name}.{client.format}"),
        **{way: text for way, text in installed.items() if text is not None},
        "notes": client.notes,
    }
