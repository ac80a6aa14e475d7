"""W3C trace context, from wherever it comes."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.protocol.trace import context, trace_id

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"

CONTEXTS = [
    pytest.param({}, {}, "", id="none"),
    pytest.param({"traceparent": PARENT}, {"traceparent": PARENT}, TRACE, id="a parent alone"),
    pytest.param({"traceparent": PARENT, "tracestate": "a=b", "baggage": "c=d", "x": "y"}, {"traceparent": PARENT, "tracestate": "a=b", "baggage": "c=d"}, TRACE, id="what belongs to it, and nothing else"),
    pytest.param({"tracestate": "a=b"}, {}, "", id="a state without its parent"),
    pytest.param({"traceparent": "nonsense"}, {}, "", id="nonsense"),
    pytest.param({"traceparent": PARENT.upper()}, {}, "", id="upper case, which the format does not have"),
    pytest.param({"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"}, {}, "", id="a trace of zeros"),
    pytest.param({"traceparent": f"00-{TRACE}-{'0' * 16}-01"}, {}, "", id="a span of zeros"),
    pytest.param({"traceparent": f"ff-{TRACE}-b7ad6b7169203331-01"}, {}, "", id="the version that there is not"),
    pytest.param({"traceparent": f"01-{TRACE}-b7ad6b7169203331-01-more"}, {"traceparent": f"01-{TRACE}-b7ad6b7169203331-01-more"}, TRACE, id="a later version"),
    pytest.param({"traceparent": 5}, {}, "", id="no text"),
    pytest.param({"traceparent": PARENT, "baggage": "x" * 9000}, {"traceparent": PARENT}, TRACE, id="baggage that nobody should carry"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "found", "trace"), CONTEXTS)
def test_a_context_is_what_w3c_says(fields: dict[str, Any], found: dict[str, str], trace: str) -> None:
    """W3C Trace Context, section 3.2: a malformed parent names no trace, and nothing else counts without it."""
    assert context(fields) == found
    assert trace_id(found) == trace
