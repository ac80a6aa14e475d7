"""JSON-RPC 2.0 answers: outcomes, faults and refusals -> bytes and replies. Pure.

Members stand in the order id, result or error, jsonrpc. What a method makes of a call, failures included, is HTTP 200;
only what never became a call has a status of its own: 400 for what is no JSON, that of a refusal (401, 403, ...), and
of a single call that was not run 429 or 503 with Retry-After where too much came, and 403 where its caller lacks a
scope: clients ask for more rights by the status.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from rpcgw.api.errors import MethodNotFound, NotNow, ParseError, RpcError
from rpcgw.exchange import HeaderFields, Rejected, Reply
from rpcgw.kernel.call import Done, Outcome
from rpcgw.kernel.codec import encode
from rpcgw.kernel.failure import PYTHON, Names, error_of, not_now_status, render
from rpcgw.kernel.language import ENGLISH
from rpcgw.kernel.messages import Texts
from rpcgw.kernel.rates import later
from rpcgw.protocol.jsonrpc.envelope import Fault, Id

JSON: Final[HeaderFields] = (("Content-Type", "application/json"),)
NOT_FOUND: Final = Rejected(404, MethodNotFound.code, "There is nothing of this group in this version")
_END: Final = b',"jsonrpc":"2.0"}'

After = Callable[[], Awaitable[None]]


def answer_of(identifier: Id, outcome: Outcome) -> bytes:
    """The answer to one call."""
    if isinstance(outcome, Done):
        return b'{"id":%b,"result":%b%b' % (_id(identifier), outcome.encoded, _END)
    return _error(identifier, outcome.encoded)


def fault_answer(fault: Fault, names: Names = PYTHON, texts: Texts = ENGLISH) -> bytes:
    """The answer to what could not be run; `names` are those of error classes, `texts` the client's language."""
    return _error(fault.id, encode(_body(fault.error, names, texts)))


def answer_to(identifier: Id, outcome: Outcome, challenge: HeaderFields = ()) -> Reply:
    """The reply to one call that came alone; `challenge` says what to ask an authorization server for, if anything."""
    body = answer_of(identifier, outcome)
    if isinstance(outcome, Done):
        return reply(body, outcome.after)
    if challenge:
        return Reply(403, body, JSON + challenge)
    if not isinstance(outcome.error, NotNow):
        return reply(body)
    return Reply(not_now_status(outcome.error), body, JSON + later(outcome.error.retry_after))


def reply(body: bytes, after: After | None = None) -> Reply:
    """An answer, and what to run once it is out."""
    return Reply(200, body, JSON, after)


def fault_reply(fault: Fault, names: Names = PYTHON, texts: Texts = ENGLISH) -> Reply:
    """The one answer to a body that holds nothing to run."""
    return Reply(400 if isinstance(fault.error, ParseError) else 200, fault_answer(fault, names, texts), JSON)


def batch_body(answers: Sequence[bytes]) -> bytes:
    """The answers to a batch, in its order."""
    return b"[" + b",".join(answers) + b"]"


def accepted(after: After | None = None) -> Reply:
    """Nothing to answer: notifications only (JSON-RPC 2.0 section 4.1)."""
    return Reply(204, after=after)


def rejected(verdict: Rejected, names: Names = PYTHON) -> Reply:
    """A refusal in JSON-RPC's form: one error object, whose id nobody has read."""
    body = _body(error_of(verdict.code, verdict.message), names)
    if verdict.data is not None:
        body["data"] = verdict.data
    return Reply(verdict.status, _error(None, encode(body)), JSON + verdict.headers)


def _body(error: RpcError, names: Names = PYTHON, texts: Texts = ENGLISH) -> dict[str, Any]:
    """An error that was never raised: it has no place and no trace to show in any environment (T-17)."""
    return render(error, exposed=False, names=names, texts=texts).body()


def _error(identifier: Id | None, error: bytes) -> bytes:
    return b'{"id":%b,"error":%b%b' % (_id(identifier), error, _END)


def _id(identifier: Id | None) -> bytes:
    return b"%d" % identifier if type(identifier) is int else encode(identifier)
