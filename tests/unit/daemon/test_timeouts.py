"""`server.timeouts` without a word in the file, on its way to whoever waits."""

from __future__ import annotations

import pytest

from rpcgw.adapters.http.bounds import Bounds
from rpcgw.config.loading import compile_settings
from rpcgw.config.sources import Sources
from rpcgw.daemon import wiring
from rpcgw.gateway.compile import compile_gateway
from rpcgw.gateway.plugins import Imported

OPEN = "ufo_json_rpc: {security: {protected_api: false}}"
TIMES = [
    pytest.param("", {"keep_alive": 75, "reload": 90, "grace": 20, "pre_stop": 0, "head": 10, "body": 30}, id="defaults"),
    pytest.param(
        "server: {timeouts: {keep_alive: 1, reload: 2, grace: 3, pre_stop: 4, head: 5, body: 6}}",
        {"keep_alive": 1, "reload": 2, "grace": 3, "pre_stop": 4, "head": 5, "body": 6},
        id="others",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("written", "expected"), TIMES)
def test_times(written: str, expected: dict[str, float]) -> None:
    """An idle connection is kept 75 s, an old generation has 90 s, running work 20 s, and the door closes at once."""
    texts = {"gateway.yaml": f"{OPEN}\n{written}", "routes.yaml": "rpc: {resource: rpc, prefix: /rpc}"}
    gateway = compile_gateway(compile_settings(Sources("gateway.yaml", "/srv", texts, {}), env={}), Imported(()))
    needs, bounds = wiring.needs_of(gateway), wiring._bounds(gateway)
    supervised = {name: getattr(needs, name) for name in ("keep_alive", "reload", "grace", "pre_stop")}
    doors = {name: getattr(bounds, name) for name in ("keep_alive", "head", "body")}
    assert {**supervised, **doors} == expected
    assert isinstance(bounds, Bounds)
