"""Reloads of a running daemon: what clients see of them, and what the operator is told."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from rpcgw.daemon.pidfile import NotRunning, running
from tests.unit.daemon.conftest import PATIENCE
from tests.unit.daemon.test_supervisor import Caller, alive, busy

REQUEST = b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"


class Line:
    """A keep-alive connection that opens a new one only where it was told to, and never tries twice."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, request: bytes = REQUEST) -> dict[str, Any]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert head.startswith(b"http/1.1 200"), head
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        value: dict[str, Any] = json.loads(await reader.readexactly(length))
        if b"connection: close" in head:
            self.close()
        return value

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Crowd:
    """64 connections: 48 without pause, 16 that idle most of the time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stop = asyncio.Event()
        self.answers: Counter[tuple[str, int]] = Counter()
        self.lost: list[str] = []

    async def _one(self, pause: float) -> None:
        line = Line(self._port)
        while not self._stop.is_set():
            try:
                answer = await line.call()
                self.answers[answer["tag"], answer["generation"]] += 1
            except (OSError, asyncio.IncompleteReadError) as error:
                self.lost.append(repr(error))
                line.close()
            try:
                async with asyncio.timeout(pause):
                    await self._stop.wait()
            except TimeoutError:
                pass
        line.close()

    async def hears(self, tag: str) -> None:
        """Return once this tag has come back."""
        while tag not in {answered for answered, _ in self.answers}:
            await asyncio.sleep(0.01)

    async def __aenter__(self) -> Self:
        pauses = [0.05] * 48 + [0.9] * 16
        self._tasks = [asyncio.create_task(self._one(pause)) for pause in pauses]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        await asyncio.gather(*self._tasks)


async def test_no_request_is_lost_over_six_reloads_two_of_them_broken(start: Callable[..., Any]) -> None:
    """64 keep-alive connections, a quarter mostly idle, lose nothing; no answer mixes two generations."""
    daemon = start(tag="g1", workers=2)
    async with Crowd(daemon.port) as crowd:
        done = refused = 0
        for number, settings in enumerate([{}, {"broken": "no"}, {}, {}, {"broken": "no"}, {}], 1):
            daemon.configure(workers=2, **(settings or {"tag": f"g{done + 2}"}))
            daemon.signal(signal.SIGHUP)
            done, refused = done + (not settings), refused + bool(settings)
            await asyncio.to_thread(
                daemon.until_logged, "reload.refused" if settings else "reload.done", refused if settings else done, 30
            )
            assert number == done + refused
            await crowd.hears(f"g{done + 1}")
    assert crowd.lost == []
    generations = dict(list(crowd.answers))
    assert len(crowd.answers) == len(generations), "one tag, one generation"
    assert set(generations) == {"g1", "g2", "g3", "g4", "g5"}
    assert daemon.stop() == 0


def test_a_broken_configuration_is_reported_with_its_place_and_the_old_one_serves_on(start: Callable[..., Any]) -> None:
    """A reload with problems logs each with its place, leaves the workers alone, and shows no traceback."""
    daemon = start(tag="old")
    before = {line["worker"] for line in daemon.lines("worker.ready")} if daemon.port else set()
    daemon.configure(broken="this is wrong")
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("reload.refused")
    assert [(line["place"], line["text"]) for line in daemon.lines("problem")] == [
        (f"{daemon.config}:1:1", "this is wrong"),
        (f"{daemon.config}:2:1", "and more"),
    ]
    assert "Traceback" not in daemon.text
    assert daemon.call()["pid"] in before
    assert "reload refused" in daemon.until(daemon.journaled, "word to the workers")
    assert daemon.stop() == 0


def test_workers_that_do_not_start_refuse_the_reload(start: Callable[..., Any]) -> None:
    """A lifespan that raises in the new generation leaves the old one serving; what it said is logged."""
    daemon = start(tag="old")
    assert daemon.port
    daemon.configure(fails="the database is away")
    daemon.signal(signal.SIGHUP)
    assert "the database is away" in daemon.until_logged("reload.refused")["text"]
    assert daemon.call()["tag"] == "old"
    assert daemon.stop() == 0


def test_a_respawned_worker_is_of_its_generation_whatever_the_disk_says(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    """After `kill -9` of a worker the answers are still of the generation that was checked, with the plugin edited since."""
    plugin = tmp_path / "plugin.py"
    plugin.write_text("TAG = 'checked'")
    daemon = start(plugin=str(plugin), workers=1)
    answer = daemon.call()
    plugin.write_text("TAG = ")
    os.kill(answer["pid"], signal.SIGKILL)
    daemon.until_logged("worker.ready", 2)
    again = daemon.call()
    assert (again["tag"], again["pid"] != answer["pid"]) == ("checked", True)
    assert daemon.stop() == 0


def test_wishes_during_a_reload_make_one_more(start: Callable[..., Any]) -> None:
    """Several SIGHUP while one reload runs are one further reload."""
    daemon = start()
    assert daemon.port
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("reload.begins")
    for _ in range(5):
        daemon.signal(signal.SIGHUP)
    daemon.until_logged("reload.done", 2)
    assert daemon.stop() == 0
    assert len(daemon.lines("reload.begins")) == 2


def state_of(pid: int) -> list[str]:
    """State and parent of a process, and more, as the kernel has them; nothing where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def family(daemon: Any) -> tuple[int, int]:
    """The template that the latest worker was forked from, and the one that stands by; both are at rest."""
    assert daemon.port

    def look() -> tuple[int, int] | None:
        workers = {line["worker"] for line in daemon.lines("worker.ready")}
        template = int(state_of(daemon.lines("worker.ready")[-1]["worker"])[1])
        children = Path(f"/proc/{template}/task/{template}/children").read_text().split()
        standbys = [int(pid) for pid in children if int(pid) not in workers]
        resting = len(standbys) == 1 and {state_of(pid)[0] for pid in (template, *standbys)} == {"S"}
        return (template, standbys[0]) if resting else None

    found: tuple[int, int] = daemon.until(look, "template with a standby")
    return found


