"""Whose token a procedure may have exchanged."""

from __future__ import annotations

import pytest

from rpcgw.api.context import CallContext, Principal
from rpcgw.api.errors import RuntimeFault
from rpcgw.kernel.identity import Identity


class Server:
    """Gives a token for each."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def exchange(self, token: str, audience: str, scopes: tuple[str, ...]) -> str:
        self.asked.append(token)
        return f"{token} for {audience}"


def context(who: Principal) -> CallContext:
    return CallContext(who, "mcp", 1, "Catalog.read", "mcp", "en", "ray")


async def test_an_access_token_is_exchanged() -> None:
    """Who was identified by claims has a token for others."""
    lent = Identity(exchange=Server()).lent(context(Principal("alice", claims={"iss": "x"})), "t")
    assert (await lent.token_for("billing"), lent.token) == ("t for billing", None)


async def test_a_token_of_the_group_goes_to_no_server() -> None:
    """It is a secret between the group and its holder."""
    server = Server()
    lent = Identity(shown=True, exchange=server).lent(context(Principal("ops")), "a secret")
    with pytest.raises(RuntimeFault):
        await lent.token_for("billing")
    assert server.asked == []
    assert lent.token == "a secret"
