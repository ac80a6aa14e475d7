"""Procedures that do not let themselves be stopped, that stop themselves, and that return what they did not promise."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.mcp import Session, Stateless

PLUGIN = '''
import asyncio
import contextlib
from pathlib import Path

import rpcgw as rpc


@rpc.procedure("Unruly", groups=["general", "mcp"])
class Unruly:
    """Procedures as one should not write them."""

    async def stubborn(self, place: str) -> str:
        """Go on in spite of everything, until a file is there."""
        while not Path(place).exists():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.02)
        Path(place + ".seen").touch()
        return "done"

    async def cancels_itself(self) -> str:
        """Cancel the task that runs it."""
        asyncio.current_task().cancel()
        await asyncio.sleep(0)
        return "never"

    async def raises_a_cancellation(self) -> str:
        """Raise what a cancellation raises."""
        raise asyncio.CancelledError

    async def breaks_its_word(self) -> list[int]:
        """Return something else than it says."""
        return ["one", 2]

    @rpc.cache(ttl=60)
    async def keeps_what_is_wrong(self) -> int:
        """Keep something else than it says."""
        return "one"


plugin = rpc.Plugin(procedures=[Unruly])
'''
CONFIG = {
    "ufo_json_rpc": {"security": {"protected_api": False}},
    "methods": {"Unruly.stubborn": {"deadline": 0.2}},
}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    texts = {"translations/rpc.uk.yaml": "Unruly.stubborn: {title: Впертий}\n"}
    with daemon(config=CONFIG, plugins={"unruly.py": PLUGIN}, files=texts) as running:
        yield running


def rpc(served: Daemon, method: str, params: Any = None) -> tuple[int, dict[str, Any]]:
    answer = served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": f"Unruly.{method}", "params": params})
    return answer.status, answer.json()


def tool_error(result: dict[str, Any]) -> dict[str, Any]:
    """The kernel's error in a tool result."""
    assert result["isError"]
    assert "structuredContent" not in result
    error: dict[str, Any] = json.loads(result["content"][0]["text"])
    return error


def test_who_swallows_its_cancellation_keeps_nobody_waiting(served: Daemon) -> None:
    """-32300 a second after the deadline at most, over `/rpc` and MCP; the procedure goes on by itself, and ends."""
    for name, call in (("rpc", rpc_code), ("mcp", mcp_code)):
        place = served.folder / name
        begun = time.monotonic()
        assert call(served, str(place)) == -32300
        assert time.monotonic() - begun < 10
        place.touch()
        seen = served.folder / f"{name}.seen"
        wait_until(seen.exists, 20, lambda: "the procedure did not go on")


def rpc_code(served: Daemon, place: str) -> int:
    status, answer = rpc(served, "stubborn", {"place": place})
    assert status == 200
    code: int = answer["error"]["code"]
    return code


def mcp_code(served: Daemon, place: str) -> int:
    code: int = tool_error(Stateless(served).result("Unruly.stubborn", {"place": place}))["code"]
    return code


@pytest.mark.parametrize("method", ["cancels_itself", "raises_a_cancellation"])
def test_who_cancels_itself_has_failed(served: Daemon, method: str) -> None:
    """An internal error of the call, over both surfaces, and the connection serves on."""
    status, answer = rpc(served, method)
    assert (status, answer["id"], answer["error"]["code"]) == (200, 1, -32603)
    for client in (Session(served), Stateless(served)):
        assert tool_error(client.result(f"Unruly.{method}"))["code"] == -32603
    assert served.post("/rpc", {"jsonrpc": "2.0", "id": 2, "method": "ping"}).json()["result"] == "PONG"


@pytest.mark.parametrize(
    ("method", "value", "words"),
    [
        pytest.param("breaks_its_word", ["one", 2], "[0] must be an integer", id="a fresh result"),
        pytest.param("keeps_what_is_wrong", "one", "the result must be an integer", id="a kept one"),
    ],
)
def test_a_result_that_is_not_what_was_promised(served: Daemon, method: str, value: Any, words: str) -> None:
    """`/rpc` answers what the procedure returned; over MCP, where the schema is published, the call has failed."""
    assert rpc(served, method)[1]["result"] == value
    for client in (Session(served), Stateless(served)):
        error = tool_error(client.result(f"Unruly.{method}"))
        text = f"The result of Unruly.{method} is not what its type promises: {words}"
        assert (error["code"], error["message"]) == (-32603, text)


def test_the_refusal_is_said_in_the_clients_language(served: Daemon) -> None:
    """What the product says of a call is said in the language that the client asked for."""
    answer = Stateless(served, headers={"Accept-Language": "uk"}).result("Unruly.breaks_its_word")
    assert tool_error(answer)["message"].startswith("Результат Unruly.breaks_its_word не такий")
