"""MCP answers: outcomes, faults and refusals -> bytes and replies. Pure.

An answer is put together from ready pieces: the value that the kernel has encoded is never decoded or encoded again.
The id is the client's (T-20). A member that has nothing to say is left out, the id of an error that belongs to no
request too: MCP's schema allows no null.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from rpcgw.api.errors import CapabilityMissing, NotNow, TokenInvalid, TokenNotSent
from rpcgw.exchange import HeaderFields, Rejected, Reply
from rpcgw.kernel.call import Done, Failed
from rpcgw.kernel.codec import encode
from rpcgw.kernel.rates import later
from rpcgw.protocol.mcp.blocks import degraded
from rpcgw.protocol.mcp.endpoint import Endpoint
from rpcgw.protocol.mcp.faults import INVALID_REQUEST, MISSING_CAPABILITY, Fault, Refused, RequestId, refuse
from rpcgw.protocol.mcp.notices import stream_headers
from rpcgw.protocol.mcp.revisions import Era, Revision
from rpcgw.protocol.mcp.tools import Tool

JSON: Final[HeaderFields] = (("Content-Type", "application/json"),)
NOT_FOUND: Final = Rejected(404, INVALID_REQUEST, "There is no MCP server of this group in this version")
_DENIED: Final = frozenset({TokenNotSent.code, TokenInvalid.code})
_CHALLENGE: Final[HeaderFields] = (("WWW-Authenticate", "Bearer"),)
_text = msgspec.json.Encoder().encode

After = Callable[[], Awaitable[None]]


def done(request_id: RequestId, outcome: Done, endpoint: Endpoint, era: Era) -> bytes:
    """The answer to a `tools/call` that succeeded (T-15): the value as text and as structured content."""
    encoded = outcome.encoded
    return (
        b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}],'
        b'"structuredContent":{"result":%b},"isError":false%b}}'
    ) % (identifier(request_id), _text(encoded.decode()), encoded, endpoint.complete if era == "stateless" else b"")


def shown(request_id: RequestId, outcome: Done, endpoint: Endpoint, revision: Revision) -> bytes:
    """The answer to a `tools/call` that gave content blocks; a `ToolResult` may carry structured content too."""
    structured = b"" if outcome.structured is None else b',"structuredContent":%b' % outcome.structured
    return b'{"jsonrpc":"2.0","id":%b,"result":{"content":%b%b,"isError":false%b}}' % (
        identifier(request_id),
        degraded(outcome.encoded, revision),
        structured,
        endpoint.complete if revision.era == "stateless" else b"",
    )


def failed(request_id: RequestId, error: bytes, endpoint: Endpoint, era: Era) -> bytes:
    """The answer to a `tools/call` that failed (T-16): the kernel's error object as text, no structured content."""
    return (b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}],"isError":true%b}}') % (
        identifier(request_id),
        _text(error.decode()),
        endpoint.complete if era == "stateless" else b"",
    )


def misfitting(fault: Fault, request_id: RequestId, tool: Tool, endpoint: Endpoint, era: Era) -> bytes | Refused:
    """The answer to arguments of the wrong shape: an error of the protocol, or of the tool, as its settings say."""
    if tool.validation_errors == "protocol":
        return refuse(fault, request_id, era)
    return failed(request_id, encode(msgspec.to_builtins(fault)), endpoint, era)


def outcome_of(
    request_id: RequestId, outcome: Done | Failed, tool: Tool, endpoint: Endpoint, revision: Revision
) -> bytes | Fault:
    """The answer to a `tools/call` that was run.

    A capability that the client lacks is an error of the protocol in the stateless era, and the tool's in a session.
    What was not run because too much came is always one of the protocol: the tool had no part in it.
    """
    if isinstance(outcome, Done):
        if tool.method.content:
            return shown(request_id, outcome, endpoint, revision)
        return done(request_id, outcome, endpoint, revision.era)
    if isinstance(outcome.error, CapabilityMissing) and revision.era == "stateless":
        return Fault(MISSING_CAPABILITY, outcome.message, {"requiredCapabilities": outcome.error.required})
    if isinstance(outcome.error, NotNow):
        extra = outcome.error.extra
        return Fault(outcome.code, outcome.message, extra, retry_after=outcome.error.retry_after)
    return failed(request_id, outcome.encoded, endpoint, revision.era)


def listed(request_id: RequestId, members: bytes, endpoint: Endpoint, era: Era) -> bytes:
    """The answer to a question about the server, from ready members."""
    closing = endpoint.keepable if era == "stateless" else b""
    return b'{"jsonrpc":"2.0","id":%b,"result":{%b%b}}' % (identifier(request_id), members, closing)


def result(request_id: RequestId, encoded: bytes) -> bytes:
    """The answer to a request of the session era whose result is ready."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (identifier(request_id), encoded)


def error(refused: Refused) -> bytes:
    """The answer to what was refused."""
    body: dict[str, Any] = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        body["data"] = refused.data
    identified = {} if refused.id is None else {"id": refused.id}
    return encode({"jsonrpc": "2.0", **identified, "error": body})


def batch(answers: Sequence[bytes]) -> bytes:
    """The answers to a batch, in its order."""
    return b"[" + b",".join(answers) + b"]"


def streamed(pieces: AsyncIterator[bytes], locale: str) -> Reply:
    """An answer that goes out event by event."""
    return Reply(200, pieces, stream_headers(locale))


def reply(body: bytes, locale: str, after: After | None = None, headers: HeaderFields = ()) -> Reply:
    """An answer on its way (T-03), and what to run once it is out."""
    return Reply(200, body, spoken(locale) + headers, after)


def refusal(refused: Refused, challenge: HeaderFields = ()) -> Reply:
    """A refusal on its way."""
    return Reply(refused.status, error(refused), JSON + challenge + later(refused.retry_after))


def accepted() -> Reply:
    """A notification was taken: 202, no body, no content type."""
    return Reply(202)


def rejected(verdict: Rejected) -> Reply:
    """A refusal that stands before the body was read, so that no id is known.

    A token that is absent and one that is wrong look the same, and tell a client how to show one (RFC 6750 section 3).
    """
    unnamed = verdict.code in _DENIED and not verdict.headers
    refused = Refused(401 if unnamed else verdict.status, verdict.code, verdict.message, verdict.data)
    return Reply(refused.status, error(refused), JSON + (_CHALLENGE if unnamed else verdict.headers))


def afterwards(steps: Iterable[After]) -> After | None:
    """Several things to run once an answer is out, as one; None where there is nothing to run."""
    todo = tuple(steps)
    if len(todo) < 2:
        return todo[0] if todo else None

    async def run() -> None:
        for step in todo:
            await step()

    return run


@lru_cache(maxsize=256)
def compressed(locale: str) -> HeaderFields:
    """The same of one that goes out as gzip."""
    vary = ("Vary", "Accept-Language, Accept-Encoding")
    return (*JSON, ("Content-Encoding", "gzip"), ("Content-Language", locale), vary)


@lru_cache(maxsize=256)
def spoken(locale: str) -> HeaderFields:
    """What an answer in a language says in its head."""
    return (*JSON, ("Content-Language", locale), ("Vary", "Accept-Language"))


def identifier(request_id: RequestId) -> bytes:
    """An id as JSON."""
    return b"%d" % request_id if type(request_id) is int else encode(request_id)
