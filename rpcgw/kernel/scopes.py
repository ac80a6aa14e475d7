"""Which methods a caller may use: one answer for lists, documents and calls on every surface. Pure.

A method names the scopes that its callers need, all of them; a caller has those of its token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rpcgw.api.context import Principal
from rpcgw.api.errors import ScopeMissing
from rpcgw.kernel.language import Phrase
from rpcgw.kernel.method import Method

NONE: Final[frozenset[str]] = frozenset()


def refusal(method: Method, principal: Principal) -> ScopeMissing | None:
    """The error that keeps a caller from a method, or None where nothing does."""
    if method.scopes <= principal.scopes:
        return None
    text = Phrase("error.scopes", method=method.name, scopes=" ".join(sorted(method.scopes)))
    return ScopeMissing(text, scopes=method.scopes)


def is_usable(method: Method, granted: frozenset[str], off: frozenset[str] = NONE) -> bool:
    """Whether a caller with these scopes may use a method, which must not be off."""
    return method.scopes <= granted and method.name not in off


def usable(methods: Mapping[str, Method], granted: frozenset[str], off: frozenset[str] = NONE) -> Mapping[str, Method]:
    """Of some methods, those that a caller with these scopes may use, without those that are off."""
    found = {name: each for name, each in methods.items() if is_usable(each, granted, off)}
    return methods if len(found) == len(methods) else found


def named(methods: Iterable[Method]) -> frozenset[str]:
    """Every scope that one of the methods needs."""
    return NONE.union(*(method.scopes for method in methods))
