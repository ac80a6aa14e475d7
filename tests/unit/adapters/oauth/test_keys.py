"""Key sets as other hosts serve them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from rpcgw.adapters.oauth.keys import MOST_KEYS, read_keys

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
