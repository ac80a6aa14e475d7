"""The official Python SDK, 1.x, which knows sessions only: python mcp1.py '{"target": ..., "calls": ..., ...}'."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connected(target: Any, language: str) -> AsyncIterator[Any]:
    if isinstance(target, str):
        async with streamablehttp_client(target, headers={"Accept-Language": language}) as (reading, writing, _):
            yield reading, writing
    else:
        server = StdioServerParameters(command=target[0], args=[*target[1:], "--locale", language])
        async with stdio_client(server) as streams:
            yield streams


async def main(target: Any, calls: list[Any], languages: list[str], mode: str | None) -> dict[str, Any]:
    report: dict[str, Any] = {"texts": {}}
    for language in languages:
        async with connected(target, language) as streams, ClientSession(*streams) as session:
            opened = await session.initialize()
            listed = await session.list_tools()
            report["protocol"] = opened.protocolVersion
            report["server"] = opened.serverInfo.model_dump(mode="json")
            report["tools"] = [entry.name for entry in listed.tools]
            report["texts"][language] = {entry.name: [entry.title, entry.description] for entry in listed.tools}
            if language == languages[0]:
                report["calls"] = [await call(session, *each) for each in calls]
    return report


async def call(session: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        called = await session.call_tool(tool, arguments)
    except McpError as error:
        return {"code": error.error.code, "message": error.error.message}
    return {
        "content": [block.model_dump(mode="json", exclude_none=True) for block in called.content],
        "structured": called.structuredContent,
        "is_error": called.isError,
    }


if __name__ == "__main__":
    json.dump(asyncio.run(main(**json.loads(sys.argv[1]))), sys.stdout)
