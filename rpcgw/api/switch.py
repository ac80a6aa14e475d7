"""Methods that come and go while the daemon runs, as a plugin sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod


class MethodSwitch(ABC):
    """Takes methods out of service and back without a reload: a backend is away, a feature is not for today.

    A method that is off is gone on every surface: from `tools/list`, documents, pages and the console, and a call finds
    no such method. Clients that listen are told that the list of tools changed. What is off stays off, in all workers
    of this host, over reloads and restarts, until somebody turns it on; other hosts have switches of their own.

    A lifespan that has a parameter `switch`, and a procedure whose constructor has one of this type, are given it.
    """

    @abstractmethod
    async def disable(self, method: str, *, group: str | None = None) -> None:
        """Turn a method off. When this returns it is off in this worker, and soon (a few ms) in the others.

        What is running goes on. Nothing happens where it is off already.

        Args:
            method: `Catalog.search`, or `Catalog.*` for all methods of a procedure.
            group: In which group, in all of its versions; None: in all groups that have it.

        Raises:
            LookupError: There is no such method.
            OSError: The state directory cannot be written to; nothing has changed.
        """

    @abstractmethod
    async def enable(self, method: str, *, group: str | None = None) -> None:
        """Turn a method on again; as `disable` otherwise.

        Raises:
            LookupError: There is no such method.
            OSError: The state directory cannot be written to; nothing has changed.
        """

    @abstractmethod
    def is_enabled(self, method: str, *, group: str | None = None) -> bool:
        """Whether a method is on; without a group, whether it is in any that has it.

        Raises:
            LookupError: There is no such method.
        """
