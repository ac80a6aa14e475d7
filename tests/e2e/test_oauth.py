"""OAuth 2.1: a daemon as a protected resource, its tokens issued by a real authorization server."""

from __future__ import annotations

import base64
import hmac
import itertools
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest
from joserfc.jwk import OctKey

from bench.measuring import spent
from tests.e2e.test_mcp_subscriptions import TOOLS, acknowledged, listening
from tests.support.authorization import CLIENT_ID, CLIENT_SECRET, AuthorizationServer, authorization_server, new_key
from tests.support.clients import AUTHORIZING, OfficialClient, authorized
from tests.support.daemon import BIND, Daemon, daemon, wait_until
from tests.support.http import Answer, exchange
from tests.support.mcp import ACCEPT, MODERN, Session, Stateless
from tests.support.redis import free_port

PLUGIN = '''
"""A catalogue with rights."""

import rpcgw as rpc


@rpc.procedure("Catalog", groups=["mcp"], with_default=True)
class Catalog:
    def open(self) -> str:
        """For everybody who is let in."""
        return "open"

    @rpc.scopes("catalog:read")
    def read(self, ctx: rpc.CallContext) -> str:
        """Who reads."""
        return f"{ctx.principal.name} of {ctx.principal.claims.get('tenant')}"

    @rpc.scopes("catalog:read", "catalog:write")
    def write(self, name: str) -> str:
        """Write."""
        return name

    @rpc.inline
    def echo(self) -> int:
        """Cost next to nothing."""
        return 1

    def see(self, ctx: rpc.CallContext) -> list[str | None]:
        """What goes on to procedures."""
        return [ctx.token, ctx.headers.get("x-tenant"), ctx.headers.get("x-other")]

    @rpc.cache(ttl=60, environments=("test",), vary=("principal", "claim:tenant"))
    def mine(self, ctx: rpc.CallContext) -> str:
        """What is kept by claim."""
        return f"{ctx.principal.claims.get('tenant')}"

    async def elsewhere(self, audience: str, ctx: rpc.CallContext) -> str:
        """Call another service in the caller's name."""
        return await ctx.token_for(audience, ["a", "b"])
'''

STATIC = "a-static-token-of-this-group"


def config(server: AuthorizationServer, extra: dict[str, Any] | None = None, **oauth: Any) -> dict[str, Any]:
    """Group mcp takes tokens of the server, and a static one."""
    given = {"issuer": server.url, "jwks_uri": server.jwks_uri, **oauth}
    given = {name: value for name, value in given.items() if value is not None}
    return {
        "environment": "test",
        "server": {"public_url": "http://gateway.example"},
        "ufo_json_rpc": {"security": {"protected_api": True}},
        "groups": {
            "mcp": {"tokens": [{"name": "ops", "value": STATIC, "scopes": ["catalog:read"]}], "oauth": given},
            "general": {"tokens": [{"name": "crm", "value": STATIC}]},
            **(extra or {}),
        },
    }


ROUTES = {
    "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "mcp"}},
    "plain": {"resource": "rpc", "prefix": "/plain", "defaults": {"api_group": "general"}},
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "mcp_plain": {"resource": "mcp", "prefix": "/mcp/plain", "defaults": {"api_group": "general"}},
}
MCP = "http://gateway.example/mcp"
RPC = "http://gateway.example/rpc"
METADATA = "http://gateway.example/.well-known/oauth-protected-resource/mcp"


@contextmanager
def gateway(given: dict[str, Any], bind: str | None = BIND) -> Iterator[Daemon]:
    """A daemon with the catalogue."""
    plugins = {"catalog.py": PLUGIN}
    with daemon(config=json.dumps(given), routes=json.dumps(ROUTES), plugins=plugins, bind=bind) as running:
        yield running


@pytest.fixture(scope="module")
def server() -> Iterator[AuthorizationServer]:
    with authorization_server() as running:
        yield running


@pytest.fixture(scope="module")
def served(server: AuthorizationServer) -> Iterator[Daemon]:
    with gateway(config(server)) as running:
        yield running


