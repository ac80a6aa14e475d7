"""What a `tools/call` asks for: everything that is decided before anything runs. Pure.

In this order: the tool's name, the scopes of who calls, the form of the arguments, the headers that repeat them
(stateless era), the advertised schema. A wrong shape is the caller's mistake (T-09); a failed assertion is carried on:
it is an answer of the method.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Headers
from rpcgw.kernel.codec import NotJson, decode
from rpcgw.kernel.gate import Assertion, Passed, Shape
from rpcgw.kernel.language import ENGLISH, worded
from rpcgw.kernel.messages import Texts, say
from rpcgw.kernel.scopes import refusal
from rpcgw.protocol.mcp import mirrors
from rpcgw.protocol.mcp.endpoint import Endpoint
from rpcgw.protocol.mcp.faults import INVALID_PARAMS, Fault
from rpcgw.protocol.mcp.tools import Tool

_QUOTED: Final = 100
_SHOWN: Final = 5
"""How many mistakes the message itself names; `data` holds all of them."""


class Planned(msgspec.Struct, frozen=True):
    """A call that may run: its tool, its arguments by name, and what the gate said of them."""

    tool: Tool
    arguments: dict[str, Any]
    gated: Passed | Assertion


class Misfit(msgspec.Struct, frozen=True):
    """Arguments of the wrong shape; the fault is the protocol's or the tool's, as its settings say."""

    tool: Tool
    fault: Fault


def plan(
    endpoint: Endpoint,
    params: dict[str, Any],
    headers: Headers | None,
    locale: str = "en",
    principal: Principal = ANONYMOUS,
) -> Planned | Misfit | Fault:
    """What to run, or what is wrong. `headers` where the client's revision makes them repeat arguments."""
    texts = endpoint.messages.get(locale, ENGLISH)
    tool = _tool(endpoint, params.get("name"), principal, texts)
    if isinstance(tool, Fault):
        return tool
    arguments = _arguments(params.get("arguments"), tool)
    if isinstance(arguments, Fault):
        return arguments
    if headers is not None and tool.mirrors:
        fault = mirrors.check(tool.mirrors, arguments, headers)
        if fault is not None:
            return fault
    gated = tool.method.gate(arguments, texts)
    if isinstance(gated, Shape):
        return misfit(tool, gated, texts)
    return Planned(tool, arguments, gated)


def _tool(endpoint: Endpoint, name: Any, principal: Principal, texts: Texts) -> Tool | Fault:
    if type(name) is not str:
        return Fault(INVALID_PARAMS, "params.name must be the name of a tool")
    tool = endpoint.toolbox.by_name.get(name)
    if tool is None:
        return unknown(name)
    if tool.method.scopes and (missing := refusal(tool.method, principal)):
        return Fault(missing.code, worded(missing, texts), {"extra": missing.extra})
    return tool


def unknown(name: str) -> Fault:
    """What is said of a tool that is not there."""
    return Fault(INVALID_PARAMS, f"Unknown tool: {name[:_QUOTED]}")


def _arguments(sent: Any, tool: Tool) -> dict[str, Any] | Fault:
    """Absent and null are no arguments (several clients send null)."""
    if sent is None:
        return {}
    if tool.leniency is not None and type(sent) is str:
        sent = _read(sent)
    if not isinstance(sent, dict):
        return Fault(INVALID_PARAMS, "params.arguments must be an object")
    return sent if tool.leniency is None else tool.leniency.mend(sent)


def _read(text: str) -> Any:
    try:
        return decode(text.encode())
    except NotJson:
        return text


def misfit(tool: Tool, shape: Shape, texts: Texts) -> Misfit:
    """Arguments that the gate refuses for their shape."""
    lines = [f"{path}: {text}" if path else text for path, texts in shape.errors.items() for text in texts]
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    facts = {"tool": tool.name, "faults": "; ".join(lines[:_SHOWN]) + more}
    message = say("error.misfit", facts, tool.name, texts)
    return Misfit(tool, Fault(INVALID_PARAMS, message, {"extra": shape.errors}))
