"""Methods for the tests of tools: compiled by the real kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import compile_methods

Compile = Callable[..., Mapping[str, Method]]


@pytest.fixture
def methods() -> Compile:
    """The methods of classes marked for the group `demo`, in version 1."""

    def compiled(*procedures: type) -> Mapping[str, Method]:
        table, problems = compile_methods([Registration(procedure) for procedure in procedures])
        assert not [problem for problem in problems if problem.level == "error"], problems
        return table.methods("demo", 1) or {}

    return compiled
