"""Keys of stores that stand for values: canonical JSON and its digest. Pure."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from rpcgw.api.context import Principal
from rpcgw.kernel import codec

DIGEST_SIZE = 16

_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: Any) -> bytes:
    """JSON with the members of objects sorted and lists as they are: equal for equal JSON values.

    Args:
        value: A decoded JSON value.

    Raises:
        NoJsonForm: It holds what JSON cannot carry (half of a surrogate pair).
    """
    return codec.encoded(_encoder.encode, value)


def canonical_of(value: object) -> bytes:
    """The same for any value that has a JSON form, such as a converted parameter.

    Raises:
        NoJsonForm: It has none.
    """
    return canonical(codec.decode(codec.encode(value)))


def digest(content: bytes) -> str:
    """128 bits in hex: two values that differ never meet."""
    return blake2b(content, digest_size=DIGEST_SIZE).hexdigest()


def credential(principal: Principal) -> str:
    """Who a caller is among all callers: the token's name or the subject, and who issued it."""
    if not principal.claims:
        return principal.name
    return f"{principal.claims.get('iss', '')}\n{principal.name}"
