"""The one shape that nearly every `tools/call` has, read from its bytes in one go. Pure.

Whatever is unusual is not refused but left alone: None means that `classify` is to read it. What is read here is what
`classify` and its ladder would make of it, and nothing is read that they would refuse.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from rpcgw.exchange import Headers
from rpcgw.kernel.codec import MAX_DEPTH
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_VERSION
from rpcgw.protocol.mcp.messages import Legacy, Modern
from rpcgw.protocol.mcp.revisions import SESSION, STATELESS

_METHOD: Final = "tools/call"
_NO_META: Final[dict[str, Any]] = {}
_SHALLOW: Final = 2 * MAX_DEPTH
"""Bytes in which nothing can be nested too deeply: each level opens and closes."""


class Said(msgspec.Struct, frozen=True):
    """What a head says of its message: the revision, the tool that it names, and the session that it is part of."""

    revision: str
    method: str | None
    name: str | None
    session: str | None


class _Meta(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={
        "revision": META_VERSION,
        "capabilities": META_CAPABILITIES,
        "client": "io.modelcontextprotocol/clientInfo",
        "token": "progressToken",
    },
):
    """Nothing in it that a call has to heed: no log level, no trace."""

    revision: str | None = None
    capabilities: dict[str, Any] | None = None
    client: Any = None
    token: Any = None


_NOTHING: Final = _Meta()


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"meta": "_meta"}):
    """What is asked of the tool `name`."""

    name: str
    arguments: dict[str, Any] = {}
    meta: _Meta = _NOTHING


class Usual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of the usual shape."""

    jsonrpc: Literal["2.0"]
    id: int | str
    method: Literal["tools/call"]
    params: Params

    def request(self) -> Modern | Legacy:
        """The same as `classify` has it."""
        asked = self.params
        params: dict[str, Any] = {"name": asked.name, "arguments": asked.arguments}
        meta = msgspec.to_builtins(asked.meta) if asked.meta is not _NOTHING else _NO_META
        if asked.meta.revision is not None:
            return Modern(self.id, _METHOD, {**params, "_meta": meta}, meta, asked.meta.revision)
        return Legacy(self.id, _METHOD, {**params, "_meta": meta} if meta else params)


def said(headers: Headers) -> Said | None:
    """What a head says; None where it says something twice, or what no call of the usual shape says."""
    found = {name: headers.getall(name, []) for name in (fields.VERSION, fields.METHOD, fields.NAME, fields.SESSION)}
    if any(len(values) > 1 for values in found.values()):
        return None
    revision, method, name, session = (values[0] if values else None for values in found.values())
    if revision in STATELESS:
        named = name is not None and method == _METHOD and fields.decoded(name) == name
        return Said(revision, method, name, None) if named else None
    if session is None or not (revision is None or revision in SESSION):
        return None
    return Said("", None, None, session)


def read(body: bytes, head: Said) -> Usual | None:
    """A call of the usual shape, or None."""
    try:
        message = _decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    params = message.params
    meta = params.meta
    if head.session is None:
        agrees = meta.revision == head.revision and params.name == head.name and meta.capabilities is not None
    else:
        agrees = meta.revision is None and meta.capabilities is None
    if not agrees or (len(body) > _SHALLOW and body.count(b"[") + body.count(b"{") > MAX_DEPTH):
        return None
    return message


_decode: Final = msgspec.json.Decoder(Usual).decode
