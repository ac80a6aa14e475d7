"""What the pool in files promises beyond the others: several processes, full disks, damaged files."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rpcgw.adapters.stores.files import FilePool
from rpcgw.kernel.ports import StoreError

DEADLINE = 30.0


class Time:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "pool"


@pytest.fixture
def pool(place: Path, clock: Time) -> FilePool:
    return FilePool(str(place), now=clock)


def values(place: Path) -> list[Path]:
    """The files that hold values."""
    return [file for file in place.rglob("*") if file.is_file() and file.name != ".lock"]


PRELUDE = """
import asyncio, os, sys
from rpcgw.adapters.stores.files import FilePool
from rpcgw.kernel.ports import StoreError
pool, me = FilePool(sys.argv[1]), sys.argv[2]
"""


def child(place: Path, name: str, body: str, **options: object) -> subprocess.Popen[bytes]:
    """Another process with a pool in the same place; it starts once a byte comes in, so that all start together."""
    lines = textwrap.indent(textwrap.dedent(body), "    ")
    script = f"{PRELUDE}\nasync def main():\n{lines}\nprint('up', flush=True); sys.stdin.read(1); asyncio.run(main())"
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]  # options of any kind
        [sys.executable, "-c", script, str(place), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
    )


def start(children: list[subprocess.Popen[bytes]]) -> None:
    for process in children:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
    for process in children:
        assert process.stdin is not None
        process.stdin.write(b"!")
        process.stdin.flush()


def finish(children: list[subprocess.Popen[bytes]]) -> list[list[str]]:
    outputs = [process.communicate(timeout=DEADLINE)[0].decode().split() for process in children]
    assert [process.returncode for process in children] == [0] * len(children)
    return outputs


async def test_one_process_of_many_wins_each_add(place: Path) -> None:
    """Five processes add the same 60 keys at the same time: each key has one winner, and holds the winner's value."""
    body = """
        for number in range(60):
            if await pool.add(f"key-{number}", me.encode(), 60):
                print(number)
    """
    children = [child(place, f"{number}", body) for number in range(5)]
    start(children)
    won = {key: name for name, keys in enumerate(finish(children)) for key in keys}
    assert len(won) == 60
    pool = FilePool(str(place))
    assert {key: await pool.get(f"key-{key}") for key in won} == {key: b"%d" % name for key, name in won.items()}


async def test_one_process_of_many_takes_over_the_expired(place: Path, clock: Time) -> None:
    """An expired value has one successor, not one for each process that saw it expire."""
    clock.now -= 100
    old = FilePool(str(place), now=clock)
    for number in range(40):
        await old.set(f"key-{number}", b"old", 1)
    body = """
        for number in range(40):
            print(int(await pool.add(f"key-{number}", me.encode(), 60)))
    """
    children = [child(place, f"{number}", body) for number in range(4)]
    start(children)
    assert [sum(map(int, each)) for each in zip(*finish(children), strict=True)] == [1] * 40


async def test_a_reader_sees_whole_values_only(place: Path) -> None:
    """While two processes replace a large value and a third touches it, it is never absent and never mixed."""
    pool = FilePool(str(place))
    await pool.set("key", b"0" * 50_000, 60)
    write = """
        for _ in range(150):
            await pool.set("key", me.encode() * 50_000, 60)
    """
    touch = """
        for _ in range(800):
            assert await pool.touch("key", 60)
    """
    children = [child(place, "1", write), child(place, "2", write), child(place, "3", touch)]
    start(children)
    seen = set()
    while any(process.poll() is None for process in children):
        value = await pool.get("key")
        assert value is not None
        assert value == value[:1] * 50_000
        seen.add(value[:1])
        await asyncio.sleep(0)
    finish(children)
    assert {b"1", b"2"} <= seen


async def test_add_and_delete_if_make_a_lock(place: Path, tmp_path: Path) -> None:
    """Three processes count to 40 each in a file that is only safe under a lock: no count is lost."""
    counter = tmp_path / "counter"
    counter.write_text("0")
    body = f"""
        for turn in range(40):
            while not await pool.add("lock", f"{{me}}-{{turn}}".encode(), 60):
                await asyncio.sleep(0.0005)
            with open({str(counter)!r}, "r+") as file:
                count = int(file.read()) + 1
                file.seek(0)
                file.write(str(count))
            assert not await pool.delete_if("lock", b"another")
            assert await pool.touch_if("lock", f"{{me}}-{{turn}}".encode(), 60)
            assert await pool.delete_if("lock", f"{{me}}-{{turn}}".encode())
    """
    children = [child(place, f"{number}", body) for number in range(3)]
    start(children)
    finish(children)
    assert counter.read_text() == "120"


