"""The overview and the console's pages from request to reply, in this process."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import pytest
from multidict import CIMultiDict

import rpcgw
from rpcgw.adapters.pages.files import pages
from rpcgw.endpoints.console import entrances
from rpcgw.exchange import Entrance, Head, Inbound, Reply, settled
from rpcgw.testing.compiling import compile_plugin
from rpcgw.texts.pages import ENGLISH, UKRAINIAN
from tests.unit.endpoints.house import Clock, Observer

HOSTILE = "</script><img src=x onerror=alert(1)>\"'"
TOKEN = "t0ken-of-the-test"
HTML = {"Accept": "text/html,application/xhtml+xml"}


@rpcgw.procedure("Shop", groups=["shop"], with_default=False)
class Shop:
    """Sells."""

    @rpcgw.tool(read_only=True)
    def price(self, item: str, amount: int = 1) -> int:
        """What something costs. </script><img src=x onerror=alert(1)>"'.

        Args:
            item: What. </script><img src=x onerror=alert(1)>"'
            amount: How many.
        """
        return len(item) * amount


def doors(**settings: Any) -> tuple[Entrance, ...]:
    named = {"ufo_json_rpc": {"docs": {"project_name": f"Shop {HOSTILE}"}, **settings.pop("ufo_json_rpc", {})}}
    plugin = rpcgw.Plugin(procedures=[Shop])
    gateway = compile_plugin(
        plugin, name="shop", config=None, settings={**named, **settings}, environment="test", state_dir="/tmp"
    )
    return entrances(gateway, pages(), Clock(), Observer())


async def ask(
    path: str, headers: Mapping[str, str] | None = None, where: tuple[Entrance, ...] | None = None, method: str = "GET"
) -> Reply:
    """What a door does with a request; 404 where there is no such path."""
    door = next((each for each in where or doors() if each.pattern == path), None)
    if door is None:
        return Reply(404)
    fields = CIMultiDict({"Host": "localhost", **(headers or {})})
    head = Head(method, path, "", fields, "127.0.0.1")
    admitted = await settled(door.admit(head))
    return admitted if isinstance(admitted, Reply) else await door.answer(admitted, Inbound(head, b""))


def text(reply: Reply) -> str:
    assert isinstance(reply.body, bytes)
    coded = dict(reply.headers).get("Content-Encoding") == "gzip"
    return (gzip.decompress(reply.body) if coded else reply.body).decode()


@pytest.mark.parametrize("path", ["/", "/console/shop", "/console/shop/v1"])
async def test_pages_hold_browsers_to_the_daemon(path: str) -> None:
    """A page runs its own script only, loads nothing from elsewhere, cannot be framed and tells no one where it is."""
    reply = await ask(path, HTML)
    fields = dict(reply.headers)
    assert (reply.status, fields["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert fields["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )
    assert (fields["X-Content-Type-Options"], fields["Referrer-Policy"]) == ("nosniff", "no-referrer")


@pytest.mark.parametrize("path", ["/", "/console/shop"])
async def test_pages_need_nothing_from_elsewhere(path: str) -> None:
    """Every address in a page is a path of the daemon; there is no script or style in its text (CSP)."""
    page = text(await ask(path, HTML))
    assert re.findall(r'(?:src|href)="(?!/|#|data:,)[^"]*"', page) == []
    assert re.findall(r"<script(?! src=)|<style|\sstyle=|\son[a-z]+=\"", page) == []


@pytest.mark.parametrize("path", ["/", "/console/shop"])
async def test_texts_are_escaped(path: str) -> None:
    """A title or a description that is markup is shown as text."""
    page = text(await ask(path, HTML))
    assert "<img" not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#34;&#39;" in page


async def test_files_are_kept_for_ever() -> None:
    """A page names its files by their content: they are immutable, and have the media types that nosniff wants."""
    names = re.findall(r'"(/console/static/[^"]+)"', text(await ask("/console/shop", HTML)))
    found = {name.rpartition(".")[2]: await ask(name) for name in names}
    assert {kind: dict(reply.headers)["Content-Type"] for kind, reply in found.items()} == {
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
    }
    for name in names:
        reply = await ask(name)
        assert sha256(text(reply).encode()).hexdigest().startswith(name.split(".")[1])
        assert dict(reply.headers)["Cache-Control"] == "public, max-age=31536000, immutable"
        assert dict(reply.headers)["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        pytest.param("uk-UA, en;q=0.5", UKRAINIAN, id="Ukrainian"),
        pytest.param("en", ENGLISH, id="English"),
        pytest.param("de", ENGLISH, id="a language that pages do not speak"),
    ],
)
@pytest.mark.parametrize(("path", "key"), [("/", "health"), ("/console/shop", "search")])
async def test_languages(asked: str, words: Mapping[str, str], path: str, key: str) -> None:
    """Pages speak the visitor's language, and say so."""
    reply = await ask(path, {**HTML, "Accept-Language": asked})
    language = "uk" if words is UKRAINIAN else "en"
    assert f'<html lang="{language}">' in text(reply)
    assert words[key] in text(reply)
    assert dict(reply.headers)["Content-Language"].startswith(language)
    assert "Accept-Language" in dict(reply.headers)["Vary"]


