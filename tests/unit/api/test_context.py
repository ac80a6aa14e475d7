"""What a procedure may do with its context where nobody can be spoken to."""

from __future__ import annotations

import pytest

import rpcgw as rpc
from rpcgw.api.context import LogLevel


class Told:
    """A client that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    async def progress(self, progress: float, total: float | None, message: str | None, /) -> None:
        self.told.append((progress, total, message))

    async def log(self, level: LogLevel, data: object, logger: str | None, /) -> None:
        self.told.append((level, data, logger))

    def has(self, capability: str, /) -> bool:
        return capability == "sampling"


def context(client: Told | None = None) -> rpc.CallContext:
    return rpc.CallContext(rpc.Principal(), "demo", 1, "Demo.work", "rpc", "en", "ray", client=client)


async def test_nobody_hears_where_there_is_no_client() -> None:
    """`/rpc`, the queue and the command line: a procedure need not ask where it runs."""
    await context().progress(1, 2, "half")
    await context().log("info", "text")


async def test_a_client_hears_it_as_it_was_said() -> None:
    """Whether it is sent is the surface's business."""
    client = Told()
    await context(client).progress(1)
    await context(client).log("info", {"a": 1}, "demo")
    assert client.told == [(1, None, None), ("info", {"a": 1}, "demo")]


async def test_an_unknown_level_is_refused_everywhere() -> None:
    """A mistake of the author's shows without any client."""
    with pytest.raises(ValueError, match="'warn' is no level; they are debug, info"):
        await context().log("warn", "text")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("client", "capability", "missing"),
    [
        pytest.param(Told(), "sampling", None, id="a client that has it"),
        pytest.param(Told(), "roots", {"roots": {}}, id="a client that lacks it"),
        pytest.param(Told(), "elicitation.url", {"elicitation": {"url": {}}}, id="a part of one"),
        pytest.param(None, "sampling", {"sampling": {}}, id="nobody there"),
    ],
)
def test_what_a_call_requires_of_its_client(
    client: Told | None, capability: str, missing: dict[str, object] | None
) -> None:
    """Refused with an error that says what a client would have to declare."""
    if missing is None:
        context(client).require(capability)
        return
    with pytest.raises(rpc.CapabilityMissing) as refused:
        context(client).require(capability)
    assert refused.value.required == missing
    assert refused.value.extra == {"requiredCapabilities": missing}
