"""Tokens that a person types: HTTP Basic (RFC 7617). The password is the token; the name says nothing. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Final

import msgspec

from rpcgw.access.tokens import AUTHORIZATION
from rpcgw.exchange import Head, HeaderFields, Headers, Verdict

CHALLENGE: Final[HeaderFields] = (("WWW-Authenticate", 'Basic realm="rpcgw", charset="UTF-8"'),)
_BASIC: Final = "basic "

Admit = Callable[[Head], Verdict]


def typed(admit: Admit) -> Admit:
    """Judge a head with a typed token as one whose token came as `Authorization: Bearer`."""

    def judged(head: Head) -> Verdict:
        token = password_of(head.headers)
        return admit(head if token is None else msgspec.structs.replace(head, headers=_Bearing(head.headers, token)))

    return judged


def password_of(headers: Headers) -> str | None:
    """What was typed; None where nothing was, or something that is no Basic credentials."""
    value = headers.get(AUTHORIZATION) or ""
    if value[: len(_BASIC)].lower() != _BASIC:
        return None
    try:
        decoded = base64.b64decode(value[len(_BASIC) :].strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    name, colon, password = decoded.partition(":")
    return password if colon else name


class _Bearing:
    """The fields of a request, with a token in the place of its credentials."""

    def __init__(self, headers: Headers, token: str) -> None:
        self._headers = headers
        self._own = f"Bearer {token}"

    def get(self, name: str, /) -> str | None:
        return self._own if name == AUTHORIZATION else self._headers.get(name)

    def getall(self, name: str, default: list[str], /) -> list[str]:
        return [self._own] if name == AUTHORIZATION else self._headers.getall(name, default)
