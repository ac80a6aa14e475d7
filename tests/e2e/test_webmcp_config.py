"""A site's configuration and script from a real daemon: what is in it, who may have it, how long it is kept."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from hashlib import sha384
from typing import Any

import pytest

from tests.support.daemon import ROOT, Daemon, cli, daemon, folder, wait_until
from tests.support.sites import CONFIG, PLUGIN, ROUTES, configured, tools

SCRIPT = (ROOT / "rpcgw" / "pages" / "static" / "webmcp.js").read_bytes()


@pytest.fixture(scope="module")
def d() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        yield running


def test_a_page_has_its_tools(d: Daemon) -> None:
    """Tools of YAML and of plugins stand side by side; a provider leaves its tool out of a page by None."""
    everywhere = {"shop_find", "shop_order", "shop_who", "shop_broken", "staff_who", "site_goto"}
    assert tools(d).keys() == everywhere
    assert tools(d, "/contact/").keys() == everywhere | {"site_hours"}


def test_data_processors_run_in_their_order(d: Daemon) -> None:
    """The lowest order runs first and knows nothing; what all of them found is there for the tools."""
    page = tools(d, "/contact/")
    assert page["site_hours"]["data"]["items"] == [{"day": "Monday", "first": True}]
    assert [option["url"] for option in page["site_goto"]["data"]["options"]] == ["/blog/", "/shop/"]


def test_a_call_says_what_its_method_says(d: Daemon) -> None:
    """One procedure serves /rpc, MCP and the page: description, schemas and hints are the method's own."""
    found = tools(d)["shop_find"]
    assert found["description"] == "Find products by name."
    assert found["inputSchema"]["required"] == ["query"]
    assert found["inputSchema"]["properties"]["query"] == {"type": "string", "description": "Words to look for."}
    assert found["annotations"] == {
        "readOnlyHint": True,
        "untrustedContentHint": True,
        "consequentialHint": False,
    }
    assert "confirm" not in found
    assert "confirm" in tools(d)["shop_order"]
    assert set(found["data"]) == {"endpoint", "token", "expires"}


PAGES = "pages: {resource: webmcp, prefix: /webmcp}\n"
HOURS = """\
webmcp:
  sites:
    main:
      locale: en
      tools:
        opening_hours:
          description: {en: When the shop is open., uk: Коли магазин відчинено.}
          title: {en: Hours, uk: Години}
          static:
            items: {en: [{title: Monday}], uk: [{title: понеділок}]}
            text: {heading: {en: "Open:", uk: "Відчинено:"}, line: "{n}: {title}"}
        sections:
          description: Open a section.
          navigate: {options: [{match: blog, label: {en: Blog, uk: Блог}, url: {en: /blog/, uk: URL}}]}
"""


ENGLISH = ["When the shop is open.", "Open:", "Monday", "Blog", "/blog/"]
UKRAINIAN = ["Коли магазин відчинено.", "Відчинено:", "понеділок", "Блог", "/uk/blog/"]


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        pytest.param("en", ENGLISH, id="the site's own language"),
        pytest.param("uk-UA", UKRAINIAN, id="another"),
        pytest.param("de", ENGLISH, id="one that nobody wrote"),
    ],
)
def test_tools_of_yaml_speak_the_page_s_language(asked: str, texts: list[str], speaking: Daemon) -> None:
    """Texts, entries and addresses are those of the page's language, else the site's; what is said once holds for all."""
    found = {tool["name"]: tool for tool in speaking.get(f"/webmcp/config.json?path=/&locale={asked}").json()["tools"]}
    hours, sections = found["opening_hours"], found["sections"]
    (entry,), (option,), text = hours["data"]["items"], sections["data"]["options"], hours["data"]["text"]
    assert [hours["description"], text["heading"], entry["title"], option["label"], option["url"]] == texts
    assert (text["line"], option["match"], sections["description"]) == ("{n}: {title}", "blog", "Open a section.")


@pytest.fixture(scope="module")
def speaking() -> Iterator[Daemon]:
    with daemon(config=HOURS.replace("URL", "/uk/blog/"), routes=PAGES) as running:
        yield running


