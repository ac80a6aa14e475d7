"""`tools/list` as ready bytes: made when a language first asks for them, kept, the request's id spliced in. Pure."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from rpcgw.protocol.mcp.faults import INVALID_PARAMS, Fault
from rpcgw.protocol.mcp.tools import Tool, descriptor
from rpcgw.protocol.texts import Texts

MAX_PAGES: Final = 256
"""How many pages are kept; languages times pages of a list, so only an endpoint of many thousand tools drops any."""


class Listing:
    """The pages of one endpoint's list of tools.

    A cursor is opaque, and holds for as long as the list of tools is the same, in any language and on any worker.
    """

    def __init__(self, tools: tuple[Tool, ...], group: str, texts: Texts, page_size: int) -> None:
        """Take the tools in the order in which they are listed."""
        self._pages = [tools[start : start + page_size] for start in range(0, len(tools), page_size)] or [()]
        self._group = group
        self._texts = texts
        names = "\n".join((str(page_size), *(tool.name for tool in tools)))
        self._mark = sha256(names.encode()).hexdigest()[:12]
        self._cursors = {self._cursor(index): index for index in range(1, len(self._pages))}
        self._kept: dict[tuple[int, str], bytes] = {}

    def page(self, cursor: Any, locale: str) -> bytes | Fault:
        """The members `tools` and `nextCursor` of one page, without braces; the first where `cursor` is None."""
        index = 0 if cursor is None else self._cursors.get(cursor) if type(cursor) is str else None
        if index is None:
            return Fault(INVALID_PARAMS, "The cursor is not one of this list; begin again without a cursor")
        found = self._kept.get((index, locale))
        return self._keep(index, locale) if found is None else found

    def _keep(self, index: int, locale: str) -> bytes:
        if len(self._kept) >= MAX_PAGES:
            self._kept.pop(next(iter(self._kept)))
        shown = [descriptor(tool, self._group, self._texts, locale) for tool in self._pages[index]]
        members: dict[str, Any] = {"tools": shown}
        if index + 1 < len(self._pages):
            members["nextCursor"] = self._cursor(index + 1)
        self._kept[index, locale] = page = msgspec.json.encode(members)[1:-1]
        return page

    def _cursor(self, index: int) -> str:
        return f"{self._mark}.{index}"
