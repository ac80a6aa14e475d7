"""What the house needs from outside, as protocols. Adapters implement them; `daemon/wiring.py` joins the two.

Every method that touches a store may raise `StoreError`: the caller decides what that means (a cache treats it as a
miss, a lock refuses the call, a session answers 503).
"""

from __future__ import annotations

from asyncio import Event
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal, Protocol

from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.kernel.call import Call, Outcome


class StoreError(Exception):
    """A store cannot do what was asked: it is full, away, or too slow."""


class Clock(Protocol):
    """Time, so that tests can move it."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""


class Ids(Protocol):
    """Identifiers that nobody can guess."""

    def token(self) -> str:
        """At least 128 random bits, in letters and digits."""


class News(Protocol):
    """What those who share a pool tell each other at once, and whether everything was heard."""

    @property
    def good_until(self) -> float:
        """A time of the host's monotonic clock: until then whatever was withdrawn a second ago has been heard of.

        0.0 while nothing is heard.
        """

    @property
    def heard(self) -> int:
        """Another number after each message and each gap."""

    def follow(self, dropped: Callable[[str], None], missed: Callable[[], None]) -> None:
        """Tell somebody of each key that is withdrawn, and of each gap, after which nothing is known."""

    async def run(self) -> None:
        """Listen until cancelled."""


class Pool(Protocol):
    """A named store of small values that expire; shared by processes, and by hosts where it is Redis."""

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none, it has expired, or it is damaged."""

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of several keys in their order, as `get` has them; one round trip where a store is far away."""

    async def look(self, key: str) -> tuple[bytes, float] | None:
        """The value as `get` has it, and the seconds that it still lives; one round trip."""

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds; atomic: a reader sees the old value or the new one."""

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; says whether it did. Atomic over processes (and hosts)."""

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""

    async def withdraw(self, key: str) -> bool:
        """Remove a value as `delete` does, and tell all who share the pool with `news`; atomic."""

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one; atomic."""

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one; atomic."""

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so and have not expired; for invalidation and commands, not for the hot path."""

    async def enlist(self, index: str, member: str, ttl: float) -> None:
        """Note in an index that a member lives `ttl` seconds from now, or lives on so long."""

    async def strike(self, index: str, member: str) -> None:
        """Take a member out of an index; one that is not there is out already."""

    async def census(self, index: str) -> tuple[int, int]:
        """How many members of an index live, and of how many the time was over since somebody last asked.

        Those are gone from the index: over all processes (and hosts) each of them is told once.
        """

    async def ping(self) -> None:
        """Raise `StoreError` where the store cannot be reached."""

    def news(self) -> News | None:
        """How to hear what others withdraw; None where only processes of this host share the pool."""

    async def close(self) -> None:
        """Give back connections and files."""


class Locks(Protocol):
    """Mutual exclusion over processes and hosts."""

    async def acquire(self, name: str, ttl: float) -> str | None:
        """An owner's token, or None where another holds the lock."""

    async def renew(self, name: str, owner: str, ttl: float) -> bool:
        """Hold on for `ttl` seconds more; False where the lock is no longer this owner's."""

    async def release(self, name: str, owner: str) -> None:
        """Let go; does nothing where the lock is no longer this owner's."""


Counted = tuple[Rate, tuple[str, ...]]
"""A rate, and the key whose count is to be within it."""


class Counts:
    """Several rates that one and the same has to be within; at least one.

    Keep it for whoever comes again: who counts prepares each of them once.
    """

    __slots__ = ("counted",)

    def __init__(self, *counted: Counted) -> None:
        self.counted = counted


class Limiter(Protocol):
    """Counts how often something happens; exact over the workers of a host, and over hosts where it is Redis."""

    async def hit(self, rate: Rate, *key: str) -> float:
        """Count one more for a key, if that is within the rate: 0.0, else the seconds until it would be.

        Raises:
            StoreError: Nobody can count now.
        """

    async def hit_each(self, counts: Counts) -> tuple[int, float]:
        """Count one for each key in turn, up to the first that is beyond its rate: how many were counted, and its wait.

        Raises:
            StoreError: Nobody can count now.
        """


class Revocations(Protocol):
    """A number that all workers of this host share: it grows when something that they may remember has ended."""

    def current(self) -> int:
        """The number as it is now; cheap enough to be read for each request."""

    def advance(self) -> None:
        """Let the number grow, so that no worker trusts what it remembers from before."""


class Observer(Protocol):
    """Told what happens; metrics, traces and the call log are made of it. Never raises, never blocks."""

    def call_started(self, call: Call) -> None:
        """A call was accepted."""

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None:
        """A call has its outcome; one log line and one sample each."""

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None:
        """What really was raised, for the log; fires once a failure."""

    def event(self, name: str, /, **fields: Any) -> None:
        """Anything else worth a log line or a counter (`cache.error`, `session.created`, `guard.refused`, ...)."""


