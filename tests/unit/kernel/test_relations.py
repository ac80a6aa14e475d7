"""What a success makes stale: everything of a method, a subset, or exactly one call's result; and what is made anew."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

import rpcgw as rpc
from rpcgw.api.marks import Invalidates, marks_of
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.relations import Relations
from rpcgw.kernel.table import compile_methods
from tests.unit.kernel.cached_world import CachedWorld

ONE = "0b6f4a8e-9e0d-4f3a-8a6c-1d2e3f4a5b6c"
TWO = "f7a1b2c3-0000-4000-8000-000000000002"


@rpc.procedure("Shelf")
class Shelf:
    """Reads that are kept, and writes that drop them; `runs` notes what was not answered from the cache."""

    def __init__(self) -> None:
        self.runs: list[Any] = []

    @rpc.cache()
    async def book(self, isbn: UUID, lang: str = "en") -> str:
        """One book."""
        self.runs.append(("book", str(isbn), lang))
        return f"{isbn} {lang} {len(self.runs)}"

    @rpc.cache()
    async def pages(self, number: float, first: int = 1) -> int:
        """Some pages."""
        self.runs.append(("pages", number, first))
        return len(self.runs)

    @rpc.cache()
    async def all(self) -> int:
        """Every book."""
        self.runs.append(("all",))
        return len(self.runs)

    async def plain(self, isbn: UUID) -> None:
        """Nothing that is kept."""

    @rpc.invalidates("Shelf.book", by="isbn")
    async def rename(self, isbn: UUID, name: str = "") -> None:
        """Drop all languages of one book."""

    @rpc.invalidates("Shelf.book", by={"isbn": "book_id"}, warm_up=True)
    async def mend(self, book_id: UUID) -> None:
        """Drop one book, which goes by another name here, and make it anew."""

    @rpc.invalidates("Shelf.book", exact=True)
    async def translate(self, isbn: UUID, lang: str = "uk") -> None:
        """Drop one book in one language."""

    @rpc.invalidates("Shelf.book", exact=True)
    async def reprint(self, isbn: UUID) -> None:
        """Drop one book in the language that is its default."""

    @rpc.invalidates("Shelf.pages", by=("number",))
    async def tear(self, number: int) -> None:
        """Drop the pages of a number."""

    @rpc.invalidates("Shelf.all")
    @rpc.invalidates("Shelf.book", by="isbn")
    async def add(self, isbn: UUID) -> None:
        """Drop the list, and one book."""

    @rpc.invalidates("Shelf.*")
    async def burn(self) -> None:
        """Drop everything."""


BOOK = "Shelf.book"


@pytest.mark.parametrize(
    ("write", "params", "dropped"),
    [
        pytest.param("rename", {"isbn": ONE}, {"one en", "one uk"}, id="a subset: all results of the value"),
        pytest.param("rename", {"isbn": ONE.upper()}, {"one en", "one uk"}, id="the value in another form of its type"),
        pytest.param("rename", {"isbn": TWO}, {"two en"}, id="a subset: another value"),
        pytest.param("mend", {"book_id": ONE}, {"one uk"}, id="by another name, and one made anew"),
        pytest.param("translate", {"isbn": ONE, "lang": "en"}, {"one en"}, id="exactly"),
        pytest.param("translate", {"isbn": ONE}, {"one uk"}, id="exactly, with the write's own default"),
        pytest.param("reprint", {"isbn": ONE}, {"one en"}, id="exactly, with the read's default"),
        pytest.param("add", {"isbn": TWO}, {"two en", "all"}, id="two marks"),
        pytest.param("burn", {}, {"one en", "one uk", "two en", "all", "pages"}, id="a whole procedure"),
        pytest.param("plain", {"isbn": ONE}, set(), id="nothing"),
    ],
)  # fmt: skip
async def test_what_goes(write: str, params: dict[str, Any], dropped: set[str]) -> None:
    """After a success exactly the named results are gone, and the others are answered from the cache."""
    reads: dict[str, tuple[str, dict[str, Any]]] = {
        "one en": (BOOK, {"isbn": ONE}),
        "one uk": (BOOK, {"isbn": ONE, "lang": "uk"}),
        "two en": (BOOK, {"isbn": TWO}),
        "all": ("Shelf.all", {}),
        "pages": ("Shelf.pages", {"number": 1}),
    }
    world = CachedWorld(Shelf())
    for method, given in reads.values():
        await world.done(method, given)
    written = await world.done(f"Shelf.{write}", params)
    if written.after is not None:
        await written.after()
    fresh = {name for name, (method, given) in reads.items() if not (await world.done(method, given)).cached}
    assert fresh == dropped


@pytest.mark.parametrize("number", [1, 1.0])
async def test_numbers_of_one_value(number: float) -> None:
    """1 and 1.0 are one value to JSON: what was kept for one goes with the other."""
    world = CachedWorld(Shelf())
    await world.done("Shelf.pages", {"number": number})
    await world.done("Shelf.tear", {"number": 1})
    assert not (await world.done("Shelf.pages", {"number": number})).cached


async def test_a_slow_reader_cannot_bring_back_a_subset() -> None:
    """A read that was begun before the write is not kept, although its method's other results stay."""

    @rpc.procedure("Slow")
    class Slow:
        def __init__(self) -> None:
            self.reading, self.go = asyncio.Event(), asyncio.Event()

        @rpc.cache()
        async def read(self, isbn: int) -> int:
            """Take a while."""
            self.reading.set()
            await self.go.wait()
            return isbn

        @rpc.invalidates("Slow.read", by="isbn")
        async def write(self, isbn: int) -> None:
            """Write."""

    slow = Slow()
    world = CachedWorld(slow)
    late = asyncio.create_task(world.done("Slow.read", {"isbn": 1}))
    await slow.reading.wait()
    await world.done("Slow.write", {"isbn": 1})
    slow.go.set()
    assert not (await late).cached
    assert not (await world.done("Slow.read", {"isbn": 1})).cached
    assert (await world.done("Slow.read", {"isbn": 1})).cached


