"""Who may read metrics: whoever shows the token. Wrong ones are logged, and counted against the address."""

from __future__ import annotations

from rpcgw.access.admit import Refuse, refuser
from rpcgw.access.challenges import bearer
from rpcgw.access.tokens import AUTHORIZATION, WRONG_TOKEN, Denied, Tokens, compile_tokens
from rpcgw.adapters.http.answers import failure
from rpcgw.config.settings import Metrics
from rpcgw.daemon.rates import Limits
from rpcgw.endpoints.limited import Admit
from rpcgw.exchange import Head, Rejected, Reply, Verdict
from rpcgw.kernel.ports import Clock, Observer


def scrapers(metrics: Metrics, limits: Limits, clock: Clock, observer: Observer) -> Admit | None:
    """Who is admitted; None where anybody is."""
    if metrics.token_sha256 is None:
        return None
    tokens = compile_tokens(AUTHORIZATION, [("metrics", metrics.token_sha256, None)])
    refuse = refuser(observer, _plainly)
    return limits.before(_admitter(tokens, clock, refuse), refuse)


def _admitter(tokens: Tokens, clock: Clock, refuse: Refuse) -> Admit:
    def admit(head: Head) -> Verdict:
        who = tokens.identify(head.headers, clock.now())
        return refuse(_denied(who), head) if isinstance(who, Denied) else who

    return admit


def _denied(who: Denied) -> Rejected:
    """A missing token is 401 with a challenge (RFC 6750, section 3), a wrong one 403."""
    if who is Denied.ABSENT:
        log = "refused: no token (Authorization: Bearer); see metrics.token"
        return Rejected(401, 0, "a token is needed", headers=bearer(), log=log, guard="no token")
    log = "refused: not the token of the metrics; see metrics.token"
    return Rejected(403, 0, "not a token of the metrics", log=log, guard=WRONG_TOKEN)


def _plainly(verdict: Rejected) -> Reply:
    return failure(verdict.status, verdict.message, verdict.headers)
