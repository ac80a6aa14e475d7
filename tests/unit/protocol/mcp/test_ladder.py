"""The ladder's order: what is told first when several things are wrong. Each rung alone stands in `tests/golden`."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION, climb
from rpcgw.protocol.mcp.messages import Modern

NEW = "2026-07-28"
WRONG: dict[str, dict[str, Any]] = {
    "capabilities": {"meta": {META_CAPABILITIES: None}},
    "version header": {"header": "2025-06-18"},
    "version": {"revision": "2099-01-01"},
    "method header": {"method": "tools/list"},
    "name header": {"name": "Demo.other"},
    "log level": {"meta": {META_LOG_LEVEL: "loud"}},
}
CODES = {"capabilities": -32602, "version header": -32020, "version": -32022, "method header": -32020, "name header": -32020, "log level": -32602}  # fmt: skip


def request_with(*wrong: str) -> tuple[Modern, CIMultiDict[str]]:
    changes = [WRONG[each] for each in wrong]
    revision = next((change["revision"] for change in changes if "revision" in change), NEW)
    meta: dict[str, Any] = {META_VERSION: revision, META_CAPABILITIES: {}}
    fields = {"MCP-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": "Demo.add"}
    for change in changes:
        meta |= change.get("meta", {})
        fields |= {
            name: change[key]
            for key, name in (("header", "MCP-Protocol-Version"), ("method", "Mcp-Method"), ("name", "Mcp-Name"))
            if key in change
        }
    return Modern(1, "tools/call", {"name": "Demo.add", "_meta": meta}, meta, revision), CIMultiDict(fields)


def test_a_sound_request_climbs_to_the_top() -> None:
    """Nothing wrong, nothing told."""
    assert climb(*request_with()) is None


@pytest.mark.parametrize(
    ("first", "second"), [(one, two) for i, one in enumerate(WRONG) for two in list(WRONG)[i + 1 :]]
)
def test_the_first_failure_wins(first: str, second: str) -> None:
    """Of two things that are wrong, the one that stands higher in the list is told, whatever the other is."""
    fault = climb(*request_with(first, second))
    assert fault is not None
    assert fault.code == CODES[first]
    alone = climb(*request_with(first))
    assert alone is not None
    if {first, second} != {"version header", "version"}:
        assert fault.message == alone.message