OWN_PAGE = {"Origin": "http://gateway.example", "Sec-Fetch-Site": "same-origin"}
FORGED_TOKEN = "eyJhbGciOiJub25lIn0.e30."


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def call(served: Daemon, token: str | None, tool: str = "Catalog.open", arguments: Any = None) -> Answer:
    return Stateless(served, headers=bearer(token) if token else {}).call(tool, arguments)


def header(answer: Answer, name: str) -> str:
    return answer.header(name) or ""


def text_of(answer: Answer) -> str:
    assert answer.status == 200, answer.text
    text: str = answer.json()["result"]["content"][0]["text"]
    return text


# -- metadata and challenges


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        pytest.param(
            "/.well-known/oauth-protected-resource/mcp", MCP, id="the path that the endpoint's is appended to"
        ),
        pytest.param("/.well-known/oauth-protected-resource/mcp/v1", MCP, id="a version's"),
        pytest.param("/.well-known/oauth-protected-resource", MCP, id="the root"),
        pytest.param("/.well-known/oauth-protected-resource/rpc", RPC, id="the group's JSON-RPC endpoint"),
    ],
)
def test_metadata(served: Daemon, server: AuthorizationServer, path: str, resource: str) -> None:
    """RFC 9728: who issues tokens, for whom, and for what; nobody has to show one to read it."""
    answer = served.get(path)
    assert (answer.status, header(answer, "Content-Type")) == (200, "application/json")
    assert answer.json() == {
        "resource": resource,
        "authorization_servers": [server.url],
        "scopes_supported": ["catalog:read", "catalog:write"],
        "bearer_methods_supported": ["header"],
    }


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/.well-known/oauth-protected-resource/plain", id="a group that has only tokens of its own"),
        pytest.param("/.well-known/oauth-authorization-server", id="the daemon is no authorization server"),
        pytest.param("/.well-known/openid-configuration", id="nor an OpenID provider"),
    ],
)
def test_no_metadata(served: Daemon, path: str) -> None:
    """Where OAuth is off there is nothing, in JSON."""
    answer = served.get(path)
    assert (answer.status, header(answer, "Content-Type").partition(";")[0]) == (404, "application/json")


def test_a_missing_token_is_told_where_to_get_one(served: Daemon) -> None:
    """401 with the metadata's URL."""
    answer = call(served, None)
    assert answer.status == 401
    assert header(answer, "WWW-Authenticate") == f'Bearer resource_metadata="{METADATA}"'


@pytest.mark.parametrize("path", ["/rpc", "/mcp"])
def test_a_page_may_read_where_to_get_a_token(server: AuthorizationServer, path: str) -> None:
    """A client in a browser finds its way too: challenges are shown to pages of allowed origins, and so are metadata."""
    page = {"Origin": "https://app.example"}
    with gateway(config(server) | {"cors": {"allowed_origins": ["https://app.example"]}}) as served:
        answer = served.post(path, {"jsonrpc": "2.0", "id": 1, "method": "Catalog.open"}, page)
        assert "WWW-Authenticate" in header(answer, "Access-Control-Expose-Headers")
        metadata = served.get(f"/.well-known/oauth-protected-resource{path}", page)
        assert (answer.status, metadata.header("Access-Control-Allow-Origin")) == (401, "https://app.example")


def test_a_group_with_tokens_only_advertises_no_oauth(served: Daemon) -> None:
    """A challenge with metadata would make clients ignore the token that their user configured."""
    answer = Stateless(served, "/mcp/plain").call("Catalog.open")
    assert (answer.status, header(answer, "WWW-Authenticate")) == (401, "Bearer")


# -- who is let in


def test_a_good_token_is_let_in(served: Daemon, server: AuthorizationServer) -> None:
    """Its subject is the caller, its claims are the procedure's to read."""
    token = server.token("alice", "catalog:read", audience=MCP, tenant="acme")
    assert json.loads(text_of(call(served, token, "Catalog.read"))) == "alice of acme"


