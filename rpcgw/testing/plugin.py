"""The pytest plugin: `rpcgw_gateway`. pytest loads it by itself (entry point `pytest11`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rpcgw.api.plugin import Plugin
    from rpcgw.testing.gateway import GatewayFactory, PluginGateway


@pytest.fixture
def rpcgw_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayFactory]:
    """Compiles plugins in this process: `rpcgw_gateway("my_plugin", config={...})`. See `rpcgw.testing`."""
    # pytest loads this module in every run on this environment: the gateway comes in where a test asks for it.
    from rpcgw.testing.gateway import open_gateway  # noqa: PLC0415

    with ExitStack() as stack:

        def make(
            plugin: Plugin | ModuleType | str,
            *,
            config: Mapping[str, Any] | None = None,
            settings: Mapping[str, Any] | None = None,
            environment: str = "prod",
            name: str | None = None,
        ) -> PluginGateway:
            state_dir = tmp_path_factory.mktemp("state")
            opened = open_gateway(
                plugin, state_dir, config=config, settings=settings, environment=environment, name=name
            )
            return stack.enter_context(opened)

        yield make
