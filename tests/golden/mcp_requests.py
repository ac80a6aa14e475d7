"""What an MCP endpoint must say to a request, byte by byte: the two ladders, row by row.

Each row is a raw HTTP request, so that every door can be held to the same table. The endpoint serves
`tests.golden.mcp_demo` at `/mcp` with `MAX_BODY_BYTES`; where `TOKEN_ROWS` are asked, it is protected. `@SESSION@` in a
request stands for the id of a session that was begun with the row's `revision`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_BODY_BYTES: Final = 8192
TOKEN: Final = "golden-token"
NEWEST: Final = "2025-11-25"
STATELESS: Final = "2026-07-28"

ABSENT: Final = "<no id>"
"""The answer has no `id` member."""


@dataclass(frozen=True)
class Row:
    """One request and what is due: the status, the error code (None: a result, or no body), and the echoed id."""

    name: str
    raw: bytes
    status: int
    code: int | None = None
    id: Any = ABSENT
    revision: str | None = None
    tells: str = ""
    """Words that the error's message must hold."""


def raw(method: str, path: str, fields: Mapping[str, str | list[str]], body: bytes = b"") -> bytes:
    """A raw HTTP/1.1 request; a field given as None is left out, one given as a list is sent several times."""
    lines = [f"{method} {path} HTTP/1.1"]
    for name, value in {"Host": "localhost", "Content-Length": str(len(body)), **fields}.items():
        lines += [f"{name}: {each}" for each in (value if isinstance(value, list) else [value])]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


Fields = Mapping[str, str | list[str]]
"""Headers that replace the usual ones; an empty list leaves one out."""

NO_FIELDS: Final[Fields] = {}


