"""fastmcp's client, 3.x and 4.x alike: python fast.py URL TOOL ARGUMENTS."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, tool: str, arguments: str) -> dict[str, object]:
    async with Client(url) as client:
        opened = client.initialize_result
        listed = await client.list_tools()
        called = await client.call_tool(tool, json.loads(arguments), raise_on_error=False)
        return {
            "protocol": getattr(client, "protocol_version", None) or (opened and opened.protocolVersion),
            "server": None,
            "tools": [entry.name for entry in listed],
            "content": [block.model_dump(mode="json", exclude_none=True) for block in called.content],
            "structured": called.structured_content,
            "is_error": called.is_error,
        }


json.dump(asyncio.run(main(*sys.argv[1:])), sys.stdout)
