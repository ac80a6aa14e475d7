"""MCP spoken by hand, both ways: `Stateless` (2026-07-28) and `Session` (the revisions before it).

They send exactly what the specification asks of a client, so that a test sees the daemon's own bytes.
"""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tests.support.http import Answer, Client

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ACCEPT = "application/json, text/event-stream"


class Caller(ABC):
    """What a client of either kind does with tools."""

    @abstractmethod
    def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        request_id: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request."""

    def tools(self, headers: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the tools by name."""
        return by_name(result_of(self.send("tools/list", headers=headers)))

    def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Call a tool; the answer may be an error."""
        return self.send("tools/call", {"name": name, "arguments": dict(arguments or {})}, headers=headers)

    def result(self, name: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool and return the result, `isError` or not."""
        return result_of(self.call(name, arguments))


class Stateless(Caller):
    """A client of the stateless revision: each request carries all that it needs."""

    def __init__(self, client: Client, path: str = "/mcp", headers: Mapping[str, str] | None = None) -> None:
        self.client = client
        self.path = path
        self.headers = dict(headers or {})
        self._ids = itertools.count(1)

    def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        request_id: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request with its `_meta` and mirrored headers."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids) if request_id is None else request_id,
            "method": method,
            "params": {"_meta": meta, **(params or {})},
        }
        mirrored = {"Accept": ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if params and "name" in params:
            mirrored["Mcp-Name"] = str(params["name"])
        return self.client.post(self.path, message, {**mirrored, **self.headers, **(headers or {})})

    def discover(self) -> dict[str, Any]:
        """Return the result of `server/discover`."""
        return result_of(self.send("server/discover"))


class Session(Caller):
    """A client of a session revision: `initialize` first, then the session's header on everything."""

    def __init__(
        self, client: Client, path: str = "/mcp", version: str = LEGACY, headers: Mapping[str, str] | None = None
    ) -> None:
        self.client = client
        self.path = path
        self.headers = {"Accept": ACCEPT, **(headers or {})}
        self._ids = itertools.count(1)
        self.opening = self.send(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self.server = result_of(self.opening)
        self.id = self.opening.header("Mcp-Session-Id")
        if self.id is not None:
            self.headers["Mcp-Session-Id"] = self.id
        if self.server["protocolVersion"] >= "2025-06-18":
            self.headers["MCP-Protocol-Version"] = self.server["protocolVersion"]
        self.notify("notifications/initialized")

    def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        request_id: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request."""
        message: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": next(self._ids) if request_id is None else request_id,
            "method": method,
        }
        if params is not None:
            message["params"] = dict(params)
        return self.client.post(self.path, message, {**self.headers, **(headers or {})})

    def notify(self, method: str) -> Answer:
        """Send one notification."""
        return self.client.post(self.path, {"jsonrpc": "2.0", "method": method}, self.headers)

    def end(self) -> Answer:
        """DELETE the session."""
        return self.client.request("DELETE", self.path, headers=self.headers)


def message_of(answer: Answer) -> dict[str, Any]:
    """Return the JSON-RPC answer, be it a JSON body or the last message of an event stream."""
    if (answer.header("Content-Type") or "").startswith("text/event-stream"):
        data = [line.removeprefix("data:") for line in answer.text.splitlines() if line.startswith("data:")]
        messages = [json.loads(part) for part in data if part.strip()]
        found: dict[str, Any] = next(message for message in reversed(messages) if "id" in message)
        return found
    whole: dict[str, Any] = answer.json()
    return whole


def result_of(answer: Answer) -> dict[str, Any]:
    """Return the `result` of an answer that must hold one."""
    message = message_of(answer)
    assert "result" in message, f"status {answer.status}: {answer.text[:2000]}"
    result: dict[str, Any] = message["result"]
    return result


def error_of(answer: Answer) -> dict[str, Any]:
    """Return the `error` of an answer that must hold one."""
    message = message_of(answer)
    assert "error" in message, f"status {answer.status}: {answer.text[:2000]}"
    error: dict[str, Any] = message["error"]
    return error


def by_name(listing: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tools of a `tools/list` result by name."""
    return {tool["name"]: tool for tool in listing["tools"]}
