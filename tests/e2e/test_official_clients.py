"""The official clients against the example as it is shipped: each lists its tools and calls one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.clients import CLIENTS, ERAS, MODERN, OfficialClient, inspect, talk
from tests.support.daemon import Daemon
from tests.support.mcp import Stateless

TOOL = "Catalog.search"
ARGUMENTS = {"query": "kettle", "limit": 3}

every_client = pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS])
every_era = pytest.mark.parametrize("era", ERAS)


@pytest.fixture(scope="module")
def expected(example_daemon: Daemon) -> Any:
    """What the daemon answers when it is asked without any client."""
    result = Stateless(example_daemon).result(TOOL, ARGUMENTS)
    assert result["isError"] is False, result
    value = result["structuredContent"]["result"]
    assert len(value) == ARGUMENTS["limit"], value
    return value


@every_client
def test_a_client_lists_and_calls(client: OfficialClient, example_daemon: Daemon, expected: Any) -> None:
    """Each official client negotiates its revision, sees the tools, and gets the value that a bare request gets."""
    seen = talk(client, f"{example_daemon.url}/mcp", TOOL, ARGUMENTS)
    assert seen["protocol"] == client.revision
    assert seen["tools"] == list(Stateless(example_daemon).tools())
    assert seen["is_error"] is False
    assert seen["structured"] == {"result": expected}
    assert [json.loads(block["text"]) for block in seen["content"]] == [expected]


@every_client
def test_a_client_sees_a_failed_assertion_as_a_tool_error(client: OfficialClient, example_daemon: Daemon) -> None:
    """A violated assertion reaches each official client as a result with `isError`, not as a broken call."""
    seen = talk(client, f"{example_daemon.url}/mcp", TOOL, {"query": "", "limit": 3})
    assert seen["is_error"] is True
    assert seen["structured"] is None
    assert json.loads(seen["content"][0]["text"])["code"]


@every_era
def test_the_inspector_finds_no_fault_with_the_tools(era: str, example_daemon: Daemon) -> None:
    """The Inspector's strict listing, which exits 6 where a schema is not portable, accepts every tool."""
    said = inspect(f"{example_daemon.url}/mcp", era, "--method", "tools/list", "--strict", "--format", "json")
    assert [tool["name"] for tool in said["result"]["tools"]] == list(Stateless(example_daemon).tools())


@every_era
def test_the_inspector_calls_a_tool(era: str, example_daemon: Daemon, expected: Any) -> None:
    """The Inspector gets the value that a bare request gets, in either era."""
    call = ("--method", "tools/call", "--tool-name", TOOL, "--tool-args-json", json.dumps(ARGUMENTS))
    said = inspect(f"{example_daemon.url}/mcp", era, *call)
    assert said["structuredContent"] == {"result": expected}


def test_discovery_names_the_stateless_revision(example_daemon: Daemon) -> None:
    """What lets a client negotiate at all: `server/discover` lists 2026-07-28."""
    assert MODERN in Stateless(example_daemon).discover()["supportedVersions"]