def test_a_lost_template_has_a_standby_of_the_same_generation(start: Callable[..., Any]) -> None:
    """`kill -9` of the template, twice, with a broken configuration on disk: dead workers are replaced all the same."""
    daemon = start(tag="old", workers=1)
    processes = set()
    for turn in (1, 2):
        template, standby = family(daemon)
        processes |= {template, standby}
        daemon.configure(broken="this is wrong")
        os.kill(template, signal.SIGKILL)
        assert daemon.until_logged("template.lost", turn)["level"] == "warning"
        victim = daemon.call()["pid"]
        os.kill(victim, signal.SIGKILL)
        fresh = daemon.until_logged("worker.ready", turn + 1)["worker"]
        answer = daemon.call()
        assert (answer["tag"], answer["generation"], answer["pid"]) == ("old", 1, fresh)
        assert int(state_of(fresh)[1]) == standby
        daemon.until(lambda victim=victim: not state_of(victim), "end of the orphan, waited for")
    processes.add(family(daemon)[1])
    assert daemon.lines("reload.begins") == []
    assert daemon.stop() == 0
    daemon.until(lambda: not any(alive(pid) for pid in processes), "end of all templates")


def test_a_reload_leaves_no_process_behind(start: Callable[..., Any]) -> None:
    """The old template, its standby and its workers are gone and waited for once it has drained."""
    daemon = start(workers=1)
    old = {*family(daemon), daemon.call()["pid"]}
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("drained")
    daemon.until(lambda: not any(state_of(pid) for pid in old), "end of the old generation's processes")
    assert daemon.stop() == 0


def test_a_lost_generation_is_replaced_once_the_disk_allows(start: Callable[..., Any]) -> None:
    """Template and standby gone at once: the workers serve on, a reload is tried again, and mending the file is enough."""
    daemon = start(tag="old", workers=1)
    template, standby = family(daemon)
    daemon.configure(broken="this is wrong")
    os.kill(standby, signal.SIGKILL)
    os.kill(template, signal.SIGKILL)
    daemon.until_logged("reload.refused", 2, 30)
    assert daemon.lines("template.lost")[-1]["level"] == "error"
    assert daemon.call()["tag"] == "old"
    daemon.configure(tag="mended", workers=1)
    daemon.until_logged("reload.done", seconds=60)
    assert daemon.call()["tag"] == "mended"
    daemon.until_logged("drained")
    assert daemon.stop() == 0


def test_a_standby_that_dies_is_replaced(start: Callable[..., Any]) -> None:
    """There is one again soon, and it does what the first would have done."""
    daemon = start(tag="old", workers=1)
    template, standby = family(daemon)
    os.kill(standby, signal.SIGKILL)
    daemon.until(lambda: not state_of(standby), "end of the standby")
    again, another = family(daemon)
    assert (again, another != standby) == (template, True)
    os.kill(template, signal.SIGKILL)
    assert daemon.until_logged("template.lost")["level"] == "warning"
    assert daemon.stop() == 0


