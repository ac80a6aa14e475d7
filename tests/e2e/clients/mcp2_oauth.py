"""The official Python SDK, 2.x, that has to get itself a token: python mcp2_oauth.py '{"target": ..., "mode": ...}'."""

import asyncio
import json
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from pydantic import AnyUrl

REDIRECT = "http://127.0.0.1:1/callback"


class Person:
    """Somebody who agrees to everything: follows the link, and brings back what the server answers."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.came_back: dict[str, list[str]] = {}

    async def follow(self, url: str) -> None:
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url, follow_redirects=False)
        self.came_back = parse_qs(urlsplit(answer.headers["location"]).query)

    async def bring(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**{name: values[0] for name, values in self.came_back.items()})

    async def get_tokens(self) -> Any:
        return self.kept.get("tokens")

    async def set_tokens(self, tokens: Any) -> None:
        self.kept["tokens"] = tokens

    async def get_client_info(self) -> Any:
        return self.kept.get("client")

    async def set_client_info(self, client_info: Any) -> None:
        self.kept["client"] = client_info


async def main(target: str, mode: str) -> dict[str, Any]:
    person = Person()
    auth = OAuthClientProvider(
        server_url=target,
        client_metadata=OAuthClientMetadata(client_name="test", redirect_uris=[AnyUrl(REDIRECT)]),
        storage=person,
        redirect_handler=person.follow,
        callback_handler=person.bring,
    )
    server = streamable_http_client(target, http_client=httpx2.AsyncClient(auth=auth, timeout=30))
    async with Client(server, mode=mode) as client:
        listed = await client.list_tools()
        called = await client.call_tool("Catalog.read", {})
        return {
            "protocol": client.protocol_version,
            "tools": sorted(tool.name for tool in listed.tools),
            "called": called.structured_content,
        }


if __name__ == "__main__":
    json.dump(asyncio.run(main(**json.loads(sys.argv[1]))), sys.stdout)
