"""Bytes of answers: what is spliced is JSON, and nothing is null."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rpcgw.exchange import Rejected
from rpcgw.kernel.call import Done
from rpcgw.kernel.codec import encode
from rpcgw.kernel.method import Method
from rpcgw.protocol.mcp import Endpoint, answers
from rpcgw.protocol.mcp.faults import Refused, RequestId
from rpcgw.protocol.mcp.revisions import Era


class Silent:
    """No texts."""

    def title(self, group: str, method: Method, locale: str) -> str:
        return ""

    def description(self, group: str, method: Method, locale: str) -> str:
        return ""

    def parameter(self, group: str, method: Method, name: str, locale: str) -> str:
        return ""

    def result(self, group: str, method: Method, locale: str) -> str:
        return ""


ENDPOINT = Endpoint("demo_ufo_mcp_endpoint", "/mcp", "demo", {}, Silent(), lambda _: "en")
ids: st.SearchStrategy[RequestId] = st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(request_id=ids, value=json_values, era=st.sampled_from(["session", "stateless"]))
def test_a_spliced_result_is_what_encoding_it_whole_would_give(request_id: RequestId, value: Any, era: Era) -> None:
    """T-15: the text, read again, is the structured content; the id is the client's to the letter."""
    answer = json.loads(answers.done(request_id, Done(encode(value)), ENDPOINT, era))
    result = answer["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]["result"] == value
    assert answer["id"] == request_id
    assert type(answer["id"]) is type(request_id)
    assert ("resultType" in result) is (era == "stateless")


def test_an_error_without_a_known_id_has_none() -> None:
    """MCP's schema allows no null id; nor are other members sent that say nothing."""
    assert json.loads(answers.error(Refused(400, -32700, "Bad"))) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "Bad"},
    }
    assert json.loads(answers.error(Refused(400, -32602, "Bad", {"x": 1}, "")))["id"] == ""
    assert json.loads(answers.error(Refused(400, -32602, "Bad", {"x": 1}, 0)))["error"]["data"] == {"x": 1}


def test_a_refused_token_is_always_401() -> None:
    """An agent takes 403 for missing rights and gives up; 401 with a challenge makes it ask for a token."""
    for verdict in (
        Rejected(401, -32401, "None", headers=(("WWW-Authenticate", "Bearer"),)),
        Rejected(403, -32403, "Wrong"),
    ):
        reply = answers.rejected(verdict)
        assert reply.status == 401
        assert reply.headers == (("Content-Type", "application/json"), ("WWW-Authenticate", "Bearer"))


async def test_things_to_run_afterwards_run_in_order() -> None:
    """Several become one; nothing stays nothing, and one stays itself."""
    ran: list[int] = []

    def step(number: int) -> answers.After:
        async def run() -> None:
            ran.append(number)

        return run

    assert answers.afterwards([]) is None
    one = step(1)
    assert answers.afterwards([one]) is one
    both = answers.afterwards([one, step(2)])
    assert both is not None
    await both()
    assert ran == [1, 2]
