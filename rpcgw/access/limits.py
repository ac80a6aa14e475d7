"""What is limited before a body is read, and by what it is counted. Pure; who counts is `rpcgw.kernel.rates`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rpcgw.access.addresses import counted_as
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.api.errors import TooManyRequests
from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.exchange import Head, Rejected
from rpcgw.kernel.keys import credential
from rpcgw.kernel.rates import later

Subject = Callable[[Principal, Head], str | None]
"""Whose count a request belongs to; None where it is not counted."""


@record(frozen=True, slots=True)
class Allowance:
    """One limit: its name, its rate, and whose count a request belongs to."""

    name: str
    rate: Rate
    subject: Subject


def allowances(address: Rate | None, token: Rate | None, group: Rate | None) -> tuple[Allowance, ...]:
    """The limits of a group's requests; those of the narrowest count come first, so that others do not pay for them."""
    asked = (("address", address, _address), ("token", token, _token), ("group", group, _group))
    return tuple(Allowance(name, rate, subject) for name, rate, subject in asked if rate is not None)


def too_many(limit: str, wait: float) -> Rejected:
    """The verdict on a request that came too soon (RFC 6585, section 4); `wait` is in seconds.

    It has no words for the log: who counts has told the operator, and a flood of refusals would drown everything else.
    """
    return Rejected(429, TooManyRequests.code, TooManyRequests.default_message, headers=later(wait), guard=limit)


def _address(_: Principal, head: Head) -> str:
    return counted_as(head.peer)


def _token(principal: Principal, _: Head) -> str | None:
    return None if principal is ANONYMOUS else credential(principal)


_EVERYBODY: Final = ""


def _group(_: Principal, __: Head) -> str:
    return _EVERYBODY
