"""A generation as the supervisor sees it: a template process, and the workers that it has forked. Stdlib only."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import rpcgw
from rpcgw.api.problems import Problem
from rpcgw.daemon.backoff import Backoff
from rpcgw.daemon.channel import Channel, Message
from rpcgw.daemon.first import Forked, Process
from rpcgw.daemon.member import CLOSE_WITHIN, Member, problem_from
from rpcgw.daemon.options import Needs, Options
from rpcgw.daemon.sockets import address_of

CHECK_WITHIN = 120.0
"""Seconds that compiling may take."""
NEXT_STANDBY = 1.0
"""Seconds until another process takes the place of a standby that has died."""


def _hang_up(channel: Channel | None) -> None:
    if channel is not None and channel.fileno() >= 0:
        asyncio.get_running_loop().remove_reader(channel.fileno())
        channel.close()


class Refused(Exception):
    """A generation is not fit to serve: `problems` are a person's to mend; `text` says what else went wrong."""

    def __init__(self, problems: Sequence[Problem] = (), text: str = "") -> None:
        super().__init__(text)
        self.problems = tuple(sorted(problems))
        self.text = text


class Generation:
    """Compile, fork, retire.

    What happens is told to `on_ready`, `on_worn` and `on_gone` (a worker), to `on_lost` (the template; `lost` says
    whether nothing has taken its place), and to `on_switched` (a worker has turned methods on or off). `slots` are
    those that ever had a worker; `awaited` those whose next worker is put off. `standbys` are processes that hold the
    same as the template, and take its place one after the other. `forked` is a template that waits already.
    """

    def __init__(
        self,
        options: Options,
        *,
        on_ready: Callable[[Generation, Member], None],
        on_worn: Callable[[Generation, Member], None],
        on_gone: Callable[[Generation, Member, int | None], None],
        on_lost: Callable[[Generation, int | None], None],
        on_switched: Callable[[], None],
        forked: Forked | None = None,
    ) -> None:
        self.options = options
        self.number = options.generation
        self.needs = Needs(())
        self.warnings: list[Problem] = []
        self.members: set[Member] = set()
        self.retiring = False
        self.lost = False
        self.populated = False
        self._closed = False
        self.slots: set[int] = set()
        self.awaited: set[int] = set()
        self._on_ready = on_ready
        self._on_worn = on_worn
        self._on_gone = on_gone
        self._on_lost = on_lost
        self._on_switched = on_switched
        self._problems: list[Problem] = []
        self._compiled: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._backoff: dict[int, Backoff] = {}
        self._forked = forked
        self._process: Process | None = None
        self._channel: Channel | None = None
        self._standby: Channel | None = None
        self._confirmed = False
        self._promoted = False
        self.standbys: set[int] = set()
        self._watching: asyncio.Task[None] | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self.members))

    async def compile(self) -> None:
        """Start the template and hear its verdict.

        Raises:
            Refused: with every problem; the template is gone then.
        """
        self._process, self._channel = await self._begin()
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._heard)
        self._watching = asyncio.create_task(self._watch(self._process))
        self._channel.send({"do": "compile", "version": rpcgw.__version__, "options": self.options.to_message()})
        done, _ = await asyncio.wait([self._compiled], timeout=CHECK_WITHIN)
        if not done or not self._compiled.result():
            text = "" if done and self._problems else "the check process died" if done else "the check takes too long"
            await self.kill()
            raise Refused(self._problems, text)
        self.warnings = self._problems

    async def _begin(self) -> tuple[Process, Channel]:
        """A template that waits for its order, and the channel to it."""
        if self._forked is not None:
            return self._forked, self._forked.channel
        channel, theirs = Channel.pair()
        command = [sys.executable, "-P", "-m", "rpcgw.daemon.template", str(theirs.fileno())]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
        )
        theirs.close()
        return process, channel

    async def populate(self, listeners: Sequence[socket.socket], scraped: Sequence[socket.socket] = ()) -> None:
        """Fork all workers and wait until they are ready; `scraped` are the sockets that only metrics are read from.

        Raises:
            Refused: one of them cannot serve; all are gone then.
        """
        new = [self.fork(slot, listeners, scraped) for slot in range(self.needs.workers)]
        await self._all_ready(new)
        if not all(member.served for member in new):
            refused = self._why_not(new)
            await self.kill()
            raise refused
        self.populated = True
        self._order_standby()
        for member in new:
            if member.gone.done():  # it served, and died while its siblings were still starting
                self.fork(member.slot, listeners, scraped)

    async def _all_ready(self, new: Sequence[Member]) -> None:
        """Wait until all of them are ready, the first of them cannot be, or the time for that is over."""
        unready = {member.ready for member in new}
        ends = time.monotonic() + self.needs.boot
        while unready:
            done, unready = await asyncio.wait(
                unready, timeout=max(ends - time.monotonic(), 0.0), return_when=asyncio.FIRST_COMPLETED
            )
            if not done or not all(future.result() for future in done):
                return

    def _why_not(self, new: Sequence[Member]) -> Refused:
        """What those that cannot serve have said of it, else what was seen of them."""
        failed = [member for member in new if member.ready.done() and not member.served]
        said = next((member.failure for member in failed if member.failure), "")
        seen = "a worker died before it was ready" if failed else f"workers were not ready within {self.needs.boot:g} s"
        return Refused([problem for member in failed for problem in member.problems], said or seen)

    def fork(self, slot: int, listeners: Sequence[socket.socket], scraped: Sequence[socket.socket] = ()) -> Member:
        """Order a worker for a slot."""
        assert self._channel is not None, "compiled before"
        ours, theirs = Channel.pair()
        member = Member(slot, ours)
        self.members.add(member)
        self.slots.add(slot)
        addresses = [address_of(listener) for listener in listeners]
        descriptors = [theirs.fileno(), *(listener.fileno() for listener in (*listeners, *scraped))]
        order = {"do": "fork", "slot": slot, "addresses": addresses, "scraped": len(scraped)}
        self._channel.send(order, descriptors)
        theirs.close()
        asyncio.get_running_loop().add_reader(ours.fileno(), self._heard_member, member)
        return member

    def free_slot(self) -> int | None:
        """The first slot that nobody has or waits for; None where even the spare ones are taken."""
        taken = {member.slot for member in self.members} | self.awaited
        return next((slot for slot in range(self.needs.slots) if slot not in taken), None)

    def delay(self, member: Member) -> float:
        """Seconds until the slot of a dead worker may be filled again."""
        backoff = self._backoff.setdefault(member.slot, Backoff())
        return backoff.delay(time.monotonic(), served=member.served)

    def tell(self, message: Message) -> None:
        """Send a message to every worker."""
        for member in self:
            member.channel.send(message)

    async def retire(
        self, grace: float, idle: float | None, tools: Mapping[str, str] | None = None, *, last: bool = False
    ) -> None:
        """Let the workers drain; whoever is not gone in time is killed. The template ends with its last worker.

        `tools` are those of the generation that serves from now on, if any; `last` says that nobody serves any more.
        """
        self.retiring = True
        self.tell({"do": "drain", "grace": grace, "idle": idle, "tools": tools, "last": last})
        gone = [member.gone for member in self]
        if gone and (await asyncio.wait(gone, timeout=grace + CLOSE_WITHIN))[1]:
            await self.kill()
        await self._close()

    async def kill(self) -> None:
        """End everything at once."""
        self.retiring = True
        for member in self:
            member.kill(signal.SIGKILL)
        gone = [member.gone for member in self]
        if gone:
            await asyncio.wait(gone, timeout=2.0)
        await self._close()

    async def _close(self) -> None:
        self._closed = True
        if self._channel is not None and self._channel.fileno() >= 0:
            self._read_channel()
        for member in self:
            self._bury(member, None)
        for channel in (self._channel, self._standby):
            _hang_up(channel)
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._watching is not None:
            await asyncio.shield(self._watching)  # whoever is told to hurry must not take this along

    async def _watch(self, process: Process) -> None:
        code = await process.wait()
        self._verdict(fit=False)
        self._template_gone(code)

    def _order_standby(self) -> None:
        """Have a process that holds the same, for the day that the template is lost."""
        if self._closed or self.lost or self._channel is None:
            return
        self._confirmed = False
        self._standby, theirs = Channel.pair()
        self._channel.send({"do": "stand by"}, [theirs.fileno()])
        theirs.close()
        asyncio.get_running_loop().add_reader(self._standby.fileno(), self._heard_standby, self._standby)

    def _heard_standby(self, standby: Channel) -> None:
        """It says nothing before it is spoken to: this is its end."""
        _hang_up(standby)
        self._standby = None
        asyncio.get_running_loop().call_later(NEXT_STANDBY, self._order_standby)

    def _template_gone(self, code: int | None) -> None:
        if self._closed:
            return
        self._read_channel()
        for member in self:
            member.orphan = True
        _hang_up(self._channel)
        if self._standby is not None and self._confirmed:
            self._channel, self._promoted = self._standby, True
            asyncio.get_running_loop().add_reader(self._channel.fileno(), self._heard)
            self._order_standby()
        else:
            self.lost = True
        self._on_lost(self, code)
        for member in self:
            if member.deaf:
                self._bury(member, None)

    def _verdict(self, *, fit: bool) -> None:
        if not self._compiled.done():
            self._compiled.set_result(fit)

    def _heard(self) -> None:
        if not self._read_channel():
            assert self._channel is not None, "it is what was heard"
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            if self._promoted:  # of the first one the end is seen by waiting for the process
                self._template_gone(None)

    def _read_channel(self) -> bool:
        """Hear all that the template has said; whether it may say more."""
        assert self._channel is not None, "compiled before"
        while True:
            try:
                packet = self._channel.receive()
            except BlockingIOError:
                return True
            if packet is None:
                return False
            self._hear(packet.message)

    def _hear(self, message: Message) -> None:
        match message["is"]:
            case "problem":
                self._problems.append(problem_from(message["problem"]))
            case "compiled":
                self.needs = Needs.from_message(message["needs"])
                self._verdict(fit=True)
            case "refused":
                self._verdict(fit=False)
            case "standing by":
                self._confirmed = True
                self.standbys.add(message["pid"])
            case "forked":
                next(m for m in self if m.slot == message["slot"] and not m.pid).pid = message["pid"]
            case "exited":
                for member in [m for m in self if m.pid == message["pid"]]:
                    self._bury(member, message["code"])

    def _heard_member(self, member: Member) -> None:
        try:
            packet = member.channel.receive()
        except BlockingIOError:
            return
        if packet is None:
            asyncio.get_running_loop().remove_reader(member.channel.fileno())
            member.deaf = True
            if member.orphan:
                self._bury(member, None)
            return
        member.beat = time.monotonic()
        message = packet.message
        match message["is"]:
            case "ready" if not member.ready.done():
                member.ready.set_result(True)
                self._on_ready(self, member)
            case "worn" if not member.worn:
                member.worn = True
                self._on_worn(self, member)
            case "switched":
                self._on_switched()
            case _:
                member.keep(message)

    def _bury(self, member: Member, code: int | None) -> None:
        if member.gone.done():
            return
        asyncio.get_running_loop().remove_reader(member.channel.fileno())
        self._read_last_words(member)
        member.channel.close()
        self.members.discard(member)
        if not member.ready.done():
            member.ready.set_result(False)
        member.gone.set_result(None)
        if member.orphan and self._channel is not None:
            self._channel.send({"do": "left", "slot": member.slot})
        self._on_gone(self, member, code)

    def _read_last_words(self, member: Member) -> None:
        """The template may report an exit before the worker's own last messages were read."""
        while True:
            try:
                packet = member.channel.receive()
            except BlockingIOError:
                return
            if packet is None:
                return
            member.keep(packet.message)
