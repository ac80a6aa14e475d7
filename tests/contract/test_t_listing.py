"""T-01 to T-06, T-13: which tools there are, what they are called, and what is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, cli, daemon, folder
from tests.support.http import Answer
from tests.support.mcp import Session, Stateless, by_name, result_of

LONG = "n" * 124 + ".run"
TOO_LONG = "n" * 125 + ".run"

SHOP = f"""
import rpcgw as rpc

@rpc.procedure("Shop", groups=["mcp", "internal"], with_default=False)
class Shop:
    @rpc.tool(title="Marked", read_only=True)
    def marked(self) -> str:
        return "marked"

    def plain(self) -> str:
        return "plain"

    async def waiting(self) -> str:
        return "waiting"

    @rpc.groups("internal", with_default=False)
    @rpc.tool(title="Not for agents", read_only=True)
    def secret(self) -> str:
        return "secret"

    @rpc.hidden
    @rpc.tool(title="No method", read_only=True)
    def helper(self) -> str:
        return "helper"

@rpc.procedure("Shop", version=2, removed=["plain"], groups=["mcp"], with_default=False)
class ShopV2:
    def marked(self) -> str:
        return "marked again"

    def fresh(self) -> str:
        return "fresh"

@rpc.procedure("Odd-1_x.y", groups=["mcp"], with_default=False)
class Odd:
    def run(self) -> str:
        return "odd"

@rpc.procedure("{LONG.removesuffix(".run")}", groups=["mcp"], with_default=False)
class Long:
    def run(self) -> str:
        return "long"

@rpc.procedure("Free")
class Free:
    @rpc.tool(title="Free", read_only=True)
    def run(self) -> str:
        return "free"
"""

HINTS = """
import rpcgw as rpc

@rpc.procedure("Hints", groups=["hints"], with_default=False)
class Hints:
    def unmarked(self) -> None: ...

    @rpc.tool()
    def empty(self) -> None: ...

    @rpc.tool(read_only=True)
    def read_only(self) -> None: ...

    @rpc.tool(read_only=False)
    def writing(self) -> None: ...

    @rpc.tool(destructive=False, idempotent=True)
    def two(self) -> None: ...

    @rpc.tool(title="All of them", read_only=False, destructive=True, idempotent=False, open_world=True)
    def every(self) -> None: ...
