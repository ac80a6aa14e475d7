"""The official Python SDK, 2.x: python mcp2.py '{"target": ..., "mode": "auto" | "legacy" | a revision, ...}'."""

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def main(target: Any, calls: list[Any], languages: list[str], mode: str | None) -> dict[str, Any]:
    report: dict[str, Any] = {"texts": {}}
    for language in languages:
        headers = {"Accept-Language": language}
        if isinstance(target, str):
            server = streamable_http_client(target, http_client=httpx2.AsyncClient(headers=headers, timeout=30))
        else:
            server = StdioServerParameters(command=target[0], args=[*target[1:], "--locale", language])
        async with Client(server, mode=mode) as client:
            listed = await client.list_tools()
            report["protocol"] = client.protocol_version
            report["server"] = client.server_info and client.server_info.model_dump(mode="json")
            report["tools"] = [entry.name for entry in listed.tools]
            report["texts"][language] = {entry.name: [entry.title, entry.description] for entry in listed.tools}
            if language == languages[0]:
                report["calls"] = [await call(client, *each) for each in calls]
    return report


async def call(client: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        called = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"code": error.code, "message": error.error.message}
    return {
        "content": [block.model_dump(mode="json", exclude_none=True) for block in called.content],
        "structured": called.structured_content,
        "is_error": called.is_error,
    }


if __name__ == "__main__":
    json.dump(asyncio.run(main(**json.loads(sys.argv[1]))), sys.stdout)
