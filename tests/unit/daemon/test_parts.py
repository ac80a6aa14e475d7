"""The daemon's small parts: back-off, channel, lines, sockets, messages, counters."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from rpcgw.daemon.backoff import Backoff
from rpcgw.daemon.channel import Channel, Packet
from rpcgw.daemon.counters import Counters
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.options import Needs, Options
from rpcgw.daemon.sockets import CannotListen, address_of, forget, handed_over, listen

DELAYS = [
    pytest.param([(0.0, False)] * 4, [0.1, 0.2, 0.4, 0.8], id="never ready: doubling"),
    pytest.param([(0.0, False)] * 20, [30.0], id="never ready: at most 30 s"),
    pytest.param([(0.0, True)] * 5, [0.0] * 5, id="served: five at once"),
    pytest.param([(0.0, True)] * 8, [0.0, 1.0, 2.0, 3.0], id="served and dying on: one a second"),
    pytest.param([(1.0 * second, True) for second in range(60)], [0.0] * 60, id="killed once a second: no punishment"),
    pytest.param(
        [(0.0, False), (0.0, False), (0.0, True), (0.0, False)], [0.1, 0.2, 0.0, 0.1], id="serving clears the record"
    ),
]


@pytest.mark.parametrize(("deaths", "expected"), DELAYS)
def test_backoff(deaths: list[tuple[float, bool]], expected: list[float]) -> None:
    """The last delays of a series of deaths (when, and whether it had served)."""
    backoff = Backoff()
    delays = [backoff.delay(100.0 + now, served=served) for now, served in deaths]
    assert delays[-len(expected) :] == pytest.approx(expected)


def test_a_channel_carries_messages_and_descriptors() -> None:
    """Packets keep their bounds, descriptors arrive usable, nothing to read is said, and so is the end."""
    ours, theirs = Channel.pair()
    other = Channel(theirs)
    with pytest.raises(BlockingIOError):
        ours.receive()
    with Path(os.devnull).open("rb") as null:
        other.send({"a": 1}, [null.fileno()])
        other.send({"b": "ї"})
        first, second = ours.receive(), ours.receive()
    assert first is not None
    assert (first.message, second) == ({"a": 1}, Packet({"b": "ї"}, second.descriptors if second else ()))
    os.close(first.descriptors[0])
    other.close()
    assert ours.receive() is None
    ours.send({"nobody": "hears"})
    ours.close()


@pytest.mark.parametrize("size", [0, 65_000, 65_536, 100_000, 1 << 18, 20_000_000])
def test_a_channel_carries_messages_of_any_size(size: int) -> None:
    """They come whole and in their order, with their descriptors, and leave no file open."""
    ours, theirs = Channel.pair()
    other = Channel(theirs)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Path(os.devnull).open("rb") as null:
        other.send({"text": "x" * size}, [null.fileno()])
        other.send({"text": "next"})
    first, second = ours.receive(), ours.receive()
    assert first is not None
    assert second is not None
    assert (len(first.message["text"]), second.message, list(second.descriptors)) == (size, {"text": "next"}, [])
    [descriptor] = first.descriptors
    assert os.fstat(descriptor).st_rdev == Path(os.devnull).stat().st_rdev
    os.close(descriptor)
    other.close()
    ours.close()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


FORMATS = [
    pytest.param("json", '"event":"worker.gone","code":-9,"text":"a \\"b\\"","pid":', id="JSON"),
    pytest.param("logfmt", 'event=worker.gone code=-9 text="a \\"b\\"" pid=', id="logfmt"),
    pytest.param("console", ' info    worker.gone          code=-9 text="a \\"b\\"" pid=', id="for people"),
]


@pytest.mark.parametrize(("form", "expected"), FORMATS)
def test_lines(tmp_path: Path, form: str, expected: str) -> None:
    """One line an event, in the configured form."""
    with (tmp_path / "log").open("wb") as log:
        Lines(form, log.fileno())("worker.gone", code=-9, text='a "b"')
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert expected in line


def test_an_exception_is_an_error_with_its_traceback(tmp_path: Path) -> None:
    """Still one line."""
    with (tmp_path / "log").open("wb") as log:
        Lines("json", log.fileno())("failed", exception=LookupError("no such thing"))
    (line,) = (tmp_path / "log").read_text().splitlines()
    value = json.loads(line)
    assert (value["level"], value["exception"].splitlines()[-1]) == ("error", "LookupError: no such thing")


def test_a_log_that_nobody_reads_stops_nothing() -> None:
    """A closed pipe at the other end is not the daemon's end."""
    reader, writer = os.pipe()
    os.close(reader)
    Lines("json", writer)("event")
    os.close(writer)


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0", "unix:{}/s"])
def test_a_socket_says_where_it_listens(tmp_path: Path, address: str) -> None:
    """In the words of the settings; port 0 has become a real one."""
    listener = listen(address.format(tmp_path))
    said = address_of(listener)
    assert (
        said == address.format(tmp_path)
        if said.startswith("unix:")
        else said.startswith(address[:-1]) and not said.endswith(":0")
    )
    forget([listener])


