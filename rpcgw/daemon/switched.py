"""Which methods are off, as all workers of a host keep it: a file of the state directory, changed under a lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Final

import msgspec

from rpcgw.api.records import record
from rpcgw.endpoints.sessions import LocalRevocations
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.ports import Observer, Revocations
from rpcgw.kernel.switches import ALL_ON, LocalStore, Off, Switches, SwitchStore, changed
from rpcgw.kernel.threads import nobody

SWITCHED_OFF: Final = "switched-off.json"
"""The file in the state directory: by group the names of the methods that are off."""
SWITCHES: Final = "run/switches"
"""Where the number lies that is another one after each change."""


class SwitchFile:
    """`rpcgw.kernel.switches.SwitchStore` in a file; there is none where nothing was ever off."""

    def __init__(self, directory: str) -> None:
        self._path = Path(directory, SWITCHED_OFF)

    def read(self) -> Off:
        """All that is off. Where the file is none of ours nothing is."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, frozenset[str]])
        except (OSError, msgspec.DecodeError):
            return ALL_ON

    def change(self, methods: Off, *, on: bool) -> None:
        """Turn methods on or off. Raises `OSError` where the file cannot be written."""
        with self._locked():
            off = changed(self.read(), methods, on=on)
            written = self._path.with_suffix(".new")
            written.write_bytes(msgspec.json.encode({group: sorted(names) for group, names in sorted(off.items())}))
            written.replace(self._path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among the workers of this host."""
        descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


@record(frozen=True, slots=True)
class Switching:
    """How a process shares with others which methods are off; by default it is alone.

    `state` is another number after each change, in every process; `announce` has other workers look at once.
    """

    store: SwitchStore = field(default_factory=LocalStore)
    state: Revocations = field(default_factory=LocalRevocations)
    announce: Callable[[], None] = nobody

    def opened(self, gateway: Gateway, observer: Observer) -> Switches:
        """The switches of a gateway's methods."""
        table = gateway.table
        known = {
            group: frozenset(name for version in table.versions(group) for name in table.methods(group, version) or {})
            for group in table.groups
        }
        return Switches(known, self.store, self.state, observer, self.announce)
