"""What a client says that it can do, as names."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.protocol.mcp.capabilities import MOST, declared


@pytest.mark.parametrize(
    ("capabilities", "names"),
    [
        pytest.param({}, (), id="nothing"),
        pytest.param(None, (), id="no object"),
        pytest.param({"sampling": {}}, ("sampling",), id="one"),
        pytest.param(
            {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": True}},
            ("elicitation", "elicitation.form", "elicitation.url", "roots", "roots.listChanged"),
            id="parts have the name of the whole before them",
        ),
        pytest.param({"x" * (MOST + 1): {}, "y": {}}, ("y",), id="a name without end is left out"),
        pytest.param({"extensions": {"a.b/c": {}}}, ("extensions", "extensions.a.b/c"), id="an extension"),
    ],
)
def test_names_of_capabilities(capabilities: Any, names: tuple[str, ...]) -> None:
    """What `CallContext.require` asks for."""
    assert declared(capabilities) == names


def test_a_client_cannot_make_sessions_large() -> None:
    """What is kept of it is bounded."""
    assert len(declared({str(number): {} for number in range(10_000)})) == MOST
