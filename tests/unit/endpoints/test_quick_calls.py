"""`tools/call` answered at once: the operator is told what the long way tells."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest

from rpcgw.api.context import Principal
from rpcgw.exchange import Inbound, Reply
from rpcgw.kernel.call import Call, Failed
from rpcgw.protocol.mcp import ToolSettings
from tests.golden import mcp_requests as golden
from tests.unit.endpoints.house import House, house, parsed


def asked(name: str, arguments: dict[str, Any], session: str) -> bytes:
    """A call of a tool, in a session where there is one."""
    if not session:
        return golden.call(name, arguments)
    return golden.legacy("tools/call", {"name": name, "arguments": arguments}, session=session)


async def ask(place: House, raw: bytes, *, quick: bool) -> Reply:
    """What a way answers; the quick one has to have an answer."""
    head, body = parsed(raw)
    entrance = place.entrance(head.path)
    principal = entrance.admit(head)
    assert isinstance(principal, Principal)
    if not quick:
        return await entrance.answer(principal, Inbound(head, body))
    assert entrance.quick is not None
    reply = entrance.quick(principal, Inbound(head, body))
    assert isinstance(reply, Reply), "it is not for the quick way"
    return reply


def told(place: House) -> tuple[list[Call], list[tuple[int, str, dict[str, Any], type]]]:
    """Each call and how it failed; who waits for a call is nothing that is told."""
    calls = [msgspec.structs.replace(call, client=None) for call in place.observer.calls]
    failures = [one for one in place.observer.outcomes if isinstance(one, Failed)]
    assert len(failures) == len(place.observer.outcomes)
    return calls, [(one.code, one.message, one.data, type(one.error)) for one in failures]


FAILURES = [
    pytest.param("Demo.add", {"a": "x", "b": 1}, id="a wrong type"),
    pytest.param("Demo.add", {"a": 1}, id="one that is missing"),
    pytest.param("Demo.add", {"a": 1, "b": 2, "c": 3}, id="one that is unknown"),
    pytest.param("Demo.add", {"a": 1, "b": 101}, id="out of range"),
    pytest.param("Demo.fail", {}, id="a procedure that fails"),
    pytest.param("Demo.gone", {}, id="an unknown tool"),
    pytest.param("x" * 500, {}, id="an unknown tool with a long name"),
]


@pytest.mark.parametrize("era", ["stateless", "session"])
@pytest.mark.parametrize("validation", ["protocol", "tool"])
@pytest.mark.parametrize(("name", "arguments"), FAILURES)
async def test_a_failure_is_told_as_the_long_way_tells_it(
    name: str, arguments: dict[str, Any], validation: Literal["protocol", "tool"], era: str
) -> None:
    """The same answer, the same call and the same failure, the second time too."""
    said = []
    for quick in (True, False):
        place = house(environment="prod", settings=ToolSettings(validation_errors=validation))
        session = await place.begin() if era == "session" else ""
        replies = [await ask(place, asked(name, arguments, session), quick=quick) for _ in range(2)]
        said.append(([(reply.status, reply.body, reply.headers) for reply in replies], told(place)))
    assert said[0] == said[1]
    assert len(said[0][1][0]) == 2
