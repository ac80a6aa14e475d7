"""Serves the suite's tools from this folder, and runs the official MCP conformance suite: `make conformance`."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.daemon import ROOT, Daemon, serving

HERE = Path(__file__).resolve().parent
SCRIPT = ROOT / "scripts" / "conformance.sh"
TIMEOUT = 100


@contextlib.contextmanager
def served() -> Iterator[Daemon]:
    """Serve this folder from a copy: its state is made there."""
    with tempfile.TemporaryDirectory(prefix="rpcgw-conformance-") as name:
        place = Path(name)
        shutil.copytree(HERE, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.yml"))
        with serving(place) as running:
            yield running


def suite(url: str, results: Path) -> subprocess.CompletedProcess[str]:
    """Run the suite on both wires against a daemon; whatever comes out of it is an answer."""
    # One scenario compares Host and Origin with the URL's host, which has to be `localhost` then.
    target = url.replace("127.0.0.1", "localhost") + "/mcp"
    return subprocess.run(
        [SCRIPT, target, str(results)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def released(url: str, results: Path) -> dict[str, bool]:
    """Run the active suite of the release that npm calls the latest: which scenarios passed."""
    node = ROOT / ".cache" / "bin" / "node"
    script = ROOT / ".cache/node/node_modules/@modelcontextprotocol/conformance-0.1/dist/index.js"
    target = url.replace("127.0.0.1", "localhost") + "/mcp"
    done = subprocess.run(
        [node, script, "server", "--url", target, "--suite", "active", "-o", results],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    _, _, summary = done.stdout.partition("=== SUMMARY ===")
    return {name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) ([\w-]+):", summary, re.MULTILINE)}


def main() -> int:
    """Print what the suite says; its exit code."""
    results = Path(tempfile.mkdtemp(prefix="rpcgw-conformance-results-"))
    with served() as running:
        done = suite(running.url, results)
    sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
