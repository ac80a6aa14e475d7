"""The image as `docs/howto/containers.md` has it built and run, by a real podman: `make image-test`.

It runs in a network, a mount and a process namespace of its own, so nothing can be fetched while the image is built, its
ports are nobody else's, and nothing is left. What the Containerfile begins with is a base that was made of Debian and has
the name of Python's own: its Python is Debian's.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import FETCHED
from tests.support.daemon import ROOT, cli, wait_until, write_files
from tests.support.http import Answer, Client
from tests.support.installing import with_wheel

PREPARED = FETCHED / "image"
PATIENCE = 300
MCP = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "Slow.wait"}

CONFIG = """
ufo_json_rpc: {{security: {{protected_api: true}}}}
plugins: {{directory: plugins}}
groups:
    general: {{tokens: [{token}]}}
    mcp: {{tokens: [{token}]}}
"""
PLUGIN = """
import asyncio
import errno
import os
import pathlib

import rpcgw as rpc


@rpc.procedure("Slow")
class Slow:
    async def wait(self, seconds: float) -> float:
        pathlib.Path(os.environ["STATE_DIRECTORY"], "begun").touch()
        await asyncio.sleep(seconds)
        return seconds

    def write(self, place: str) -> str:
        try:
            pathlib.Path(place, "probe").write_text("x")
        except OSError as error:
            return errno.errorcode[error.errno or 0]
        return "done"


