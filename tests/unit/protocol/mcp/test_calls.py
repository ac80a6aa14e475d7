"""What a `tools/call` asks for; the rows of the ladders stand in `tests/golden`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from rpcgw.kernel.gate import Assertion, Passed
from rpcgw.kernel.method import Method
from rpcgw.protocol.mcp import Endpoint, ToolSettings, build
from rpcgw.protocol.mcp.calls import Misfit, Planned, plan
from tests.golden.mcp_demo import Demo
from tests.unit.protocol.mcp.test_answers import ENDPOINT

Compile = Callable[..., Mapping[str, Method]]


@pytest.fixture
def endpoint(methods: Compile) -> Endpoint:
    """The demo's tools."""
    return replace(ENDPOINT, toolboxes={1: build(methods(Demo), ToolSettings())[0]})


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        pytest.param({"a": 1, "b": 2}, Passed, id="sound arguments"),
        pytest.param({"a": 1, "b": 2.0}, Passed, id="a whole float is an integer"),
        pytest.param({"a": 1, "b": 101}, Assertion, id="an assertion that fails is carried on"),
    ],
)
def test_what_may_run_carries_the_gates_verdict(endpoint: Endpoint, arguments: dict[str, Any], verdict: type) -> None:
    """The kernel need not ask again."""
    planned = plan(endpoint, {"name": "Demo.add", "arguments": arguments}, None)
    assert isinstance(planned, Planned)
    assert isinstance(planned.gated, verdict)


def test_a_misfit_tells_a_model_what_to_mend(endpoint: Endpoint) -> None:
    """T-09: many clients show the message alone, so it names the tool and each mistake; data holds them by parameter."""
    found = plan(endpoint, {"name": "Demo.add", "arguments": {"a": "1", "c": 1}}, None)
    assert isinstance(found, Misfit)
    assert found.fault.code == -32602
    assert found.fault.message.startswith("Invalid arguments for Demo.add: ")
    assert isinstance(found.fault.data, dict)
    assert found.fault.data["extra"].keys() == {"a", "b", "c"}


def test_a_message_names_a_few_mistakes_and_counts_the_rest(endpoint: Endpoint) -> None:
    """A body full of nonsense does not come back in full."""
    found = plan(endpoint, {"name": "Demo.add", "arguments": {"a": 1, "b": 2} | {f"x{n}": 1 for n in range(50)}}, None)
    assert isinstance(found, Misfit)
    assert found.fault.message.endswith("more")
    assert len(found.fault.message) < 500