async def test_a_killed_writer_leaves_nothing_that_matters(place: Path, clock: Time) -> None:
    """Processes killed while they write leave whole values, no lock, and no litter that a sweep would not remove."""
    body = """
        for number in range(10**9):
            await pool.set(f"key-{number % 20}", me.encode() * 100_000, 60)
    """
    for round_ in range(3):
        writer = child(place, f"{round_}", body)
        start([writer])
        while len(values(place)) < 20:
            await asyncio.sleep(0.01)
        writer.kill()
        writer.communicate()
    pool = FilePool(str(place), now=clock)
    for key in await pool.keys(""):
        value = await pool.get(key)
        assert value is not None
        assert value == value[:1] * 100_000
        await asyncio.wait_for(pool.set(key, b"new", 60), 1)
    litter = [file for file in values(place) if file.name.startswith(".new-")]
    for file in litter:
        os.utime(file, (0, 0))
    await pool.sweep(10_000)
    await pool.sweep(10_000)
    assert [file for file in values(place) if file.name.startswith(".new-")] == []
    assert len(await pool.keys("")) == 20


FULL = """
    import resource
    assert await pool.add("lock", b"mine", 60)
    for _ in range(100):
        await pool.set("session", b"state", 60)
    {fill}
    big = b"x" * 100_000
    for attempt in (pool.set("session", big, 60), pool.set("new", big, 60), pool.add("new", big, 60)):
        try:
            await attempt
        except StoreError as error:
            print("refused")
    assert await pool.get("session") == b"state"
    assert await pool.get("new") is None
    assert await pool.touch("session", 600)
    assert await pool.touch_if("lock", b"mine", 60)
    assert not await pool.add("lock", b"theirs", 60)
    assert await pool.delete_if("lock", b"mine")
    assert sorted(await pool.keys("")) == ["session"]
    assert await pool.delete("session")
    print("sound")
"""
FILL = """
    with open(sys.argv[1] + "/filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError:
            pass
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A file system of 256 KiB, where this user may mount one; else None."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        yield None
        return
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_a_store_error(small_disk: Path | None, tmp_path: Path) -> None:
    """What cannot be written is refused and leaves nothing; what is there can be read, touched, compared and deleted.

    The disk is full where a small one may be mounted; elsewhere the process may not write files larger than 4 KiB,
    which the system call refuses in the same way.
    """
    place = small_disk or tmp_path / "pool"
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    fill = textwrap.dedent(FILL) if small_disk else limit
    process = child(place, "1", textwrap.dedent(FULL).format(fill=textwrap.indent(fill, "").strip()))
    start([process])
    assert finish([process]) == [["refused", "refused", "refused", "sound"]]
    assert [file for file in values(place) if file.name != "filler"] == []


def test_a_file_size_limit_is_a_store_error(tmp_path: Path) -> None:
    """The same where the limit is the process's own."""
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    process = child(tmp_path / "pool", "1", textwrap.dedent(FULL).format(fill=limit))
    start([process])
    assert finish([process]) == [["refused", "refused", "refused", "sound"]]
    assert values(tmp_path / "pool") == []


def test_no_descriptor_left_is_a_store_error(tmp_path: Path) -> None:
    """A process that has run out of descriptors is told so in the house's words, and leaks none."""
    body = """
        import resource
        await pool.set("key", b"1", 60)
        soft = len(os.listdir("/proc/self/fd")) + 5
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
        kept = []
        try:
            while True:
                kept.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        for attempt in (pool.get("key"), pool.set("key", b"2", 60), pool.delete("key"), pool.keys(""), pool.ping()):
            try:
                await attempt
            except StoreError:
                print("refused")
        os.close(kept.pop())
        os.close(kept.pop())
        for _ in range(100):
            await pool.set("key", b"2", 60)
            assert await pool.get("key") == b"2"
    """
    process = child(tmp_path / "pool", "1", body)
    start([process])
    assert finish([process]) == [["refused"] * 5]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda raw: b"", id="empty"),
        pytest.param(lambda raw: raw[: len(raw) // 2], id="cut in half"),
        pytest.param(lambda raw: raw[:-1], id="a byte short"),
        pytest.param(lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), id="a bit of the value flipped"),
        pytest.param(lambda raw: raw[:9] + bytes([raw[9] ^ 64]) + raw[10:], id="a bit of the expiry flipped"),
        pytest.param(lambda raw: raw + raw, id="twice as long"),
        pytest.param(lambda raw: os.urandom(len(raw)), id="noise"),
    ],
)
async def test_a_damaged_file_is_a_miss(pool: FilePool, place: Path, damage: Callable[[bytes], bytes]) -> None:
    """A file that cannot be trusted holds nothing: it is not read, not touched, not listed, and can be replaced."""
    await pool.set("key", b"value", 60)
    [file] = values(place)
    file.write_bytes(damage(file.read_bytes()))
    assert await pool.get("key") is None
    assert not await pool.touch("key", 60)
    assert not await pool.delete_if("key", b"value")
    assert await pool.keys("") == []
    assert await pool.add("key", b"again", 60)
    assert await pool.get("key") == b"again"