def test_a_static_token_stands_beside(served: Daemon) -> None:
    """Tokens of the group's own and OAuth are taken side by side."""
    assert json.loads(text_of(call(served, STATIC, "Catalog.read"))) == "ops of None"


def test_a_session_belongs_to_its_subject(served: Daemon, server: AuthorizationServer) -> None:
    """Another token of the same subject continues it, another subject's does not."""
    session = Session(served, headers=bearer(server.token("alice", audience=MCP)))
    session.headers |= bearer(server.token("alice", audience=MCP, jti="another"))
    assert session.send("ping").status == 200
    session.headers |= bearer(server.token("mallory", audience=MCP))
    assert session.send("ping").status == 404


FORGED = new_key("first")
SHARED = OctKey.import_key("0123456789abcdef0123456789abcdef", {"kid": "first"})


def headed(header: bytes) -> str:
    """A token of nothing but a header."""
    return f"{base64.urlsafe_b64encode(header).rstrip(b'=').decode()}.e30.AAAA"


def unsigned(server: AuthorizationServer) -> str:
    """A token of `alg: none` (RFC 8725 section 2.1)."""
    parts = ({"alg": "none", "typ": "at+jwt"}, server.claims("alice", "", MCP))
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def confused(server: AuthorizationServer) -> str:
    """A token signed with the public key as if it were a shared secret (RFC 8725 section 2.1)."""
    parts = ({"alg": "HS256", "kid": "first", "typ": "at+jwt"}, server.claims("alice", "", MCP))
    signed = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    seal = hmac.digest(server.keys[-1].as_pem(private=False), signed, "sha256")
    return f"{signed.decode()}.{base64.urlsafe_b64encode(seal).rstrip(b'=').decode()}"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda s: s.token(audience="http://other.example/mcp"), id="wrong audience"),
        pytest.param(lambda s: s.token(audience=RPC), id="meant for another endpoint of the same daemon"),
        pytest.param(lambda s: s.token(audience=MCP, aud=None), id="no audience"),
        pytest.param(lambda s: s.token(audience=MCP, iss="http://evil.example"), id="wrong issuer"),
        pytest.param(lambda s: s.token(audience=MCP, exp=1), id="expired"),
        pytest.param(lambda s: s.token(audience=MCP, exp=None), id="without an end"),
        pytest.param(lambda s: s.token(audience=MCP, exp=float("nan")), id="an end that is no number"),
        pytest.param(lambda s: s.token(audience=MCP, nbf=9_999_999_999), id="not yet"),
        pytest.param(lambda s: s.token(audience=MCP, sub=None), id="no subject"),
        pytest.param(unsigned, id="alg: none"),
        pytest.param(confused, id="the public key as a shared secret"),
        pytest.param(lambda s: s.token(audience=MCP, key=SHARED), id="a symmetric key where an asymmetric is pinned"),
        pytest.param(lambda s: s.token(audience=MCP, key=FORGED), id="another issuer's key of the same name"),
        pytest.param(lambda s: s.token(audience=MCP, key=new_key("unknown")), id="a key that nobody knows"),
        pytest.param(lambda s: s.token(audience=MCP, header={"typ": "logout+jwt"}), id="another kind of JWT"),
        pytest.param(lambda s: s.token(audience=MCP)[:-4] + "AAAA", id="a signature that is broken"),
        pytest.param(lambda s: "x.y.z", id="nothing of a JWT but the dots"),
        pytest.param(lambda s: headed(b"[" * 4000), id="a header that is nested without end"),
        pytest.param(lambda s: headed(b'{"alg": ["RS256"]}'), id="an algorithm that is a list"),
        pytest.param(lambda s: "nonsense", id="nonsense"),
        pytest.param(lambda s: "é.\x80.ü", id="bytes that are no text"),
    ],
)
def test_a_bad_token_is_refused(served: Daemon, server: AuthorizationServer, make: Any) -> None:
    """401 `invalid_token` with the metadata's URL: the client is to get another one."""
    answer = call(served, make(server))
    assert answer.status == 401
    challenge = header(answer, "WWW-Authenticate")
    assert challenge.startswith('Bearer error="invalid_token", error_description="')
    assert challenge.endswith(f'resource_metadata="{METADATA}"')


