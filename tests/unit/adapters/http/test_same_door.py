"""The fast front is the same door: to every request of the tables it says, byte for byte, what aiohttp's door says.

aiohttp's door takes the short ways of endpoints (`Entrance.quick`) as the front does, and once more the long ways, so that
these are held to each other too. Clock and ids are pinned, so that the `Date` alone may differ. Each row says whose it is,
and the front's own counter shows that it answered each of its rows and none of the others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpcgw.access.limits import allowances
from rpcgw.adapters.rates.shared import SharedLimiter
from rpcgw.api.rates import Rate
from rpcgw.endpoints.limited import rated
from rpcgw.exchange import Entrance
from rpcgw.kernel.ports import Counts, Limiter
from rpcgw.kernel.rates import Rates
from tests.golden import mcp_requests as golden
from tests.golden.mcp_requests import NO_FIELDS, Fields, Row, raw
from tests.unit.adapters.http.twins import ask, both
from tests.unit.endpoints.house import Clock, Observer
from tests.unit.protocol.jsonrpc.test_envelope import ENVELOPES, NO_JSON

AIOHTTPS = frozenset(
    {
        "OPTIONS",
        "a foreign Host comes before the method",
        "a version that the group lacks",
        "a version that the group lacks, by GET",
        "a body one byte over the limit",
        "two version headers",
        "GET",
        "GET as an SSE client asks",
        "HEAD",
        "PUT",
        "two Mcp-Method headers",
        "PATCH",
        "blanks around header values",
        "two Mcp-Name headers",
        "a mirrored argument with two headers",
        "DELETE without a session id",
        "DELETE of an unknown session",
        "DELETE",
        "/rpc: 100,000 open brackets",
        "/rpc: 100,000 nested brackets",
        "/rpc: a query",
        "/rpc: 100,000 nested braces",
        "/rpc: GET",
        "/rpc: OPTIONS",
        "nowhere",
        "/rpc: a version that there is not",
    }
)
"""The rows that are no ordinary POST: another method, a field twice, a body over the limit, a path
that no entrance names, blanks that need not be there. All others are the front's."""


def protected() -> Sequence[Entrance]:
    """The house for those who hold the token."""
    return both(tokens={"ci": golden.TOKEN})


def calls(body: bytes | str, headers: Fields = NO_FIELDS, path: str = "/rpc") -> bytes:
    """A POST to `/rpc`."""
    return raw(
        "POST", path, {"Content-Type": "application/json", **headers}, body.encode() if isinstance(body, str) else body
    )


def call(method: str, params: object, **special: object) -> str:
    """One JSON-RPC request of the demo."""
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params, **special})


RPC_ROWS = (
    *(Row(f"/rpc: {row.id}", calls(cast("bytes | str", row.values[0])), 200) for row in (*ENVELOPES, *NO_JSON)),
    Row("/rpc: a call that succeeds", calls(call("Demo.add", {"a": 1, "b": 2})), 200),
    Row("/rpc: params that are wrong", calls(call("Demo.add", {"a": "x"})), 200),
    Row("/rpc: a method that fails", calls(call("Demo.fail", {})), 200),
    Row("/rpc: in another language", calls(call("Demo.greet", {}), {"Accept-Language": "uk"}), 200),
    Row("/rpc: no media type", calls(call("Demo.greet", {}), {"Content-Type": []}), 200),
    Row("/rpc: a media type that is refused", calls(call("Demo.greet", {}), {"Content-Type": "text/plain"}), 415),
    Row("/rpc: version 2", calls(call("Demo.greet", {}), path="/rpc/v2"), 200),
    Row("/rpc: a trailing slash", calls(call("Demo.greet", {}), path="/rpc/"), 200),
    Row("/rpc: a version that there is not", calls(call("Demo.greet", {}), path="/rpc/v9"), 200),
    Row("/rpc: a query", calls(call("Demo.greet", {}), path="/rpc?x=1"), 200),
    Row("/rpc: GET", raw("GET", "/rpc", {}), 404),
    Row("/rpc: OPTIONS", raw("OPTIONS", "/rpc", {}), 204),
    Row("nowhere", calls("{}", path="/nowhere"), 404),
)


async def compare(make: Callable[[], Sequence[Entrance]], row: Row) -> int:
    """Ask both doors; how many requests the front answered."""
    fast = await ask(make, row.raw, fast_front=True, revision=row.revision)
    short = await ask(make, row.raw, fast_front=False, revision=row.revision)
    long = await ask(make, row.raw, fast_front=False, revision=row.revision, short=False)
    assert fast.data == short.data == long.data
    assert fast.data.count(b"HTTP/1.1 200 OK\r\n") >= 1, "the last one is always answered"
    assert short.answered == long.answered == 0
    return fast.answered


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in (*golden.ROWS, *RPC_ROWS)])
async def test_each_row_is_answered_alike(row: Row) -> None:
    """Status, headers and body are the same, and the right door has answered."""
    answered = await compare(both, row)
    assert answered == (0 if row.name in AIOHTTPS else 1)


def stateless(arguments: dict[str, Any], headers: Fields = NO_FIELDS) -> bytes:
    return golden.call("Demo.add", arguments, headers=headers)


def in_session(arguments: dict[str, Any], headers: Fields = NO_FIELDS) -> bytes:
    return golden.legacy("tools/call", {"name": "Demo.add", "arguments": arguments}, headers=headers)


def over_rpc(arguments: dict[str, Any], headers: Fields = NO_FIELDS) -> bytes:
    return calls(call("Demo.add", arguments), headers)