def test_check_reads_every_language() -> None:
    """What is wrong in one language only is found where it stands."""
    with folder(config=HOURS.replace("URL", "'javascript:x'"), routes=PAGES) as place:
        done = cli("check", cwd=place)
    found = [line for line in (done.stdout + done.stderr).splitlines() if "[webmcp-url]" in line]
    assert (done.returncode, [line.partition(" ")[0] for line in found]) == (1, ["gateway.yaml:14:75:"]), found


HEADERS = {
    "config.json": {
        "Content-Type": "application/json",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
        "Vary": "Cookie, Accept-Language, Accept-Encoding, Origin",
    },
    "config.html": {
        "Content-Type": "text/html; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
        "Vary": "Cookie, Accept-Language, Accept-Encoding, Origin",
    },
    "webmcp.js": {
        "Content-Type": "text/javascript; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding, Origin",
    },
}


@pytest.mark.parametrize("path", HEADERS)
def test_what_may_be_kept(d: Daemon, path: str) -> None:
    """Each document has its caching, its `Vary` and `nosniff`, and the same bytes are not sent twice."""
    answer = d.get(f"/webmcp/{path}")
    assert {name: answer.header(name) for name in HEADERS[path]} == HEADERS[path]
    again = d.get(f"/webmcp/{path}", {"If-None-Match": answer.header("ETag") or ""})
    assert (again.status, again.body) == (304, b"")


def test_the_same_page_is_the_same_bytes(d: Daemon) -> None:
    """Nothing in a page changes by itself from one moment to the next."""
    assert d.get("/webmcp/config.json?path=/x").body == d.get("/webmcp/config.json?path=/x").body


def test_the_script_under_its_content_s_name(d: Daemon) -> None:
    """What is named by its content is kept for ever, and is what stands under the stable name."""
    done = cli("webmcp", "snippet", cwd=d.folder)
    name = re.findall(r'src="(/webmcp/webmcp\.[0-9a-f]{16}\.js)"', done.stdout)
    answer = d.get(name[0])
    assert answer.body == d.get("/webmcp/webmcp.js").body == SCRIPT
    assert answer.header_all("Cache-Control") == ["public, max-age=31536000, immutable"]


def test_the_snippet(d: Daemon) -> None:
    """The command prints the tag with the script's digest, and the headers that a strict policy needs."""
    done = cli("webmcp", "snippet", "main", cwd=d.folder)
    digest = base64.b64encode(sha384(SCRIPT).digest()).decode()
    assert done.returncode == 0
    assert f'integrity="sha384-{digest}"' in done.stdout
    assert 'data-config="/webmcp/config.json"' in done.stdout
    assert (
        "Content-Security-Policy: script-src 'self' https://shop.example.org; connect-src 'self' https://shop.example.org\n"
        in done.stdout
    )
    assert "Permissions-Policy: tools=(self)" in done.stdout


def test_a_site_that_there_is_not(d: Daemon) -> None:
    """The command names the sites that there are."""
    done = cli("webmcp", "snippet", "other", cwd=d.folder)
    assert (done.returncode, "main" in done.stderr) == (2, True)


@pytest.mark.parametrize("query", ["path=blog", "path=//evil.example/", "path=https://evil.example/", "path=/a%00b"])
def test_no_page(d: Daemon, query: str) -> None:
    """What is no path is refused with a word on what is."""
    answer = d.get(f"/webmcp/config.json?{query}")
    assert (answer.status, "/blog/" in answer.json()["error"]) == (400, True)


ORIGINS = [
    pytest.param("https://www.example.org", 200, "https://www.example.org", id="the site's"),
    pytest.param("https://evil.example", 403, None, id="a foreign one"),
    pytest.param("null", 403, None, id="a page of no origin"),
]


@pytest.mark.parametrize(("origin", "status", "allowed"), ORIGINS)
def test_who_may_read_it(d: Daemon, origin: str, status: int, allowed: str | None) -> None:
    """Pages of the site's origins may read its configuration; no other page may."""
    answer = d.get("/webmcp/config.json", {"Origin": origin})
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (status, allowed)