async def test_a_hit_is_one_look() -> None:
    """A hit needs one look at the pool, however many sets of parameters results are dropped by."""
    world = CachedWorld(Shelf())
    await world.done(BOOK, {"isbn": ONE})
    world.pool.looks = 0
    assert (await world.done(BOOK, {"isbn": ONE})).cached
    assert world.pool.looks == 1


def test_marks_add_up() -> None:
    """`@rpc.invalidates` may stand several times; what each says is kept in its order."""
    mark = marks_of(Shelf.add)[Invalidates]
    assert isinstance(mark, Invalidates)
    assert mark.methods == ("Shelf.all", "Shelf.book")
    assert [relation.by for relation in mark.relations] == [(), (("isbn", "isbn"),)]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        pytest.param(rpc.invalidates, "say whose results", id="nobody's results"),
        pytest.param(lambda: rpc.invalidates("A.b", by="x", exact=True), "exclude each other", id="by and exact"),
    ],
)
def test_marks_that_make_no_sense(make: Any, text: str) -> None:
    """What cannot be meant is refused where it stands."""
    with pytest.raises(ValueError, match=text):
        make()


@rpc.procedure("Wrong")
class Wrong:
    """Marks that name what is not there."""

    @rpc.cache(by="nosuch")
    async def kept(self, isbn: int, must: int) -> int:
        """Keep."""
        return isbn

    @rpc.invalidates("Wrong.kept", by="colour")
    async def colour(self, isbn: int) -> None:
        """By a parameter that the read lacks."""

    @rpc.invalidates("Wrong.kept", by={"isbn": "number"})
    async def number(self, isbn: int) -> None:
        """By a parameter that the write lacks."""

    @rpc.invalidates("Wrong.kept", exact=True)
    async def exact(self, isbn: int) -> None:
        """Without a parameter that the read needs."""

    @rpc.invalidates("Nobody.*")
    async def nobody(self) -> None:
        """Of a procedure that there is not."""


def test_problems() -> None:
    """Parameters that are not there are problems when plugins are compiled, each in its own words."""
    _, problems = compile_methods([Registration(Wrong)])
    assert sorted(f"{problem.code}: {problem.text}" for problem in problems) == [
        "cache-by: Wrong.kept: @rpc.cache(by=...) names 'nosuch', which is no parameter of it",
        "invalidates: Wrong.colour: @rpc.invalidates goes by 'colour', which is no parameter of Wrong.kept in version 1",
        "invalidates: Wrong.exact: @rpc.invalidates is exact, and Wrong.kept needs 'must', which Wrong.exact does not have",
        "invalidates: Wrong.nobody: @rpc.invalidates names 'Nobody.*', which is no method",
        "invalidates: Wrong.number: @rpc.invalidates goes by 'number', which is no parameter of Wrong.number itself",
    ]


def test_tags_are_those_that_somebody_drops_by() -> None:
    """A result carries a tag for each set of parameters that anybody names, and no other."""
    table, _ = compile_methods([Registration(Shelf())])
    methods = table.methods("general", 1) or {}
    relations = Relations(methods.values())
    named = {name: [tag.names for tag in relations.tags(method)] for name, method in methods.items()}
    assert named["Shelf.book"] == [("isbn",), ("isbn", "lang")]
    assert named["Shelf.pages"] == [("number",)]
    assert named["Shelf.all"] == []
