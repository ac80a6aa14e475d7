"""What is asked, and what the answer must mean: a server with a wrong answer gets no figure."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rpcgw.cli.load.wire import Answered, Asked

STATELESS: Final = "2026-07-28"
SESSION: Final = "2025-06-18"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
GZIP: Final = {"Accept-Encoding": "gzip"}

PRICE: Final = {"cents": 1999, "percent": 15}
REDUCED: Final = 1699
WRONG_TYPE: Final = {**PRICE, "percent": "many"}
OUT_OF_RANGE: Final = {**PRICE, "percent": 115}

Meaning = Callable[[Answered], object]
"""What an answer means: to be compared with what it should mean."""


class WrongAnswerError(Exception):
    """A server answered something else than it should."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request, how its answer is read, and what it must mean."""

    asked: Asked
    meaning: Meaning
    wanted: object
    status: int = 200

    def check(self, answer: Answered) -> None:
        """See that an answer is right by its meaning.

        Raises:
            WrongAnswerError: It is not.
        """
        try:
            said = self.meaning(answer)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise WrongAnswerError(f"{self.asked.path} answers {answer.body[:500]!r}: {error!r}") from None
        if (answer.status, said) != (self.status, self.wanted):
            told = f"{answer.status} {str(said)[:500]}, not {self.status} {str(self.wanted)[:300]}"
            raise WrongAnswerError(f"{self.asked.path} answers {told}")

    def sent_with(self, headers: Mapping[str, str]) -> Call:
        """The same with further headers."""
        return replace(self, asked=replace(self.asked, headers={**self.asked.headers, **headers}))


def items(count: int) -> list[dict[str, Any]]:
    """The objects that every server under test has; bench/peers/work.py makes the same ones."""
    return [
        {
            "id": n,
            "name": f"Product number {n}",
            "cents": 999 + 137 * n,
            "in_stock": n % 3 != 0,
            "tags": ["alpha", "beta"],
        }
        for n in range(count)
    ]


# -- what is sent


def tool(
    name: str, arguments: Mapping[str, Any], wanted: object, meaning: Meaning | None = None, *, status: int = 200
) -> Call:
    """A stateless `tools/call`, of revision 2026-07-28."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    return Call(_modern("tools/call", params, {"Mcp-Name": name}), meaning or tool_value, wanted, status)


def tool_of_session_era(name: str, arguments: Mapping[str, Any], wanted: object) -> Call:
    """The same, as clients of the session revisions send it."""
    body = _message("tools/call", {"name": name, "arguments": arguments})
    return Call(Asked("/mcp", body, {**ACCEPT, "MCP-Protocol-Version": SESSION}), tool_value, wanted)


def tools(count: int, cursor: str | None = None) -> Call:
    """A page of `tools/list`, of revision 2026-07-28, that must hold this many."""
    params = {"_meta": META} if cursor is None else {"cursor": cursor, "_meta": META}
    return Call(_modern("tools/list", params, {}), tool_count, count)


def rpc(method: str, params: Mapping[str, Any], wanted: object) -> Call:
    """A JSON-RPC call."""
    return Call(Asked("/rpc", _message(method, params)), rpc_values, [wanted])


def rpc_batch(method: str, params: Mapping[str, Any], wanted: object, count: int) -> Call:
    """So many of them in one body."""
    calls = [{"jsonrpc": "2.0", "id": n, "method": method, "params": params} for n in range(count)]
    return Call(Asked("/rpc", json.dumps(calls).encode()), rpc_values, [wanted] * count)


def initialize() -> Asked:
    """What begins a session."""
    params = {"protocolVersion": SESSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    return Asked("/mcp", _message("initialize", params), ACCEPT)


def _modern(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
    fields = {**ACCEPT, "MCP-Protocol-Version": STATELESS, "Mcp-Method": method, **headers}
    return Asked("/mcp", _message(method, params), fields)


def _message(method: str, params: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


# -- what it means


def decoded(answer: Answered) -> Any:
    """The JSON of an answer, compressed or not."""
    packed = answer.header("Content-Encoding") == "gzip"
    return json.loads(gzip.decompress(answer.body) if packed else answer.body)


def tool_value(answer: Answered) -> object:
    """What a tool returned: both of its forms where there are two, which must say the same."""
    result = decoded(answer)["result"]
    structured = result.get("structuredContent", {}).get("result")
    texts = [json.loads(block["text"]) for block in result["content"]]
    said = texts[0] if len(texts) == 1 else texts  # FastMCP and the SDKs write a block an object
    if result.get("isError"):
        return "isError"
    return said if structured in (None, said) else (structured, said)


def refusal(answer: Answered) -> object:
    """Whether a call was refused: by an error, or by a result that says so."""
    message = decoded(answer)
    return "error" in message or bool(message["result"].get("isError"))


def tool_count(answer: Answered) -> object:
    """How many tools a page holds."""
    return len(decoded(answer)["result"]["tools"])


def rpc_values(answer: Answered) -> object:
    """The results of one call or a batch, in the order of their ids."""
    message = decoded(answer)
    messages = message if isinstance(message, list) else [message]
    return [one["result"] for one in sorted(messages, key=lambda one: int(one["id"]))]


def nothing(answer: Answered) -> object:
    """The length of the body."""
    return len(answer.body)


# -- documents


def document() -> Call:
    """The OpenRPC document."""
    return Call(Asked("/rpc", method="GET"), openrpc, "1.3.2")


def unchanged() -> Call:
    """The same by one who has it: If-None-Match is to be added."""
    return Call(Asked("/rpc", method="GET"), nothing, 0, status=304)


def openrpc(answer: Answered) -> object:
    """The version of OpenRPC."""
    return decoded(answer)["openrpc"]