def test_a_token_in_the_query_string_is_none(served: Daemon, server: AuthorizationServer) -> None:
    """URLs end up in logs and histories (OAuth 2.1 section 5.1)."""
    token = server.token("alice", audience=MCP)
    assert Stateless(served, f"/mcp?access_token={token}").call("Catalog.open").status == 401


# -- scopes


def test_a_scope_that_is_missing(served: Daemon, server: AuthorizationServer) -> None:
    """403 `insufficient_scope` that names all that the call needs; the tool is absent from the list."""
    client = Stateless(served, headers=bearer(server.token("alice", "catalog:read", audience=MCP)))
    answer = client.call("Catalog.write", {"name": "x"})
    assert answer.status == 403
    assert header(answer, "WWW-Authenticate") == (
        f'Bearer error="insufficient_scope", scope="catalog:read catalog:write", resource_metadata="{METADATA}"'
    )
    assert answer.json()["error"]["code"] == -32403
    assert {"Catalog.read", "Catalog.open"} <= client.tools().keys()
    assert "Catalog.write" not in client.tools()


def test_a_scope_that_is_there(served: Daemon, server: AuthorizationServer) -> None:
    """The same caller with more rights sees and calls the tool."""
    client = Stateless(served, headers=bearer(server.token("alice", "catalog:read catalog:write", audience=MCP)))
    assert "Catalog.write" in client.tools()
    assert client.result("Catalog.write", {"name": "x"})["structuredContent"] == {"result": "x"}


def test_scopes_in_a_session(served: Daemon, server: AuthorizationServer) -> None:
    """The session era answers 403 as well, since clients ask for more rights by the status."""
    session = Session(served, headers=bearer(server.token("alice", audience=MCP)))
    answer = session.send("tools/call", {"name": "Catalog.read", "arguments": {}})
    assert (answer.status, answer.json()["error"]["code"]) == (403, -32403)


def test_scopes_over_rpc(served: Daemon, server: AuthorizationServer) -> None:
    """`/rpc` decides by the same rule: 403 for a call alone, an error of its item in a batch."""
    fields = bearer(server.token("alice", audience=RPC))
    call = {"jsonrpc": "2.0", "id": 1, "method": "Catalog.read"}
    alone = served.post("/rpc", call, fields)
    assert (alone.status, alone.json()["error"]["code"]) == (403, -32403)
    assert 'scope="catalog:read"' in header(alone, "WWW-Authenticate")
    batch = served.post("/rpc", [call, {**call, "id": 2, "method": "Catalog.open"}], fields)
    assert batch.status == 200
    assert [item.get("result", item.get("error", {}).get("code")) for item in batch.json()] == [-32403, "open"]


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        pytest.param(None, False, id="nobody"),
        pytest.param("", False, id="somebody without the scope"),
        pytest.param("catalog:read", True, id="somebody with it"),
    ],
)
@pytest.mark.parametrize("path", ["/rpc", "/rpc/postman", "/console/mcp"])
def test_scopes_in_documents(
    served: Daemon, server: AuthorizationServer, path: str, scope: str | None, shown: bool
) -> None:
    """A document shows what its reader may call; a token is taken, and not asked for."""
    fields = {} if scope is None else bearer(server.token("alice", scope, audience=RPC))
    answer = served.get(path, fields)
    assert answer.status == 200
    assert ("Catalog.read" in answer.text, "Catalog.write" in answer.text) == (shown, False)
    assert header(answer, "Cache-Control").startswith("private")


def test_scopes_by_configuration(server: AuthorizationServer) -> None:
    """`methods.<name>.scopes` stands instead of the mark."""
    given = config(server) | {"methods": {"Catalog.open": {"scopes": ["extra"]}, "Catalog.read": {"scopes": []}}}
    with gateway(given) as served:
        token = server.token("alice", audience=MCP)
        assert call(served, token, "Catalog.open").status == 403
        assert call(served, token, "Catalog.read").status == 200


