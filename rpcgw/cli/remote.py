"""Calls to a daemon that runs: `--url`. Plain HTTP of the standard library; no redirect is followed, no proxy asked."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import click

from rpcgw import __version__
from rpcgw.api.errors import InvalidRequest, MethodNotFound, TokenNotSent
from rpcgw.api.records import record
from rpcgw.cli.arguments import NotAnArgumentError, arguments
from rpcgw.cli.options import UnknownNameError
from rpcgw.cli.progress import Progress
from rpcgw.protocol.mcp import asking
from rpcgw.protocol.mcp.mirrors import mirrors_of

CLIENT = {"name": "rpcgw", "version": __version__}
TIMEOUT = 60.0

_HINTS = {
    TokenNotSent.code: "; --token-env names the variable that holds one",
    MethodNotFound.code: "; it may be an endpoint of JSON-RPC: rpcgw call",
}
"""What to do about errors of JSON-RPC, by their codes."""

_SCHEMES = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


@record(frozen=True, slots=True)
class Remote:
    """An endpoint of a daemon. `timeout` is how many seconds it may be silent."""

    url: str
    token: str | None = None
    timeout: float = TIMEOUT

    def messages(
        self, body: object = None, headers: Mapping[str, str] | None = None, *, method: str = "POST"
    ) -> Iterator[Any]:
        """What is answered, a JSON value at a time, as it comes.

        Raises:
            click.ClickException: Nobody answers, or not with JSON.
        """
        parts = urlsplit(self.url)
        sent = {"content-type": "application/json", "accept": "application/json", **(headers or {})}
        if self.token is not None:
            sent["authorization"] = f"Bearer {self.token}"
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        assert parts.hostname, "checked with the option"
        with closing(_SCHEMES[parts.scheme](parts.hostname, parts.port, timeout=self.timeout)) as connection:
            try:
                connection.request(method, target, None if body is None else json.dumps(body).encode(), sent)
                yield from self._read(connection.getresponse())
            except TimeoutError:
                raise click.ClickException(f"{self.url} is silent for {self.timeout:g} s; see --timeout") from None
            except ssl.SSLCertVerificationError as error:
                raise click.ClickException(
                    f"the certificate of {self.url} is not trusted: {error.verify_message};"
                    " name a PEM file with its authority in SSL_CERT_FILE"
                ) from None
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "strerror", None) or error
                hint = "; does `rpcgw serve` run?" if isinstance(error, ConnectionRefusedError) else ""
                raise click.ClickException(f"nobody answers at {self.url}: {reason}{hint}") from None

    def _read(self, answer: http.client.HTTPResponse) -> Iterator[Any]:
        if answer.headers.get_content_type() == "text/event-stream":
            for line in answer:
                data = line.partition(b"data:")[2].strip() if line.startswith(b"data:") else b""
                if data:
                    yield self._json(data, answer.status)
            return
        yield self._json(answer.read(), answer.status)

    def _json(self, text: bytes, status: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            shown = text[:200].decode("utf-8", "replace").strip() or "nothing"
            raise click.ClickException(f"{self.url} answered {status}, and no JSON: {shown}") from None


def at_version(url: str, version: str) -> str:
    """The address of a version of an endpoint; version 1 is the endpoint's own."""
    return url if version == "v1" else f"{url.rstrip('/')}/{version}"


def call_method(remote: Remote, method: str, words: tuple[str, ...], params: Any) -> Any:
    """The answer of `/rpc` to one call: a JSON-RPC message. Words are read as the OpenRPC document says.

    Raises:
        click.ClickException: Nobody answers, or not as JSON-RPC; where it is an MCP endpoint that is said.
    """
    message = _spoken(remote, next(remote.messages(method_request(remote, method, words, params))))
    if message.get("error", {}).get("code") == InvalidRequest.code and _is_mcp(remote):
        text = f"{remote.url} is an MCP endpoint: rpcgw tools call {method} --url {remote.url}"
        raise click.ClickException(text)
    return message


