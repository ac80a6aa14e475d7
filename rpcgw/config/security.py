"""Tokens and who may call, resolved for each group. Tokens are hashed here and are known to nobody afterwards. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rpcgw.api.problems import Problem
from rpcgw.config.document import Document
from rpcgw.config.oauth import build_forward, build_oauth
from rpcgw.config.settings import Security, Token
from rpcgw.config.wording import quoted

_ROOT = ("ufo_json_rpc", "security")
_SHOWN = 8
"""How many digits of its digest name a token of `clients_tokens`: enough to tell tokens apart, too few to guess one."""
_FIELDS = ("protected_api", "protected_doc", "token_name", "validator")


def build_security(document: Document, groups: Iterable[str]) -> tuple[dict[str, Security], list[Problem]]:
    """Who may call: for each group that something is set for, and in common under the empty name.

    A group's own `clients_tokens` stand instead of the common ones; its named `groups.<group>.tokens` come in addition.
    """
    common = _merged(Security(), document.get(*_ROOT, default={}))
    providers: Mapping[str, Mapping[str, Any]] = document.get(*_ROOT, "providers", default={})
    found = {"": common}
    problems: list[Problem] = []
    for group in groups:
        own = _merged(common, providers.get(group, {}))
        named, wrong = _named_tokens(document, group, own.tokens)
        oauth, faults = build_oauth(document, group)
        forward = build_forward(document, group)
        found[group] = replace(own, tokens=(*own.tokens, *named), oauth=oauth, forward=forward)
        problems += [*wrong, *faults]
    return found, problems


def digest(token: str) -> str:
    """SHA-256 of a token in hexadecimal digits; blanks around it are not part of it (a header cannot carry them)."""
    return hashlib.sha256(token.strip().encode("utf-8")).hexdigest()


def _merged(security: Security, given: Mapping[str, Any]) -> Security:
    own = {name: given[name] for name in _FIELDS if name in given}
    if "clients_tokens" in given:
        own["tokens"] = tuple(_nameless(sha256) for sha256 in dict.fromkeys(map(digest, given["clients_tokens"])))
    return replace(security, **own)


def _nameless(sha256: str) -> Token:
    """Named by what it is: by its place in the list it would inherit another's sessions once that one is removed."""
    return Token(f"client-{sha256[:_SHOWN]}", sha256)


def _named_tokens(document: Document, group: str, nameless: Iterable[Token]) -> tuple[list[Token], list[Problem]]:
    taken = {token.name for token in nameless}
    tokens: list[Token] = []
    problems: list[Problem] = []
    for at, given in enumerate(document.get("groups", group, "tokens", default=[])):
        path = ("groups", group, "tokens", at)
        name = given["name"]
        if document.broken(path) & {"value", "sha256"}:
            continue
        if ("value" in given) == ("sha256" in given):
            text = f"The token {quoted(name)} needs either a value or a sha256, and not both."
            problems.append(document.problem(path, "bad-value", text))
            continue
        if name in taken:
            text = f"The group has two tokens named {quoted(name)}."
            problems.append(
                document.problem((*path, "name"), "bad-value", text, "logs tell tokens apart by their names")
            )
        taken.add(name)
        expires, wrong = _expires(document, (*path, "expires"), given.get("expires"))
        problems += wrong
        sha256 = given["sha256"].lower() if "sha256" in given else digest(given["value"])
        tokens.append(Token(name, sha256, expires, tuple(given.get("scopes", ()))))
    return tokens, problems


def _expires(
    document: Document, path: tuple[str | int, ...], given: str | float | None
) -> tuple[float | None, list[Problem]]:
    if given is None or isinstance(given, int | float):
        return given, []
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        text = f'"{".".join(str(step) for step in path)}" must be a date or a time, not {quoted(given)}.'
        return None, [document.problem(path, "bad-value", text, "write 2027-01-31 or 2027-01-31T12:00:00Z")]
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), []