def test_scopes_to_come_in(server: AuthorizationServer) -> None:
    """`oauth.scopes` is what every token needs: 403 names it, and so does the challenge of a 401."""
    with gateway(config(server, scopes=["gateway"])) as served:
        answer = call(served, server.token("alice", audience=MCP))
        assert (answer.status, 'scope="gateway"' in header(answer, "WWW-Authenticate")) == (403, True)
        assert 'scope="gateway"' in header(call(served, None), "WWW-Authenticate")
        assert call(served, server.token("alice", "gateway", audience=MCP)).status == 200


# -- keys


def test_a_new_key_is_learnt() -> None:
    """A token that names an unknown key makes the daemon fetch the set, though no more often than every few seconds."""
    with authorization_server() as issuer, gateway(config(issuer)) as served:
        assert call(served, issuer.token(audience=MCP)).status == 200
        issuer.rotate()
        fetched = issuer.asked["/jwks"]
        token = issuer.token(audience=MCP)
        wait_until(lambda: call(served, token).status == 200, 30.0, served.stderr)
        stranger = new_key("stranger")
        assert {call(served, issuer.token(audience=MCP, key=stranger)).status for _ in range(20)} == {401}
        assert issuer.asked["/jwks"] <= fetched + 3


def test_an_outage_of_the_key_server() -> None:
    """The last good keys do while it is away; new tokens by them are let in, and by unknown keys not."""
    with authorization_server() as issuer, gateway(config(issuer, refresh=0)) as served:
        assert call(served, issuer.token(audience=MCP)).status == 200
        issuer.fails = True
        assert call(served, issuer.token(audience=MCP, jti="2")).status == 200
        assert call(served, issuer.token(audience=MCP, key=new_key("unknown"))).status == 401


def test_an_outage_that_lasts() -> None:
    """Past `stale` seconds nobody can say whose a token is: 503 with Retry-After, and all is well once it is back."""
    with authorization_server() as issuer, gateway(config(issuer, refresh=0, stale=1)) as served:

        def answered() -> Answer:
            return call(served, issuer.token(audience=MCP, jti=str(next(numbers))))

        numbers = itertools.count()
        assert answered().status == 200
        issuer.fails = True
        wait_until(lambda: answered().status == 503, 30.0, served.stderr)
        assert answered().header("Retry-After") == "5"
        issuer.fails = False
        wait_until(lambda: answered().status == 200, 30.0, served.stderr)


@pytest.mark.parametrize(
    ("padding", "status"), [pytest.param(200, 200, id="large"), pytest.param(100_000, 503, id="larger than is read")]
)
def test_a_huge_key_set(padding: int, status: int) -> None:
    """A set of many keys is used, a set without end is not read to it."""
    with authorization_server() as issuer, gateway(config(issuer)) as served:
        issuer.padding = padding
        assert call(served, issuer.token(audience=MCP)).status == status


# -- introspection


