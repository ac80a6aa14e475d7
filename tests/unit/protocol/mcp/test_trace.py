"""Trace context in `_meta`."""

from typing import Any

import pytest

from rpcgw.protocol.mcp.trace import ray_id, read

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    ("meta", "traced", "ray"),
    [
        pytest.param(None, {}, "", id="no _meta"),
        pytest.param([], {}, "", id="a _meta that is no object"),
        pytest.param({"traceparent": PARENT, "tracestate": "a=b", "x": "y"}, {"traceparent": PARENT, "tracestate": "a=b"}, TRACE, id="carried on unchanged"),
        pytest.param({"traceparent": "nonsense"}, {"traceparent": "nonsense"}, "", id="a malformed one names no chain and is carried on"),
        pytest.param({"traceparent": 5}, {}, "", id="one that is no text"),
        pytest.param({"tracestate": "a=b"}, {}, "", id="a state without its parent"),
    ],
)  # fmt: skip
def test_trace_context_is_carried_on_as_it_came(meta: Any, traced: dict[str, str], ray: str) -> None:
    """MCP SEP-414: a malformed one is not ours to refuse."""
    assert read(meta) == traced
    assert ray_id(read(meta)) == ray
