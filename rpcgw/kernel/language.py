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
    "error.at": "{path}: {what}",
    "error.and": "{first}; {second}",
    "error.parameter": "The parameter {param} {what}",
    "error.reference": 'refers to the result of request "{parent}", {what}',
    "error.reference_field": 'refers to the field "{field}" of the result of request "{parent}", {what}',
    "reference.malformed": "must be @FROM:<id>(<field>), or @FROM:<id>() for the whole result",
    "reference.nowhere": "which is not in this batch",
    "reference.twice": "which more than one request of this batch has as its id",
    "reference.circle": "which waits for it in turn: these requests wait for each other in a circle",
    "reference.failed": "which answered an error",
    "reference.no_field": "whose result has no such field",
    "reference.too_much": "which brings more than a request may hold",
    "reference.no_parameter": "which cannot be a parameter: it {reason}",
    "envelope.no_object": "a request is an object",
    "envelope.version": 'must be "2.0", or absent',
    "envelope.method": "must be a string that is not blank",
    "envelope.id": "must be a string or an integer; leave it out for a notification",
    "envelope.params": "must be an object or an array, or absent",
    "special.no_object": "must be an object",
    "special.timeout": "must be a number of seconds from {least} to {most}",
    "special.callback": "must be an absolute http or https URL",
    "special.ray_id": "must be an integer or a string of 1 to {most} characters",
    "special.ignore_cache": "must be true or false",
    "webhook.closed": "webhooks are not allowed here",
    "webhook.no_url": "must be an absolute http or https URL, without credentials and fragment",
    "webhook.unlisted": "is not among the addresses that webhooks may go to",
    "webhook.private": "is an address that webhooks must not go to",
    "webhook.unresolved": "has a host that does not resolve",
    "webhook.resolves_private": "resolves to an address that webhooks must not go to",
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


def in_language(text: str, texts: Texts) -> str:
    """A text in the language of `texts`, where it is one of the product's own; so are phrases among its facts."""
    if not isinstance(text, Phrase):
        return text
    facts = {name: in_language(fact, texts) if isinstance(fact, str) else fact for name, fact in text.facts.items()}
    return say(text.key, facts, str(text), texts)


def worded(error: RpcError, texts: Texts) -> str:
    """An error's text in the language of `texts`, where it is one of the product's own."""
    message = error.message
    if isinstance(message, Phrase):
        return in_language(message, texts)
    if message == type(error).default_message:
        return texts.get(f"error.{type(error).__name__}", message)
    return message
