"""The procedures that the golden requests are made for: version 1 and 2 of the group `demo`, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from annotated_types import Interval
from pydantic import Field

import rpcgw as rpc

GROUP = "demo"


@rpc.procedure("Demo", groups=[GROUP], with_default=False)
class Demo:
    """What a tools server is asked in the tables."""

    @rpc.tool(read_only=True, idempotent=True)
    @rpc.inline
    def add(self, a: int, b: Annotated[int, Interval(le=100)]) -> int:
        """Add two numbers.

        Args:
            a: The first.
            b: The second, 100 at most.
        """
        return a + b

    @rpc.inline
    def greet(self, who: str = "x") -> str:
        """Greet somebody.

        Args:
            who: Who is pinging
        """
        return f'Hello, "{who}"\n'

    @rpc.inline
    def fail(self) -> None:
        """Never succeed."""
        raise rpc.DataNotFound("No such thing", extra={"looked": "everywhere"})

    @rpc.inline
    def region(
        self,
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",
        zone: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Zone"})] = 0,
    ) -> str:
        """Say where the call was routed."""
        return f"{region}/{zone}"

    @rpc.inline
    def anything(self) -> Any:
        """Promise nothing."""
        return [1, 2.5, None]

    async def sample(self, ctx: rpc.CallContext) -> rpc.Text:
        """Need a client that samples."""
        ctx.require("sampling")
        return rpc.Text("sampled")

    @rpc.tool(title="Wait for ever")
    async def hang(self) -> None:
        """Never end."""
        await asyncio.Event().wait()


@rpc.procedure("Demo", version=2, removed=["fail"], groups=[GROUP], with_default=False)
class DemoInVersion2:
    """What changes in version 2."""

    @rpc.inline
    def greet(self, who: str = "you") -> str:
        """Greet somebody, more politely."""
        return f"Good day, {who}"


PROCEDURES = (Demo, DemoInVersion2)