"""

TEXTS = '''
import rpcgw as rpc

@rpc.procedure("Step", groups=["texts", "others"], with_default=False)
class Step:
    @rpc.tool(title="code title")
    def group_client(self, x: int = 0) -> None:
        """code description"""

    @rpc.tool(title="code title")
    def group_default(self, x: int = 0) -> None:
        """code description"""

    @rpc.tool(title="code title")
    def base_client(self, x: int = 0) -> None:
        """code description"""

    @rpc.tool(title="code title")
    def base_default(self, x: int = 0) -> None:
        """code description"""

    @rpc.tool(title="code title")
    def code(self, x: int = 0) -> None:
        """code description

        In two paragraphs.

        Args:
            x: Not part of the description.

        Returns:
            Nothing either.
        """

    @rpc.tool(title="code title")
    def title_late(self) -> None:
        """code description"""

    @rpc.tool(title="code title")
    def title_early(self) -> None:
        """code description"""

    def nameless(self) -> None: ...

    @rpc.tool(title="Only a title")
    def titled(self) -> None: ...

    def titled_abroad(self) -> None: ...

@rpc.procedure("Step", version=2, groups=["texts"], with_default=False)
class StepV2:
    @rpc.tool(title="code title of v2")
    def group_client(self, y: int) -> None:
        """code description of v2"""

    @rpc.tool(title="code title of v2")
    def base_client(self, y: int) -> None:
        """code description of v2"""
'''

STEPS = ["group_client", "group_default", "base_client", "base_default"]


def catalogue(origin: str, methods: list[str], **more: dict[str, str]) -> str:
    """Return a catalogue whose texts say where they come from."""
    texts: dict[str, dict[str, str]] = {
        f"Step.{name}": {"title": f"{origin} title", "description": f"{origin} description"} for name in methods
    }
    lines = []
    for name, fields in {**texts, **{f"Step.{name}": fields for name, fields in more.items()}}.items():
        lines += [f"{name}:", *(f"  {field}: {text}" for field, text in fields.items())]
    return "\n".join(lines) + "\n"


CATALOGUES = {
    "translations/rpc/texts.uk.yaml": catalogue(
        "group uk", STEPS[:1], title_late={"description": "early"}, title_early={"title": "early"}
    ),
    "translations/rpc/texts.en.yaml": catalogue("group en", STEPS[:2]),
    "translations/rpc.uk.yaml": catalogue("base uk", STEPS[:3], titled_abroad={"title": "Назва"}),
    "translations/rpc.en.yaml": catalogue(
        "base en", STEPS, title_late={"title": "late"}, title_early={"description": "late"}
    ),
}

GROUPS = ["mcp", "internal", "hints", "texts", "others"]
ROUTES = {
    **{
        f"mcp_{name}": {"resource": "mcp", "prefix": f"/mcp/{name}", "defaults": {"api_group": name}} for name in GROUPS
    },
    **{
        f"rpc_{name}": {"resource": "rpc", "prefix": f"/rpc/{name}", "defaults": {"api_group": name}} for name in GROUPS
    },
}

SERVED = {
    "/mcp": {"Shop.marked", "Shop.plain", "Shop.waiting", "Odd-1_x.y.run", LONG},
    "/mcp/v2": {"Shop.marked", "Shop.waiting", "Shop.fresh", "Odd-1_x.y.run", LONG},
    "/internal": {"Shop.marked", "Shop.plain", "Shop.waiting", "Shop.secret"},
}
"""Which methods a group has in a version, by the end of the path."""


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    plugins = {"shop.py": SHOP, "hints.py": HINTS, "texts.py": TEXTS}
    with daemon(routes=ROUTES, plugins=plugins, files=CATALOGUES) as running:
        yield running


def client(era: str, served: Daemon, path: str) -> Stateless | Session:
    return Stateless(served, path) if era == "stateless" else Session(served, path)


eras = pytest.mark.parametrize("era", ["stateless", "session"])


@eras
@pytest.mark.parametrize("path", SERVED)
def test_every_method_of_the_group_and_version_is_listed(served: Daemon, era: str, path: str) -> None:
    """T-01: `tools/list` shows the methods of the endpoint's group and version, marked or not, and no others."""
    assert client(era, served, f"/mcp{path}").tools().keys() == SERVED[path]
    document = served.get(f"/rpc{path}").json()
    assert {method["name"] for method in document["methods"]} == SERVED[path]


@eras
@pytest.mark.parametrize("path", SERVED)
def test_every_tool_runs_its_method(served: Daemon, era: str, path: str) -> None:
    """T-01: `tools/call` runs each tool that is listed: what it answers is what `/rpc` answers."""
    tools = client(era, served, f"/mcp{path}")
    for name in SERVED[path]:
        called = served.post(f"/rpc{path}", {"jsonrpc": "2.0", "id": 1, "method": name}).json()
        assert tools.result(name)["structuredContent"] == {"result": called["result"]}


@eras
def test_a_method_of_another_group_is_no_tool(served: Daemon, era: str) -> None:
    """T-01: membership of the group is all that counts: what another group has cannot be called either."""
    tools = client(era, served, "/mcp/mcp")
    for name in ["Shop.secret", "Shop.helper", "Free.run", "Shop.fresh"]:
        assert tools.call(name).json()["error"]["code"] == -32602


