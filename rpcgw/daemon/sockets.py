"""Listening sockets: bound here, or handed over by systemd (sd_listen_fds(3)). Standard library only."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path

BACKLOG = 2048
FIRST_HANDED = 3
"""SD_LISTEN_FDS_START of sd_listen_fds(3)."""


class CannotListen(Exception):
    """An address that cannot be bound; the text is for people."""


_ADVICE: Mapping[tuple[bool, int | None], str] = {
    (False, errno.EACCES): "; ports below 1024 are the system's: take another, or let systemd hand the socket over",
    (False, errno.EADDRNOTAVAIL): "; no interface of this host has that address: 0.0.0.0 and [::] are all of them",
    (True, errno.ENOENT): "; make its directory first",
    (True, errno.EACCES): "; its directory must be one that this user may write to",
}
"""What to do, for unix sockets and for others."""


def listen(address: str, option: str = "--bind") -> socket.socket:
    """A listening socket at `host:port`, `[v6]:port` or `unix:/path`; port 0 takes a free one.

    A unix socket file that nobody listens at any more is replaced. `option` is what names the address.

    Raises:
        CannotListen: says which address, and why.
    """
    unix = address.startswith("unix:")
    try:
        return _listen_unix(address[5:]) if unix else _listen_tcp(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            text = f"{address} is in use by another process; stop it, or bind elsewhere ({option})"
            raise CannotListen(text) from error
        advice = _ADVICE.get((unix, error.errno), "")
        raise CannotListen(f"cannot listen at {address}: {error.strerror or error}{advice}") from error


def _listen_tcp(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    bare = host.strip("[]")
    listener = socket.socket(socket.AF_INET6 if ":" in bare else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if listener.family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((bare, int(port)))
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _listen_unix(path: str) -> socket.socket:
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _remove_stale(path: str) -> None:
    file = Path(path)
    if not file.exists():
        return
    if not file.is_socket():
        raise OSError(errno.EEXIST, "there is a file that is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(path) == 0:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    file.unlink(missing_ok=True)


def address_of(listener: socket.socket) -> str:
    """What a socket is bound to, in the words of the settings."""
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{name}" if isinstance(name, str) else f"unix:@{name[1:].decode(errors='replace')}"
    host, port = name[:2]
    return f"[{host}]:{port}" if listener.family == socket.AF_INET6 else f"{host}:{port}"


def forget(listeners: Sequence[socket.socket]) -> None:
    """Close sockets that `listen` made, and remove the files of unix ones."""
    for listener in listeners:
        path = listener.getsockname() if listener.family == socket.AF_UNIX else None
        listener.close()
        if path:
            Path(path).unlink(missing_ok=True)


def handed_over(environment: MutableMapping[str, str], pid: int) -> list[socket.socket]:
    """The sockets that systemd passed to this very process, if any; the variables are taken away from children.

    Raises:
        CannotListen: One of them is not a listening stream socket.
    """
    addressee = environment.pop("LISTEN_PID", "")
    count = environment.pop("LISTEN_FDS", "0")
    environment.pop("LISTEN_FDNAMES", None)
    if addressee != str(pid):
        return []
    found = []
    for descriptor in range(FIRST_HANDED, FIRST_HANDED + int(count)):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 -- the standard library's signature
        found.append(_listening(descriptor))
    return found


def _listening(descriptor: int) -> socket.socket:
    with suppress(OSError):
        handed = socket.socket(fileno=descriptor)
        if handed.type == socket.SOCK_STREAM and handed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return handed
    hint = "in the socket unit use ListenStream= and leave Accept= at no"
    raise CannotListen(f"what was handed over as descriptor {descriptor} does not listen: {hint}")
