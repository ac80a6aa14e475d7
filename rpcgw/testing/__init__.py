"""What a plugin's author tests with: the plugin compiled in this process, called over rpc and MCP without HTTP.

    def test_greeting(rpcgw_gateway: GatewayFactory) -> None:
        gateway = rpcgw_gateway("my_plugin")
        assert gateway.call("Hello.greet", {"name": "Ada"}).result == "Hello, Ada."

pytest finds the fixture by itself wherever rpcgw is installed; `open_gateway` does the same outside pytest.
"""

from rpcgw.testing.answers import Failure, RpcAnswer, ToolAnswer
from rpcgw.testing.clock import MovableClock
from rpcgw.testing.gateway import GatewayFactory, PluginGateway, open_gateway
from rpcgw.testing.records import Event

__all__ = [
    "Event",
    "Failure",
    "GatewayFactory",
    "MovableClock",
    "PluginGateway",
    "RpcAnswer",
    "ToolAnswer",
    "open_gateway",
]
