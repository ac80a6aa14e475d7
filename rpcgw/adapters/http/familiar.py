"""Heads that aiohttp has read before: what follows from one is found out once, for all requests with the very same.

A client's heads are alike from call to call. The fast front remembers what it reads by itself (`heads.py`); this is the
same for what aiohttp reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web
from multidict import CIMultiDictProxy
from yarl import URL

from rpcgw.adapters.http.serving import Serving
from rpcgw.exchange import Head, Headers

MOST: Final = 256
"""Heads that are remembered."""
LONGEST: Final = 8000
"""Bytes of the longest of them."""

Key = tuple[str, str, tuple[tuple[bytes, bytes], ...]]


class Familiar:
    """What a head says. `serving` has the path, where it is one of the exact ones and aiohttp has no part in it.

    `coded` says that the body is in some coding, or is said to be.
    """

    __slots__ = ("coded", "fields", "memo", "method", "path", "query", "serving")

    def __init__(self, request: web.BaseRequest, serving: Serving | None, *, kept: bool) -> None:
        self.method = request.method
        self.path = request.rel_url.path
        self.query = request.rel_url.raw_query_string
        self.fields: Headers = _fields_of(request)
        self.memo: dict[object, Any] | None = {} if kept else None
        self.coded = "Content-Encoding" in request.headers or "Transfer-Encoding" in request.headers
        self.serving = serving

    def head(self, peer: str, *, unix: bool) -> Head:
        """The head of a request by somebody."""
        return Head(self.method, self.path, self.query, self.fields, peer, unix, self.memo)


class Heads:
    """The last heads; `routes` are the exact paths."""

    def __init__(self, routes: Mapping[str, Serving]) -> None:
        self._routes = routes
        self._known: dict[Key, Familiar] = {}

    def of(self, request: web.BaseRequest) -> Familiar:
        """What the head of a request says."""
        key = request.method, request.raw_path, request.raw_headers
        return self._known.get(key) or self._read(request, key)

    def _read(self, request: web.BaseRequest, key: Key) -> Familiar:
        kept = len(key[1]) + sum(len(name) + len(value) for name, value in key[2]) <= LONGEST
        familiar = Familiar(request, self._serving(request), kept=kept)
        if kept:
            if len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            self._known[key] = familiar
        return familiar

    def _serving(self, request: web.BaseRequest) -> Serving | None:
        """Who serves it. Preflights, `Expect` and whole URLs are aiohttp's to see to."""
        usual = request.method != "OPTIONS" and "Expect" not in request.headers and request.raw_path.startswith("/")
        return self._routes.get(request.rel_url.raw_path) if usual else None


def _fields_of(request: web.BaseRequest) -> CIMultiDictProxy[str]:
    """The fields; where the target is a whole URL its host goes before what Host says (RFC 9112, section 3.2.2)."""
    if request.raw_path.startswith("/"):
        return request.headers
    authority = URL(request.raw_path, encoded=True).raw_authority.rpartition("@")[2]
    if not authority:
        return request.headers
    fields = request.headers.copy()
    fields["Host"] = authority
    return CIMultiDictProxy(fields)