SpanKind = Literal["server", "client", "consumer"]
"""Who does what a span tells of: this process for a client, another one for this process, or this one for a queue."""


class Span(Protocol):
    """One operation of a trace, while it lasts."""

    @property
    def trace(self) -> Mapping[str, str]:
        """The W3C trace context that names it, for whoever is called from within it."""

    def set(self, name: str, value: str | int, /) -> None:
        """Say something of it."""

    def rename(self, name: str, /) -> None:
        """Give it another name."""

    def failed(self, kind: str, message: str = "", /) -> None:
        """It ends in an error; `kind` is one of few words, or a code."""


class Tracer(Protocol):
    """Makes spans. Never raises because of a collector that is away, and never waits for one."""

    def span(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, str],
        *,
        parent: Mapping[str, str],
        link: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[Span]:
        """A span that lasts as long as the block; what leaves it as an exception is its error.

        Args:
            name: What is done, one of few names.
            kind: Who does it for whom.
            attributes: What is known of it.
            parent: The W3C trace context that it belongs to; empty for the current span's, or for none.
            link: Another context that it has to do with.
        """


class SendError(Exception):
    """A message did not reach its receiver. `status` is the last HTTP answer, None where there was none."""

    def __init__(self, text: str, *, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(text)
        self.status = status
        self.attempts = attempts


@record(frozen=True, slots=True)
class Sent:
    """A message reached its receiver: the answer's HTTP status, and how many attempts it took."""

    status: int
    attempts: int


@record(frozen=True, slots=True)
class Answered:
    """What another host answered: its status, and its body, whole."""

    status: int
    body: bytes


class HttpClient(Protocol):
    """Requests to other hosts. Redirects are never followed, cookies never kept, no proxy is taken from anywhere."""

    async def post(self, url: str, body: bytes, fields: Callable[[], Mapping[str, str]], retries: int = 0) -> Sent:
        """POST until the receiver takes it (2xx), at most `retries` times more; its answer's body is not read.

        Args:
            url: Where to.
            body: What to send.
            fields: Makes the header fields, for each attempt anew.
            retries: How often to try again, with growing pauses, where another attempt may help.

        Raises:
            SendError: It was not taken.
        """

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 65_536) -> Answered:
        """GET, or POST where there is a body, once; whatever status comes back.

        Args:
            url: Where to.
            fields: Header fields.
            body: What to send.
            most: How many bytes are read of an answer.

        Raises:
            SendError: Nobody answered in time, or with more than that.
        """

    def stream(self, url: str, fields: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """GET something that does not end, in pieces as they come.

        Raises:
            SendError: On entering: there is no such stream. While reading: it broke.
        """

    async def close(self) -> None:
        """Give back connections."""


class TokenExchange(Protocol):
    """Gets tokens for other services in the name of callers (RFC 8693)."""

    async def exchange(self, token: str, audience: str, scopes: tuple[str, ...]) -> str:
        """An access token for `audience`, in the name of whom `token` stands for.

        Raises:
            SendError: There is none to be had; the text says why.
        """


class Resolver(Protocol):
    """Names to addresses."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address that a name stands for now. Raises `OSError` where it stands for none."""


@record(frozen=True, slots=True)
class Delivery:
    """A message that a queue gives out. `count` is how often it was given out, this time included.

    `key` names it in logs; it is not always unique.
    """

    body: bytes
    count: int
    key: str = ""


@record(frozen=True, slots=True)
class Handled:
    """What became of a message: the envelope that answers it, or why it is `dead`: it is kept for a person to see."""

    answer: bytes | None = None
    dead: str = ""


Handle = Callable[[Delivery], Awaitable[Handled]]


class JobQueue(Protocol):
    """A queue of messages that outlive their producers and consumers."""

    async def put(self, body: bytes) -> None:
        """Add a message; once this has returned, the queue has it.

        Raises:
            StoreError: It has not, or does not say so in time.
        """

    async def consume(self, handle: Handle, concurrency: int, stopping: Event) -> None:
        """Give out messages, so many at a time, until `stopping` is set; then wait for those that are out.

        A message is acknowledged once `handle` has returned, never before: where `handle` raises, is cancelled, or its
        process dies, the message is given out again. A queue that cannot be reached is tried again for ever.
        """

    async def ping(self) -> None:
        """Raise `StoreError` where the queue cannot be reached."""

    async def close(self) -> None:
        """Give back connections."""


Forward = Mapping[str, str]
