"""Client configurations: exactly what each client's file wants, in that client's own notation. Pure."""

from rpcgw.protocol.mcp.clients.connection import AUTHORIZATION, Connection, server_key
from rpcgw.protocol.mcp.clients.files import INDEX, files, index, notations, text_of
from rpcgw.protocol.mcp.clients.table import CLIENTS, Client, find, normal

__all__ = [
    "AUTHORIZATION",
    "CLIENTS",
    "INDEX",
    "Client",
    "Connection",
    "files",
    "find",
    "index",
    "normal",
    "notations",
    "server_key",
    "text_of",
]
