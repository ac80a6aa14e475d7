"""What goes with a webhook's body."""

from __future__ import annotations

import hashlib
import hmac

from rpcgw.protocol.jsonrpc.delivery import fields, sign

BODY = b'{"id":1,"result":2,"jsonrpc":"2.0"}'


def test_signature() -> None:
    """The signature is the HMAC-SHA256 of timestamp, dot and body, and names its timestamp."""
    expected = hmac.new(b"0123456789abcdef", b"1700000000." + BODY, hashlib.sha256).hexdigest()
    assert sign("0123456789abcdef", 1_700_000_000, BODY) == f"t=1700000000,v1={expected}"


def test_a_known_signature() -> None:
    """The form never changes: receivers compute it too (made once with openssl dgst -sha256 -hmac)."""
    assert sign("key", 1, b"body") == "t=1,v1=91b5374b153842ad05b2c4eab9349b8321b14703165bd3fb8b034dfb8be98ae5"


def test_fields() -> None:
    """JSON both ways, the tracing fields, the signature, and nothing else."""
    made = fields({"traceparent": "00-1"}, BODY, "0123456789abcdef", 1_700_000_000.9)
    assert made == {
        "traceparent": "00-1",
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Rpcgw-Signature": sign("0123456789abcdef", 1_700_000_000, BODY),
    }


def test_unsigned() -> None:
    """Without a secret nothing looks like a signature."""
    assert "Rpcgw-Signature" not in fields({}, BODY, None, 1.0)
