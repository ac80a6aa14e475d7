"""Key sets as other hosts serve them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from rpcgw.adapters.oauth.keys import MOST_KEYS, PAUSE, Keys, read_keys
from rpcgw.kernel.ports import Answered

RSA = RSAKey.generate_key(2048, {"kid": "rsa"}).as_dict(private=False)
EC = ECKey.generate_key("P-256", {"kid": "ec"}).as_dict(private=False)
ED = OKPKey.generate_key("Ed25519", {"kid": "ed"}).as_dict(private=False)
OCT = OctKey.import_key("0123456789abcdef0123456789abcdef", {"kid": "oct"}).as_dict(private=True)


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        pytest.param([RSA, EC, ED], {"rsa", "ec", "ed"}, id="pairs of all kinds"),
        pytest.param([RSA, OCT], {"rsa"}, id="a shared secret is none"),
        pytest.param([RSA, EC | {"use": "enc"}], {"rsa"}, id="a key for encryption is none"),
        pytest.param([RSA, {"kty": "new"}, 5, {}], {"rsa"}, id="what is not known is left out"),
        pytest.param([RSA, EC | {"x": "!"}], {"rsa"}, id="a broken key is left out"),
        pytest.param([{name: value for name, value in EC.items() if name != "kid"}], {""}, id="a key without a name"),
    ],
)
def test_keys_that_can_be_used(entries: list[Any], names: set[str]) -> None:
    """Public keys that check signatures, by their names."""
    assert read_keys(json.dumps({"keys": entries}).encode()).keys() == names


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>", id="no JSON"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"{}", id="no keys"),
        pytest.param(b'{"keys": {}}', id="keys that are no list"),
        pytest.param(b'{"keys": []}', id="no key"),
        pytest.param(json.dumps({"keys": [OCT]}).encode(), id="shared secrets alone"),
        pytest.param(json.dumps({"keys": [EC] * (MOST_KEYS + 1)}).encode(), id="too many"),
        pytest.param(b"\xff", id="no text"),
    ],
)
def test_what_is_no_key_set(body: bytes) -> None:
    """It is an error, so that the last good set goes on to be used."""
    with pytest.raises(ValueError, match="key set"):
        read_keys(body)


class Server:
    """A key server that answers once it is let, and a clock."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        self.body = json.dumps({"keys": keys}).encode()
        self.asked = 0
        self.answers = asyncio.Event()
        self.answers.set()
        self.now = 100.0
        self.told: list[str] = []

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 0) -> Answered:
        self.asked += 1
        await self.answers.wait()
        return Answered(200, self.body)

    def keys(self) -> Keys:
        return Keys(
            self,  # type: ignore[arg-type]
            "https://login.example/jwks",
            refresh=300.0,
            stale=3600.0,
            monotonic=lambda: self.now,
            tell=self.told.append,
        )


async def test_many_callers_share_a_fetch() -> None:
    """However many come at once, a key server is asked once; a caller who leaves ends nothing."""
    server = Server(RSA)
    server.answers.clear()
    keys = server.keys()
    waiting = [asyncio.ensure_future(keys.key("rsa")) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    server.answers.set()
    assert all(key is not None for key in await asyncio.gather(*waiting[1:]))
    assert server.asked == 1


@pytest.mark.parametrize(
    "name", [pytest.param("rsa", id="by its name"), pytest.param("", id="where a token names none")]
)
async def test_a_slow_server_holds_up_nobody_whose_key_is_known(name: str) -> None:
    """Others ask for a key that nobody knows, and wait; who has a good one does not."""
    server = Server(RSA)
    keys = server.keys()
    assert await keys.key("rsa") is not None
    server.now += PAUSE
    server.answers.clear()
    stranger = asyncio.ensure_future(keys.key("stranger"))
    await asyncio.sleep(0)
    known = asyncio.ensure_future(keys.key(name))
    await asyncio.sleep(0)
    assert (known.done(), stranger.done(), server.asked) == (True, False, 2)
    server.answers.set()
    assert await stranger is None


async def test_a_token_without_a_key_s_name_asks_nobody() -> None:
    """The only key there is needs no fetch, however much later."""
    server = Server(RSA)
    keys = server.keys()
    assert await keys.key("rsa") is not None
    server.now += PAUSE
    assert await keys.key("") is not None
    assert server.asked == 1


async def test_a_set_that_breaks_what_reads_it() -> None:
    """It is as good as none: the last good set does, and the operator is told."""
    server = Server(RSA)
    keys = server.keys()
    assert await keys.key("rsa") is not None
    server.now += PAUSE
    server.body = b'{"keys":' + b"[" * 100_000
    assert await keys.key("other") is None
    assert await keys.key("rsa") is not None
    assert server.told == ["https://login.example/jwks: the key set is no JSON"]
