"""A plugin to try `rpcgw.testing` on."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

import structlog
from pydantic import WithJsonSchema

import rpcgw as rpc


@dataclass(frozen=True)
class Settings:
    greeting: str = "Hello"


class Desk:
    def __init__(self, greeting: str) -> None:
        self.greeting = greeting
        self.loop = asyncio.get_running_loop()


@asynccontextmanager
async def open_desk(settings: Settings) -> AsyncIterator[Desk]:
    async with asyncio.timeout(86_400):
        yield Desk(settings.greeting)


Mirrored = Annotated[str, WithJsonSchema({"type": "string", "x-mcp-header": "Region"})]


@rpc.procedure("Words", groups=["mcp", "desk"])
class Words:
    """Procedures that do what tests want to see."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @rpc.cache(ttl=timedelta(seconds=60))
    async def greet(self, name: str) -> str:
        """Greet."""
        return f"{self._desk.greeting}, {name}"

    async def after(self, day: date) -> date:
        """The day after."""
        return day + timedelta(days=1)

    @rpc.lock()
    async def alone(self) -> int:
        """Only one at a time."""
        return 1

    @rpc.lock(by="id")
    async def one(self, id: int) -> int:  # noqa: A002 -- a parameter as APIs have it
        """Only one of an id at a time."""
        return id

    async def slow(self, seconds: float) -> str:
        """Take a while."""
        await asyncio.sleep(seconds)
        return "done"

    async def tell(self, ctx: rpc.CallContext) -> str:
        """Say how far it is, and something beside."""
        await ctx.progress(1, 2, "half")
        await ctx.log("info", {"seen": 1})
        logging.getLogger("words").warning("by logging")
        structlog.get_logger().info("by structlog", extra=1)
        return "told"

    async def region(self, name: Mirrored) -> str:
        """Repeat what a header says too."""
        return name

    def broken(self) -> str:
        """Fail."""
        raise RuntimeError("secret reason")

    def thread(self) -> bool:
        """Run beside the loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return True
        return False


plugin = rpc.Plugin(procedures=[Words], lifespan=open_desk, settings=Settings)
