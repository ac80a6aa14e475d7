"""May this request come in? The ladder that every endpoint's heads climb before a body is read. Pure.

Guards (Host, Origin), the method, the token, the media type of the body: the first refusal is the verdict. Each
protocol puts a `Rejected` on the wire in its own form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial

import msgspec

from rpcgw.access import oauth
from rpcgw.access.challenges import bearer, insufficient_scope
from rpcgw.access.guards import Guards
from rpcgw.access.oauth import EXPIRED, Authority, Invalid, Resource, Unavailable
from rpcgw.access.tokens import WRONG_TOKEN, Denied, Tokens
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.api.errors import InternalError, InvalidRequest, ScopeMissing, TokenInvalid, TokenNotSent
from rpcgw.api.records import record
from rpcgw.exchange import Head, HeaderFields, Pending, Rejected, Reply, Verdict
from rpcgw.kernel.ports import Clock, Observer

JSON: frozenset[str] = frozenset({"application/json"})
JSON_OR_NONE: frozenset[str] = JSON | {""}
_RETRY: HeaderFields = (("Retry-After", "5"),)
_AWAY = "Nobody can say whose the token is now; try again soon"

Refuse = Callable[[Rejected, Head], Reply]


@record(frozen=True, slots=True)
class Policy:
    """Who and what an endpoint lets in.

    `methods` are those that it serves; OPTIONS is answered whether it is among them or not. `tokens` says by method who
    must show one (absent: the method is open). `media_types` says by method which bodies it takes, "" standing for a
    request that names none (absent: any). In `voluntary` are the methods for which a token may be left out: what is
    seen depends on it. `resource` says whose access tokens are taken beside `tokens`.
    """

    guards: Guards
    methods: tuple[str, ...]
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    media_types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    voluntary: frozenset[str] = frozenset()
    resource: Resource | None = None


@record(frozen=True, slots=True)
class Foreign:
    """A token that is none of the group's own; an authorization server may know it, and is to be asked."""

    token: str
    authority: Authority


def judge(policy: Policy, head: Head, now: float) -> Principal | Rejected | Reply | Foreign:
    """Who comes in, or why not; a `Reply` answers OPTIONS. `now` is seconds since the epoch."""
    refused = policy.guards.check(head)
    if refused is not None:
        return refused
    if head.method not in policy.methods:
        return _options(policy) if head.method == "OPTIONS" else _wrong_method(policy, head.method)
    tokens = policy.tokens.get(head.method)
    who = ANONYMOUS if tokens is None else _identify(policy, tokens, head, now)
    return _wrong_media_type(policy, head) or who if isinstance(who, Principal) else who


def admitter(policy: Policy, clock: Clock, refuse: Refuse) -> Callable[[Head], Verdict]:
    """An `Entrance.admit`: judge each head, and answer those that are refused.

    Where no token is asked for, a head that was let in once is let in again.
    """
    over_tcp, over_unix = object(), object()

    def admit(head: Head) -> Verdict:
        memo, way = head.memo, over_unix if head.unix else over_tcp
        if memo is not None and way in memo:
            return ANONYMOUS
        verdict = judge(policy, head, clock.now())
        if memo is not None and verdict is ANONYMOUS and head.method not in policy.tokens:
            memo[way] = verdict
        if isinstance(verdict, Rejected):
            return refuse(verdict, head)
        return Pending(partial(settle, verdict, head)) if isinstance(verdict, Foreign) else verdict

    async def settle(foreign: Foreign, head: Head) -> Principal | Reply:
        said = await foreign.authority.identify(foreign.token, clock.now())
        who = _by_authority(policy, said)
        verdict = _wrong_media_type(policy, head) or who if isinstance(who, Principal) else who
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


def _identify(policy: Policy, tokens: Tokens, head: Head, now: float) -> Principal | Rejected | Foreign:
    who = tokens.identify(head.headers, now)
    if not isinstance(who, Denied):
        return who
    if who is Denied.ABSENT and head.method in policy.voluntary:
        return ANONYMOUS
    resource = policy.resource
    if resource is None or who.failed:
        return _denied(who, tokens)
    token = oauth.presented(head.headers)
    # Where the group's own header came too, that one counts, here as for whoever is lent the caller's token.
    taken = token is not None and token == tokens.presented(head.headers)
    if who is Denied.WRONG and token is not None and taken and resource.authority is not None:
        known = resource.authority.recall(token, now)
        return Foreign(token, resource.authority) if known is None else _by_authority(policy, known)
    return _challenged(who, resource)


def _denied(who: Denied, tokens: Tokens) -> Rejected:
    """A missing token is 401 with a challenge (RFC 9110 section 15.5.2), a wrong one 403; 500 where nobody can tell."""
    log = f"refused: {who.value} ({tokens.header}, or Authorization: Bearer); see ufo_json_rpc.security"
    if who.failed:
        return Rejected(500, InternalError.code, InternalError.default_message, log=f"refused: {who.value}")
    if who is Denied.ABSENT:
        return Rejected(
            401, TokenNotSent.code, TokenNotSent.default_message, headers=bearer(), log=log, guard="no token"
        )
    guard = WRONG_TOKEN if who is Denied.WRONG else "expired token"
    return Rejected(403, TokenInvalid.code, TokenInvalid.default_message, log=log, guard=guard)


def _challenged(who: Denied, resource: Resource) -> Rejected:
    """Both are 401 where access tokens are taken: the client is to get another (RFC 6750 section 3.1)."""
    log = f"refused: {who.value} (Authorization: Bearer); see groups.<group>.oauth"
    if who is Denied.ABSENT:
        headers = bearer(resource.metadata_url, resource.scopes)
        message = TokenNotSent.default_message
        return Rejected(401, TokenNotSent.code, message, headers=headers, log=log, guard="no token")
    return _invalid(resource, who.value)


def _by_authority(policy: Policy, said: Principal | Invalid | Unavailable) -> Principal | Rejected:
    """What an authorization server's word comes to."""
    resource = policy.resource
    assert resource is not None, "only a protected resource has an authority"
    if isinstance(said, Invalid):
        return _invalid(resource, said.reason)
    if isinstance(said, Unavailable):
        log = f"refused: no authorization server can say whose the token is: {said.reason}"
        return Rejected(503, InternalError.code, _AWAY, headers=_RETRY, log=log)
    if resource.scopes <= said.scopes:
        return said
    missing = " ".join(sorted(resource.scopes - said.scopes))
    headers = insufficient_scope(resource.metadata_url, resource.scopes)
    log = f"refused: the token of {said.name!r} lacks {missing}; see groups.<group>.oauth.scopes"
    return Rejected(403, ScopeMissing.code, ScopeMissing.default_message, headers=headers, log=log)


def _invalid(resource: Resource, reason: str) -> Rejected:
    headers = bearer(resource.metadata_url, resource.scopes, "invalid_token", reason)
    log = f"refused: {reason}; see groups.<group>.oauth"
    guard = "expired token" if reason == EXPIRED else WRONG_TOKEN
    return Rejected(401, TokenInvalid.code, TokenInvalid.default_message, headers=headers, log=log, guard=guard)


def _wrong_media_type(policy: Policy, head: Head) -> Rejected | None:
    accepted = policy.media_types.get(head.method)
    if accepted is None:
        return None
    sent = head.headers.get("content-type") or ""
    if sent in accepted or sent.partition(";")[0].strip().lower() in accepted:
        return None
    return Rejected(415, InvalidRequest.code, f"The body must be {' or '.join(sorted(filter(None, accepted)))}")
