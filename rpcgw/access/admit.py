"""May this request come in? The ladder that every endpoint's heads climb before a body is read. Pure.

Guards (Host, Origin), the method, the token, the media type of the body: the first refusal is the verdict. Each
protocol puts a `Rejected` on the wire in its own form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from rpcgw.access.guards import Guards
from rpcgw.access.tokens import WRONG_TOKEN, Denied, Tokens
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.api.errors import InternalError, InvalidRequest, TokenInvalid, TokenNotSent
from rpcgw.exchange import Head, HeaderFields, Rejected, Reply
from rpcgw.kernel.ports import Clock, Observer

JSON: frozenset[str] = frozenset({"application/json"})
JSON_OR_NONE: frozenset[str] = JSON | {""}
_CHALLENGE: HeaderFields = (("WWW-Authenticate", "Bearer"),)

Refuse = Callable[[Rejected, Head], Reply]


@dataclass(frozen=True, slots=True)
class Policy:
    """Who and what an endpoint lets in.

    `methods` are those that it serves; OPTIONS is answered whether it is among them or not. `tokens` says by method who
    must show one (absent: the method is open). `media_types` says by method which bodies it takes, "" standing for a
    request that names none (absent: any).
    """

    guards: Guards
    methods: tuple[str, ...]
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    media_types: Mapping[str, frozenset[str]] = field(default_factory=dict)


def judge(policy: Policy, head: Head, now: float) -> Principal | Rejected | Reply:
    """Who comes in, or why not; a `Reply` answers OPTIONS. `now` is seconds since the epoch."""
    refused = policy.guards.check(head)
    if refused is not None:
        return refused
    if head.method not in policy.methods:
        return _options(policy) if head.method == "OPTIONS" else _wrong_method(policy, head.method)
    tokens = policy.tokens.get(head.method)
    who = ANONYMOUS if tokens is None else _identify(tokens, head, now)
    return who if isinstance(who, Rejected) else _wrong_media_type(policy, head) or who


def admitter(policy: Policy, clock: Clock, refuse: Refuse) -> Callable[[Head], Principal | Reply]:
    """An `Entrance.admit`: judge each head, and answer those that are refused."""

    def admit(head: Head) -> Principal | Reply:
        verdict = judge(policy, head, clock.now())
        return refuse(verdict, head) if isinstance(verdict, Rejected) else verdict

    return admit


def refuser(observer: Observer, render: Callable[[Rejected], Reply]) -> Refuse:
    """A function that tells the operator what was refused and lets the protocol tell the client.

    Its replies carry their verdict.
    """

    def refuse(verdict: Rejected, head: Head) -> Reply:
        if verdict.log:
            known = {"guard": verdict.guard} if verdict.guard else {}
            observer.event(
                "guard.refused", status=verdict.status, path=head.path, peer=head.peer, reason=verdict.log, **known
            )
        return msgspec.structs.replace(render(verdict), verdict=verdict)

    return refuse


def too_large(limit: int, setting: str) -> Rejected:
    """The verdict on a body over `limit` bytes (C-11); `setting` is the one that raises the limit."""
    message = f"The body is larger than {limit} bytes"
    return Rejected(413, InvalidRequest.code, message, log=f"refused: {message}; the limit is {setting}")


def _allow(policy: Policy) -> HeaderFields:
    return (("Allow", ", ".join(dict.fromkeys((*policy.methods, "OPTIONS")))),)


def _options(policy: Policy) -> Reply:
    return Reply(204, headers=_allow(policy))


def _wrong_method(policy: Policy, method: str) -> Rejected:
    return Rejected(405, InvalidRequest.code, f"Method {method[:20]} is not allowed here", headers=_allow(policy))


def _identify(tokens: Tokens, head: Head, now: float) -> Principal | Rejected:
    """A missing token is 401 with a challenge (RFC 9110 section 15.5.2), a wrong one 403; 500 where nobody can tell."""
    who = tokens.identify(head.headers, now)
    if not isinstance(who, Denied):
        return who
    log = f"refused: {who.value} ({tokens.header}, or Authorization: Bearer); see ufo_json_rpc.security"
    if who.failed:
        return Rejected(500, InternalError.code, InternalError.default_message, log=f"refused: {who.value}")
    if who is Denied.ABSENT:
        return Rejected(
            401, TokenNotSent.code, TokenNotSent.default_message, headers=_CHALLENGE, log=log, guard="no token"
        )
    guard = WRONG_TOKEN if who is Denied.WRONG else "expired token"
    return Rejected(403, TokenInvalid.code, TokenInvalid.default_message, log=log, guard=guard)


def _wrong_media_type(policy: Policy, head: Head) -> Rejected | None:
    accepted = policy.media_types.get(head.method)
    if accepted is None:
        return None
    sent = head.headers.get("content-type") or ""
    if sent in accepted or sent.partition(";")[0].strip().lower() in accepted:
        return None
    return Rejected(415, InvalidRequest.code, f"The body must be {' or '.join(sorted(filter(None, accepted)))}")
