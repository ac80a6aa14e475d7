"""Load from the other core: wrk where it is, else the client that `rpcgw bench` has. Every body is compared."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.calls import WrongAnswerError
from rpcgw.cli.load.client import Load, Place, load, percentile
from rpcgw.cli.load.wire import Answered, Asked

WRK = shutil.which("wrk")


@dataclass(frozen=True, slots=True)
class Sample:
    """What a load saw: answers in seconds, latencies in milliseconds."""

    answers: int
    seconds: float
    p50: float
    p99: float
    longest: float


Driver = Callable[[int, Asked, Answered, int, float], Sample]
"""Loads a port with a request, whose answer must be like the one given, over connections, for seconds."""


def driver(name: str) -> Driver:
    """The load generator of a name: `wrk` or `built-in`."""
    return {"wrk": by_wrk, "built-in": by_client}[name]


def preferred() -> str:
    """The name of the best load generator that is here."""
    return "wrk" if WRK else "built-in"


def by_client(port: int, asked: Asked, right: Answered, connections: int, seconds: float) -> Sample:
    """Load by the client of the package."""
    wanted = right.status, right.body
    how = Load(connections, seconds)
    result = uvloop.run(load(Place("127.0.0.1", port), asked, lambda got: (got.status, got.body) == wanted, how))
    if result.wrong or not result.answers:
        raise WrongAnswerError(f"{result.wrong} wrong answers of {result.answers}: {' | '.join(result.told)}")
    p50, p99, longest = (percentile(result.latencies, share) * 1e3 for share in (0.5, 0.99, 1))
    return Sample(result.answers, result.seconds, p50, p99, longest)


_SCRIPT = """\
wrk.method = {method}
wrk.body = {body}
{headers}
local right_status, right_body = {status}, {right}
wrong, told = 0, ""
function response(status, headers, body)
  if status ~= right_status or body ~= right_body then
    if wrong == 0 then told = status .. " " .. string.sub(body, 1, 300) end
    wrong = wrong + 1
  end
end
local thread
function setup(made) thread = made end
function done(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  local out = io.open({out}, "w")
  out:write(string.format("%d %d %d %d ", summary.requests, summary.duration, thread:get("wrong"), broken))
  out:write(string.format("%.3f %.3f %.3f\\n", latency:percentile(50), latency:percentile(99), latency.max))
  out:write(thread:get("told"))
  out:close()
end
"""


def by_wrk(port: int, asked: Asked, right: Answered, connections: int, seconds: float) -> Sample:
    """Load by wrk with one thread; its script compares every body."""
    with tempfile.TemporaryDirectory(prefix="bench-wrk-") as folder:
        script, out = Path(folder, "load.lua"), Path(folder, "out")
        script.write_text(_script(asked, right, out), "latin-1")
        address = f"http://127.0.0.1:{port}{asked.path}"
        command = [
            str(WRK),
            "-t1",
            f"-c{connections}",
            f"-d{max(1, round(seconds))}s",
            "--timeout",
            "30s",
            "-s",
            str(script),
            address,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not out.exists():
            raise WrongAnswerError(f"wrk ended with {done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}")
        figures, _, told = out.read_text("latin-1").partition("\n")
    answers, micros, wrong, broken, p50, p99, longest = map(float, figures.split())
    if wrong or broken or not answers:
        raise WrongAnswerError(f"{wrong:g} wrong answers of {answers:g}, {broken:g} broken connections: {told}")
    return Sample(int(answers), micros / 1e6, p50 / 1e3, p99 / 1e3, longest / 1e3)


def _script(asked: Asked, right: Answered, out: Path) -> str:
    fields = {"Content-Type": "application/json", **asked.headers} if asked.method == "POST" else asked.headers
    return _SCRIPT.format(
        method=_lua(asked.method.encode()),
        body=_lua(asked.body) if asked.body else "nil",
        headers="\n".join(f"wrk.headers[{_lua(k.encode())}] = {_lua(v.encode())}" for k, v in fields.items()),
        status=right.status,
        right=_lua(right.body),
        out=_lua(str(out).encode()),
    )


def _lua(data: bytes) -> str:
    """Bytes as a string of Lua, every one of them by its number."""
    return '"' + "".join(f"\\{byte:03d}" for byte in data) + '"'
