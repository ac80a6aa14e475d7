"""The official Python SDK, 1.x, which knows sessions only: python mcp1.py URL TOOL ARGUMENTS."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main(url: str, tool: str, arguments: str) -> dict[str, object]:
    async with streamablehttp_client(url) as (reading, writing, _), ClientSession(reading, writing) as session:
        opened = await session.initialize()
        listed = await session.list_tools()
        called = await session.call_tool(tool, json.loads(arguments))
        return {
            "protocol": opened.protocolVersion,
            "server": opened.serverInfo.model_dump(mode="json"),
            "tools": [entry.name for entry in listed.tools],
            "content": [block.model_dump(mode="json", exclude_none=True) for block in called.content],
            "structured": called.structuredContent,
            "is_error": called.isError,
        }


json.dump(asyncio.run(main(*sys.argv[1:])), sys.stdout)
