"""What came back, as tests read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import msgspec

from rpcgw.api.records import record


@record(frozen=True, slots=True)
class Received:
    """An answer as a door would write it."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def messages(self) -> list[Any]:
        """The JSON values of the body: one, or as many as events came."""
        if not self.body:
            return []
        if not self.headers.get("content-type", "").startswith("text/event-stream"):
            return [msgspec.json.decode(self.body)]
        data = [line[5:].strip() for line in self.body.split(b"\n") if line.startswith(b"data:")]
        return [msgspec.json.decode(part) for part in data if part]


@record(frozen=True, slots=True)
class Failure:
    """A JSON-RPC error object."""

    code: int
    message: str
    data: Any = None


@record(frozen=True, slots=True)
class RpcAnswer:
    """The answer to one call over `/rpc`: its HTTP status and its JSON-RPC message."""

    status: int
    message: Mapping[str, Any]

    @property
    def result(self) -> Any:
        """The result, as JSON values.

        Raises:
            AssertionError: The call failed; the text is the error.
        """
        return result_of(self.message)

    @property
    def error(self) -> Failure:
        """The error.

        Raises:
            AssertionError: The call succeeded; the text is the result.
        """
        return error_of(self.message)


@record(frozen=True, slots=True)
class ToolAnswer:
    """The answer to one `tools/call`, and what the procedure said to the client before it.

    `progress` holds the params of `notifications/progress`, `logged` those of `notifications/message`.
    """

    status: int
    message: Mapping[str, Any]
    progress: Sequence[Mapping[str, Any]] = field(default=())
    logged: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def content(self) -> list[dict[str, Any]]:
        """The content blocks. Raises `AssertionError` where the protocol has an error instead."""
        blocks: list[dict[str, Any]] = result_of(self.message)["content"]
        return blocks

    @property
    def text(self) -> str:
        """The text of all text blocks."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def structured(self) -> Any:
        """The structured content; None where there is none."""
        return result_of(self.message).get("structuredContent")

    @property
    def result(self) -> Any:
        """What the procedure returned: it stands in the structured content under `result`.

        Raises:
            AssertionError: The call failed, or the procedure answers with content of its own.
        """
        structured = self.structured
        if self.is_error or not isinstance(structured, dict) or "result" not in structured:
            raise AssertionError(f"the tool has no result: {self.message['result']}")
        return structured["result"]

    @property
    def is_error(self) -> bool:
        """Whether the tool itself says that it failed (`isError`); the model sees the text then."""
        return bool(result_of(self.message).get("isError"))

    @property
    def error(self) -> Failure:
        """The protocol's error, which the model does not see. Raises `AssertionError` where there is none."""
        return error_of(self.message)


def result_of(message: Mapping[str, Any]) -> Any:
    """The result of a JSON-RPC message, which must have one."""
    if "result" not in message:
        raise AssertionError(f"the call failed: {message.get('error', message)}")
    return message["result"]


def error_of(message: Mapping[str, Any]) -> Failure:
    """The error of a JSON-RPC message, which must have one."""
    if "error" not in message:
        raise AssertionError(f"the call succeeded: {message.get('result', message)}")
    error = message["error"]
    return Failure(error["code"], error["message"], error.get("data"))