async def test_the_overview_in_json() -> None:
    """Programs get paths by name."""
    reply = await ask("/", {"Accept": "application/json"})
    assert dict(reply.headers)["Content-Type"] == "application/json"
    told = json.loads(text(reply))
    assert told["groups"] == [
        {
            "group": "shop",
            "versions": [
                {
                    "version": 1,
                    "rpc": "/rpc/shop",
                    "openrpc": "/rpc/shop",
                    "postman": "/rpc/shop/postman",
                    "mcp": "/mcp/shop",
                    "server_json": "/mcp/shop/server.json",
                    "clients": "/mcp/shop/manifest/index.json",
                    "console": "/console/shop",
                }
            ],
            "protected": False,
        }
    ]
    assert [each["path"] for each in told["health"]] == ["/livez", "/readyz?verbose", "/metrics"]


@pytest.mark.parametrize("path", ["/", "/console/shop"])
async def test_guards(path: str) -> None:
    """Host and Origin are checked, only GET and HEAD are served."""
    assert (await ask(path, {"Host": "evil.example.com"})).status == 421
    assert (await ask(path, {"Origin": "https://evil.example.com"})).status == 403
    assert (await ask(path, method="POST")).status == 405
    assert (await ask(path, method="HEAD")).status == 200


async def test_protected_documents_protect_the_page() -> None:
    """Who may not read a group's documents may not have its page; no token is in what is served."""
    security = {"protected_api": True, "protected_doc": True, "clients_tokens": [TOKEN]}
    where = doors(ufo_json_rpc={"security": security})
    assert (await ask("/console/shop", HTML, where)).status == 401
    served = await ask("/console/shop", {**HTML, "Authorization": f"Bearer {TOKEN}"}, where)
    overview = await ask("/", HTML, where)
    assert (served.status, overview.status) == (200, 200)
    assert dict(served.headers)["Cache-Control"].startswith("private")
    assert ENGLISH["token_needed"] in text(served)
    assert TOKEN not in text(served) + text(overview)


async def test_one_setting_turns_it_off() -> None:
    """Without the console there are no pages to try methods on, and no link to them; the overview stays."""
    where = doors(console={"enabled": False})
    assert (await ask("/console/shop", HTML, where)).status == 404
    assert (await ask("/", HTML, where)).status == 200
    assert "/console/shop" not in text(await ask("/", HTML, where))


async def test_a_page_that_a_browser_has_is_not_sent_again() -> None:
    """304 where the entity tag fits, as for every document."""
    where = doors()
    tag = dict((await ask("/console/shop", HTML, where)).headers)["ETag"]
    assert (await ask("/console/shop", {**HTML, "If-None-Match": tag}, where)).status == 304
