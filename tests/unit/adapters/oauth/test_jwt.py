"""Tokens that carry their claims: what is no JWT, and what of a token is remembered."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey

from rpcgw.access.oauth import Expected, Invalid
from rpcgw.adapters.oauth.jwt import Jwts
from rpcgw.adapters.oauth.keys import Key
from rpcgw.api.context import Principal

KEY = ECKey.generate_key("P-256", {"kid": "k"})
NOW = 1000.0
GOOD = {"iss": "issuer", "aud": "here", "sub": "alice", "exp": 2000}


class Published:
    """One key, whatever its name."""

    async def key(self, _: str) -> Key | None:
        return KEY


def jwts() -> Jwts:
    return Jwts(Published(), Expected("issuer", frozenset({"here"}), leeway=30.0), ["ES256"])  # type: ignore[arg-type]


def signed(**claims: Any) -> str:
    return jwt.encode({"alg": "ES256", "kid": "k"}, {**GOOD, **claims}, KEY, algorithms=["ES256"])


def headed(header: bytes) -> str:
    return f"{base64.urlsafe_b64encode(header).rstrip(b'=').decode()}.e30.AAAA"


def claiming(claims: bytes) -> str:
    return jws.serialize_compact({"alg": "ES256", "kid": "k"}, claims, KEY, algorithms=["ES256"])


@pytest.mark.parametrize(
    ("claims", "until"),
    [
        pytest.param({}, 2030.0, id="a good one, to its end"),
        pytest.param({"nbf": 1500}, 0.0, id="one that does not hold yet: it will"),
        pytest.param({"aud": "elsewhere"}, 0.0, id="one that is meant for others"),
    ],
)
async def test_until_when(claims: dict[str, Any], until: float) -> None:
    """Only who is let in is remembered."""
    said, remembered = await jwts().ask(signed(**claims), NOW)
    assert isinstance(said, Principal) is (until > 0)
    assert remembered == until


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(headed(b"[" * 6000), id="a header that is nested without end"),
        pytest.param(headed(b'{"alg": ["ES256"]}'), id="an algorithm that is a list"),
        pytest.param(headed(b'{"alg": {"ES256": 1}}'), id="an algorithm that is an object"),
        pytest.param(headed(b'{"alg": "ES256", "kid": ["k"]}'), id="a key's name that is a list"),
        pytest.param(headed(b'{"alg": "ES256", "crit": ["b64"], "b64": false}'), id="a payload that is not encoded"),
        pytest.param(headed(b"\xff\xfe"), id="a header that is no text"),
        pytest.param(headed(b""), id="no header"),
        pytest.param(claiming(b"[" * 6000), id="claims that are nested without end"),
        pytest.param(claiming(b"[]"), id="claims that are a list"),
        pytest.param(claiming(json.dumps({**GOOD, "exp": 10**400}).encode()), id="an end that no float can hold"),
        pytest.param(claiming(json.dumps({**GOOD, "sub": "a\ud800"}).encode()), id="a subject that is no text"),
        pytest.param(claiming(json.dumps({**GOOD, "tenant": "\ud800"}).encode()), id="a claim that is no text"),
    ],
)
async def test_what_is_no_token(token: str) -> None:
    """Whatever comes is refused, and never breaks what reads it."""
    said, until = await jwts().ask(token, NOW)
    assert isinstance(said, Invalid)
    assert until == 0.0
