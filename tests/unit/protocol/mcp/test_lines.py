"""Lines of a pipe as requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.kernel.method import Method
from rpcgw.protocol.mcp import ToolSettings, build
from rpcgw.protocol.mcp.calls import Planned, plan
from rpcgw.protocol.mcp.classify import classify
from rpcgw.protocol.mcp.lines import read, without_mirrors
from rpcgw.protocol.mcp.messages import Legacy, Modern
from tests.golden.mcp_demo import Demo
from tests.golden.mcp_requests import META
from tests.unit.protocol.mcp.test_answers import ENDPOINT

Compile = Callable[..., Mapping[str, Method]]


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"name": "Demo.add"}, id="a plain name"),
        pytest.param({"name": "Дóm\n"}, id="a name that no header could hold"),
        pytest.param({"name": "=?base64?x?="}, id="a name that looks encoded"),
        pytest.param({"name": 5}, id="a name that is no text"),
    ],
)
def test_a_stateless_line_climbs_the_ladder(params: dict[str, Any]) -> None:
    """Its headers repeat the body, so nothing is refused for what a pipe cannot say."""
    found = read(line(id=1, method="tools/call", params=params | {"_meta": META}))
    assert isinstance(classify(CIMultiDict(found.fields), found.body), Modern)


def test_an_unknown_revision_is_told_to_be_unknown() -> None:
    """The header follows the body there too."""
    meta = META | {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    found = read(line(id=1, method="ping", params={"_meta": meta}))
    refused = classify(CIMultiDict(found.fields), found.body)
    assert getattr(refused, "code", None) == -32022


def test_a_line_without_a_claim_is_of_the_session_era() -> None:
    """Nothing is repeated, so nothing says otherwise."""
    found = read(line(id=1, method="ping"))
    assert isinstance(classify(CIMultiDict(found.fields), found.body), Legacy)


@pytest.mark.parametrize(
    ("body", "id_", "silent", "opens", "cancels"),
    [
        pytest.param(line(id=1, method="ping"), 1, False, False, None, id="a request"),
        pytest.param(line(id="a", method="initialize"), "a", False, True, None, id="the first request of a session"),
        pytest.param(
            line(id=1, method="initialize", params={"_meta": META}),
            1,
            False,
            False,
            None,
            id="initialize without a session",
        ),
        pytest.param(line(method="x"), None, True, False, None, id="a notification"),
        pytest.param(line(id=1, result={}), 1, True, False, None, id="a response"),
        pytest.param(
            line(method="notifications/cancelled", params={"requestId": 7}), None, True, False, 7, id="a cancellation"
        ),
        pytest.param(
            line(method="notifications/cancelled", params={"requestId": True}), None, True, False, None, id="a bad one"
        ),
        pytest.param(line(id=None, method="x"), None, False, False, None, id="a null id"),
        pytest.param(b"[]", None, False, False, None, id="a batch"),
        pytest.param(b"oops", None, False, False, None, id="no JSON"),
    ],
)
def test_what_the_transport_must_know(body: bytes, id_: Any, silent: bool, opens: bool, cancels: Any) -> None:
    """Who is answered, what is waited for, what is taken back."""
    found = read(body)
    assert (found.id, found.silent, found.opens, found.cancels) == (id_, silent, opens, cancels)


def test_tools_ask_for_no_headers(methods: Compile) -> None:
    """`x-mcp-header` is for those who route HTTP."""
    mirrored = replace(ENDPOINT, toolboxes={1: build(methods(Demo), ToolSettings())[0]})
    plain = without_mirrors(mirrored)
    call = {"name": "Demo.region", "arguments": {"region": "x"}}
    assert not isinstance(plan(mirrored, call, CIMultiDict()), Planned)
    assert isinstance(plan(plain, call, CIMultiDict()), Planned)
    assert plain.toolbox.by_name["Demo_region"] is plain.toolbox.by_name["Demo.region"]
    assert [tool.name for tool in plain.toolbox.listed] == [tool.name for tool in mirrored.toolbox.listed]
