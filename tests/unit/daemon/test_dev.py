"""`--dev`: one process that follows the files."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rpcgw.daemon.dev import LISTENERS
from rpcgw.daemon.watch import Watch


def listening(daemon: Any) -> int:
    """The port, from a log for people."""
    lines = daemon.until(lambda: [line for line in daemon.text.splitlines() if " listening " in line], "line listening")
    daemon.until(lambda: " ready " in daemon.text, "line ready")
    return int(lines[0].rpartition(":")[2].split()[0])


def test_a_change_is_served_by_the_same_process_on_the_same_port(start: Callable[..., Any]) -> None:
    """After an edit the new configuration answers; the process and its port are the old ones."""
    daemon = start(dev=True, tag="old")
    port = listening(daemon)
    before = daemon.call(port=port)
    assert (before["tag"], before["pid"]) == ("old", daemon.process.pid)
    daemon.configure(tag="new")
    daemon.until(lambda: daemon.text.count(" ready ") == 2, "second ready")
    after = daemon.call(port=port)
    assert (after["tag"], after["pid"]) == ("new", daemon.process.pid)
    assert daemon.stop() == 0
    assert daemon.text.count(" listening ") == 1


def test_a_mistake_is_printed_and_the_old_one_serves_on(start: Callable[..., Any]) -> None:
    """Problems for people, no restart; mending the file is the next change."""
    daemon = start(dev=True, tag="old")
    port = listening(daemon)
    daemon.configure(broken="this is wrong")
    daemon.until(lambda: " unchanged " in daemon.text, "line unchanged")
    assert f"{daemon.config}:1:1: error[broken] this is wrong\n    1 | {{" in daemon.text
    assert "\n    help: mend it\n" in daemon.text
    assert daemon.call(port=port)["tag"] == "old"
    daemon.configure(tag="mended")
    daemon.until(lambda: daemon.text.count(" ready ") == 2, "second ready")
    assert daemon.call(port=port)["tag"] == "mended"
    assert daemon.stop() == 0


def test_a_mistake_at_the_start_is_78(start: Callable[..., Any]) -> None:
    """As without `--dev`."""
    daemon = start(dev=True, broken="this is wrong")
    assert daemon.ended() == 78
    assert "error[broken] this is wrong" in daemon.text


def test_a_mistake_made_while_it_starts_anew_is_waited_out(start: Callable[..., Any]) -> None:
    """A second edit that comes between the check and the new start does not end the server: it serves once mended."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        handed, port = listener.fileno(), listener.getsockname()[1]
        environment = {LISTENERS: str(handed)}
        daemon = start(dev=True, broken="this is wrong", environment=environment, inherited=(handed,))
        daemon.until(lambda: "error[broken] this is wrong" in daemon.text, "problem")
        daemon.configure(tag="mended")
        daemon.until(lambda: " ready " in daemon.text, "line ready")
        assert daemon.call(port=port)["tag"] == "mended"
        assert daemon.stop() == 0


def test_ctrl_c_ends_it(start: Callable[..., Any]) -> None:
    """Without a traceback, with 0."""
    daemon = start(dev=True)
    assert listening(daemon)
    daemon.signal(signal.SIGINT)
    assert daemon.ended() == 0
    assert "Traceback" not in daemon.text


async def test_only_a_change_of_content_counts(tmp_path: Path) -> None:
    """Touched files, other kinds of files and the state directory are none; a new file, an edit and a rename are."""
    (tmp_path / "var").mkdir()
    (tmp_path / "gateway.yaml").write_text("a: 1\n")
    watch = Watch([str(tmp_path)], [str(tmp_path / "var")])
    waiting = asyncio.create_task(watch.changed())
    async with asyncio.timeout(20):
        before = watch.contents()
        (tmp_path / "gateway.yaml").write_text("a: 1\n")
        (tmp_path / "notes.txt").write_text("b")
        (tmp_path / "var" / "state.json").write_text("{}")
        assert watch.contents() == before
        (tmp_path / "new.yaml").write_text("a: 2\n")
        # The watch may not have begun when the file was written: touch it until it is seen.
        while not waiting.done():
            (tmp_path / "new.yaml").touch()
            await asyncio.sleep(0.05)
    assert set(watch.contents()) == {str(tmp_path / "gateway.yaml"), str(tmp_path / "new.yaml")}


async def test_a_change_before_the_watch_stands_is_seen(tmp_path: Path) -> None:
    """The system tells only of what comes after; an edit in the first moments is no lost one."""
    source = tmp_path / "a.py"
    source.write_text("before = 1")
    watch = Watch([str(tmp_path)])
    source.write_text("after = 1")
    async with asyncio.timeout(20):
        await watch.changed()


async def test_a_new_folder_is_watched_too(tmp_path: Path) -> None:
    """A folder that is made while the watch stands, and a file that is put there later, are seen."""
    (tmp_path / "plugins").mkdir()
    watch = Watch([str(tmp_path)])
    waiting = asyncio.create_task(watch.changed())
    async with asyncio.timeout(60):
        deep = tmp_path / "plugins" / "acme" / "src"
        number = 0
        while not watch.watched >= {str(deep)}:
            # The watch may not have begun when the folder was made: make others until it has looked.
            deep.mkdir(parents=True, exist_ok=True)
            number += 1
            (tmp_path / f"folder{number}").mkdir()
            await asyncio.sleep(0.1)
        assert not waiting.done()
        while not waiting.done():
            (deep / "acme.py").write_text(f"number = {number}")
            number += 1
            await asyncio.sleep(0.2)
