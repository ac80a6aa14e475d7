"""One MCP endpoint: a group in one version, compiled. What is the same for all of its requests is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any, Final

import msgspec

from rpcgw.api.records import record
from rpcgw.exchange import NOTHING_FORWARDED, Forwarding
from rpcgw.kernel.messages import Texts as Messages
from rpcgw.kernel.scopes import NONE, named
from rpcgw.protocol.mcp.listing import Listing
from rpcgw.protocol.mcp.revisions import STATELESS, Revision
from rpcgw.protocol.mcp.tools import Toolbox, ToolSettings
from rpcgw.protocol.texts import Texts

UNKNOWN_VERSION: Final = 0
"""What `{ver}` is where it names a version that the group lacks; versions count from 1."""

META_SERVER: Final = "io.modelcontextprotocol/serverInfo"
DEFAULT_NAME: Final = "ufo-rpc"
MAX_LISTINGS: Final = 64
"""How many lists are kept: one for each set of scopes that callers have, of those that matter."""
SHARED_TTL_MS: Final = 60_000
"""How long a client may keep a list that is the same for everybody; a reload may change it."""


@record(frozen=True, slots=True)
class ServerInfo:
    """Who answers, as clients show it (C-12, C-13)."""

    name: str | None = None
    title: str | None = None


@record(frozen=True, slots=True)
class Limits:
    """Sizes in bytes and numbers of messages; `session_ttl` in seconds, and for how long an answer may be silent."""

    max_body_bytes: int = 4_194_304
    max_batch: int = 100
    batch_concurrency: int = 10
    session_ttl: float = 3600.0
    silence: float = 15.0


@record(frozen=True, eq=False)
class Endpoint:
    """A group's MCP server, seen in one of its versions (`dataclasses.replace(endpoint, version=2)` is another).

    `name` is the route's name, `prefix` the path where version 1 is served, `toolboxes` the tools by version.
    `negotiate` picks the language for an `Accept-Language` header. `private`: what is listed depends on who asks or on
    the language, so that no shared cache may keep it. `origins` may read answers from a page. `messages` are what the
    product says to clients, by language. `metadata_url` is where clients learn which authorization servers there are
    (RFC 9728); empty where there are none. `forward` says what of requests' heads procedures see.
    `listens`: clients of the stateless era may ask to be told when the list of tools changes.
    """

    name: str
    prefix: str
    group: str
    toolboxes: Mapping[int, Toolbox]
    texts: Texts
    negotiate: Callable[[str | None], str]
    version: int = 1
    info: ServerInfo = ServerInfo()
    instructions: str | None = None
    limits: Limits = Limits()
    settings: ToolSettings = field(default_factory=ToolSettings)
    private: bool = True
    enabled: bool = True
    origins: tuple[str, ...] = ()
    messages: Mapping[str, Messages] = field(default_factory=dict)
    metadata_url: str = ""
    forward: Forwarding = NOTHING_FORWARDED
    listens: bool = False

    @property
    def exists(self) -> bool:
        """Whether anything is served: not for a disabled group (C-09), a version it lacks, or one without methods."""
        return self.enabled and bool(self.toolbox.listed)

    @cached_property
    def toolbox(self) -> Toolbox:
        """The tools of this version."""
        return self.toolboxes.get(self.version, Toolbox())

    def offer(self, off: frozenset[str]) -> None:
        """From now on the tools of these methods are not there, and all others are."""
        self._listings.clear()
        vars(self)["toolbox"] = self.toolboxes.get(self.version, Toolbox()).without(off)

    @cached_property
    def language(self) -> Callable[[str | None], str]:
        """`negotiate`, with its latest answers remembered: one client says the same each time."""
        return lru_cache(maxsize=256)(self.negotiate)

    @cached_property
    def scopes(self) -> frozenset[str]:
        """Every scope that one of the tools needs."""
        return named(tool.method for tool in self.toolbox.listed)

    def listing(self, granted: frozenset[str]) -> Listing:
        """The pages of `tools/list` for a caller with these scopes."""
        mine = granted & self.scopes if self.scopes else granted and NONE
        return self._listings.get(mine) or self._listed(mine)

    def _listed(self, granted: frozenset[str]) -> Listing:
        tools = tuple(tool for tool in self.toolbox.listed if tool.method.scopes <= granted)
        if len(self._listings) >= MAX_LISTINGS:
            self._listings.pop(next(iter(self._listings)))
        made = self._listings[granted] = Listing(tools, self.group, self.texts, self.settings.page_size)
        return made

    @cached_property
    def _listings(self) -> dict[frozenset[str], Listing]:
        return {}

    @cached_property
    def meta(self) -> Mapping[str, Any]:
        """What each result of the stateless era says of the server."""
        return {META_SERVER: self._server_info()}

    @cached_property
    def complete(self) -> bytes:
        """The last members of a finished result in the stateless era."""
        members = {"resultType": "complete", "_meta": self.meta}
        return b"," + msgspec.json.encode(members)[1:-1]

    @cached_property
    def keepable(self) -> bytes:
        """The last members of a result that a client may keep for a while (MCP 2026-07-28, Caching)."""
        ttl, scope = (0, "private") if self.private else (SHARED_TTL_MS, "public")
        return b"," + msgspec.json.encode({"ttlMs": ttl, "cacheScope": scope})[1:-1] + self.complete

    @cached_property
    def discovery(self) -> bytes:
        """The members of the answer to `server/discover` that tell about this server, without braces."""
        members = {"supportedVersions": list(STATELESS), **self._offer({"listChanged": True} if self.listens else {})}
        return msgspec.json.encode(members)[1:-1]

    def welcome(self, revision: Revision) -> bytes:
        """The result of `initialize` (C-10, C-12, C-13, C-15)."""
        offer = self._offer({})
        members = {"protocolVersion": revision.name, "capabilities": offer.pop("capabilities")}
        return msgspec.json.encode(members | {"serverInfo": self._server_info()} | offer)

    def _offer(self, tools: Mapping[str, Any]) -> dict[str, Any]:
        instructions = {} if self.instructions is None else {"instructions": self.instructions}
        return {"capabilities": {"tools": tools}, **instructions}

    def _server_info(self) -> dict[str, str]:
        title = {} if self.info.title is None else {"title": self.info.title}
        return {"name": self.info.name or DEFAULT_NAME, **title, "version": f"v{self.version}"}
