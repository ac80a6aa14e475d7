"""An authorization server: real HTTP, real keys; it registers clients, issues tokens, publishes its keys, introspects.

    with authorization_server() as server:
        token = server.token("alice", "catalog:read", audience="http://127.0.0.1:8080/mcp")

Sources: RFC 8414 (metadata), 7591 (registration), 7636 (PKCE), 7662 (introspection), 8693 (token exchange).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

CLIENT_ID = "gateway"
CLIENT_SECRET = "hush"
LIFETIME = 600
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


@dataclass
class AuthorizationServer:
    """Changes to its fields count from the next request on.

    `keys` are those that it has published, the last one signs; `asked` counts requests by path; `scope` is what tokens
    of the authorization code grant allow; `fails` makes it answer 500, `padding` adds so many unusable keys.
    """

    url: str = ""
    keys: list[RSAKey | ECKey] = field(default_factory=lambda: [new_key("first")])
    asked: Counter[str] = field(default_factory=Counter)
    scope: str = "catalog:read"
    fails: bool = False
    padding: int = 0
    opaque: dict[str, dict[str, Any]] = field(default_factory=dict)
    exchanged: list[dict[str, str]] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def jwks_uri(self) -> str:
        """Where its keys are."""
        return f"{self.url}/jwks"

    def claims(self, subject: str, scope: str, audience: str, **more: Any) -> dict[str, Any]:
        """What a good token says; `None` leaves a claim out."""
        now = int(time.time())
        said = {"iss": self.url, "sub": subject, "aud": audience, "scope": scope, "iat": now, "exp": now + LIFETIME}
        return {name: value for name, value in {**said, **more}.items() if value is not None}

    def token(
        self,
        subject: str = "alice",
        scope: str = "",
        *,
        audience: str,
        key: RSAKey | ECKey | OctKey | None = None,
        header: dict[str, Any] | None = None,
        **more: Any,
    ) -> str:
        """A signed access token."""
        by = key or self.keys[-1]
        algorithm = {"RSA": "RS256", "EC": "ES256", "oct": "HS256"}[by.key_type]
        head = {"alg": algorithm, "kid": by.kid, "typ": "at+jwt", **(header or {})}
        return jwt.encode(head, self.claims(subject, scope, audience, **more), by, algorithms=[algorithm])

    def opaque_token(self, subject: str = "alice", scope: str = "", *, audience: str, **more: Any) -> str:
        """A token that only introspection can read."""
        token = f"opaque-{next(self._numbers)}"
        self.opaque[token] = {"active": True, **self.claims(subject, scope, audience, **more)}
        return token

    def rotate(self, *, keep: bool = False) -> None:
        """Sign with a new key from now on; the old ones are published no more unless `keep`."""
        self.keys = [*(self.keys if keep else []), new_key(f"key-{next(self._numbers)}")]

    # -- what it serves

    def application(self) -> web.Application:
        """Its paths."""
        application = web.Application(middlewares=[self._count])
        application.add_routes(
            [
                web.get("/.well-known/oauth-authorization-server", self._metadata),
                web.get("/.well-known/openid-configuration", self._metadata),
                web.get("/jwks", self._jwks),
                web.post("/register", self._register),
                web.get("/authorize", self._authorize),
                web.post("/token", self._token),
                web.post("/introspect", self._introspect),
            ]
        )
        return application

    @web.middleware
    async def _count(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked[request.path] += 1
        if self.fails:
            raise web.HTTPInternalServerError
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _metadata(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "jwks_uri": self.jwks_uri,
                "scopes_supported": ["catalog:read", "catalog:write"],
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def _jwks(self, _: web.Request) -> web.Response:
        public = [key.as_dict(private=False, use="sig") for key in self.keys]
        return web.json_response({"keys": [*public, *({"kty": "unknown"} for _ in range(self.padding))]})

    async def _register(self, request: web.Request) -> web.Response:
        given = await request.json()
        return web.json_response({**given, "client_id": f"client-{next(self._numbers)}"}, status=201)

    async def _authorize(self, request: web.Request) -> web.Response:
        """Whoever asks is alice, and agrees."""
        asked = dict(request.query)
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{next(self._numbers)}"
        self._codes[code] = asked
        back = urlencode({"code": code, "state": asked.get("state", ""), "iss": self.url})
        raise web.HTTPFound(f"{asked['redirect_uri']}?{back}")

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        if form["grant_type"] == EXCHANGE:
            return self._exchange(request, form)
        asked = self._codes.pop(form["code"])
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        if proof.decode() != asked["code_challenge"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        token = self.token("alice", self.scope, audience=form.get("resource") or asked["resource"])
        return web.json_response(
            {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME, "scope": self.scope}
        )

    def _exchange(self, request: web.Request, form: dict[str, str]) -> web.Response:
        if not _is_client(request) or form["audience"] == "forbidden":
            return web.json_response({"error": "access_denied"}, status=403)
        self.exchanged.append(form)
        made = f"for-{form['audience']}-{len(self.exchanged)}"
        return web.json_response({"access_token": made, "token_type": "Bearer", "expires_in": LIFETIME})

    async def _introspect(self, request: web.Request) -> web.Response:
        if not _is_client(request):
            raise web.HTTPUnauthorized
        form = await request.post()
        return web.json_response(self.opaque.get(str(form["token"]), {"active": False}))


def new_key(name: str) -> RSAKey:
    """A key pair for RS256."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"})


def _is_client(request: web.Request) -> bool:
    pair = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
    return request.headers.get("Authorization") == f"Basic {pair}"


@contextlib.contextmanager
def authorization_server(port: int = 0) -> Iterator[AuthorizationServer]:
    """Serve one on loopback until the block ends; on `port`, or on a free one."""
    server = AuthorizationServer()
    loop = asyncio.new_event_loop()
    started: threading.Event = threading.Event()
    stopping = asyncio.Event()

    async def serve() -> None:
        runner = web.AppRunner(server.application(), access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        host, bound = runner.addresses[0][:2]
        server.url = f"http://{host}:{bound}"
        started.set()
        await stopping.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(20.0), "the authorization server does not start"
        yield server
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(20.0)
        loop.close()
