"""`server.json` and client configurations from request to reply, in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

import pytest

from rpcgw.access.guards import compile_guards
from rpcgw.access.policies import document_policy
from rpcgw.access.tokens import compile_tokens
from rpcgw.endpoints.documents import entrances
from rpcgw.exchange import Entrance, Inbound, Reply, settled
from rpcgw.protocol.mcp.clients import Connection
from rpcgw.protocol.mcp.documents import Edition, Publication, edition
from rpcgw.protocol.mcp.serverjson import Card
from tests.golden.mcp_requests import raw
from tests.unit.endpoints.house import Clock, Observer, parsed

CARD = Card("io.github.acme/shop", "Shop", "Sells.")
EDITIONS = {
    1: edition(CARD, 1, Connection("shop", "https://gw.example.org/mcp")),
    2: edition(CARD, 2, Connection("shop-v2", "https://gw.example.org/mcp/v2")),
}
PATHS = ["server.json", "manifest/cursor.json", "manifest/index.json", "manifest/goose.yaml"]
TOKEN = "t0ken"


def doors(editions: Mapping[int, Edition] = EDITIONS, *, protected: bool = False) -> tuple[Entrance, ...]:
    publication = Publication("mcp", "/mcp", editions, private=protected)
    tokens = compile_tokens("ufo-rpc-token", [("ci", sha256(TOKEN.encode()).hexdigest(), None)])
    return entrances(
        publication, document_policy(compile_guards(), tokens, protected_doc=protected), Clock(), Observer()
    )


async def ask(
    path: str, method: str = "GET", headers: Mapping[str, str] | None = None, where: tuple[Entrance, ...] | None = None
) -> Reply:
    """What a door does with a request."""
    head, _ = parsed(raw(method, path, dict(headers or {})))
    entrance = next(each for each in where or doors() if fits(each.pattern, path))
    admitted = await settled(entrance.admit(head))
    return admitted if isinstance(admitted, Reply) else await entrance.answer(admitted, Inbound(head, b""))


def fits(pattern: str, path: str) -> bool:
    ours, theirs = pattern.split("/"), path.rstrip("/").split("/")
    return len(ours) == len(theirs) and all(
        one in {other, "{aiName}"} or (one == "{ver}" and other.startswith("v"))
        for one, other in zip(ours, theirs, strict=True)
    )


def body(reply: Reply) -> bytes:
    assert isinstance(reply.body, bytes)
    return reply.body


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_documents_are_there_for_each_version(path: str, method: str) -> None:
    """C-05, C-06: below the prefix and below `v1` the first version, below `v2` the second."""
    first, same, second = [await ask(f"{root}/{path}", method) for root in ("/mcp", "/mcp/v1", "/mcp/v2")]
    assert [reply.status for reply in (first, same, second)] == [200, 200, 200]
    assert body(first) == body(same) != body(second)


def test_names_are_those_of_the_original() -> None:
    """C-05, C-06: each path has its name, with `_ver` where it names a version."""
    assert {(door.pattern, door.name) for door in doors()} == {
        ("/mcp/server.json", "mcp_ufo_mcp_server_json"),
        ("/mcp/v1/server.json", "mcp_ufo_mcp_server_json_ver"),
        ("/mcp/v2/server.json", "mcp_ufo_mcp_server_json_ver"),
        ("/mcp/{ver}/server.json", "mcp_ufo_mcp_server_json_ver"),
        ("/mcp/manifest/{aiName}", "mcp_ufo_mcp_manifest"),
        ("/mcp/v1/manifest/{aiName}", "mcp_ufo_mcp_manifest_ver"),
        ("/mcp/v2/manifest/{aiName}", "mcp_ufo_mcp_manifest_ver"),
        ("/mcp/{ver}/manifest/{aiName}", "mcp_ufo_mcp_manifest_ver"),
    }


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
@pytest.mark.parametrize(
    ("editions", "root"), [({}, "/mcp"), ({}, "/mcp/v1"), (EDITIONS, "/mcp/v9"), ({2: EDITIONS[2]}, "/mcp")]
)
async def test_what_does_not_exist_is_404_for_every_method(
    editions: Mapping[int, Edition], root: str, method: str, path: str
) -> None:
    """C-09, C-20: a disabled or empty group, or a version that it lacks; it comes before the method and the token."""
    where = doors(editions, protected=True)
    assert (await ask(f"{root}/{path}", method, where=where)).status == 404
    assert (await ask(f"{root}/{path}", method, {"Host": "evil.example.com"}, where)).status == 421


@pytest.mark.parametrize("path", PATHS)
async def test_guards_and_methods(path: str) -> None:
    """Host and Origin are checked, and only GET and HEAD are served."""
    assert (await ask(f"/mcp/{path}", headers={"Host": "evil.example.com"})).status == 421
    assert (await ask(f"/mcp/{path}", headers={"Origin": "https://evil.example.com"})).status == 403
    refused = await ask(f"/mcp/{path}", "POST")
    assert (refused.status, dict(refused.headers)["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert list(json.loads(body(refused))) == ["error"]


@pytest.mark.parametrize("path", PATHS)
async def test_protected_documents_ask_for_a_token(path: str) -> None:
    """`protected_doc` holds for these documents too, and then no shared cache keeps them."""
    where = doors(protected=True)
    assert (await ask(f"/mcp/{path}", where=where)).status == 401
    assert (await ask(f"/mcp/{path}", headers={"Authorization": "Bearer wrong"}, where=where)).status == 403
    served = await ask(f"/mcp/{path}", headers={"Authorization": f"Bearer {TOKEN}"}, where=where)
    assert (served.status, dict(served.headers)["Cache-Control"]) == (200, "private, max-age=300")


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("server.json", "application/json"),
        ("manifest/codex.json", "application/json"),
        ("manifest/codex.toml", "application/toml"),
        ("manifest/goose.yaml", "application/yaml"),
    ],
)
async def test_headers(path: str, media_type: str) -> None:
    """Media type by notation, kept for a while, with a tag to ask again by."""
    fields = dict((await ask(f"/mcp/{path}")).headers)
    assert fields["Content-Type"] == media_type
    assert fields["Cache-Control"] == "public, max-age=300"
    assert fields["ETag"].startswith('"')


@pytest.mark.parametrize(
    ("form", "status"),
    [
        pytest.param("{}", 304, id="the tag"),
        pytest.param("W/{}", 304, id="the tag, weak"),
        pytest.param('"other", {}', 304, id="one of several"),
        pytest.param('"other"', 200, id="another"),
    ],
)
async def test_a_document_that_the_client_has_is_not_sent_again(form: str, status: int) -> None:
    """RFC 9110 section 13.1.2: 304 without a body where a tag fits."""
    tag = dict((await ask("/mcp/server.json")).headers)["ETag"]
    reply = await ask("/mcp/server.json", headers={"If-None-Match": form.replace("{}", tag)})
    assert reply.status == status
    assert bool(body(reply)) is (status == 200)
    assert dict(reply.headers)["ETag"] == tag


@pytest.mark.parametrize("name", ["Cursor.JSON", "VSCODE.json", "lm_studio.json", "cursor.json/"])
async def test_names_are_taken_as_people_write_them(name: str) -> None:
    """Case, underscores, aliases and a slash at the end do not matter."""
    assert (await ask(f"/mcp/manifest/{name}")).status == 200


@pytest.mark.parametrize("name", ["nobody.json", "cursor", "cursor.toml", "codex.yaml", "cursor.json.bak"])
async def test_an_unknown_name_is_404_with_the_list(name: str) -> None:
    """Whoever asks for what is not there is told what is."""
    reply = await ask(f"/mcp/manifest/{name}")
    told = json.loads(body(reply))
    assert reply.status == 404
    assert name in told["error"]
    assert {"index.json", "cursor.json", "codex.json", "codex.toml", "continue.yaml"} <= set(told["known"])


async def test_without_an_address_there_are_no_client_configurations() -> None:
    """404 with the setting that helps; `server.json` is there, without `remotes`."""
    where = doors({1: edition(CARD, 1, None)})
    reply = await ask("/mcp/manifest/cursor.json", where=where)
    assert (reply.status, json.loads(body(reply))["hint"]) == (404, "set server.public_url")
    assert "remotes" not in json.loads(body(await ask("/mcp/server.json", where=where)))
