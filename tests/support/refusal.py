"""A daemon that must not start: how `rpcgw serve` ends, and what it says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.daemon import BIND, RPCGW, START, address_in, clean_environment, end, folder, read_log, wait_until


@dataclass(frozen=True, slots=True)
class Refusal:
    """`code` is the exit code, None where it listens after all; `said` is all that it wrote."""

    code: int | None
    said: str

    def about(self, *words: str) -> list[str]:
        """Return the lines that hold all of these words."""
        return [line for line in self.said.splitlines() if all(word in line for word in words)]


def refusal(env: Mapping[str, str] | None = None, **files: Any) -> Refusal:
    """Serve a folder made of `config`, `routes`, `plugins` and `files`, until it ends or listens."""
    with folder(**files) as place:
        with (place / "daemon.log").open("ab") as log:
            process = subprocess.Popen(
                [str(RPCGW), "serve", "-c", "gateway.yaml", "--bind", BIND],
                cwd=place,
                env=clean_environment(place, env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            wait_until(
                lambda: process.poll() is not None or address_in(read_log(place)),
                START,
                lambda: f"neither ended nor listens:\n{read_log(place)}",
            )
            return Refusal(process.poll(), read_log(place))
        finally:
            end(process)