@eras
def test_a_tool_is_called_as_its_method_is(served: Daemon, era: str) -> None:
    """T-02: the name is the RPC method's, dots, digits, dashes, underscores and all, up to 128 characters."""
    tools = client(era, served, "/mcp/mcp")
    assert {"Shop.plain", "Odd-1_x.y.run", LONG} <= tools.tools().keys()
    assert tools.result(LONG)["structuredContent"] == {"result": "long"}
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,128}", name) for name in tools.tools())


def test_a_name_that_mcp_does_not_take_is_refused() -> None:
    """T-02: a method whose name does not match the pattern is a problem with its place, and nothing is served."""
    bad = ["With space", "Крамниця", "a/b", TOO_LONG.removesuffix(".run")]
    classes = "".join(
        f'@rpc.procedure("{alias}")\nclass Bad{number}:\n    def run(self) -> None: ...\n'
        for number, alias in enumerate(bad)
    )
    with folder(plugins={"bad.py": f"import rpcgw as rpc\n{classes}"}) as place:
        checked = cli("check", "-c", "gateway.yaml", cwd=place)
    said = checked.stdout + checked.stderr
    assert checked.returncode != 0
    assert [alias for alias in bad if not re.search(rf"bad\.py:\d+.*{alias[:100]}", said)] == []


LANGUAGES = [
    pytest.param(None, "en", id="no header"),
    pytest.param("uk", "uk", id="a language that is there"),
    pytest.param("uk-UA,uk;q=0.9,en;q=0.8", "uk", id="a browser's header"),
    pytest.param("en;q=0.5, uk;q=0.9", "uk", id="the weight counts, not the order"),
    pytest.param("fr, de;q=0.9, uk;q=0.1", "uk", id="the first of them that is there"),
    pytest.param("fr", "en", id="a language that is not there"),
    pytest.param("uk;q=0, *", "en", id="a language that is not wanted"),
    pytest.param("{};", "en", id="no language at all"),
]


@eras
@pytest.mark.parametrize(("accept", "language"), LANGUAGES)
def test_texts_are_in_the_language_of_the_client(served: Daemon, era: str, accept: str | None, language: str) -> None:
    """T-03: title and description come in the language that `Accept-Language` asks for, as far as it is there."""
    headers = {"Accept-Language": accept} if accept else {}
    tool = client(era, served, "/mcp/texts").tools(headers)["Step.group_client"]
    assert (tool["title"], tool["description"]) == (f"group {language} title", f"group {language} description")


def call_step(tools: Stateless | Session, headers: dict[str, str]) -> Answer:
    return tools.call("Step.code", headers=headers)


def list_steps(tools: Stateless | Session, headers: dict[str, str]) -> Answer:
    return tools.send("tools/list", headers=headers)


@eras
@pytest.mark.parametrize("send", [list_steps, call_step])
@pytest.mark.parametrize("language", ["uk", "en"])
def test_the_answer_names_its_language(served: Daemon, era: str, send: Any, language: str) -> None:
    """T-03: an answer says which language it is in, and that `Accept-Language` made the choice."""
    answer = send(client(era, served, "/mcp/texts"), {"Accept-Language": f"{language}-XX"})
    assert result_of(answer)
    assert answer.header_all("Content-Language") == [language]
    assert "accept-language" in (answer.header("Vary") or "").lower()


def texts(served: Daemon, path: str, name: str, language: str = "uk") -> tuple[str, str]:
    """Return a tool's title and description."""
    answer = Stateless(served, path).send("tools/list", headers={"Accept-Language": language})
    tool = by_name(result_of(answer))[f"Step.{name}"]
    return tool["title"], tool["description"]


def test_a_base_catalogue_holds_for_all_groups(served: Daemon) -> None:
    """T-04: `rpc.<locale>.yaml` speaks of a method in each of its groups."""
    assert texts(served, "/mcp/texts", "base_client") == ("base uk title", "base uk description")
    assert texts(served, "/mcp/others", "base_client") == ("base uk title", "base uk description")


