"""What a server says of opaque tokens, and for how long that is remembered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from rpcgw.access.oauth import Expected, Invalid, Unavailable
from rpcgw.adapters.oauth.introspection import Introspection
from rpcgw.api.context import Principal
from rpcgw.kernel.ports import Answered

NOW = 1000.0
REMEMBER = 60.0
HOLDS = {"active": True, "aud": "here", "sub": "alice"}


class Server:
    """Answers with these bytes."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 0) -> Answered:
        return Answered(200, self.body)


@pytest.mark.parametrize(
    ("said", "who", "until"),
    [
        pytest.param({**HOLDS, "exp": 5000}, Principal, 1060.0, id="one that holds for long: a while"),
        pytest.param({**HOLDS, "exp": 1005}, Principal, 1035.0, id="one that ends sooner: to its end, with the leeway"),
        pytest.param(HOLDS, Principal, 1060.0, id="one without an end, which need not be said"),
        pytest.param({**HOLDS, "iss": "another"}, Invalid, 1060.0, id="another issuer's"),
        pytest.param({**HOLDS, "aud": "elsewhere"}, Invalid, 1060.0, id="another audience's"),
        pytest.param({"active": False}, Invalid, 1060.0, id="one that does not hold"),
        pytest.param({**HOLDS, "active": "true"}, Invalid, 1060.0, id="a word that is no yes"),
        pytest.param([], Unavailable, 0.0, id="no claims"),
        pytest.param(None, Unavailable, 0.0, id="nested without end"),
    ],
)
async def test_until_when(said: Any, who: type, until: float) -> None:
    """No longer than asked for, and never past the token's own end."""
    body = b"[" * 6000 if said is None else json.dumps(said).encode()
    expected = Expected("issuer", frozenset({"here"}), leeway=30.0)
    source = Introspection(Server(body), "https://login.example/introspect", {}, expected, REMEMBER)  # type: ignore[arg-type]
    answer, remembered = await source.ask("t", NOW)
    assert isinstance(answer, who)
    assert remembered == until
