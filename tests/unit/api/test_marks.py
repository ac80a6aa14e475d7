"""Marks that are written wrongly: an author is told at the line, when the plugin is imported."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.api.marks import Cache, Groups, Procedure, marks_of


class Shop:
    """Something to mark."""


def search() -> None:
    """Something else to mark."""


A_CLASS: Any = Shop
A_FUNCTION: Any = search

MISTAKES: list[Any] = [
    pytest.param(lambda: rpc.procedure(A_CLASS), "@rpc.procedure takes names", id="a procedure without brackets"),
    pytest.param(lambda: rpc.procedure("Shop")(A_FUNCTION), "@rpc.procedure marks a class, and 'search' is none", id="a function as a procedure"),
    pytest.param(lambda: rpc.procedure("Shop")(A_CLASS()), "@rpc.procedure marks a class", id="an instance as a procedure"),
    pytest.param(lambda: rpc.groups(A_FUNCTION), "@rpc.groups takes names", id="groups without brackets"),
    pytest.param(lambda: rpc.scopes(A_FUNCTION), "@rpc.scopes takes names", id="scopes without brackets"),
    pytest.param(lambda: rpc.invalidates(A_FUNCTION), "@rpc.invalidates takes names", id="a relation without brackets"),
]  # fmt: skip


@pytest.mark.parametrize(("write", "said"), MISTAKES)
def test_a_mark_that_is_written_wrongly(write: Callable[[], object], said: str) -> None:
    """It is refused at once; in silence the procedure, or the rule, would not be there."""
    with pytest.raises(TypeError) as refused:
        write()
    assert str(refused.value).startswith(said)


def test_one_name_is_a_list_of_one() -> None:
    """Where a mark takes several names, one alone is not taken for its letters."""

    @rpc.procedure("Shop", groups="mcp", removed="old")
    class Marked:
        @rpc.cache(environments="dev", vary="locale", by="name")
        def find(self, name: str) -> str:
            return name

    marks = marks_of(Marked)
    assert (marks[Procedure], marks[Groups]) == (Procedure("Shop", 1, ("old",)), Groups(("mcp",), with_default=True))
    assert marks_of(Marked.find)[Cache] == Cache(60, ("dev",), ("locale",), ("name",))


def _plain() -> Iterator[None]:
    yield None


async def _bare() -> AsyncIterator[None]:
    yield None


async def _returning() -> None: ...


@pytest.mark.parametrize("lifespan", [_plain, _bare, _returning])
def test_a_lifespan_without_its_decorator(lifespan: Any) -> None:
    """A function that only `contextlib.asynccontextmanager` would make a lifespan is refused at once."""
    with pytest.raises(TypeError, match=r"decorate it with contextlib\.asynccontextmanager$"):
        rpc.Plugin(lifespan=lifespan)
