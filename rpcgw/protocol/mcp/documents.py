"""What a group's MCP server says of itself: `server.json` and client configurations, as ready bytes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from hashlib import sha256
from typing import Final

from rpcgw.api.records import record
from rpcgw.protocol.mcp.clients import Connection, files
from rpcgw.protocol.mcp.clients.notation import json_text
from rpcgw.protocol.mcp.serverjson import Card, server_json

_MEDIA_TYPES: Final = {"json": "application/json", "toml": "application/toml", "yaml": "application/yaml"}
"""RFC 8259, the TOML 1.0 registration, RFC 9512."""


@record(frozen=True, slots=True)
class Document:
    """One file as it is served; `etag` is a strong one, in quotes (RFC 9110 section 8.8.3)."""

    body: bytes
    media_type: str
    etag: str


@record(frozen=True, slots=True)
class Edition:
    """One version's documents; `clients` by file name, None where nobody knows the address that clients use."""

    server: Document
    clients: Mapping[str, Document] | None = None


@record(frozen=True, slots=True)
class Publication:
    """The documents of one MCP endpoint by version; none for a group that is disabled or has no methods (C-09, C-20).

    `name` is what the names of its routes begin with, `prefix` where the endpoint stands. `private`: only holders of a
    token may read, so that no shared cache may keep anything. `origins` may read from a page.
    """

    name: str
    prefix: str
    editions: Mapping[int, Edition] = field(default_factory=dict)
    private: bool = False
    origins: tuple[str, ...] = ()


def edition(card: Card, version: int, connection: Connection | None) -> Edition:
    """One version's documents, made once."""
    server = _document("server.json", json_text(server_json(card, version, connection)))
    if connection is None:
        return Edition(server)
    return Edition(server, {name: _document(name, text) for name, text in files(connection).items()})


def _document(file: str, text: str) -> Document:
    body = text.encode()
    return Document(body, _MEDIA_TYPES[file.rpartition(".")[2]], f'"{sha256(body).hexdigest()[:32]}"')