MISTAKES = [
    pytest.param({"a": "x", "b": 1}, {"a": [], "b": 2}, id="a wrong type"),
    pytest.param({"a": 1, "b": 101}, {"a": 2, "b": 1000}, id="out of range"),
    pytest.param({"a": 1}, {"a": 2}, id="one that is missing"),
    pytest.param({"b": 101}, {"a": 1, "b": 101}, id="missing, then out of range"),
    pytest.param({"a": 1, "b": 2, "x": 3}, {"a": 1, "b": 2, "y": 3}, id="one that is unknown"),
    pytest.param({"a": "x", "b": "y"}, {"a": "x", "b": 1}, id="two wrong types, then one"),
]


@pytest.mark.parametrize("environment", ["prod", "test"])
@pytest.mark.parametrize("way", [stateless, in_session, over_rpc])
@pytest.mark.parametrize(("first", "second"), MISTAKES)
async def test_mistakes_are_answered_alike_each_time(
    way: Callable[..., bytes], first: dict[str, Any], second: dict[str, Any], environment: str
) -> None:
    """A refusal that was kept for the next one says what a new one would; what was right is right in between."""
    ukrainian = {"Accept-Language": "uk"}
    sent = (way(first), way(second), way({"a": 1, "b": 2}), way(first, ukrainian), way(second, ukrainian), way(first))
    row = Row("mistakes", b"".join(sent), 200, revision=golden.NEWEST if way is in_session else None)
    assert await compare(partial(both, environment=environment), row) == len(sent)


CALLS = [pytest.param(row, id=row.name) for row in (*golden.ROWS, *RPC_ROWS) if b"Demo." in row.raw]


@pytest.mark.parametrize("row", CALLS)
async def test_each_call_is_answered_alike_in_production(row: Row) -> None:
    """Where errors do not say where they were raised, refusals take shorter ways."""
    answered = await compare(partial(both, environment="prod"), row)
    assert answered == (0 if row.name in AIOHTTPS else 1)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in golden.TOKEN_ROWS])
async def test_each_row_with_a_token_is_answered_alike(row: Row) -> None:
    """Where a token is asked for, too."""
    answered = await compare(protected, row)
    assert answered == (0 if "by GET" in row.name or "by DELETE" in row.name else 1)


class _Outside:
    """Counts in this process, after a moment, as another one would."""

    def __init__(self) -> None:
        self.here = SharedLimiter(None, Clock().now)

    async def hit(self, rate: Rate, *key: str) -> float:
        await asyncio.sleep(0)
        return await self.here.hit(rate, *key)

    async def hit_each(self, counts: Counts) -> tuple[int, float]:
        await asyncio.sleep(0)
        return await self.here.hit_each(counts)


COUNTED_BY: dict[str, Callable[[], Limiter]] = {
    "the workers": lambda: SharedLimiter(None, Clock().now),
    "somebody outside": _Outside,
}
TWICE = calls(call("Demo.greet", {})) * 2


@pytest.mark.parametrize("who", COUNTED_BY)
@pytest.mark.parametrize(("amount", "passed"), [(1, 1), (2, 2)])
async def test_rates_are_counted_alike(who: str, amount: int, passed: int) -> None:
    """A call within its rate is answered, the next one is told how long to wait, whoever counts."""

    def limited() -> Sequence[Entrance]:
        rates = Rates(COUNTED_BY[who](), Observer(), Clock())
        counted = allowances(Rate(amount, 60), None, None)
        return [rated(entrance, counted, rates, "public") for entrance in both()]

    fast = await ask(limited, TWICE, fast_front=True, revision=None)
    slow = await ask(limited, TWICE, fast_front=False, revision=None)
    assert fast.data == slow.data
    assert (fast.answered, slow.answered) == (2, 0)
    assert fast.data.count(b"HTTP/1.1 429 Too Many Requests\r\n") == 2 - passed


def test_the_rows_of_aiohttp_are_rows() -> None:
    """No name of the table above has been left behind."""
    names = {row.name for row in (*golden.ROWS, *RPC_ROWS)}
    assert names >= AIOHTTPS
    assert len(AIOHTTPS) < len(names) / 4


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["Demo.add", "Demo.greet", "Demo.fail", "Demo.none", "tools/list", "server/discover", "ping"])


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """An ordinary POST whose fields and body are anything."""
    body: Any = {"jsonrpc": "2.0", "id": draw(st.integers() | st.text(max_size=5)), "method": draw(METHODS)}
    body["params"] = draw(st.fixed_dictionaries({}, optional={"a": VALUES, "b": VALUES, "name": METHODS}) | VALUES)
    if draw(st.booleans()):
        body = [body, draw(VALUES)]
    content = json.dumps(body).encode()
    if draw(st.integers(0, 9)) == 0:
        content = draw(st.binary(max_size=40))
    fields: dict[str, str | list[str]] = {"Content-Type": draw(st.sampled_from(["application/json", "text/plain"]))}
    names = st.sampled_from(["Accept", "Accept-Language", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "X-Any"])
    values = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
    fields.update(draw(st.dictionaries(names, values, max_size=4)))
    return raw("POST", draw(st.sampled_from(["/mcp", "/mcp/", "/mcp/v2", "/rpc", "/rpc/v1"])), fields, content)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(request=requests())
async def test_generated_requests_are_answered_alike(request: bytes) -> None:
    """Whatever an ordinary POST says, the front answers it as aiohttp's door does."""
    assert await compare(both, Row("generated", request, 200)) == 1
