"""What a client of the stateless revision sends, read back as the server reads it."""

import pytest

from rpcgw.protocol.mcp.asking import header_value, mirrored, request
from rpcgw.protocol.mcp.headers import decoded
from rpcgw.protocol.mcp.mirrors import Mirror

TEXTS = ["plain", "two words", "Київ", " leading", "trailing ", "", "=?base64?AA==?=", "tab\there", "new\nline"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_header_means_what_was_said(text: str) -> None:
    """Any text survives the way through a header."""
    value = header_value(text)
    assert value.isascii()
    assert value.isprintable()
    assert decoded(value) == text


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        pytest.param(
            {"where": {"region": "eu"}, "dry": True}, {"mcp-param-region": "eu", "mcp-param-dry": "true"}, id="both"
        ),
        pytest.param({"where": {"region": None}, "dry": False}, {"mcp-param-dry": "false"}, id="null has no header"),
        pytest.param({"where": "eu"}, {}, id="nothing at the path"),
    ],
)
def test_arguments_that_headers_repeat(arguments: dict[str, object], headers: dict[str, str]) -> None:
    """Each argument that is there has its header."""
    mirrors = (Mirror(("where", "region"), "Region", "string"), Mirror(("dry",), "Dry", "boolean"))
    assert mirrored(mirrors, arguments) == headers


def test_a_request_repeats_itself() -> None:
    """Method, name and revision stand in headers too."""
    body, headers = request("tools/call", {"name": "Ї"}, {"name": "x", "version": "1"})
    meta = body["params"]["_meta"]
    assert headers["mcp-method"] == body["method"]
    assert decoded(headers["mcp-name"]) == "Ї"
    assert headers["mcp-protocol-version"] == meta["io.modelcontextprotocol/protocolVersion"]


def test_a_request_may_want_to_be_told_of_nothing() -> None:
    """Without a level there is nothing to stream before the answer: neither progress nor messages are asked for."""
    body, _ = request("tools/call", {"name": "x"}, {"name": "x", "version": "1"}, level=None)
    assert set(body["params"]["_meta"]) == {
        f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo")
    }
