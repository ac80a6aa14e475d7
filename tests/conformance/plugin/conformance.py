"""The tools that the official MCP conformance suite calls by name, and one that stands before them."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

import rpcgw as rpc

PNG: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""

WAV: Final = b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
"""A sound of one sample."""

TOOLS: Final = json.loads(Path(__file__).parent.with_name("conformance_tools.json").read_bytes())
SCHEMA: Final[dict[str, Any]] = next(
    each["tool"]["inputSchema"] for each in TOOLS if each["tool"]["name"] == "json_schema_2020_12_tool"
)
STEP: Final = 0.05
"""Seconds between two steps of what takes a while."""


@rpc.procedure("", groups=["mcp"], with_default=False)
class Conformance:
    """What a server that offers tools only can show."""

    def __init__(self, switch: rpc.MethodSwitch) -> None:
        """Take what turns tools on and off."""
        self._switch = switch

    async def about(self) -> str:
        """Say what this server is for. The suite calls the first tool of the list without arguments."""
        return "The official conformance suite calls the other tools."

    async def test_simple_text(self) -> rpc.Text:
        """Give one text."""
        return rpc.Text("This is a simple text response for testing.")

    async def test_image_content(self) -> rpc.Image:
        """Give one picture."""
        return rpc.Image(PNG, "image/png")

    async def test_audio_content(self) -> rpc.Audio:
        """Give one sound."""
        return rpc.Audio(WAV, "audio/wav")

    async def test_embedded_resource(self) -> rpc.EmbeddedResource:
        """Give one document."""
        text = "This is an embedded resource content."
        return rpc.EmbeddedResource("test://embedded-resource", text=text, mime_type="text/plain")

    async def test_multiple_content_types(self) -> list[rpc.Text | rpc.Image | rpc.EmbeddedResource]:
        """Give a text, a picture and a document."""
        return [
            rpc.Text("Multiple content types test:"),
            rpc.Image(PNG, "image/png"),
            rpc.EmbeddedResource(
                "test://mixed-content-resource", text='{"test":"data","value":123}', mime_type="application/json"
            ),
        ]

    async def test_error_handling(self) -> rpc.Text:
        """Fail."""
        raise rpc.RuntimeFault("This tool intentionally returns an error for testing")

    async def test_tool_with_progress(self, ctx: rpc.CallContext) -> rpc.Text:
        """Take a while, and say how far it is."""
        for progress in (0, 50, 100):
            await ctx.progress(progress, 100)
            await asyncio.sleep(STEP)
        return rpc.Text("done")

    @rpc.tool(input_schema=SCHEMA)
    async def json_schema_2020_12_tool(
        self,
        name: str = "",
        address: dict[str, str] | None = None,
        contactMethod: str = "",  # noqa: N803 -- the suite's spelling
        phone: str = "",
        email: str = "",
    ) -> rpc.Text:
        """Take what a schema with every composition keyword allows."""
        return rpc.Text(f"{name} {address} {contactMethod} {phone} {email}")

    async def test_x_mcp_header(
        self, region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = ""
    ) -> rpc.Text:
        """Take an argument that a header repeats."""
        return rpc.Text(f"region={region}")

    async def test_missing_capability(self, ctx: rpc.CallContext) -> rpc.Text:
        """Need what a client may lack."""
        ctx.require("sampling")
        return rpc.Text("ok")

    async def test_streaming_elicitation(self, ctx: rpc.CallContext) -> rpc.Text:
        """Say something on the way, and ask the client nothing."""
        await ctx.progress(1)
        return rpc.Text("ok")

    async def test_logging_tool(self, ctx: rpc.CallContext) -> rpc.Text:
        """Send a message, if the client asks for messages."""
        await ctx.log("info", "still here")
        return rpc.Text("ok")

    async def test_trigger_tool_change(self) -> rpc.Text:
        """Turn one of the tools off, or on again."""
        turn = self._switch.disable if self._switch.is_enabled("extra") else self._switch.enable
        await turn("extra")
        return rpc.Text("ok")

    async def extra(self) -> str:
        """Come and go."""
        return "here"


plugin = rpc.Plugin(procedures=[Conformance])