plugin = rpc.Plugin(procedures=[Slow])
"""


class Engine:
    """A podman with a store of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.environment = {
            **{name: value for name, value in os.environ.items() if name in {"PATH", "LANG"}},
            "HOME": str(place),
            "CONTAINERS_STORAGE_CONF": str(place / "storage.conf"),
            "CONTAINERS_CONF": str(place / "containers.conf"),
        }
        store = f'[storage]\ndriver = "overlay"\ngraphroot = "{place}/store"\nrunroot = "{place}/run"\n'
        # Limits that are lower than ours may be set everywhere; runc knows the older control groups too.
        limits = 'default_ulimits = ["nofile=4096:4096", "nproc=2048:2048"]\n'
        rest = (
            f'[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n[network]\nnetwork_config_dir = "{place}/net"\n'
        )
        write_files(place, {"storage.conf": store, "containers.conf": f"[containers]\n{limits}{rest}"})

    def podman(self, *arguments: str, code: int | None = 0) -> str:
        """Run podman and return what it prints, both streams; it ends with `code`, or as it likes for None."""
        done = subprocess.run(
            ["podman", *arguments],
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert code in (None, done.returncode), f"podman {arguments} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def inspect(self, what: str) -> Any:
        """What podman knows of an image or a container."""
        return json.loads(self.podman("inspect", what))[0]


def documented(command: str) -> list[str]:
    """The arguments of podman by which the page has a command typed."""
    page = (ROOT / "docs/howto/containers.md").read_text("utf-8")
    [line] = re.findall(rf"^podman {command} .*$", page, re.MULTILINE)
    return shlex.split(line)[1:]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The engine, with the base under the name that the Containerfile begins with."""
    assert os.geteuid() == 0, "an image is built and run as root here: make image-test as root"
    assert PREPARED.exists(), f"{PREPARED} is not there: make image-test"
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    made = Engine(tmp_path_factory.mktemp("engine"))
    made.podman("import", "--quiet", str(PREPARED / "base.tar"), f"docker.io/library/python:{version()}-slim-bookworm")
    yield made
    made.podman("rm", "--all", "--force", "--time", "0")
    made.podman("rmi", "--all", "--force")
    subprocess.run(["umount", made.place / "store/overlay"], check=False, capture_output=True)
    shutil.rmtree(made.place)


def version() -> str:
    """Debian's Python, as the build argument has it."""
    told = "import sys; print(f'{sys.version_info[0]}.{sys.version_info[1]}')"
    return subprocess.run(["/usr/bin/python3", "-c", told], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def image(engine: Engine) -> Engine:
    """The engine, where the page's command has built the image, from the wheels that were fetched."""
    with_wheel(engine.place, "Containerfile", ".containerignore", "requirements/container.lock")
    write_files(engine.place, {"pip.conf": "[global]\nno-index = true\nfind-links = /wheels\n"})
    fetched = ["-v", f"{PREPARED}/wheels:/wheels:ro", "-v", f"{engine.place}/pip.conf:/etc/pip.conf:ro"]
    build, *arguments = documented("build")
    engine.podman(build, "--build-arg", f"PYTHON_VERSION={version()}", *fetched, *arguments)
    return engine


@pytest.fixture(scope="module")
def token(image: Engine) -> str:
    """A token, which the configuration in the folder `gateway` takes."""
    made, line = cli("token", "new", "--name", "ada", cwd=image.place).stdout.splitlines()
    files = {"gateway.yaml": CONFIG.format(token=line.removeprefix("- ")), "plugins/slow.py": PLUGIN}
    assert cli("init", "gateway", cwd=image.place).returncode == 0
    write_files(image.place / "gateway", files)
    return made


class Container:
    """The image, run by the page's command."""

    def __init__(self, engine: Engine, name: str, token: str) -> None:
        self._engine = engine
        self.name = name
        self._head = {"Authorization": f"Bearer {token}"}
        self._client = Client("http://127.0.0.1:8080", timeout=60)

    def get(self, path: str) -> Answer:
        return self._client.get(path)

    def rpc(self, method: str, headers: dict[str, str] | None = None, **params: Any) -> Answer:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._client.post("/rpc", body, headers=self._head if headers is None else headers)

    def mcp(self, tool: str, **arguments: Any) -> Answer:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        headers = {**self._head, **MCP, "Mcp-Name": tool}
        return self._client.post(
            "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers=headers
        )

    def podman(self, command: str, *arguments: str) -> str:
        return self._engine.podman(command, *arguments, self.name)

    def logs(self) -> str:
        return self.podman("logs")

    def top(self, *columns: str) -> list[list[str]]:
        """Its processes, a row each."""
        return [line.split() for line in self._engine.podman("top", self.name, ",".join(columns)).splitlines()[1:]]

    def begun(self) -> bool:
        """Whether the slow procedure has begun."""
        return "begun" in self._engine.podman("exec", self.name, "ls", "/var/lib/rpcgw").split()

    def state(self) -> Any:
        return self._engine.inspect(self.name)["State"]

    def wait(self, event: str) -> None:
        wait_until(lambda: f'"event":"{event}"' in self.logs(), 60, self.logs)


@contextlib.contextmanager
def run(engine: Engine, token: str) -> Iterator[Container]:
    """A container by the page's command, until the block ends."""
    command, *arguments = documented("run")
    engine.podman(command, "--detach", "--name", "gateway", *arguments)
    try:
        yield Container(engine, "gateway", token)
    finally:
        engine.podman("rm", "--force", "--time", "0", "gateway")


@pytest.fixture(scope="class")
def running(image: Engine, token: str) -> Iterator[Container]:
    """One container for all tests that only ask it."""
    with run(image, token) as made:
        made.wait("listening")
        yield made


def test_the_image_says_how_it_is_run(image: Engine) -> None:
    """Nobody special, ended by SIGTERM, asked for its health, with one volume."""
    known = image.inspect("rpcgw")
    config = known["Config"]
    assert (config["User"], config["StopSignal"], list(config["Volumes"])) == (
        "10001:10001",
        "SIGTERM",
        ["/var/lib/rpcgw"],
    )
    assert known["Healthcheck"]["Test"][:2] == ["CMD", "python"]


def test_nothing_of_the_build_is_left_in_it(image: Engine) -> None:
    """No wheel, no lock, and in /opt/rpcgw nothing that its user could change."""
    look = "find /build /opt/rpcgw ! -type l '(' -path '/build*' -o -name '*.whl' -o -writable ')'"
    shell = ["run", "--rm", "--read-only", "--network=none", "--entrypoint", "sh", "rpcgw", "-c", look]
    said = image.podman(*shell, code=1)
    assert "/build" in said  # it is missing
    assert [line for line in said.splitlines() if line.startswith("/")] == []


WRITES = [
    pytest.param("/var/lib/rpcgw", "done", id="its state"),
    pytest.param("/etc/rpcgw", "EROFS", id="not its configuration"),
    pytest.param("/opt/rpcgw", "EROFS", id="not its program"),
    pytest.param("/", "EROFS", id="not the root file system"),
    pytest.param("/usr/lib", "EROFS", id="nor anything below it"),
]


class TestRunning:
    """One container for all tests that only ask it."""

    def test_it_serves_both(self, running: Container) -> None:
        """A procedure by /rpc and by /mcp, to who has the token."""
        assert running.get("/readyz").status == 200
        assert running.rpc("Hello.greet", name="Ada").json()["result"] == "Hello, Ada."
        assert running.mcp("Hello.greet", name="Ada").json()["result"]["structuredContent"] == {"result": "Hello, Ada."}
        assert running.rpc("Hello.greet", {}, name="Ada").status == 401

    def test_it_is_healthy(self, running: Container) -> None:
        """What the image has the engine ask is answered."""
        assert running.podman("healthcheck", "run").strip() in {"", "healthy"}

    @pytest.mark.parametrize(("place", "outcome"), WRITES)
    def test_it_writes_nothing_but(self, running: Container, place: str, outcome: str) -> None:
        """What comes of writing there, from a procedure in a worker."""
        assert running.rpc("Slow.write", place=place).json()["result"] == outcome

    def test_its_processes_are_nobody_special(self, running: Container) -> None:
        """The first process is the daemon itself, as 10001 and without any capability, and so is all that it started."""
        said = running.top("pid", "args")
        assert said[0][:3] == ["1", "/opt/rpcgw/bin/python", "/opt/rpcgw/bin/rpcgw"]
        assert len(said) > 2
        assert {tuple(row) for row in running.top("huser", "capeff", "capbnd")} == {("10001", "none", "none")}


def test_it_reloads_and_ends_as_the_page_says(image: Engine, token: str) -> None:
    """By SIGHUP to another generation; by `podman stop` with 0, after a call that was in hand has its answer."""
    with run(image, token) as own:
        own.wait("listening")
        own.podman("kill", "--signal", "HUP")
        own.wait("reload.done")
        answers: list[Answer] = []
        caller = threading.Thread(target=lambda: answers.append(own.rpc("Slow.wait", seconds=3)))
        caller.start()
        wait_until(own.begun, 30, own.logs)
        own.podman("stop", "--time", "30")
        caller.join(60)
        assert [answer.json()["result"] for answer in answers] == [3]
        assert (own.state()["Status"], own.state()["ExitCode"]) == ("exited", 0)
        assert '"event":"stopped","forced":false' in own.logs()


def test_without_a_token_it_does_not_start(image: Engine, token: str) -> None:
    """It listens for everybody, so an unprotected group is refused, with what to do."""
    open_to_all = "ufo_json_rpc: {security: {protected_api: false}}\n"
    kept = (image.place / "gateway/gateway.yaml").read_text("utf-8")
    write_files(image.place / "gateway", {"gateway.yaml": open_to_all})
    try:
        command, *arguments = documented("run")
        said = image.podman(command, "--rm", *arguments, code=78)
    finally:
        write_files(image.place / "gateway", {"gateway.yaml": kept})
    assert "error[unprotected]" in said


def test_a_plugin_belongs_into_an_image_of_its_own(image: Engine, token: str) -> None:
    """The page's few lines, with a package that is at hand: it is there, and the daemon is nobody special again."""
    page = (ROOT / "docs/howto/containers.md").read_text("utf-8")
    [lines] = re.findall(r"```text\n(FROM rpcgw\n.*?)```", page, re.DOTALL)
    own = image.place / "own"
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(own),
        str(ROOT / "plugins/catalog"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    [wheel] = own.glob("*.whl")
    write_files(
        own, {"Containerfile": lines.replace("acme-rpcgw-plugin==1.4.0", f"--no-index --no-deps /own/{wheel.name}")}
    )
    image.podman("build", "-v", f"{own}:/own:ro", "-t", "own", str(own))
    said = image.podman("run", "--rm", "--network=none", "-v", "./gateway:/etc/rpcgw:ro", "own", "plugins")
    assert "catalog" in said
    assert image.inspect("own")["Config"]["User"] == "10001:10001"