async def test_another_keys_file_is_a_miss(pool: FilePool, place: Path) -> None:
    """A file that was copied to another key's place is not that key's value."""
    await pool.set("one", b"1", 60)
    [one] = values(place)
    await pool.set("two", b"2", 60)
    [two] = set(values(place)) - {one}
    two.write_bytes(one.read_bytes())
    assert await pool.get("two") is None


@pytest.mark.parametrize("operation", ["set", "add", "ping"])
async def test_a_place_that_is_no_directory_is_a_store_error(tmp_path: Path, operation: str) -> None:
    """What the file system refuses is told with its path."""
    (tmp_path / "file").write_bytes(b"")
    pool = FilePool(str(tmp_path / "file" / "pool"))
    arguments = () if operation == "ping" else ("key", b"1", 60)
    with pytest.raises(StoreError, match="file/pool"):
        await getattr(pool, operation)(*arguments)


async def test_a_removed_directory_is_made_anew(pool: FilePool, place: Path) -> None:
    """An operator may delete the directory while the daemon runs."""
    await pool.set("key", b"1", 60)
    subprocess.run(["rm", "-r", str(place)], check=True)
    assert await pool.get("key") is None
    assert not await pool.delete("key")
    await pool.set("key", b"2", 60)
    assert await pool.get("key") == b"2"


async def test_only_the_owner_may_look(pool: FilePool, place: Path) -> None:
    """Sessions are nobody else's business."""
    await pool.set("key", b"1", 60)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in place.rglob("*")}
    assert modes == {0o700, 0o600}


async def test_no_name_tells_a_key(pool: FilePool, place: Path) -> None:
    """Keys stand in files, not in file names."""
    await pool.set("ufo_mcp_internal_0123456789abcdef", b"1", 60)
    assert not [path for path in place.rglob("*") if "ufo" in path.name or "0123456789abcdef" in path.name]


async def test_the_loop_runs_on_while_another_process_holds_a_lock(place: Path) -> None:
    """A lock that is held is waited for without blocking; other keys and all reads are served."""
    pool = FilePool(str(place))
    await pool.set("key", b"1", 60)
    [lock] = place.rglob(".lock")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = asyncio.ensure_future(pool.set("key", b"2", 60))
        for _ in range(5):
            await asyncio.sleep(0)
        assert await pool.get("key") == b"1"
        await pool.set("another", b"1", 60)
        assert not waiting.done()
    await waiting
    assert await pool.get("key") == b"2"


async def test_a_lock_that_stays_is_a_store_error(place: Path) -> None:
    """A frozen process holds up nobody for longer than the pool's patience."""
    pool = FilePool(str(place), patience=0.02)
    await pool.set("key", b"1", 60)
    [lock] = place.rglob(".lock")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="lock"):
            await pool.set("key", b"2", 60)
        assert await pool.get("key") == b"1"
    assert len(values(place)) == 1


async def test_a_sweep_removes_what_is_dead(pool: FilePool, place: Path, clock: Time) -> None:
    """Expired and damaged files go, live ones stay."""
    await pool.set("dead", b"1", 10)
    await pool.set("damaged", b"1", 60)
    [dead, damaged] = values(place)
    (damaged if damaged.read_bytes().endswith(b"damaged1") else dead).write_bytes(b"x")
    await pool.set("alive", b"1", 60)
    clock.now += 10
    while not await pool.sweep(1):
        pass
    while not await pool.sweep(1):
        pass
    assert len(values(place)) == 1
    assert await pool.get("alive") == b"1"


async def test_dead_files_stay_bounded(pool: FilePool, place: Path, clock: Time) -> None:
    """Ever new keys that nobody asks for again do not fill the disk: writes sweep as they go."""
    most = 0
    for number in range(3000):
        await pool.set(f"key-{number}", b"1", 100)
        clock.now += 1
        if number % 300 == 299:
            most = max(most, len(values(place)))
    assert most < 800


def test_a_stopped_process_is_no_writer_for_ever(place: Path) -> None:
    """SIGSTOP in the middle of writes, SIGCONT after: both processes end well."""
    body = """
        for _ in range(100):
            await pool.set("key", me.encode() * 10_000, 60)
    """
    children = [child(place, "1", body), child(place, "2", body)]
    start(children)
    children[0].send_signal(signal.SIGSTOP)
    finish(children[1:])
    children[0].send_signal(signal.SIGCONT)
    finish(children[:1])
