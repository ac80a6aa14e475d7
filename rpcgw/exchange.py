"""What doors, guards and protocols hand to each other. Pure values, no HTTP library.

A door makes an `Inbound` of what came in and writes the `Reply` that it gets. `Head` is what is known before the body
is read: guards and tokens are checked on it alone. Values made for each request are msgspec structs, the cheapest kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from rpcgw.api.context import Principal
from rpcgw.api.records import record

HeaderFields = tuple[tuple[str, str], ...]


class Headers(Protocol):
    """The fields of a request; names are asked for in lower case and found in any case."""

    def get(self, name: str, /) -> str | None:
        """The first value of a field, or None."""

    def getall(self, name: str, default: list[str], /) -> list[str]:
        """Every value of a field in order, or `default`."""


class Fields:
    """`Headers` of a request that came by no wire, each once."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = {name.lower(): value for name, value in fields.items()}

    def get(self, name: str, /) -> str | None:
        """The value of a field, or None."""
        return self._fields.get(name.lower())

    def getall(self, name: str, default: list[str], /) -> list[str]:
        """Every value of a field, or `default`."""
        value = self.get(name)
        return default if value is None else [value]


def no_token(_: Headers) -> str | None:
    """Where nobody looks for one."""
    return None


@record(frozen=True, slots=True)
class Forwarding:
    """What of a request's head goes on to procedures: header fields by their lower-case names, and the caller's token.

    `token` finds it among the fields.
    """

    headers: tuple[str, ...] = ()
    token: Callable[[Headers], str | None] = no_token

    def fields(self, headers: Headers) -> dict[str, str]:
        """Of the fields that are forwarded, those that came."""
        return {name: value for name in self.headers if (value := headers.get(name)) is not None}


NOTHING_FORWARDED = Forwarding()


class Head(msgspec.Struct, frozen=True):
    """A request before its body: `peer` is the client's address ("" on a unix socket), `unix` whether that is one.

    `memo` keeps what follows from its path and fields alone, by whoever found it out, for later requests with the very
    same head; None where nobody keeps it.
    """

    method: str
    path: str
    query: str
    headers: Headers
    peer: str = ""
    unix: bool = False
    memo: dict[object, Any] | None = None


Found = TypeVar("Found")


def once_a_head(find: Callable[[Head], Found]) -> Callable[[Head], Found]:
    """`find`, asked once for all requests with the same head; what it finds follows from path and fields alone."""

    def found(head: Head) -> Found:
        memo = head.memo
        if memo is None:
            return find(head)
        known: Found | None = memo.get(found)
        if known is None:
            known = memo[found] = find(head)
        return known

    return found


async def never() -> None:
    """A peer that does not leave (command line, queue)."""
    await asyncio.Event().wait()


@record(frozen=True, slots=True)
class Rejected:
    """A verdict: the request is refused. Each protocol puts it on the wire in its own form.

    `log` says for the operator what happened and which setting to change, `guard` who refused, in a word that the code
    chose; neither reaches the client.
    """

    status: int
    code: int
    message: str
    data: object = None
    headers: HeaderFields = ()
    log: str = ""
    guard: str = ""


class Reply(msgspec.Struct, frozen=True):
    """An answer: `body` in one piece or as a stream, and what to run once the bytes are out.

    `verdict` is there where it refuses a request before its body was read.
    """

    status: int
    body: bytes | AsyncIterator[bytes] = b""
    headers: HeaderFields = ()
    after: Callable[[], Awaitable[None]] | None = None
    verdict: Rejected | None = None


Settling = Coroutine[Any, Any, "Principal | Reply"]
"""Asks somebody outside who comes in, or what they are told instead."""


class Pending(msgspec.Struct, frozen=True):
    """A head on which somebody outside has a say: a key server, a counter that hosts share. `settle()` asks them."""

    settle: Callable[[], Settling]


Answered = Callable[[Head, int, int, int, float], None]
"""Told of each answer of an endpoint: the head, the status, the bytes of the body as it was read and of the answer's as
they were written, the seconds from the head to the answer; of a stream, to its end."""

Traffic = Callable[[str], Answered]
"""Who is told, by the endpoint's name; asked once for each endpoint."""


def untold(_: str) -> Answered:
    """`Traffic` that nobody wants to hear of."""
    return lambda *_: None


Verdict = Principal | Reply | Pending
"""Of a head: who comes in, what they are told instead, or that it is to be settled first."""


async def settled(verdict: Verdict) -> Principal | Reply:
    """A verdict, once nobody else has a say in it."""
    return await verdict.settle() if isinstance(verdict, Pending) else verdict


class Inbound(msgspec.Struct, frozen=True):
    """A whole request. `gone()` is an awaitable that ends when the peer has left.

    `begin(reply)` puts a streamed answer on its way while the request is still worked on, once at most; of what is
    returned in the end only `after` counts then. It is None where the door can write nothing before the end.
    """

    head: Head
    body: bytes
    gone: Callable[[], Awaitable[None]] = never
    begin: Callable[[Reply], None] | None = None


def refused_plainly(verdict: Rejected, _: Head) -> Reply:
    """A verdict as a status and header fields, for entrances that have nothing to say."""
    return Reply(verdict.status, headers=verdict.headers, verdict=verdict)


Quick = Callable[[Principal, Inbound], "Reply | Coroutine[Any, Any, Reply] | None"]


@record(frozen=True, slots=True)
class Entrance:
    """One path as doors serve it, both spellings (with and without a trailing slash).

    `pattern` is a path in which a whole segment may be `{ver}`, which stands for `v` and digits, or `{aiName}`, which
    stands for anything; a path with fewer of them wins over one with more.
    `admit` is pure and runs on every head but a preflight's, before the body is read, whatever its method: guards, then
    the method (405 with `Allow`), then the token; what it cannot know by itself is `Pending`, and the door settles it.
    `methods` lists what it lets through, for `Allow` and for CORS.
    `too_large` is the answer to a body over `max_body_bytes`; `refuse` puts any other verdict into the protocol's form,
    and tells the operator. `seen` makes of a head what it is to everybody here, where a proxy stands before us: its
    peer becomes the client. `origins` may read answers from a page (CORS), and see the headers named in `expose`;
    with `credentials` they may send their cookies along.
    `quick` answers what has not to be waited for at once, or gives the rest of it, to be awaited in the very task that
    it was called in; None is what it leaves to `answer`. It never differs from `answer` in what a client sees.
    """

    name: str
    pattern: str
    methods: tuple[str, ...]
    max_body_bytes: int
    admit: Callable[[Head], Verdict]
    too_large: Callable[[Head], Reply]
    answer: Callable[[Principal, Inbound], Awaitable[Reply]]
    origins: tuple[str, ...] = ()
    expose: tuple[str, ...] = ()
    refuse: Callable[[Rejected, Head], Reply] = refused_plainly
    credentials: bool = False
    seen: Callable[[Head], Head] | None = None
    quick: Quick | None = None
