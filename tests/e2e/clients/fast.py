"""fastmcp's client, 3.x and 4.x alike: python fast.py '{"target": ..., "calls": ..., "languages": ..., "mode": null}'."""

import asyncio
import json
import sys
from typing import Any

import mcp
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

PROTOCOL_ERROR = getattr(mcp, "MCPError", None) or mcp.McpError


async def main(target: Any, calls: list[Any], languages: list[str], mode: str | None) -> dict[str, Any]:
    report: dict[str, Any] = {"texts": {}, "server": None}
    for language in languages:
        transport = StreamableHttpTransport(target, headers={"Accept-Language": language})
        async with Client(transport) as client:
            opened = client.initialize_result
            listed = await client.list_tools()
            report["protocol"] = getattr(client, "protocol_version", None) or (opened and opened.protocolVersion)
            report["tools"] = [entry.name for entry in listed]
            report["texts"][language] = {entry.name: [entry.title, entry.description] for entry in listed}
            if language == languages[0]:
                report["calls"] = [await call(client, *each) for each in calls]
    return report


async def call(client: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        called = await client.call_tool(tool, arguments, raise_on_error=False)
    except PROTOCOL_ERROR as error:
        return {"code": error.error.code, "message": error.error.message}
    return {
        "content": [block.model_dump(mode="json", exclude_none=True) for block in called.content],
        "structured": called.structured_content,
        "is_error": called.is_error,
    }


if __name__ == "__main__":
    json.dump(asyncio.run(main(**json.loads(sys.argv[1]))), sys.stdout)