def test_a_group_catalogue_holds_for_its_group(served: Daemon) -> None:
    """T-04: `rpc/<group>.<locale>.yaml` speaks of a method in that group and nowhere else."""
    assert texts(served, "/mcp/texts", "group_client") == ("group uk title", "group uk description")
    assert texts(served, "/mcp/others", "group_client") == ("base uk title", "base uk description")


def test_a_text_holds_for_all_versions(served: Daemon) -> None:
    """T-04: the key is the method's name: another version of the method has the same texts."""
    assert texts(served, "/mcp/texts/v2", "group_client") == ("group uk title", "group uk description")
    assert texts(served, "/mcp/texts/v2", "base_client") == ("base uk title", "base uk description")


CHAIN = [
    pytest.param("group_client", "group uk", id="group and client's language"),
    pytest.param("group_default", "group en", id="group and default language"),
    pytest.param("base_client", "base uk", id="base and client's language"),
    pytest.param("base_default", "base en", id="base and default language"),
]


@pytest.mark.parametrize(("name", "origin"), CHAIN)
def test_texts_fall_back_step_by_step(served: Daemon, name: str, origin: str) -> None:
    """T-05: a group's catalogues go before the base, and in each of them the client's language before the default."""
    assert texts(served, "/mcp/texts", name) == (f"{origin} title", f"{origin} description")


def test_the_last_step_is_what_the_code_says(served: Daemon) -> None:
    """T-05: where no catalogue speaks, the mark gives the title, and the docstring the text above its parameters."""
    assert texts(served, "/mcp/texts", "code") == ("code title", "code description\n\nIn two paragraphs.")


def test_each_field_falls_back_on_its_own(served: Daemon) -> None:
    """T-05: a catalogue that says only one of the two fields leaves the other to the steps after it."""
    assert texts(served, "/mcp/texts", "title_late") == ("late", "early")
    assert texts(served, "/mcp/texts", "title_early") == ("early", "late")


def test_the_name_is_the_title_where_there_is_none(served: Daemon) -> None:
    """T-06: no catalogue and no mark give a title: it is the tool's name."""
    assert texts(served, "/mcp/texts", "nameless")[0] == "Step.nameless"


def test_the_title_is_the_description_where_there_is_none(served: Daemon) -> None:
    """T-06: no catalogue and no docstring give a description: it is the title, wherever that came from."""
    assert texts(served, "/mcp/texts", "nameless")[1] == "Step.nameless"
    assert texts(served, "/mcp/texts", "titled") == ("Only a title", "Only a title")
    assert texts(served, "/mcp/texts", "titled_abroad") == ("Назва", "Назва")


ANNOTATIONS = [
    pytest.param("unmarked", {}, id="no mark"),
    pytest.param("empty", {}, id="a mark that says nothing"),
    pytest.param("read_only", {"readOnlyHint": True}, id="one hint that is true"),
    pytest.param("writing", {"readOnlyHint": False}, id="one hint that is false"),
    pytest.param("two", {"destructiveHint": False, "idempotentHint": True}, id="two hints"),
    pytest.param(
        "every",
        {
            "title": "All of them",
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": True,
        },
        id="all of them, and a title",
    ),
]


@eras
@pytest.mark.parametrize(("name", "annotations"), ANNOTATIONS)
def test_hints_are_sent_as_they_are_set(served: Daemon, era: str, name: str, annotations: dict[str, Any]) -> None:
    """T-13: a hint is true or false where the mark says so; what it does not say is not sent."""
    assert client(era, served, "/mcp/hints").tools()[f"Hints.{name}"].get("annotations", {}) == annotations


@eras
def test_the_mark_never_publishes_a_method(served: Daemon, era: str) -> None:
    """T-13: a marked method that is hidden, or of other groups, is no tool here."""
    listed = client(era, served, "/mcp/mcp").tools()
    assert listed.keys() & {"Shop.secret", "Shop.helper", "Free.run"} == set()
