"""Which methods are off just now, and who wants to know when that changes.

A worker is told of what others switched, and looks at a number that all of them share before it shows a list: a client
that was told of a change by one worker reads the new list from any other.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

from rpcgw.api.switch import MethodSwitch
from rpcgw.kernel.ports import Observer, Revocations

Off = Mapping[str, frozenset[str]]
"""By group the names of the methods that are off."""
Names = frozenset[str]
Follower = Callable[[Names], None]

ALL_ON: Final[Off] = MappingProxyType({})
_NONE: Final[Names] = frozenset()


class Offered(Protocol):
    """What is on and what is off, for those who show methods and run them."""

    def off(self, group: str) -> Names:
        """The methods of a group that are off now."""

    def settle(self) -> None:
        """Have everybody who follows know what any worker of the host has switched by now."""

    def follow(self, group: str, follower: Follower) -> None:
        """Tell somebody which methods of a group are off: now, if any is, and whenever it changes."""


class Everything:
    """`Offered` where nothing can be switched."""

    def off(self, group: str) -> Names:  # noqa: ARG002 -- one signature for all
        """None."""
        return _NONE

    def settle(self) -> None:
        """Nothing changes."""

    def follow(self, group: str, follower: Follower) -> None:
        """Nothing changes."""


EVERYTHING: Final = Everything()


class SwitchStore(Protocol):
    """Where it is kept which methods are off; shared by all workers of a host."""

    def read(self) -> Off:
        """All that is off. Nothing where it cannot be read."""

    def change(self, methods: Off, *, on: bool) -> None:
        """Turn these on or off, whatever others do at the same time.

        Raises:
            OSError: It cannot be kept; nothing has changed.
        """


class LocalStore:
    """`SwitchStore` of a single process, for as long as it runs."""

    def __init__(self) -> None:
        self._off: Off = ALL_ON

    def read(self) -> Off:
        """All that is off."""
        return self._off

    def change(self, methods: Off, *, on: bool) -> None:
        """Turn these on or off."""
        self._off = changed(self._off, methods, on=on)


def changed(off: Off, methods: Off, *, on: bool) -> Off:
    """What is off once these methods were turned on or off."""
    groups = off.keys() | methods.keys()
    found = {
        group: off.get(group, _NONE) - methods.get(group, _NONE)
        if on
        else off.get(group, _NONE) | methods.get(group, _NONE)
        for group in groups
    }
    return {group: names for group, names in found.items() if names}


class Switches(MethodSwitch):
    """The switches of one process.

    Args:
        known: The names of methods by group.
        store: Where it is kept what is off.
        state: Another number whenever the store holds something else.
        observer: Told what was switched here.
        announce: Has the other workers `refresh`.
    """

    def __init__(
        self,
        known: Mapping[str, Names],
        store: SwitchStore,
        state: Revocations,
        observer: Observer,
        announce: Callable[[], None],
    ) -> None:
        self._known = known
        self._store = store
        self._state = state
        self._observer = observer
        self._announce = announce
        self._followers: defaultdict[str, list[Follower]] = defaultdict(list)
        self._seen = state.current()
        self._off = store.read()

    # -- for those who show methods and run them: `Offered`

    def off(self, group: str) -> Names:
        """The methods of a group that are off now."""
        self.settle()
        return self._off.get(group, _NONE)

    def settle(self) -> None:
        """Know what any worker of the host switched before; a look at the shared memory where nothing was."""
        if self._state.current() != self._seen:
            self.refresh()

    def follow(self, group: str, follower: Follower) -> None:
        """Tell somebody which methods of a group are off: now, if any is, and whenever it changes."""
        self._followers[group].append(follower)
        if off := self._off.get(group):
            follower(off)

    def refresh(self) -> None:
        """Read what is off, and tell those whom it concerns."""
        # The number first: what is switched while this reads is read once more.
        self._seen = self._state.current()
        before, self._off = self._off, self._store.read()
        for group in before.keys() | self._off.keys():
            off = self._off.get(group, _NONE)
            if off != before.get(group, _NONE):
                for follower in self._followers[group]:
                    follower(off)

    # -- for plugins

    async def disable(self, method: str, *, group: str | None = None) -> None:
        """See `rpcgw.api.switch.MethodSwitch`."""
        await self._switch(method, group, on=False)

    async def enable(self, method: str, *, group: str | None = None) -> None:
        """See `rpcgw.api.switch.MethodSwitch`."""
        await self._switch(method, group, on=True)

    def is_enabled(self, method: str, *, group: str | None = None) -> bool:
        """See `rpcgw.api.switch.MethodSwitch`."""
        self.settle()
        return any(names - self._off.get(own, _NONE) for own, names in self._meant(method, group).items())

    async def _switch(self, method: str, group: str | None, *, on: bool) -> None:
        meant = self._meant(method, group)
        if changed(self._store.read(), meant, on=on) == self._store.read():
            return
        await asyncio.to_thread(self._store.change, meant, on=on)
        self._state.advance()
        self.refresh()
        self._announce()
        for own, names in sorted(meant.items()):
            self._observer.event("methods.switched", group=own, methods=sorted(names), on=on)

    def _meant(self, method: str, group: str | None) -> dict[str, Names]:
        """By group the methods that a name stands for."""
        groups: Iterable[str] = self._known if group is None else [group]
        found = {own: _matching(method, self._known.get(own, _NONE)) for own in groups}
        if not any(found.values()):
            raise LookupError(f"there is no method {method!r}" + (f" in the group {group!r}" if group else ""))
        return {own: names for own, names in found.items() if names}


def _matching(method: str, names: Names) -> Names:
    if method.endswith(".*"):
        return frozenset(name for name in names if name.startswith(method[:-1]))
    return names & {method}
