"""Messages between supervisor, template and workers: one JSON object a packet, with file descriptors beside it.

An end of the channel is a socket of the kind SOCK_SEQPACKET: packets keep their bounds and the end of the other side is
seen at once. Standard library only.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

LARGEST = 1 << 18
"""Bytes of the largest packet."""
MOST_DESCRIPTORS = 200

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Packet:
    """What came: a message, and descriptors that are the receiver's from now on."""

    message: Message
    descriptors: Sequence[int] = field(default_factory=tuple)


class Channel:
    """One end. Sending never raises: an end whose other side is gone is found by receiving."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    @classmethod
    def pair(cls) -> tuple[Channel, socket.socket]:
        """Our end, non-blocking, and the other side's."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(0.0)
        return cls(ours), theirs

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send one packet."""
        with suppress(OSError):
            socket.send_fds(self._socket, [json.dumps(message).encode()], descriptors)

    def receive(self) -> Packet | None:
        """The next packet; None when the other side is gone.

        Raises:
            BlockingIOError: nothing has come yet (a non-blocking end only).
        """
        try:
            raw, descriptors, _, _ = socket.recv_fds(self._socket, LARGEST, MOST_DESCRIPTORS)
        except BlockingIOError:
            raise
        except OSError:
            return None
        return Packet(json.loads(raw), descriptors) if raw else None

    def close(self) -> None:
        """End it: the other side sees that."""
        self._socket.close()
