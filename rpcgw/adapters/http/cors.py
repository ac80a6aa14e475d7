"""Cross-origin answers, for entrances that name origins (Fetch, section 3.2).

Preflights are aiohttp-cors's. Its own router adapter refuses `*` routes and claims every OPTIONS; this one, through its
public interface, leaves OPTIONS without `Access-Control-Request-Method` to the door and sends `Vary: Origin` with each
preflight. What every other answer says to a page is said here, for both doors alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from aiohttp import web
from aiohttp_cors import CorsConfig, ResourceOptions
from aiohttp_cors.abc import AbstractRouterAdapter

from rpcgw.adapters.http.answers import failure, respond
from rpcgw.exchange import Entrance, Head, HeaderFields

MAX_AGE = 600
"""Seconds for which a browser may keep a preflight's answer."""
T = TypeVar("T")
VARY = (("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),)


class Origins(Mapping[str, T]):
    """Options by origin; an entry that ends in `:*` stands for any port, and for none."""

    def __init__(self, options: Mapping[str, T]) -> None:
        self._exact = {origin: value for origin, value in options.items() if not origin.endswith(":*")}
        self._any_port = {origin[:-2]: value for origin, value in options.items() if origin.endswith(":*")}

    def __getitem__(self, origin: str) -> T:
        if (found := self._exact.get(origin)) is not None:
            return found
        base, colon, port = origin.rpartition(":")
        return self._any_port[base if colon and port.isdecimal() else origin]

    def __iter__(self) -> Iterator[str]:
        yield from self._exact
        yield from (f"{base}:*" for base in self._any_port)

    def __len__(self) -> int:
        return len(self._exact) + len(self._any_port)


def is_preflight(request: web.BaseRequest) -> bool:
    """Whether a browser asks before it calls (Fetch, CORS-preflight request)."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


class _Adapter(AbstractRouterAdapter):
    """Options by resource; the door adds the OPTIONS routes itself."""

    def __init__(self) -> None:
        self._options: dict[web.AbstractResource | None, Origins[ResourceOptions]] = {}
        self.preflight: Any = None

    def add_preflight_handler(self, _entity: Any, handler: Any, _webview: bool = False) -> None:  # noqa: FBT001, FBT002 -- aiohttp-cors's signature
        self.preflight = handler

    def set_config_for_routing_entity(
        self, entity: web.AbstractResource, config: Mapping[str, ResourceOptions]
    ) -> None:
        self._options[entity] = Origins(config)

    def is_preflight_request(self, request: web.Request) -> bool:
        return is_preflight(request)

    def is_cors_enabled_on_request(self, _: web.Request) -> bool:
        return False  # the answer says it already

    def get_non_preflight_request_config(self, request: web.Request) -> Origins[ResourceOptions]:
        return self._options[request.match_info.route.resource]

    async def get_preflight_request_config(
        self, request: web.Request, origin: str, method: str
    ) -> Origins[ResourceOptions]:
        options = self._options[request.match_info.route.resource]
        if (found := options.get(origin)) is not None and not found.is_method_allowed(method):
            raise KeyError(method)
        return options


def reading(entrance: Entrance) -> Callable[[Head], HeaderFields]:
    """What an answer of an entrance says to the page that asked, by its `Origin`: that it may be read, or nothing.

    A preflight that a guard refuses hears nothing.
    """
    told: HeaderFields = (("Access-Control-Expose-Headers", ",".join(entrance.expose)),) if entrance.expose else ()
    told += (("Access-Control-Allow-Credentials", "true"),) if entrance.credentials else ()
    known = Origins(dict.fromkeys(entrance.origins, told))

    def read_by(head: Head) -> HeaderFields:
        origin = head.headers.get("origin")
        if origin is None or (fields := known.get(origin)) is None:
            return ()
        if head.method == "OPTIONS" and head.headers.get("access-control-request-method") is not None:
            return ()
        return (("Access-Control-Allow-Origin", origin), *fields)

    return read_by


class Cors:
    """Answers the preflights of resources."""

    def __init__(self, app: web.Application) -> None:
        self._adapter = _Adapter()
        self._config = CorsConfig(app, router_adapter=self._adapter)

    def add(self, resource: web.Resource, entrance: Entrance) -> None:
        """Let pages of the entrance's origins call it, with any header that they ask for."""
        methods = [method for method in entrance.methods if method != "OPTIONS"]
        options = ResourceOptions(
            allow_credentials=entrance.credentials,
            expose_headers=entrance.expose,
            allow_headers="*",
            max_age=MAX_AGE,
            allow_methods=methods,
        )
        self._config.add(resource, dict.fromkeys(entrance.origins, options))

    async def preflight(self, request: web.Request) -> web.Response:
        """What aiohttp-cors says: 200, or 403 with the reason."""
        try:
            response: web.Response = await self._adapter.preflight(request)
        except web.HTTPForbidden as error:
            return respond(failure(403, error.text or "forbidden", VARY))
        response.headers.extend(VARY)
        return response
