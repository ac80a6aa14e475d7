"""The official Python SDK, 2.x: python mcp2.py URL TOOL ARGUMENTS [auto | legacy | a revision]."""

import asyncio
import json
import sys

from mcp import Client


async def main(url: str, tool: str, arguments: str, mode: str = "auto") -> dict[str, object]:
    async with Client(url, mode=mode) as client:
        listed = await client.list_tools()
        called = await client.call_tool(tool, json.loads(arguments))
        return {
            "protocol": client.protocol_version,
            "server": client.server_info and client.server_info.model_dump(mode="json"),
            "tools": [entry.name for entry in listed.tools],
            "content": [block.model_dump(mode="json", exclude_none=True) for block in called.content],
            "structured": called.structured_content,
            "is_error": called.is_error,
        }


json.dump(asyncio.run(main(*sys.argv[1:])), sys.stdout)
