"""What is POSTed to a callback: the envelope of an answer, signed. Pure.

The signature is `Rpcgw-Signature: t=<seconds since the epoch>,v1=<hex>`, the HMAC-SHA256 of `<t>.<body>` under the
secret that both sides know. A receiver computes it over the bytes that it got, compares in constant time, and refuses a
`t` that is minutes old.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

SIGNATURE: Final = "Rpcgw-Signature"
_JSON: Final = {"Content-Type": "application/json", "Accept": "application/json"}


def fields(tracing: Mapping[str, str], body: bytes, secret: str | None, now: float) -> dict[str, str]:
    """The header fields of a webhook; without a secret it is not signed. `now` is seconds since the epoch."""
    signed = {} if secret is None else {SIGNATURE: sign(secret, int(now), body)}
    return {**tracing, **_JSON, **signed}


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """The value of the signature's field."""
    digest = hmac.new(secret.encode("utf-8"), b"%d.%b" % (timestamp, body), hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"