def _is_mcp(remote: Remote) -> bool:
    """Whether an address answers as MCP does."""
    found = next(remote.messages(*asking.request("server/discover", {}, CLIENT)))
    return isinstance(found, dict) and "supportedVersions" in found.get("result", {})


def method_request(remote: Remote, method: str, words: tuple[str, ...], params: Any) -> dict[str, Any]:
    """What `/rpc` is sent for a call."""
    if params is None:
        params = _arguments(words, _rpc_schema(remote, method) if words else {})
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def call_tool(remote: Remote, name: str, words: tuple[str, ...], params: Any, progress: Progress) -> Any:
    """The answer of `/mcp` to one call: a JSON-RPC message. What the tool says before it goes to the terminal.

    Raises:
        UnknownNameError: The server has no such tool.
    """
    answer: Any = None
    for message in remote.messages(*tool_request(remote, name, words, params)):
        notified = message.get("params", {})
        if message.get("method") == asking.PROGRESS:
            progress.tell(notified["progress"], notified.get("total"), notified.get("message"))
        elif message.get("method") == asking.MESSAGE:
            click.echo(f"{notified['level']}: {_shown(notified['data'])}", err=True)
        else:
            answer = message
    return answer


def tool_request(
    remote: Remote, name: str, words: tuple[str, ...], params: Any, *, level: str | None = "debug"
) -> tuple[dict[str, Any], dict[str, str]]:
    """What `/mcp` is sent for a call, with its headers; `level` is as in `asking.request`.

    Raises:
        UnknownNameError: The server has no such tool.
    """
    listed, schema = _tool(remote, name)
    given = _arguments(words, schema) if params is None else params
    if not isinstance(given, dict):
        raise click.UsageError("a tool's arguments are a JSON object")
    body, headers = asking.request("tools/call", {"name": listed, "arguments": given}, CLIENT, level=level)
    return body, headers | asking.mirrored(mirrors_of(schema)[0], given)


def _tool(remote: Remote, name: str) -> tuple[str, dict[str, Any]]:
    """A tool's name as it is listed, and its input schema; dots and underscores in the name count for one."""
    schemas: dict[str, dict[str, Any]] = {}
    params: dict[str, Any] = {}
    while True:
        message = _spoken(remote, next(remote.messages(*asking.request("tools/list", params, CLIENT))))
        if "result" not in message:
            raise click.ClickException(f"{remote.url} does not list its tools: {_refusal(message['error'])}")
        page = message["result"]
        schemas |= {tool["name"]: tool["inputSchema"] for tool in page["tools"]}
        if "nextCursor" not in page:
            break
        params = {"cursor": page["nextCursor"]}
    wanted = name.replace(".", "_")
    for listed in (name, *(known for known in schemas if known.replace(".", "_") == wanted)):
        if listed in schemas:
            return listed, schemas[listed]
    raise UnknownNameError(f"{remote.url} has no tool {name!r}; it has: {', '.join(schemas) or 'none'}")


def _spoken(remote: Remote, message: Any) -> dict[str, Any]:
    """An answer, which must be of JSON-RPC."""
    if isinstance(message, dict) and "jsonrpc" in message:
        return message
    raise click.ClickException(f"{remote.url} is no endpoint of rpcgw: it answers {_shown(message)[:200]}")


def _refusal(error: Mapping[str, Any]) -> str:
    """An error of JSON-RPC in words, with what to do where it is a token that is missing."""
    return f"{error['message']} ({error['code']}){_HINTS.get(error['code'], '')}"


def _rpc_schema(remote: Remote, method: str) -> dict[str, Any]:
    """The schema of a method's params by the document; nothing where there is none for us."""
    document = next(remote.messages(method="GET"))
    methods = document.get("methods", []) if isinstance(document, dict) else []
    found = [entry for entry in methods if entry.get("name") == method]
    return {"properties": {param["name"]: param["schema"] for entry in found for param in entry["params"]}}


def _arguments(words: tuple[str, ...], schema: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return arguments(words, schema)
    except NotAnArgumentError as error:
        raise click.UsageError(str(error)) from None


def _shown(data: object) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
