"""The audit log: who called what, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpcgw.adapters.telemetry.audit import LONGEST, Audit
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.observer import Telemetry
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.adapters.telemetry.slotfile import SlotFile
from rpcgw.adapters.telemetry.slots import Slots
from rpcgw.api import errors
from rpcgw.api.context import Principal
from rpcgw.config.settings import Audited, Logging
from rpcgw.kernel.call import Call, Done, Failed, Outcome

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
WANTED: dict[str, Audited] = {"Accounts.close": "calls", "Accounts.open": "arguments"}


class Desk:
    """An observer that audits, and what it wrote."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.sink = Sink(str(place / "audit.log"))
        self.file = SlotFile("/dev/null")
        audit = Audit(
            Log(Logging(), self.sink), lambda _, method: WANTED.get(method, "none"), lambda _: ("name", "password")
        )
        main = Log(Logging(level="error"), Sink("/dev/null"))
        self.observer = Telemetry(
            Slots(self.file), main, lambda *_: {"Accounts.open", "Accounts.close", "Accounts.list"}, audit=audit
        )

    def run(self, outcome: Outcome, **call: Any) -> list[dict[str, Any]]:
        """What the audit log says of one call."""
        usual: dict[str, Any] = {"method": "Accounts.open", "group": "mcp", "version": 1, "params": None}
        made = Call(**{**usual, "id": "k1", "surface": "rpc", **call})
        self.observer.call_started(made)
        self.observer.call_finished(made, outcome, 0.1)
        return [json.loads(line) for line in (self._place / "audit.log").read_bytes().splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.file.close()
    desk.sink.close()


def test_a_call_that_is_audited(desk: Desk) -> None:
    """Who, from where, what, and how it ended."""
    [line] = desk.run(
        Done(b"1"),
        method="Accounts.close",
        principal=Principal("billing"),
        peer="10.0.0.7",
        ray_id="r1",
        trace={"traceparent": PARENT},
    )
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info",
        "event": "audit",
        "id": "k1",
        "ray_id": "r1",
        "surface": "rpc",
        "group": "mcp",
        "version": 1,
        "method": "Accounts.close",
        "principal": "billing",
        "peer": "10.0.0.7",
        "outcome": "success",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
    }


def test_a_call_that_failed_has_its_code(desk: Desk) -> None:
    """As the client saw it."""
    error = errors.TokenInvalid()
    [line] = desk.run(Failed(error.wire_code, error.message, {}, error), method="Accounts.close")
    assert (line["outcome"], line["code"]) == ("refused", -32403)


def test_other_methods_are_not_audited(desk: Desk) -> None:
    """Nothing is written of a method for which it is `none`."""
    assert desk.run(Done(b"1"), method="Accounts.list") == []


ARGUMENTS = [
    pytest.param({"name": "Ann", "password": "hunter2"}, {"name": "Ann", "password": "***"}, id="by name"),
    pytest.param(["Ann", "hunter2"], {"name": "Ann", "password": "***"}, id="by position, masked by the parameters' names"),
    pytest.param(["Ann", "hunter2", 3], {"name": "Ann", "password": "***", "2": 3}, id="one too many"),
    pytest.param({"name": {"api_key": "x", "first": "Ann"}}, {"name": {"api_key": "***", "first": "Ann"}}, id="within an object"),
    pytest.param(None, {}, id="none"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "told"), ARGUMENTS)
def test_arguments_without_their_secrets(desk: Desk, params: Any, told: dict[str, Any]) -> None:
    """Where they are wanted; `logging.mask` says what a secret is called."""
    [line] = desk.run(Done(b"1"), params=params)
    assert line["arguments"] == told


def test_huge_arguments_are_left_out(desk: Desk) -> None:
    """A line stays a line; the size is told."""
    [line] = desk.run(Done(b"1"), params={"name": "x" * LONGEST})
    assert line["arguments"] == f"{LONGEST + 11} bytes, left out"
