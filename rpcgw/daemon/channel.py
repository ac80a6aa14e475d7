"""Messages between supervisor, template and workers: one JSON object a packet, with file descriptors beside it.

A packet has bounds that the system sets, a message has none: a large one lies in a file of memory, which comes along.

An end of the channel is a socket of the kind SOCK_SEQPACKET: packets keep their bounds and the end of the other side is
seen at once. Standard library only.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, BinaryIO

from rpcgw.api.records import record

LARGEST = 1 << 16
"""Bytes of the largest packet."""
MOST_DESCRIPTORS = 200

_BESIDE = b"@"
"""The packet of a message that lies in the first descriptor."""

Message = dict[str, Any]


@record(frozen=True, slots=True)
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
        raw = json.dumps(message).encode()
        with suppress(OSError):
            if len(raw) <= LARGEST:
                socket.send_fds(self._socket, [raw], descriptors)
                return
            with _file_of(raw) as beside:
                socket.send_fds(self._socket, [_BESIDE], [beside.fileno(), *descriptors])

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
        if raw == _BESIDE:
            beside, *descriptors = descriptors
            with os.fdopen(beside, "rb") as file:
                raw = file.read()
        return Packet(json.loads(raw), descriptors) if raw else None

    def close(self) -> None:
        """End it: the other side sees that."""
        self._socket.close()


def _file_of(content: bytes) -> BinaryIO:
    """A file of memory that whoever is given it reads from its beginning."""
    file = os.fdopen(os.memfd_create("rpcgw"), "w+b")
    file.write(content)
    file.seek(0)
    return file
