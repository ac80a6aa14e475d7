"""What a `/rpc` endpoint is once compiled: one API group at one prefix, in one version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from rpcgw.api.records import record
from rpcgw.exchange import NOTHING_FORWARDED, Forwarding, Headers, no_token
from rpcgw.kernel.failure import Names
from rpcgw.kernel.language import ENGLISH
from rpcgw.kernel.messages import Texts
from rpcgw.protocol.openrpc import Document
from rpcgw.protocol.postman import Collection

UNKNOWN_VERSION = 0
"""The version of a path `/vN` that the group does not have: no method is in it."""


@record(frozen=True, slots=True)
class Limits:
    """Sizes in bytes and requests; `batch_deadline` is in seconds, for a batch's item that has no deadline itself."""

    max_body_bytes: int = 4_194_304
    max_batch: int = 100
    batch_concurrency: int = 10
    batch_deadline: float = 10.0


@record(frozen=True, slots=True)
class Endpoint:
    """One route import of kind `rpc`, and the version that a request to it means.

    `versions` are all that the group has, ascending. `negotiate` turns `Accept-Language` into a locale that there are
    texts for. `deadlines` names the methods whose deadline is configured: a batch does not give them its own.
    `presented` finds the token among a request's headers, for a call that a queue's worker is to admit again.
    `private`: documents differ by who reads them, so that no shared cache may keep them. `names` are those of error
    classes, `messages` the product's texts by language. `metadata_url` is where clients learn which authorization
    servers there are (RFC 9728); empty where there are none. `forward` says what of requests' heads procedures see.
    """

    name: str
    prefix: str
    group: str
    versions: tuple[int, ...]
    document: Document
    negotiate: Callable[[str | None], str]
    limits: Limits = Limits()
    deadlines: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()
    version: int = 1
    presented: Callable[[Headers], str | None] = no_token
    collection: Collection | None = None
    private: bool = False
    names: Names = field(default_factory=dict)
    messages: Mapping[str, Texts] = field(default_factory=dict)
    metadata_url: str = ""
    forward: Forwarding = NOTHING_FORWARDED

    def texts_in(self, locale: str) -> Texts:
        """What the product says in a language."""
        return self.messages.get(locale, ENGLISH)
