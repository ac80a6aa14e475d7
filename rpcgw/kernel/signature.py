"""A function's signature as the kernel sees it: hints, defaults, docstring, what is injected. Pure; no pydantic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rpcgw.api.problems import Place


class _Absent:
    def __repr__(self) -> str:
        return "<absent>"


ABSENT: Final = _Absent()
"""Stands where a parameter has no default, and where a function has no return annotation."""


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of the API."""

    name: str
    hint: Any
    default: Any = ABSENT
    description: str = ""
    positional_only: bool = False

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is ABSENT


@dataclass(frozen=True, slots=True)
class Signature:
    """What a method takes and gives, and what its docstring says.

    `contexts` are the parameters that get the `CallContext`; they are not part of the API. `raises` pairs an exception
    class, as far as its name could be resolved, with the docstring's words.
    """

    name: str
    function: Callable[..., Any]
    params: tuple[Param, ...]
    returns: Any
    description: str
    returns_doc: str
    raises: tuple[tuple[type[BaseException], str], ...]
    contexts: tuple[str, ...]
    is_async: bool
    deprecated: bool
    place: Place
