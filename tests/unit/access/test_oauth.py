"""What an access token's claims must say, and what a client without a good one is told."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.access.challenges import bearer, insufficient_scope
from rpcgw.access.oauth import Expected, Invalid, expires, is_access_token, principal_of, scopes_of
from rpcgw.api.context import Principal

EXPECTED = Expected("https://login.example.com", frozenset({"https://api.example.com/mcp"}), leeway=30.0)
GOOD: dict[str, Any] = {
    "iss": "https://login.example.com",
    "aud": "https://api.example.com/mcp",
    "sub": "alice",
    "exp": 1000,
    "scope": "a b",
}
NOW = 900.0


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="all that is needed"),
        pytest.param(
            {"aud": ["https://other.example.com", "https://api.example.com/mcp"]}, id="one audience of several"
        ),
        pytest.param({"exp": 871}, id="expired, within the leeway"),
        pytest.param({"nbf": 929}, id="not yet, within the leeway"),
        pytest.param({"exp": 1000.5}, id="a time with a fraction"),
        pytest.param({"sub": "", "client_id": "alice"}, id="a client on its own behalf"),
    ],
)
def test_a_good_token(more: dict[str, Any]) -> None:
    """It stands for its subject, with its scopes and claims."""
    claims = GOOD | more
    assert principal_of(claims, EXPECTED, NOW) == Principal(
        "alice", frozenset({"a", "b"}), claims, claims["exp"] + EXPECTED.leeway
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        pytest.param({"iss": "https://login.example.com/"}, "issuer", id="an issuer that differs by a slash"),
        pytest.param({"iss": None}, "issuer", id="no issuer"),
        pytest.param({"aud": "https://api.example.com"}, "audience", id="a part of the audience"),
        pytest.param({"aud": []}, "audience", id="an empty list"),
        pytest.param({"aud": [["https://api.example.com/mcp"]]}, "audience", id="a list in a list"),
        pytest.param({"aud": {"https://api.example.com/mcp": 1}}, "audience", id="an object"),
        pytest.param({"aud": 5}, "audience", id="a number"),
        pytest.param({"exp": 870}, "expired", id="expired, past the leeway"),
        pytest.param({"exp": "1000"}, "expired", id="a time as text"),
        pytest.param({"exp": True}, "expired", id="a time that is none"),
        pytest.param({"exp": float("nan")}, "expired", id="a time that is no number"),
        pytest.param({"nbf": 931}, "yet", id="not yet"),
        pytest.param({"nbf": "0"}, "yet", id="a beginning as text"),
        pytest.param({"nbf": float("nan")}, "yet", id="a beginning that is no number"),
        pytest.param({"sub": None}, "subject", id="no subject"),
        pytest.param({"sub": 5}, "subject", id="a subject that is no text"),
    ],
)
def test_a_bad_token(more: dict[str, Any], reason: str) -> None:
    """It stands for nobody, and the reason says why."""
    refused = principal_of(GOOD | more, EXPECTED, NOW)
    assert isinstance(refused, Invalid)
    assert reason in refused.reason


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        pytest.param({"scope": "a  b"}, {"a", "b"}, id="words"),
        pytest.param({"scp": ["a", "b"]}, {"a", "b"}, id="a list"),
        pytest.param({"scp": "a b"}, {"a", "b"}, id="words under the other name"),
        pytest.param({"scope": ""}, set(), id="none"),
        pytest.param({"scope": ["a", 5]}, {"a"}, id="what is no text is none"),
        pytest.param({"scope": 5}, set(), id="a number"),
        pytest.param({}, set(), id="not said"),
    ],
)
def test_scopes(claims: dict[str, Any], scopes: set[str]) -> None:
    """RFC 9068's form, and the others that servers write."""
    assert scopes_of(claims) == scopes


@pytest.mark.parametrize(
    ("kind", "fits"),
    [("JWT", True), ("at+jwt", True), ("application/at+JWT", True), ("", True), ("id+jwt", False), (5, False)],
)
def test_kinds(kind: object, fits: bool) -> None:
    """A JWT that says that it is something else is no access token."""
    assert is_access_token({"typ": kind}) is fits


def test_until_when() -> None:
    """A token is remembered until its end and the leeway."""
    assert (expires(GOOD, EXPECTED), expires({}, EXPECTED)) == (1030.0, 0.0)


def test_challenges() -> None:
    """Members in quotes; what there is nothing to say of is left out."""
    assert bearer() == (("WWW-Authenticate", "Bearer"),)
    assert insufficient_scope("https://x/meta", ["b", "a"]) == (
        ("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="a b", resource_metadata="https://x/meta"'),
    )