def test_the_site_s_own_name_is_answered_to(d: Daemon) -> None:
    """Behind a proxy that keeps the name, the site's pages find the daemon; at other paths the name is not its own."""
    named = {"Host": "www.example.org"}
    assert d.get("/webmcp/config.json", named).status == 200
    assert d.get("/", named).status == 421


def test_never_an_origin_keyed_cluster_off(d: Daemon) -> None:
    """`Origin-Agent-Cluster: ?0` would take the tools from the page."""
    paths = ("config.json", "config.html", "webmcp.js")
    assert [d.get(f"/webmcp/{path}").header("Origin-Agent-Cluster") for path in paths] == [None] * 3


NASTY = "</script><img src=x onerror=alert(1)><!--<script>\u2028 'ї' \" 😀"


def test_no_text_leaves_the_block() -> None:
    """Whatever stands in a description stays inside of the script block, and is the same there."""
    told = configured(site={"tools": {"nasty": {"description": NASTY, "static": {"items": [{"title": NASTY}]}}}})
    written = json.dumps(told, ensure_ascii=False).replace("\u2028", "\\u2028")  # a line break to YAML
    with daemon(config=written, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        block = running.get("/webmcp/config.html").text
        assert block.startswith('<script type="application/json" id="webmcp-config">{')
        assert block.endswith("}</script>")
        assert (block.count("<"), block.count("&"), "\u2028" in block) == (2, 0, False)
        inside = json.loads(block.partition(">")[2].rpartition("<")[0])
        assert next(tool for tool in inside["tools"] if tool["name"] == "nasty")["description"] == NASTY


def test_a_page_without_tools() -> None:
    """No tools: the JSON says so, and the block is nothing at all."""
    with daemon(config="ufo_json_rpc: {security: {protected_api: false}}", routes=ROUTES) as running:
        assert running.get("/webmcp/config.json").json()["tools"] == []
        block = running.get("/webmcp/config.html")
        assert (block.status, block.body) == (200, b"")


def test_sites_from_one_daemon() -> None:
    """Each site has its own tools, its own origins, and nothing of the other's."""
    two = configured(site={"plugins": []})
    two["webmcp"]["sites"]["other"] = {
        "origins": ["https://other.example"],
        "endpoint": "https://gw.example/other",
        "tools": {"other_tool": {"description": "Of the other.", "static": {"items": [{"title": "a"}]}}},
        "plugins": [],
    }
    routes = ROUTES + "other: {resource: webmcp, prefix: /other, defaults: {site: other}}\n"
    with daemon(config=two, routes=routes, plugins={"shop.py": PLUGIN}) as running:
        assert tools(running, prefix="/other").keys() == {"other_tool"}
        assert "other_tool" not in tools(running)
        told = running.get("/other/config.json").json()
        assert (told["endpoint"], told["site"]) == ("https://gw.example/other/event", "other")
        assert running.get("/other/config.json", {"Origin": "https://other.example"}).status == 200
        assert running.get("/webmcp/config.json", {"Origin": "https://other.example"}).status == 403


FAILING = """
import rpcgw as rpc
from rpcgw.api.webmcp import Manifest, StaticList


class Good:
    name = "good"

    def manifest(self, page, data):
        return Manifest("good", "Is fine.", StaticList([{"title": "a"}]))


class Raises(Good):
    name = "raises"

    def manifest(self, page, data):
        raise KeyError("menu")


class Renamed(Good):
    name = "renamed"

    def manifest(self, page, data):
        return Manifest("renamed" if page.path == "/" else "other", "Has two names.", StaticList([{"title": "a"}]))


class Wrong(Good):
    name = "wrong"

    def manifest(self, page, data):
        return Manifest("wrong", "", StaticList([{"title": "a"}])) if page.path == "/x" else None


class NoManifest(Good):
    name = "no_manifest"

    def manifest(self, page, data):
        return {"name": "no_manifest"} if page.path == "/x" else None


class Lost:
    def process(self, page):
        raise OSError("no menu today")


plugin = rpc.Plugin(page_tools=[Raises, Renamed, Wrong, NoManifest, Good], page_data=[Lost])
"""


def test_one_tool_that_fails_takes_no_other_with_it() -> None:
    """What raises, changes its name or is wrong on a page is left out of it and logged; the rest of the page stands."""
    config = "ufo_json_rpc: {security: {protected_api: false}}"
    with daemon(config=config, routes=ROUTES, plugins={"failing.py": FAILING}) as running:
        assert tools(running, "/x").keys() == {"good"}
        omitted = {line["tool"]: line["reason"] for line in running.logs("webmcp.omitted")}
        assert omitted == {
            "raises": "its provider raised KeyError",
            "renamed": "its manifest is named 'other'",
            "wrong": "description is empty: an agent would not know what the tool is for",
            "no_manifest": "its provider gave a dict, not a Manifest",
        }
        assert [line["processor"] for line in running.logs("webmcp.no_data")] == ["Lost"]


SWITCHES = [
    pytest.param({"enabled": False}, {"config.json": 404, "webmcp.js": 404, "event": 404, "call": 404}, id="everything"),
    pytest.param({"usage": {"enabled": False}}, {"config.json": 200, "webmcp.js": 200, "event": 404, "call": 403}, id="usage only"),
]  # fmt: skip


@pytest.mark.parametrize(("off", "expected"), SWITCHES)
def test_switches(off: dict[str, Any], expected: dict[str, int]) -> None:
    """What is switched off is not there; without usage no page is told to send beacons."""
    with daemon(config=configured(**off), routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        methods = {"event": "POST", "call": "POST"}
        sent = {"Content-Type": "application/json"}
        found = {
            path: running.request(methods.get(path, "GET"), f"/webmcp/{path}", b"", sent).status for path in expected
        }
        assert found == expected
        if expected["config.json"] == 200:
            assert "endpoint" not in running.get("/webmcp/config.json").json()


def test_a_tool_is_switched_off_by_a_reload() -> None:
    """`disabled` takes a tool from the page, from the calls and from the whitelist, without a restart."""
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        token = tools(running)["shop_find"]["data"]["token"]
        running.write({"gateway.yaml": json.dumps(configured(site={"disabled": ["shop_find", "site_goto"]}))})
        running.hup()
        running.wait_log("reload.done", seconds=60)
        wait_until(lambda: not {"shop_find", "site_goto"} & tools(running).keys(), 20, running.stderr)
        body = {"tool": "shop_find", "token": token, "arguments": {"query": "lamp"}}
        own = {"Origin": "https://www.example.org", "Sec-Fetch-Site": "same-origin"}
        assert running.post("/webmcp/call", body, own).json()["error"]["code"] == "unknown-tool"


CHECKED = """\
webmcp:
  strict: STRICT
  sites:
    main:
      tools:
        site_goto:
          description: Open a section.
          navigate:
            options:
              - match: a
                label: A
                url: URL
            messages: {success: "Going to {where}."}
"""


@pytest.mark.parametrize(
    ("strict", "url", "code", "said"),
    [
        pytest.param("false", "javascript:alert(1)", 1, "gateway.yaml:12:17: error[webmcp-url]", id="an error"),
        pytest.param("false", "/a", 0, "gateway.yaml:13:24: warning[webmcp-placeholder]", id="a warning"),
        pytest.param("true", "/a", 1, "gateway.yaml:13:24: error[webmcp-placeholder]", id="a warning, strictly"),
    ],
)
def test_check(strict: str, url: str, code: int, said: str) -> None:
    """`rpcgw check` names the file, the line and the field; `strict` takes no warning."""
    config = CHECKED.replace("STRICT", strict).replace("URL", url)
    with folder(config=config, routes=PAGES) as place:
        done = cli("check", cwd=place)
        assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done.stdout + done.stderr


def test_check_names_the_class() -> None:
    """What is wrong with a plugin's tool is said with its class, at its file and line."""
    broken = FAILING.replace('"good", "Is fine."', '"good", ""')
    with folder(
        config="{}", routes="pages: {resource: webmcp, prefix: /webmcp}\n", plugins={"failing.py": broken}
    ) as place:
        done = cli("check", cwd=place)
        assert re.search(
            r'failing\.py:6: error\[webmcp-description\] "Good\.description" is empty', done.stdout + done.stderr
        )
        assert done.returncode == 1
