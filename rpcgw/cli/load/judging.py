"""Whether a call succeeded, by what its answer says. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError
from msgspec.json import Decoder

from rpcgw.cli.load.wire import Answered


class _Told(Struct):
    isError: bool = False  # noqa: N815 -- MCP's name


class _OfTool(Struct):
    id: int
    result: _Told | UnsetType = UNSET


class _OfMethod(Struct):
    id: int
    result: Raw | UnsetType = UNSET


_Message = TypeVar("_Message", _OfTool, _OfMethod)

_TOOL = Decoder(_OfTool)
_METHOD = Decoder(_OfMethod)


def tool_succeeded(answer: Answered) -> bool:
    """A result of `tools/call` with id 1 that is no error."""
    message = _read(answer, _TOOL)
    return message is not None and message.id == 1 and isinstance(message.result, _Told) and not message.result.isError


def method_succeeded(answer: Answered) -> bool:
    """A JSON-RPC result with id 1."""
    message = _read(answer, _METHOD)
    return message is not None and message.id == 1 and message.result is not UNSET


def _read(answer: Answered, decoder: Decoder[_Message]) -> _Message | None:
    if answer.status != 200:
        return None
    try:
        return decoder.decode(_last_event(answer.body) if _is_stream(answer) else answer.body)
    except (DecodeError, ValidationError):
        return None


def _is_stream(answer: Answered) -> bool:
    return (answer.header("Content-Type") or "").startswith("text/event-stream")


def _last_event(body: bytes) -> bytes:
    """The data of a stream's last event (WHATWG HTML section 9.2): the answer; before it come progress and messages."""
    lines = [line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:")]
    return lines[-1] if lines else b""


def same(judge: Callable[[Answered], bool]) -> Callable[[Answered], bool]:
    """What wants the first right answer's body again, each time."""
    seen: list[bytes] = []

    def judged(answer: Answered) -> bool:
        if not judge(answer):
            return False
        if not seen:
            seen.append(answer.body)
        return answer.body == seen[0]

    return judged
