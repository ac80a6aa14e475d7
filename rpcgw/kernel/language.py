"""What errors say in a client's language. Pure.

An error's text is one of the product's own where it is a `Phrase`, or its class's default message; only those have a
translation. Whatever an author writes goes out as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from rpcgw.api import errors
from rpcgw.api.errors import RpcError
from rpcgw.kernel.messages import MESSAGES, Texts, say

_KINDS: Final = (
    errors.ParseError,
    errors.InvalidRequest,
    errors.MethodNotFound,
    errors.InvalidParams,
    errors.AssertionFailed,
    errors.InternalError,
    errors.RuntimeFault,
    errors.LogicError,
    errors.LockedError,
    errors.TokenNotSent,
    errors.TokenInvalid,
    errors.ScopeMissing,
    errors.DataNotFound,
    errors.AsyncError,
    errors.BatchError,
    errors.ServerError,
    errors.NotNow,
    errors.Overloaded,
    errors.CircuitOpen,
    errors.TooManyRequests,
    errors.ApplicationError,
)

PHRASES: Texts = {
    **{f"error.{kind.__name__}": kind.default_message for kind in _KINDS},
    "error.no_method": 'The group "{group}" has no method "{method}" in version {version}',
    "error.no_version": 'The group "{group}" has no such version',
    "error.scopes": "{method} needs a token with the scopes: {scopes}",
    "error.locked": "{method} is locked by another call",
    "error.rate": "{method} is called too often; try again in {seconds} s",
    "error.overloaded": "{method} has {running} calls running and {waiting} waiting; try again later",
    "error.circuit": "{method} has failed too often and is not tried for {seconds} s",
    "error.deadline": "The call ran past its deadline of {seconds} s",
    "error.lock_store": "The call needs a lock, and the store of locks cannot be reached",
    "error.stuck": "Too many sync calls never ended; they are refused until the worker is replaced",
    "error.no_json": "The result of {method} has no JSON form: {reason}",
    "error.result": "The result of {method} is not what its type promises: {broken}",
    "error.not_deferred": "The call cannot be deferred just now; try again later",
    "error.many_deferred": "Too many calls are deferred just now; try again later",
    "error.depth": "More than {most} calls were made one out of the other",
    "error.no_json_params": "The parameters of a call out of a call have no form in JSON: {reason}",
    "error.misfit": "Invalid arguments for {tool}: {faults}",
    "error.empty_batch": "A batch holds at least one request",
    "error.long_batch": "A batch holds at most {most} requests, this one has {given}",
}
"""The English of errors' own texts, by key; `{...}` are facts of the error."""

ENGLISH: Texts = {**MESSAGES, **PHRASES}
"""Everything that the product says to clients, in English: what a catalogue may replace."""


class Phrase(str):
    """One of `PHRASES` in English, which remembers its key and its facts."""

    __slots__ = ("facts", "key")

    key: str
    facts: Mapping[str, Any]

    def __new__(cls, key: str, /, **facts: Any) -> Self:
        """The phrase of a key, with what stands in it."""
        made = super().__new__(cls, PHRASES[key].format_map(facts))
        made.key, made.facts = key, facts
        return made


def worded(error: RpcError, texts: Texts) -> str:
    """An error's text in the language of `texts`, where it is one of the product's own."""
    message = error.message
    if isinstance(message, Phrase):
        return say(message.key, message.facts, str(message), texts)
    if message == type(error).default_message:
        return texts.get(f"error.{type(error).__name__}", message)
    return message
