"""The ladder before the body: one table."""

import hashlib
from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.access.admit import admitter, judge, refuser, too_large
from rpcgw.access.guards import Guards
from rpcgw.access.oauth import Expected, Invalid, Resource
from rpcgw.access.policies import rpc_policy
from rpcgw.access.tokens import compile_tokens
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Head, Rejected, Reply

TOKENS = compile_tokens("Ufo-RPC-Token", [("crm", hashlib.sha256(b"s3cret").hexdigest(), 1000.0)])
OPEN = rpc_policy(Guards(), TOKENS, protected_api=False, protected_doc=False)
PROTECTED = rpc_policy(Guards(), TOKENS, protected_api=True, protected_doc=False)
ALL_PROTECTED = rpc_policy(Guards(), TOKENS, protected_api=True, protected_doc=True)
GOOD = {"Ufo-RPC-Token": "s3cret"}
WRONG = {"Ufo-RPC-Token": "nope"}


def head(method: str = "POST", query: str = "", **fields: str) -> Head:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return Head(method, "/rpc", query, CIMultiDict({"Host": "localhost", **named}), "10.0.0.9")


def outcome(verdict: object) -> object:
    match verdict:
        case Principal(name):
            return name
        case Rejected(status, code):
            return status, code
        case Reply():
            return verdict.status
    raise AssertionError(verdict)


@pytest.mark.parametrize(
    ("policy", "head", "expected"),
    [
        pytest.param(OPEN, head(), "anonymous", id="an open group lets anybody call"),
        pytest.param(OPEN, head("GET"), "anonymous", id="and read its document"),
        pytest.param(OPEN, head(**WRONG), "anonymous", id="a token that nobody asked for is not looked at"),
        pytest.param(PROTECTED, head(), (401, -32401), id="a protected group asks for a token"),
        pytest.param(PROTECTED, head(**WRONG), (403, -32403), id="and for the right one"),
        pytest.param(PROTECTED, head(**GOOD), "crm", id="which says who calls"),
        pytest.param(PROTECTED, head("GET"), "anonymous", id="its document may still be open"),
        pytest.param(
            PROTECTED, head(query="Ufo-RPC-Token=s3cret"), (401, -32401), id="a token in the query does not count"
        ),
        pytest.param(ALL_PROTECTED, head("GET"), (401, -32401), id="or protected too"),
        pytest.param(ALL_PROTECTED, head("HEAD"), (401, -32401), id="HEAD is no way around it"),
        pytest.param(ALL_PROTECTED, head("GET", **GOOD), "crm", id="and opened by the same token"),
        pytest.param(
            PROTECTED, head(Content_Type="text/plain"), (401, -32401), id="the token comes before the media type"
        ),
        pytest.param(PROTECTED, head("PUT"), (405, -32600), id="the method comes before the token"),
        pytest.param(PROTECTED, head("OPTIONS"), 204, id="OPTIONS needs no token"),
        pytest.param(PROTECTED, head("OPTIONS", Origin="https://evil.example"), (403, -32600), id="but a fair Origin"),
        pytest.param(PROTECTED, head("PUT", Host="evil.example"), (421, -32600), id="the guards come first"),
        pytest.param(OPEN, head(Content_Type="application/json"), "anonymous", id="JSON"),
        pytest.param(
            OPEN, head(Content_Type="Application/JSON ; charset=utf-8"), "anonymous", id="JSON with a charset"
        ),
        pytest.param(OPEN, head(Content_Type=""), "anonymous", id="an empty media type"),
        pytest.param(OPEN, head(Content_Type="text/plain"), (415, -32600), id="plain text"),
        pytest.param(
            OPEN, head(Content_Type="text/plain;application/json"), (415, -32600), id="plain text in disguise"
        ),
        pytest.param(OPEN, head(Content_Type="application/x-www-form-urlencoded"), (415, -32600), id="a form"),
        pytest.param(OPEN, head(Content_Type="multipart/form-data; boundary=x"), (415, -32600), id="a form with files"),
        pytest.param(OPEN, head("GET", Content_Type="text/plain"), "anonymous", id="a GET has no body to judge"),
    ],
)
def test_judge(policy: Any, head: Head, expected: object) -> None:
    """Guards, method, token, media type: the first refusal is the verdict."""
    assert outcome(judge(policy, head, now=0.0)) == expected