def test_opaque_tokens(server: AuthorizationServer) -> None:
    """The server says of each what it is, once in a few seconds."""
    introspection = {"endpoint": f"{server.url}/introspect", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    with gateway(config(server, jwks_uri=None, introspection=introspection, remember=60)) as served:
        token = server.opaque_token("bob", "catalog:read", audience=MCP, tenant="b")
        asked = server.asked["/introspect"]
        assert [json.loads(text_of(call(served, token, "Catalog.read"))) for _ in range(3)] == ["bob of b"] * 3
        assert [call(served, "opaque-unknown").status for _ in range(3)] == [401] * 3
        assert server.asked["/introspect"] == asked + 2
        assert call(served, server.opaque_token("bob", audience="http://other.example")).status == 401
        assert CLIENT_SECRET not in served.stderr()


# -- identity outward


def test_nothing_goes_on_unless_the_operator_says_so(served: Daemon, server: AuthorizationServer) -> None:
    """Neither the caller's token nor its headers reach a procedure."""
    fields = bearer(server.token("alice", audience=MCP)) | {"X-Tenant": "acme"}
    seen = Stateless(served, headers=fields).result("Catalog.see")["structuredContent"]
    assert seen == {"result": [None, None, None]}


def test_what_the_operator_forwards(server: AuthorizationServer) -> None:
    """`forward.headers` by name, on every surface; `forward.token` the caller's token."""
    given = config(server)
    given["groups"]["mcp"]["forward"] = {"headers": ["X-Tenant"], "token": True}
    with gateway(given) as served:
        token = server.token("alice", audience=MCP)
        fields = {"X-Tenant": "acme", "X-Other": "no"}
        seen = Stateless(served, headers=bearer(token) | fields).result("Catalog.see")["structuredContent"]
        assert seen == {"result": [token, "acme", None]}
        request = {"jsonrpc": "2.0", "id": 1, "method": "Catalog.see"}
        over_rpc = served.post("/rpc", request, bearer(STATIC) | fields).json()
        assert over_rpc["result"] == [STATIC, "acme", None]
        assert token not in served.stderr()


def test_a_token_for_another_service(server: AuthorizationServer) -> None:
    """RFC 8693: the caller's token is exchanged, what comes is kept; a refusal is the procedure's error."""
    exchange = {"endpoint": f"{server.url}/token", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    with gateway(config(server, exchange=exchange)) as served:
        token = server.token("alice", audience=MCP)
        client = Stateless(served, headers=bearer(token))
        got = [client.result("Catalog.elsewhere", {"audience": "billing"})["structuredContent"] for _ in range(2)]
        assert got == [{"result": "for-billing-1"}] * 2
        assert server.exchanged[-1]["subject_token"] == token
        assert server.exchanged[-1]["scope"] == "a b"
        refused = client.result("Catalog.elsewhere", {"audience": "forbidden"})
        assert refused["isError"]
        assert json.loads(refused["content"][0]["text"])["code"] == -32500


def test_claims_vary_what_is_kept(served: Daemon, server: AuthorizationServer) -> None:
    """`vary=("claim:tenant",)`: two callers of one name and other claims have answers of their own."""
    seen = [
        json.loads(text_of(call(served, server.token("carol", audience=MCP, tenant=tenant), "Catalog.mine")))
        for tenant in ("a", "b", "a")
    ]
    assert seen == ["a", "b", "a"]


# -- streams


def test_a_stream_ends_with_its_token(server: AuthorizationServer) -> None:
    """At the token's end, with the leeway, there is the closing answer and nothing else; a longer token's goes on."""
    with gateway(config(server)) as served, ExitStack() as stack:
        ends = int(time.time()) - 27  # and 30 seconds of leeway
        brief, long = server.token("alice", audience=MCP, exp=ends), server.token("alice", audience=MCP)
        other = stack.enter_context(listening(served, TOOLS, headers=bearer(long)))
        heard = stack.enter_context(listening(served, TOOLS, 9, bearer(brief)))
        assert heard.next() == acknowledged(TOOLS, 9)
        assert other.next() == acknowledged(TOOLS)
        [closing] = heard.rest()
        assert (closing["id"], closing["result"]["resultType"]) == (9, "complete")
        assert 30 <= time.time() - ends < 40
        with listening(served, TOOLS, headers=bearer(brief)) as again:
            assert again.answer.status == 401
        served.process.terminate()
        assert [message["id"] for message in other.rest()] == [7]


# -- pages


def test_a_visitor_with_an_access_token(server: AuthorizationServer) -> None:
    """A page calls with its visitor's token: whose it is, and what it lacks, are decided as over `/rpc`; so is what goes on to procedures."""
    methods = ("read", "open", "see")
    tools = {name: {"read_only": True, "call": {"method": f"Catalog.{name}", "group": "mcp"}} for name in methods}
    site = {"url": "http://gateway.example/", "tools": tools}
    routes = {**ROUTES, "pages": {"resource": "webmcp", "prefix": "/webmcp"}}
    given = config(server) | {"webmcp": {"sites": {"main": site}}}
    given["groups"]["mcp"]["forward"] = {"headers": ["X-Tenant"], "token": True}
    with daemon(config=json.dumps(given), routes=json.dumps(routes), plugins={"catalog.py": PLUGIN}) as served:
        reader = server.token("alice", "catalog:read", audience=RPC, tenant="acme")

        def shown(token: str | None) -> dict[str, Any]:
            answer = served.get("/webmcp/config.json?path=/", bearer(token) if token else {})
            assert {"Cookie", "Authorization", "Ufo-Rpc-Token"} <= set(header(answer, "Vary").split(", "))
            return {tool["name"]: tool for tool in answer.json()["tools"]}

        offered = shown(reader)
        assert offered.keys() == {"read", "open", "see"}
        for lacking in (None, server.token("alice", audience=RPC), server.token("alice", "catalog:read", audience=MCP)):
            assert shown(lacking).keys() == {"open", "see"}

        def asked(tool: str, token: str | None) -> Answer:
            body = {"tool": tool, "token": offered[tool]["data"]["token"], "arguments": {}}
            fields = OWN_PAGE | {"X-Tenant": "acme", "X-Other": "no"} | (bearer(token) if token else {})
            return served.post("/webmcp/call", body, fields)

        token = server.token("alice", audience=RPC)
        assert asked("see", token).json()["structuredContent"] == {"result": [token, "acme", None]}
        known = asked("read", reader)
        assert known.json()["structuredContent"] == {"result": "alice of acme"}
        refused = asked("read", server.token("alice", audience=RPC)).json()
        assert (refused["isError"], json.loads(refused["content"][0]["text"])["code"]) == (True, -32403)
        for wrong in (None, server.token("alice", audience=MCP), FORGED_TOKEN):
            assert asked("open", wrong).status == 401


# -- official clients


@pytest.fixture(scope="module")
def addressed(server: AuthorizationServer) -> Iterator[Daemon]:
    """A daemon that is bound to the address that its metadata names."""
    given = config(server)
    del given["server"]
    given["server"] = {"bind": f"127.0.0.1:{free_port()}"}
    with gateway(given, bind=None) as running:
        yield running


@pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in AUTHORIZING])
def test_official_clients_get_themselves_a_token(addressed: Daemon, client: OfficialClient) -> None:
    """Challenge, metadata, registration, authorization with PKCE, token for this resource, call: all of it."""
    report = authorized(client, f"{addressed.url}/mcp")
    assert report["protocol"] == client.revision
    assert "Catalog.read" in report["tools"]
    assert "Catalog.write" not in report["tools"]
    assert report["called"] == {"result": "alice of None"}


# -- cost


def test_what_a_signed_token_costs(served: Daemon, server: AuthorizationServer) -> None:
    """Verified once: a stateless call with a JWT takes at most 1.3 times the CPU of one with a static token."""
    token = server.token("alice", "catalog:read", audience=MCP)
    with closing(served.connect()) as first, closing(served.connect()) as second:
        clients = [calls_with(served, first, STATIC), calls_with(served, second, token)]
        spent = [min(each) for each in zip(*([client() for client in clients] for _ in range(5)), strict=True)]
    assert spent[1] <= 1.3 * spent[0], spent


def calls_with(served: Daemon, connection: HTTPConnection, token: str, count: int = 1500) -> Callable[[], float]:
    """What makes so many calls on one connection, and returns the CPU time that the daemon took, in seconds."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    params = {"_meta": meta, "name": "Catalog.echo", "arguments": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    fields = {
        "Content-Type": "application/json",
        "Accept": ACCEPT,
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "Catalog.echo",
        **bearer(token),
    }

    def run() -> float:
        before = spent(served.pid)
        for _ in range(count):
            answer = exchange(connection, "POST", "/mcp", body, fields)
            assert answer.status == 200
        return spent(served.pid) - before

    return run
