"""The official clients against the example as it is shipped: what each of them sees of its tools, calls and mistakes.

Every client runs once, all of them side by side, and the tests look at what they reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.acceptance import Note, run_noted
from tests.support.clients import CLIENTS, ERAS, MODERN, OfficialClient, inspect, talk
from tests.support.daemon import RPCGW, Daemon
from tests.support.mcp import Stateless

TOOL = "Catalog.search"
ARGUMENTS = {"query": "kettle", "limit": 3}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    (TOOL, ARGUMENTS),
    (TOOL, {"query": "", "limit": 3}),
    (TOOL, {"query": 5}),
    ("Catalog.none", {}),
)
GOOD, FAILED, MISFIT, UNKNOWN = range(4)
LANGUAGES = ("en", "uk")
AT_ONCE = 3
STDIO = tuple(client for client in CLIENTS if client.script in {"mcp1.py", "mcp2.py"})

every_client = pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS])
every_stdio_client = pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in STDIO])
every_era = pytest.mark.parametrize("era", ERAS)

Reports = dict[str, "Future[dict[str, Any]]"]


@pytest.fixture(scope="module")
def reports(example_daemon: Daemon) -> Iterator[Reports]:
    """What each client reports over HTTP, by its name."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        url = f"{example_daemon.url}/mcp"
        yield {client.name: threads.submit(talk, client, url, CALLS, LANGUAGES) for client in CLIENTS}


@pytest.fixture(scope="module")
def stdio_reports(example_daemon: Daemon) -> Iterator[Reports]:
    """What clients report that start the server themselves."""
    command = [str(RPCGW), "mcp", "-c", str(example_daemon.folder / "gateway.yaml.example")]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield {client.name: threads.submit(talk, client, command, CALLS, LANGUAGES) for client in STDIO}


@pytest.fixture(scope="module")
def inspections(example_daemon: Daemon) -> Iterator[dict[tuple[str, str], Future[dict[str, Any]]]]:
    """What the Inspector's command line prints, by era and what it was asked."""
    call = ("--method", "tools/call", "--tool-name", TOOL, "--tool-args-json")
    asked: dict[str, tuple[int, tuple[str, ...]]] = {
        "list": (0, ("--method", "tools/list", "--strict", "--format", "json")),
        "good": (0, (*call, json.dumps(ARGUMENTS))),
        "failed": (5, (*call, json.dumps({"query": "", "limit": 3}))),
        "misfit": (1, (*call, json.dumps({"query": 5}))),
    }
    url = f"{example_daemon.url}/mcp"
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield {
            (era, name): threads.submit(inspect, url, era, *arguments, code=code)
            for era in ERAS
            for name, (code, arguments) in asked.items()
            if era != "auto" or name in {"list", "good"}
        }


@pytest.fixture(scope="module")
def listed(example_daemon: Daemon) -> dict[str, dict[str, dict[str, Any]]]:
    """The tools as the daemon lists them without any client, by language."""
    bare = Stateless(example_daemon)
    return {language: bare.tools({"Accept-Language": language}) for language in LANGUAGES}


@pytest.fixture(scope="module")
def expected(example_daemon: Daemon) -> Any:
    """What the daemon answers when it is asked without any client."""
    result = Stateless(example_daemon).result(TOOL, ARGUMENTS)
    assert result["isError"] is False, result
    value = result["structuredContent"]["result"]
    assert len(value) == ARGUMENTS["limit"], value
    return value


def hold_a_call(report: dict[str, Any], expected: Any) -> None:
    """Compare a client's call with a bare one."""
    called = report["calls"][GOOD]
    assert called["is_error"] is False
    assert called["structured"] == {"result": expected}
    assert [json.loads(block["text"]) for block in called["content"]] == [expected]


def hold_the_mistakes(report: dict[str, Any]) -> None:
    """A failed assertion is the tool's, a wrong type and a wrong name are the protocol's (T-09, T-16)."""
    failed, misfit, unknown = (report["calls"][number] for number in (FAILED, MISFIT, UNKNOWN))
    assert (failed["is_error"], failed["structured"]) == (True, None)
    told = json.loads(failed["content"][0]["text"])
    assert told["code"]
    assert list(told["data"]["extra"]) == ["query"]
    assert (misfit["code"], unknown["code"]) == (-32602, -32602)
    assert "query" in misfit["message"]
    assert "Catalog.none" in unknown["message"]


@every_client
def test_a_client_lists_and_calls(
    client: OfficialClient, reports: Reports, listed: Any, expected: Any, record_property: Note
) -> None:
    """A-MCP-47: each negotiates its revision, sees the tools, and gets the value that a bare request gets."""
    seen = reports[client.name].result()
    run_noted(
        record_property, client.name, 0, json.dumps({name: seen[name] for name in ("protocol", "server", "tools")})
    )
    assert seen["protocol"] == client.revision
    assert seen["tools"] == list(listed["en"])
    hold_a_call(seen, expected)


@every_client
def test_a_client_reads_the_texts_in_its_language(client: OfficialClient, reports: Reports, listed: Any) -> None:
    """T-03: titles and descriptions in English and in Ukrainian, as `Accept-Language` asks."""
    seen = reports[client.name].result()["texts"]
    for language in LANGUAGES:
        assert seen[language] == {name: [tool["title"], tool["description"]] for name, tool in listed[language].items()}
    assert seen["en"][TOOL][1].startswith("Find products")
    assert seen["uk"][TOOL][1].startswith("Пошук товарів")


@every_client
def test_a_client_tells_a_tool_error_from_a_protocol_error(client: OfficialClient, reports: Reports) -> None:
    """A violated assertion is a result with `isError`; arguments of a wrong type raise the client's protocol error."""
    hold_the_mistakes(reports[client.name].result())


@every_stdio_client
def test_a_client_over_standard_input_and_output(
    client: OfficialClient, stdio_reports: Reports, listed: Any, expected: Any
) -> None:
    """`rpcgw mcp` is the same server to a client that starts it: revision, tools, texts, a call, and the mistakes."""
    seen = stdio_reports[client.name].result()
    assert seen["protocol"] == client.revision
    assert seen["tools"] == list(listed["en"])
    assert seen["texts"]["uk"] == {name: [tool["title"], tool["description"]] for name, tool in listed["uk"].items()}
    hold_a_call(seen, expected)
    hold_the_mistakes(seen)


@every_era
def test_the_inspector_finds_no_fault_with_the_tools(era: str, inspections: Any, listed: Any) -> None:
    """A-MCP-45, A-MCP-47: the Inspector's strict listing, which exits 6 where a schema is not portable, accepts every tool."""
    said = inspections[era, "list"].result()
    assert [tool["name"] for tool in said["result"]["tools"]] == list(listed["en"])


@every_era
def test_the_inspector_calls_a_tool(era: str, inspections: Any, expected: Any) -> None:
    """The Inspector gets the value that a bare request gets, in either era."""
    assert inspections[era, "good"].result()["structuredContent"] == {"result": expected}


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_tells_a_tool_error_from_a_protocol_error(era: str, inspections: Any) -> None:
    """It ends with 5 and the tool's words for a violated assertion, with 1 and the protocol's for a wrong type."""
    assert inspections[era, "failed"].result()["isError"] is True
    assert "query" in inspections[era, "misfit"].result()["error"]["message"]


def test_discovery_names_the_stateless_revision(example_daemon: Daemon) -> None:
    """What lets a client negotiate at all: `server/discover` lists 2026-07-28."""
    assert MODERN in Stateless(example_daemon).discover()["supportedVersions"]
