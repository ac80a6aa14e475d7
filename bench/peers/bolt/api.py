"""The tools of the other servers, stateless, JSON answers."""

import sys
from pathlib import Path
from typing import Annotated, Any

from bolt_mcp import MCP
from django_bolt import BoltAPI
from msgspec import Meta

sys.path.append(str(Path(__file__).parents[1]))

from work import ITEMS, reduced

api = BoltAPI()
server = MCP("bench", "1.0.0", stateless=True, json_response=True)


@server.tool
async def discounted(cents: Annotated[int, Meta(ge=0)], percent: Annotated[int, Meta(ge=0, le=100)]) -> int:
    """What a price becomes after a discount, rounded down to whole cents."""
    return reduced(cents, percent)


@server.tool
async def search(query: Annotated[str, Meta(min_length=1)], limit: int = 10) -> list[dict[str, Any]]:  # noqa: ARG001
    """Find products."""
    return ITEMS[:limit]


api.mount_mcp(server)
