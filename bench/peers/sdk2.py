"""The official Python SDK 2.x, stateless, JSON answers, both eras. argv: port. Runs in that client's venv."""

import logging
import sys
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import MCPServer
from pydantic import Field
from work import reduced

logging.disable(logging.INFO)
server = MCPServer("bench")


@server.tool()
async def discounted(cents: Annotated[int, Field(ge=0)], percent: Annotated[int, Field(ge=0, le=100)]) -> int:
    """What a price becomes after a discount, rounded down to whole cents."""
    return reduced(cents, percent)


uvicorn.run(
    server.streamable_http_app(stateless_http=True, json_response=True),
    host="127.0.0.1",
    port=int(sys.argv[1]),
    access_log=False,
    log_level="warning",
    loop="uvloop",
    http="httptools",
)