def test_a_stale_unix_socket_is_replaced(tmp_path: Path) -> None:
    """A daemon that was killed leaves its file behind."""
    path = f"unix:{tmp_path}/s"
    listen(path).close()
    forget([listen(path)])
    assert list(tmp_path.iterdir()) == []


UNUSABLE = [
    pytest.param("unix:{}/file", "there is a file that is no socket", id="a file that is no socket"),
    pytest.param("unix:{}/taken", "in use by another process", id="a unix socket that is in use"),
    pytest.param(
        "unix:{}/no/such/directory", "No such file or directory; make its directory first", id="no such directory"
    ),
    pytest.param(
        "203.0.113.1:80",
        "Cannot assign requested address; no interface of this host has that address",
        id="no address of this machine",
    ),
    pytest.param("no.such.host.invalid:80", "cannot listen at no.such.host.invalid:80", id="no such host"),
]


@pytest.mark.parametrize(("address", "text"), UNUSABLE)
def test_an_address_that_cannot_be_had_is_said_plainly(tmp_path: Path, address: str, text: str) -> None:
    """Which one, and why; a file that is not ours stays."""
    (tmp_path / "file").write_text("mine")
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(f"{tmp_path}/taken")
        taken.listen()
        with pytest.raises(CannotListen) as said:
            listen(address.format(tmp_path))
    assert text in str(said.value)
    assert address.format(tmp_path) in str(said.value)
    assert (tmp_path / "file").read_text() == "mine"


def test_an_address_in_use_names_its_option() -> None:
    """What to change is named: another option than --bind may have asked for the address."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CannotListen) as said:
        listen(f"127.0.0.1:{taken.getsockname()[1]}", "metrics.bind")
    assert str(said.value).endswith("bind elsewhere (metrics.bind)")


def test_sockets_for_another_process_are_left_alone() -> None:
    """LISTEN_PID names another one: nothing is taken, and children do not see the variables."""
    environment = {"LISTEN_PID": "1", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "a:b", "HOME": "/"}
    assert handed_over(environment, 2) == []
    assert environment == {"HOME": "/"}


MESSAGES: list[Any] = [
    pytest.param(Options("a.yaml", "dev", ("x:1",), 2, True, "m", 3, ("p",)), id="options"),
    pytest.param(Needs(("x:1", "unix:/s"), 2, plugins=("p",), watched=("/a",)), id="needs"),
]


@pytest.mark.parametrize("value", MESSAGES)
def test_values_survive_the_channel(value: Any) -> None:
    """As JSON and back."""
    assert type(value).from_message(json.loads(json.dumps(value.to_message()))) == value


def test_metrics_that_cannot_be_kept_stop_nothing(tmp_path: Path) -> None:
    """A directory that cannot be made is one warning."""
    (tmp_path / "file").write_text("")
    with (tmp_path / "log").open("wb") as log:
        Counters(f"{tmp_path}/file/metrics", Lines("json", log.fileno())).begin()
        Counters("", Lines("json", log.fileno())).begin()
    assert [json.loads(line)["event"] for line in (tmp_path / "log").read_text().splitlines()] == ["metrics.failed"]