def test_settings_that_need_a_restart_are_named_until_they_are_as_they_were(start: Callable[..., Any]) -> None:
    """Each of them by its name, at every reload; what the daemon began with is what counts."""
    daemon = start(bind=["127.0.0.1:0"], colour="red")
    assert daemon.port
    changes = [("127.0.0.1:1", "blue"), ("127.0.0.1:0", "blue"), ("127.0.0.1:0", "red")]
    for turn, (address, colour) in enumerate(changes, 1):
        daemon.configure(bind=[address], colour=colour)
        daemon.signal(signal.SIGHUP)
        daemon.until_logged("reload.done", turn)
    assert [line["setting"] for line in daemon.lines("restart.needed")] == ["bind", "colour", "colour"]
    assert daemon.stop() == 0


def test_another_version_of_rpcgw_on_disk_is_refused(start: Callable[..., Any]) -> None:
    """After an update old and new processes would not understand each other: the problem says to restart."""
    daemon = start(version="0.0.1")
    assert daemon.port
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("reload.refused")
    [problem] = daemon.lines("problem")
    assert (problem["code"], problem["place"]) == ("restart-needed", str(daemon.config))
    assert "0.0.1 runs" in problem["text"]
    assert problem["hint"] == "restart the daemon"
    assert daemon.stop() == 0


def test_a_reload_may_move_the_state_directory(start: Callable[..., Any], tmp_path: Path) -> None:
    """`rpcgw reload` finds the daemon where the generation that serves keeps its state, and nowhere else."""
    old, new = tmp_path / "old", tmp_path / "new"
    daemon = start(state_dir=str(old))
    assert daemon.port
    assert running(str(old)) == daemon.process.pid
    daemon.configure(state_dir=str(new))
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("reload.done")
    assert running(str(new)) == daemon.process.pid
    with pytest.raises(NotRunning):
        running(str(old))
    assert daemon.stop() == 0


def hold(daemon: Any, tag: str) -> http.client.HTTPConnection:
    """A connection that a generation keeps open, and which keeps this generation."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20)
        connection.request("POST", "/call", b"{}")
        if json.loads(connection.getresponse().read())["tag"] == tag:
            return connection
        connection.close()  # the one before it had not closed its door yet


def test_a_third_old_generation_waits_for_the_end_of_one(start: Callable[..., Any]) -> None:
    """Two drain at most: further reloads wait, are one, and happen when one of the two has ended."""
    daemon = start(tag="g1", workers=1)
    held = []
    for turn in (1, 2):
        held.append(hold(daemon, f"g{turn}"))
        daemon.configure(tag=f"g{turn + 1}", workers=1)
        daemon.signal(signal.SIGHUP)
        daemon.until_logged("reload.done", turn, 60)
    daemon.configure(tag="g4", workers=1)
    for _ in range(3):
        daemon.signal(signal.SIGHUP)
    assert daemon.until_logged("reload.waits", seconds=60)["draining"] == 2
    hold(daemon, "g3").close()
    assert len(daemon.lines("reload.begins")) == 2
    held[0].close()
    daemon.until_logged("reload.done", 3, 60)
    events = [line["event"] for line in daemon.lines() if line["event"] in {"drained", "reload.begins"}]
    assert events[:4] == ["reload.begins", "reload.begins", "drained", "reload.begins"]
    hold(daemon, "g4").close()
    held[1].close()
    assert daemon.stop() == 0


def test_an_old_generation_ends_in_time(start: Callable[..., Any]) -> None:
    """What it still does after `server.timeouts.reload` is cut and answered, and it is gone; the new one serves."""
    daemon = start(tag="old", workers=1)
    assert daemon.port
    caller = Caller(daemon, "?wait=60")
    daemon.until(lambda: busy(daemon), "call in flight")
    daemon.configure(tag="new", workers=1, timeouts={"reload": 1.0})
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("drained", seconds=40)
    caller.join(PATIENCE)
    assert caller.answer is not None, caller.error
    assert caller.answer["status"] == 503
    assert daemon.call()["tag"] == "new"
    assert daemon.stop() == 0


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1:0", id="tcp"),
        pytest.param("[::1]:0", id="IPv6"),
        pytest.param("unix:{home}/socket", id="unix"),
    ],
)
def test_each_kind_of_address_is_served(start: Callable[..., Any], tmp_path: Path, address: str) -> None:
    """The line `listening` names the address as it is bound; a unix socket's file goes with the daemon."""
    where = address.format(home=tmp_path)
    daemon = start(bind=[where])
    bound = daemon.until_logged("listening")["address"]

    async def call() -> bytes:
        if bound.startswith("unix:"):
            reader, writer = await asyncio.open_unix_connection(bound[5:])
        else:
            host, _, port = bound.rpartition(":")
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.write(REQUEST)
        status = await reader.readline()
        writer.close()
        await writer.wait_closed()
        return status

    assert asyncio.run(call()) == b"HTTP/1.1 200 OK\r\n"
    assert daemon.stop() == 0
    assert not (tmp_path / "socket").exists()