def post(body: object, headers: Fields = NO_FIELDS, path: str = "/mcp") -> bytes:
    """A POST of bytes, or of a value's JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return raw("POST", path, {"Content-Type": "application/json", **headers}, content)


META: Final = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern(
    method: str = "server/discover",
    params: dict[str, Any] | None = None,
    *,
    meta: Any = META,
    headers: Fields = NO_FIELDS,
    path: str = "/mcp",
    request_id: object = 7,
) -> bytes:
    """A request of the stateless era; `meta` None leaves `_meta` out."""
    given = params or {}
    held = {} if meta is None else {"_meta": meta}
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**given, **held}}
    if request_id is ABSENT:
        del message["id"]
    fields: dict[str, str | list[str]] = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
    if method == "tools/call" and isinstance(given.get("name"), str):
        fields["Mcp-Name"] = given["name"]
    return post(message, {**fields, **headers}, path)


def legacy(
    method: str = "ping",
    params: object = None,
    request_id: object = 7,
    *,
    session: str | None = "@SESSION@",
    headers: Fields = NO_FIELDS,
    path: str = "/mcp",
) -> bytes:
    """A request of the session era; `session` None leaves its header out."""
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    if request_id is not ABSENT:
        message["id"] = request_id
    if params is not None:
        message["params"] = params
    held: dict[str, str] = {} if session is None else {"Mcp-Session-Id": session}
    return post(message, {**held, **headers}, path)


def call(name: object, arguments: object = None, **change: Any) -> bytes:
    """A stateless `tools/call`; `arguments` None leaves them out."""
    params: dict[str, Any] = {"name": name} | ({} if arguments is None else {"arguments": arguments})
    return modern("tools/call", params, **change)


def _add(headers: Fields = NO_FIELDS) -> bytes:
    return call("Demo.add", {"a": 1, "b": 2}, headers=headers)


def _region(arguments: dict[str, Any], *sent: str, field: str = "Mcp-Param-Region") -> bytes:
    return call("Demo.region", arguments, headers={field: list(sent)})


def initialize(
    version: object = NEWEST, request_id: object = 1, headers: Fields = NO_FIELDS, path: str = "/mcp"
) -> bytes:
    """The request that begins a session; `version` None leaves it out."""
    params: dict[str, object] = {"capabilities": {}, "clientInfo": {"name": "golden", "version": "1"}}
    if version is not None:
        params["protocolVersion"] = version
    return legacy("initialize", params, request_id, session=None, headers=headers, path=path)


SESSION: Final = {"Mcp-Session-Id": "@SESSION@"}

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"


BODY_ROWS: Final = (
    Row("an empty body", post(b""), 400, -32700),
    Row("a body that is no JSON", post(b"{oops"), 400, -32700),
    Row("a truncated body", post(b'{"jsonrpc":"2.0","id":1,"meth'), 400, -32700),
    Row("bytes that are not UTF-8", post(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}'), 400, -32700),
    Row("a byte order mark", post(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}'), 400, -32700),
    Row("UTF-16", post('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16")), 400, -32700),
    Row("NaN", post(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}'), 400, -32700),
    Row("half a surrogate pair", post(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'), 400, -32700),
    Row("nesting without end", post(b"[" * 8000), 400, -32700),
    Row("nesting deeper than 200", post(b'{"a":' + b"[" * 250 + b"]" * 250 + b"}"), 400, -32700),
    Row("an integer of 5,000 digits", post(b'{"jsonrpc":"2.0","id":true,"x":' + b"1" * 5000 + b"}"), 400, -32700),
    Row(
        "an integer of 4,000 digits is read", post(b'{"jsonrpc":"2.0","id":true,"x":' + b"1" * 4000 + b"}"), 400, -32600
    ),
    Row("a scalar", post(b"1"), 400, -32600),
    Row("null", post(b"null"), 400, -32600),
    Row("an empty batch", post(b"[]"), 400, -32600),
    Row("a null id", post({"jsonrpc": "2.0", "id": None, "method": "ping"}), 400, -32600),
    Row("a fraction as id", post({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), 400, -32600),
    Row("a boolean as id", post({"jsonrpc": "2.0", "id": True, "method": "ping"}), 400, -32600),
    Row("an object as id", post({"jsonrpc": "2.0", "id": {}, "method": "ping"}), 400, -32600),
    Row("no jsonrpc member", post({"id": 3, "method": "ping"}), 400, -32600, 3),
    Row("another jsonrpc version", post({"jsonrpc": "1.0", "id": 3, "method": "ping"}), 400, -32600, 3),
    Row("no method", post({"jsonrpc": "2.0", "id": "x"}), 400, -32600, "x"),
    Row("a method that is no text", post({"jsonrpc": "2.0", "id": 3, "method": 5}), 400, -32600, 3),
    Row("params that are a list", post({"jsonrpc": "2.0", "id": 3, "method": "ping", "params": [1]}), 400, -32600, 3),
    Row("a content type that is no JSON", modern(headers={"Content-Type": "text/plain"}), 415, -32600),
    Row("a form", modern(headers={"Content-Type": "application/x-www-form-urlencoded"}), 415, -32600),
    Row("no content type", modern(headers={"Content-Type": []}), 415, -32600),
    Row("JSON with a charset", modern(headers={"Content-Type": "application/json; charset=utf-8"}), 200, None, 7),
    Row("JSON in capitals", modern(headers={"Content-Type": "Application/JSON"}), 200, None, 7),
    Row("a body of exactly the limit", post(b'{"jsonrpc":"2.0"}'.ljust(MAX_BODY_BYTES)), 400, -32600),
    Row("a body one byte over the limit", post(b'{"jsonrpc":"2.0"}'.ljust(MAX_BODY_BYTES + 1)), 413, -32600),
)

GUARD_ROWS: Final = (
    Row("a foreign Host", modern(headers={"Host": "evil.example.com"}), 421, -32600),
    Row("a foreign Origin", modern(headers={"Origin": "http://evil.example.com"}), 403, -32600),
    Row("a null Origin", modern(headers={"Origin": "null"}), 403, -32600),
    Row("a loopback Host with a port", modern(headers={"Host": "127.0.0.1:9999"}), 200, None, 7),
    Row("an IPv6 loopback Host", modern(headers={"Host": "[::1]:8080"}), 200, None, 7),
    Row("a loopback Origin", modern(headers={"Origin": "http://localhost:3000"}), 200, None, 7),
    Row("GET", raw("GET", "/mcp", {}), 405, -32600),
    Row("GET as an SSE client asks", raw("GET", "/mcp", {"Accept": "text/event-stream"}), 405, -32600),
    Row("HEAD", raw("HEAD", "/mcp", {}), 405),
    Row("PUT", raw("PUT", "/mcp", {"Content-Type": "application/json"}, b"{}"), 405, -32600),
    Row("PATCH", raw("PATCH", "/mcp", {"Content-Type": "application/json"}, b"{}"), 405, -32600),
    Row("OPTIONS", raw("OPTIONS", "/mcp", {}), 204),
    Row("a foreign Host comes before the method", raw("GET", "/mcp", {"Host": "evil.example.com"}), 421, -32600),
    Row("a version that the group lacks", modern(path="/mcp/v3"), 404, -32600),
    Row("a version that the group lacks, by GET", raw("GET", "/mcp/v3", {}), 404, -32600),
    Row("version 1 by its own path", modern(path="/mcp/v1"), 200, None, 7),
)

TOKEN_ROWS: Final = (
    Row("no token", modern(), 401, -32401),
    Row("a wrong token", modern(headers={"Authorization": "Bearer wrong"}), 401, -32403),
    Row("the token", modern(headers={"Authorization": f"Bearer {TOKEN}"}), 200, None, 7),
    Row("no token, and a body that is no JSON", post(b"{oops"), 401, -32401),
    Row("no token, by GET", raw("GET", "/mcp", {}), 405, -32600),
    Row("no token, by DELETE", raw("DELETE", "/mcp", {"Mcp-Session-Id": "x" * 32}), 401, -32401),
)

STATELESS_ROWS: Final = (
    Row("server/discover", modern(), 200, None, 7),
    Row("tools/list", modern("tools/list"), 200, None, 7),
    Row("tools/call", _add(), 200, None, 7),
    Row("a method that raises", call("Demo.fail"), 200, None, 7),
    Row("a failed assertion", call("Demo.add", {"a": 1, "b": 1000}), 200, None, 7),
    *(
        Row(f"the id {value!r}", modern(request_id=value), 200, None, value)
        for value in (0, "", "1", 2**60, -1, 2**70, "ї")
    ),
    Row("a capability that the client lacks", call("Demo.sample"), 400, -32021, 7, tells="sampling"),
    Row(
        "a capability that the client has",
        call("Demo.sample", meta=META | {"io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}),
        200,
        None,
        7,
    ),
    Row("a session id is ignored", modern(headers={"Mcp-Session-Id": "x" * 32}), 200, None, 7),
    Row(
        "clientInfo, logLevel and a progress token",
        modern(
            meta=META
            | {
                "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
                "io.modelcontextprotocol/logLevel": "debug",
                "progressToken": 3,
            }
        ),
        200,
        None,
        7,
    ),
    Row("a notification", modern("notifications/cancelled", request_id=ABSENT), 202),
    Row("a notification by its header alone", modern("notifications/cancelled", meta=None, request_id=ABSENT), 202),
    Row(
        "a batch with a stateless element",
        post([{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}]),
        400,
        -32600,
    ),
    Row(
        "a batch under a stateless header",
        post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], headers={"MCP-Protocol-Version": STATELESS}),
        400,
        -32600,
    ),
    Row(
        "a response under a stateless header",
        post({"jsonrpc": "2.0", "id": 1, "result": {}}, headers={"MCP-Protocol-Version": STATELESS}),
        400,
        -32600,
        1,
    ),
    Row("no _meta", modern(meta=None), 400, -32602, 7, tells=_VERSION_KEY),
    Row("_meta that is no object", modern(meta=[]), 400, -32602, 7),
    Row("no revision in _meta", modern(meta={_CAPABILITIES_KEY: {}}), 400, -32602, 7, tells=_VERSION_KEY),
    Row("no capabilities in _meta", modern(meta={_VERSION_KEY: STATELESS}), 400, -32602, 7, tells=_CAPABILITIES_KEY),
    Row("capabilities that are no object", modern(meta=META | {_CAPABILITIES_KEY: []}), 400, -32602, 7),
    Row("a revision that is no text", modern(meta=META | {_VERSION_KEY: 20260728}), 400, -32602, 7),
    Row(
        "a revision that is no text never falls back on a session",
        legacy("ping", {"_meta": META | {_VERSION_KEY: None}}),
        400,
        -32602,
        7,
        NEWEST,
    ),
    Row(
        "initialize without _meta under a stateless header",
        initialize(headers={"MCP-Protocol-Version": STATELESS}),
        400,
        -32602,
        1,
    ),
    Row(
        "no version header", modern(headers={"MCP-Protocol-Version": []}), 400, -32020, 7, tells="MCP-Protocol-Version"
    ),
    Row(
        "a version header that says something else",
        modern(headers={"MCP-Protocol-Version": "1999-01-01"}),
        400,
        -32020,
        7,
    ),
    Row(
        "a session revision in the header, a stateless one in the body",
        modern(headers={"MCP-Protocol-Version": NEWEST}),
        400,
        -32020,
        7,
    ),
    Row(
        "a stateless revision in the header, a session one in the body",
        modern(meta=META | {_VERSION_KEY: NEWEST}),
        400,
        -32020,
        7,
    ),
    Row(
        "a header that differs from an unknown revision",
        modern(meta=META | {_VERSION_KEY: "2099-01-01"}),
        400,
        -32020,
        7,
    ),
    Row(
        "two version headers",
        modern(headers={"MCP-Protocol-Version": [STATELESS, STATELESS]}),
        400,
        -32020,
        7,
        tells="more than once",
    ),
    Row(
        "an unknown revision in both",
        modern(meta=META | {_VERSION_KEY: "2099-01-01"}, headers={"MCP-Protocol-Version": "2099-01-01"}),
        400,
        -32022,
        7,
    ),
    Row(
        "an unknown revision and a wrong Mcp-Method",
        modern(
            meta=META | {_VERSION_KEY: "2099-01-01"},
            headers={"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "ping"},
        ),
        400,
        -32022,
        7,
    ),
    Row("no Mcp-Method", modern(headers={"Mcp-Method": []}), 400, -32020, 7, tells="Mcp-Method"),
    Row("another Mcp-Method", modern(headers={"Mcp-Method": "tools/list"}), 400, -32020, 7),
    Row("Mcp-Method in another case", modern(headers={"Mcp-Method": "Server/Discover"}), 400, -32020, 7),
    Row(
        "two Mcp-Method headers", modern(headers={"Mcp-Method": ["server/discover", "server/discover"]}), 400, -32020, 7
    ),
    Row(
        "blanks around header values",
        modern(headers={"Mcp-Method": "\t server/discover ", "MCP-Protocol-Version": f" {STATELESS} "}),
        200,
        None,
        7,
    ),
    Row(
        "header names in other cases", modern(headers={"Mcp-Method": [], "mcp-METHOD": "server/discover"}), 200, None, 7
    ),
    Row("no Mcp-Name", _add(headers={"Mcp-Name": []}), 400, -32020, 7, tells="Mcp-Name"),
    Row("another Mcp-Name", _add(headers={"Mcp-Name": "Demo.fail"}), 400, -32020, 7),
    Row("two Mcp-Name headers", _add(headers={"Mcp-Name": ["Demo.add", "Demo.add"]}), 400, -32020, 7),
    Row("Mcp-Name in Base64", _add(headers={"Mcp-Name": "=?base64?RGVtby5hZGQ=?="}), 200, None, 7),
    Row("Mcp-Name in Base64 without its padding", _add(headers={"Mcp-Name": "=?base64?RGVtby5hZGQ?="}), 400, -32020, 7),
    Row("Mcp-Name in a wrong Base64 alphabet", _add(headers={"Mcp-Name": "=?base64?RGVtby5hZG*=?="}), 400, -32020, 7),
    Row("half a Base64 mark is literal", call("=?base64?x", headers={"Mcp-Name": "=?base64?x"}), 400, -32602, 7),
    Row("a wrong Mcp-Name for an unknown tool", call("Demo.none", headers={"Mcp-Name": "Demo.add"}), 400, -32020, 7),
    *(
        Row(f"{method} is not offered", modern(method), 404, -32601, 7)
        for method in (
            "initialize",
            "ping",
            "logging/setLevel",
            "resources/subscribe",
            "resources/unsubscribe",
            "resources/list",
            "prompts/list",
            "completion/complete",
            "tasks/get",
            "unknown/method",
            "",
        )
    ),
    Row("an unknown log level", modern(meta=META | {"io.modelcontextprotocol/logLevel": "loud"}), 400, -32602, 7),
    Row("an unknown tool", call("Demo.none"), 400, -32602, 7, tells="Demo.none"),
    Row("a tool name that is no text", call(5), 400, -32602, 7),
    Row("no tool name", modern("tools/call"), 400, -32602, 7),
    Row("arguments that are a list", call("Demo.greet", []), 400, -32602, 7),
    Row("arguments that are a text", call("Demo.greet", "{}"), 400, -32602, 7),
    Row("no arguments", call("Demo.greet"), 200, None, 7),
    Row("null arguments", modern("tools/call", {"name": "Demo.greet", "arguments": None}), 200, None, 7),
    Row("the underscore spelling", call("Demo_greet"), 200, None, 7),
    Row("a missing argument", call("Demo.add", {"a": 1}), 400, -32602, 7, tells="b"),
    Row("an unknown argument", call("Demo.greet", {"whom": "x"}), 400, -32602, 7, tells="whom"),
    Row("an argument of the wrong type", call("Demo.add", {"a": "1", "b": 2}), 400, -32602, 7, tells="a"),
    Row("the kernel's special parameter", call("Demo.greet", {"$rpc": {"timeout": 1}}), 400, -32602, 7),
    Row("a cursor that nobody gave", modern("tools/list", {"cursor": "bogus"}), 400, -32602, 7),
    Row("an empty cursor", modern("tools/list", {"cursor": ""}), 400, -32602, 7),
    Row("a cursor that is no text", modern("tools/list", {"cursor": 1}), 400, -32602, 7),
    Row(
        "inputResponses and requestState are tolerated",
        modern("tools/call", {"name": "Demo.greet", "inputResponses": {}, "requestState": "x"}),
        200,
        None,
        7,
    ),
    Row("a mirrored argument", _region({"region": "Hello"}, "Hello"), 200, None, 7),
    Row("a mirrored argument in Base64", _region({"region": "Hello"}, "=?base64?SGVsbG8=?="), 200, None, 7),
    Row(
        "a mirrored argument that is not ASCII",
        _region({"region": "Львів"}, f"=?base64?{b64encode('Львів'.encode()).decode()}?="),
        200,
        None,
        7,
    ),
    Row("a mirrored argument without its header", _region({"region": "Hello"}), 400, -32020, 7),
    Row("a mirrored argument with another header", _region({"region": "Hello"}, "World"), 400, -32020, 7),
    Row(
        "a mirrored argument with an undecodable header",
        _region({"region": "Hello"}, "=?base64?SGVsbG8?="),
        400,
        -32020,
        7,
    ),
    Row("a mirrored argument with two headers", _region({"region": "Hello"}, "Hello", "Hello"), 400, -32020, 7),
    Row("no mirrored argument, no header", _region({}), 200, None, 7),
    Row("no mirrored argument, but its header", _region({}, "Hello"), 400, -32020, 7),
    Row("a mirrored whole number", _region({"zone": 42}, "42", field="Mcp-Param-Zone"), 200, None, 7),
    Row(
        "a mirrored whole number with a fraction of zero",
        _region({"zone": 42}, "42.0", field="Mcp-Param-Zone"),
        200,
        None,
        7,
    ),
    Row("a mirrored whole number that differs", _region({"zone": 42}, "42.5", field="Mcp-Param-Zone"), 400, -32020, 7),
)

SESSION_ROWS: Final = (
    *(
        Row(f"initialize for {version}", initialize(version), 200, None, 1)
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", "")
    ),
    Row("initialize without a version", initialize(None), 200, -32602, 1),
    Row("initialize with a version that is no text", initialize(20250618), 200, -32602, 1),
    Row(
        "a capability that the client lacks is the tool's business",
        legacy("tools/call", {"name": "Demo.sample"}),
        200,
        None,
        7,
        NEWEST,
    ),
    Row(
        "initialize with a session header of its revision",
        initialize(headers={"MCP-Protocol-Version": NEWEST}),
        200,
        None,
        1,
    ),
    Row(
        "initialize with an old session id begins anew", initialize(headers={"Mcp-Session-Id": "x" * 32}), 200, None, 1
    ),
    Row("ping", legacy(), 200, None, 7, NEWEST),
    Row("ping before initialized", legacy("ping"), 200, None, 7, "2025-03-26"),
    Row("an id of zero", legacy(request_id=0), 200, None, 0, NEWEST),
    Row("an empty id", legacy(request_id=""), 200, None, "", NEWEST),
    Row("null params", legacy(params=None), 200, None, 7, NEWEST),
    Row("tools/list", legacy("tools/list"), 200, None, 7, NEWEST),
    Row("tools/call", legacy("tools/call", {"name": "Demo.add", "arguments": {"a": 1, "b": 2}}), 200, None, 7, NEWEST),
    Row(
        "a task member is ignored",
        legacy("tools/call", {"name": "Demo.greet", "task": {"ttl": 1}}),
        200,
        None,
        7,
        NEWEST,
    ),
    Row(
        "no Mcp-* headers are asked for",
        legacy("tools/call", {"name": "Demo.region", "arguments": {"region": "x"}}),
        200,
        None,
        7,
        NEWEST,
    ),
    Row("no session id", legacy(session=None), 400, -32600, 7),
    Row("an unknown session id", legacy(session="x" * 32), 404, -32600, 7),
    Row("a session id that cannot be one", legacy(session="../../etc/passwd"), 404, -32600, 7),
    Row("an unknown version header", legacy(headers={"MCP-Protocol-Version": "1999-01-01"}), 400, -32600, 7, NEWEST),
    Row(
        "another session revision in the header",
        legacy(headers={"MCP-Protocol-Version": "2025-06-18"}),
        200,
        None,
        7,
        NEWEST,
    ),
    Row("initialized", legacy("notifications/initialized", request_id=ABSENT), 202, None, ABSENT, NEWEST),
    Row("another notification", legacy("notifications/whatever", {}, ABSENT), 202, None, ABSENT, NEWEST),
    Row(
        "a notification of no session",
        legacy("notifications/initialized", request_id=ABSENT, session=None),
        400,
        -32600,
    ),
    Row(
        "a response",
        post({"jsonrpc": "2.0", "id": 1, "result": {}}, SESSION),
        202,
        None,
        ABSENT,
        NEWEST,
    ),
    Row(
        "an error response",
        post({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}, SESSION),
        202,
        None,
        ABSENT,
        NEWEST,
    ),
    Row("an unknown method", legacy("unknown/method"), 200, -32601, 7, NEWEST),
    Row("server/discover", legacy("server/discover"), 200, -32601, 7, NEWEST),
    Row("logging/setLevel", legacy("logging/setLevel", {"level": "debug"}), 200, -32601, 7, NEWEST),
    Row("an unknown tool", legacy("tools/call", {"name": "Demo.none"}), 200, -32602, 7, NEWEST),
    Row(
        "a missing argument", legacy("tools/call", {"name": "Demo.add", "arguments": {"a": 1}}), 200, -32602, 7, NEWEST
    ),
    Row(
        "an unknown argument",
        legacy("tools/call", {"name": "Demo.greet", "arguments": {"$rpc": {}}}),
        200,
        -32602,
        7,
        NEWEST,
    ),
    Row("a bad cursor", legacy("tools/list", {"cursor": "bogus"}), 200, -32602, 7, NEWEST),
    Row(
        "a session's revision claimed in the body",
        legacy("ping", {"_meta": META | {_VERSION_KEY: NEWEST}}),
        200,
        None,
        7,
        NEWEST,
    ),
    Row(
        "a batch",
        post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], SESSION),
        200,
        None,
        ABSENT,
        "2025-03-26",
    ),
    Row(
        "a batch of notifications",
        post([{"jsonrpc": "2.0", "method": "notifications/initialized"}], SESSION),
        202,
        None,
        ABSENT,
        "2025-03-26",
    ),
    *(
        Row(
            f"a batch in a session of {version}",
            post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], SESSION),
            400,
            -32600,
            ABSENT,
            version,
        )
        for version in ("2024-11-05", "2025-06-18", "2025-11-25")
    ),
    Row("a batch of no session", post([{"jsonrpc": "2.0", "id": 1, "method": "initialize"}]), 400, -32600),
    Row("DELETE without a session id", raw("DELETE", "/mcp", {}), 400, -32600),
    Row("DELETE of an unknown session", raw("DELETE", "/mcp", {"Mcp-Session-Id": "x" * 32}), 404, -32600),
    Row("DELETE", raw("DELETE", "/mcp", {"Mcp-Session-Id": "@SESSION@"}), 200, None, ABSENT, NEWEST),
)

ROWS: Final = (*BODY_ROWS, *GUARD_ROWS, *STATELESS_ROWS, *SESSION_ROWS)
"""Every row for an endpoint that asks for no token."""