def test_expired_token_is_wrong() -> None:
    """A token past its time is 403, and only the log says why."""
    verdict = judge(PROTECTED, head(**GOOD), now=2000.0)
    assert isinstance(verdict, Rejected)
    assert (verdict.status, verdict.code) == (403, -32403)
    assert "expired" in verdict.log
    assert "expired" not in verdict.message


@pytest.mark.parametrize("method", ["PUT", "OPTIONS"])
def test_allow(method: str) -> None:
    """405, and the answer to OPTIONS, name what is served."""
    verdict = judge(OPEN, head(method), now=0.0)
    assert isinstance(verdict, Rejected | Reply)
    assert dict(verdict.headers) == {"Allow": "GET, HEAD, POST, OPTIONS"}


def test_challenge() -> None:
    """401 says how to authenticate (RFC 9110 section 15.5.2)."""
    verdict = judge(PROTECTED, head(), now=0.0)
    assert isinstance(verdict, Rejected)
    assert dict(verdict.headers) == {"WWW-Authenticate": "Bearer"}


class Issuer:
    """Knows one token."""

    def recall(self, token: str, now: float) -> Principal | Invalid | None:
        return Principal("alice", claims={"iss": "x"}) if token == "issued" else Invalid("no")

    async def identify(self, token: str, now: float) -> Principal | Invalid:
        raise AssertionError("all that is asked here is known")


RESOURCE = Resource("http://x/rpc", "http://x/meta", ("x",), Expected("x", frozenset({"y"})), authority=Issuer())
ISSUED = rpc_policy(Guards(), TOKENS, RESOURCE, protected_api=True, protected_doc=False)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(head(Authorization="Bearer issued"), "alice", id="an access token"),
        pytest.param(head(Authorization="Bearer s3cret"), "crm", id="a token of the group beside"),
        pytest.param(head(Ufo_RPC_Token="issued"), (401, -32403), id="an access token is a bearer token only"),
        pytest.param(
            head(Authorization="Bearer issued", Ufo_RPC_Token="another"), (401, -32403), id="the own header counts"
        ),
        pytest.param(head(Authorization="Bearer issued", **GOOD), "crm", id="even where it names somebody else"),
    ],
)
def test_whose_token_counts(head: Head, expected: object) -> None:
    """The token that identifies the caller is the one that is lent on: no second one comes along with it."""
    assert outcome(judge(ISSUED, head, now=0.0)) == expected


class Watch:
    """An observer that keeps events, and a clock that stands still."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))

    def call_started(self, call: Any) -> None: ...
    def call_finished(self, call: Any, outcome: Any, seconds: float) -> None: ...
    def call_failed(self, call: Any, cause: BaseException, code: int) -> None: ...


def render(verdict: Rejected) -> Reply:
    return Reply(verdict.status, verdict.message.encode())


def test_admitter_tells_the_operator() -> None:
    """What a guard refuses is answered in the protocol's form, and told once with path and peer."""
    watch = Watch()
    admit = admitter(OPEN, watch, refuser(watch, render))
    reply = admit(head(Host="evil.example"))
    assert isinstance(reply, Reply)
    assert reply.status == 421
    [(name, fields)] = watch.events
    assert name == "guard.refused"
    assert (fields["status"], fields["path"], fields["peer"]) == (421, "/rpc", "10.0.0.9")
    assert "server.allowed_hosts" in fields["reason"]


def test_admitter_is_quiet_about_who_comes_in() -> None:
    """A caller who may come in is no event."""
    watch = Watch()
    assert admitter(OPEN, watch, refuser(watch, render))(head()) == ANONYMOUS
    assert watch.events == []


def test_too_large_names_its_setting() -> None:
    """C-11: a body over the limit is 413; the operator is told which limit."""
    verdict = too_large(4096, "ufo_mcp.max_body_bytes")
    assert verdict.status == 413
    assert "4096" in verdict.message
    assert "ufo_mcp.max_body_bytes" in verdict.log
