"""C-01, C-08 to C-17: what `ufo_mcp` takes, what it means when it is silent, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import redis as redis_support
from tests.support.daemon import Daemon, daemon
from tests.support.http import Answer, Client
from tests.support.mcp import Session, Stateless
from tests.support.refusal import Refusal, refusal

GROUPS = ("common", "partial", "named", "silent", "closed", "open")

SHOP = f"""
import rpcgw as rpc

@rpc.procedure("Shop", groups={[*GROUPS, "off", "on"]!r}, with_default=False)
class Shop:
    def size(self, text: str = "") -> int:
        return len(text)

@rpc.procedure("Shop", version=2, groups={[*GROUPS]!r}, with_default=False)
class ShopV2:
    def size(self, text: str = "") -> int:
        return -len(text)
"""

OPEN = {"security": {"protected_api": False}}
COMMON = {"name": "org.example/common", "title": "The common server", "description": "For all of them."}
ICON = {"src": "https://example.com/icon.png", "mime_type": "image/png", "sizes": ["128x128"], "theme": "dark"}


def imports(groups: tuple[str, ...]) -> dict[str, Any]:
    """Return an import of each group, at a prefix of its name."""
    return {group: {"resource": "mcp", "prefix": f"/{group}", "defaults": {"api_group": group}} for group in groups}


@pytest.fixture(scope="module")
def database(redis_port: int) -> Iterator[int]:
    """A database of this module's own, for sessions to be looked at."""
    number = redis_support.empty_database(redis_port)
    redis_support.command(redis_port, f"SELECT {number}", "SET taken 1")
    yield number
    redis_support.flush(redis_port, number)


@pytest.fixture(scope="module")
def pool(redis_port: int, database: int) -> dict[str, Any]:
    """The setting that puts sessions there."""
    return {"cache": {"pool": f"redis://127.0.0.1:{redis_port}/{database}"}}


@pytest.fixture(scope="module")
def tuned(pool: dict[str, Any]) -> Iterator[Daemon]:
    """Common settings, and groups that override some of them, or none."""
    mcp = {
        "instructions": "The common words.",
        "max_body_bytes": 3000,
        "session_ttl": 500,
        "mcp_server_info": {**COMMON, "icons": [ICON]},
        "groups": {
            "partial": {
                "enabled": True,
                "instructions": "Words of its own.",
                "max_body_bytes": 2000,
                "session_ttl": 50,
                "mcp_server_info": {"title": "Its own title"},
            },
            "named": {"mcp_server_info": {"name": "org.example/named"}},
            "silent": {
                "enabled": None,
                "instructions": None,
                "max_body_bytes": None,
                "session_ttl": None,
                "mcp_server_info": {"name": None, "title": None},
            },
            "closed": {"enabled": False},
            "open": {"enabled": True, "mcp_server_info": None},
        },
    }
    with daemon(
        config={"ufo_json_rpc": {**OPEN, **pool}, "ufo_mcp": mcp}, routes=imports(GROUPS), plugins={"shop.py": SHOP}
    ) as running:
        yield running


@pytest.fixture(scope="module")
def untuned(pool: dict[str, Any]) -> Iterator[Daemon]:
    """Nothing said of MCP at all, beside a group whose every option is written with its default."""
    with daemon(
        config={"ufo_json_rpc": {**OPEN, **pool}}, routes=imports(("common",)), plugins={"shop.py": SHOP}
    ) as running:
        yield running


@pytest.fixture(scope="module")
def from_environment(redis_port: int, database: int) -> Iterator[Daemon]:
    """Every value from a variable: MCP is off for all, and on for one group."""
    env = {
        "MCP_ENABLED": "false",
        "MCP_ON": "true",
        "WORDS": "Words from outside.",
        "BODY": "2500",
        "TTL": "77",
        "ID": "org.example/env",
        "NAME": "outer",
        "ICON": "https://example.com/env.png",
        "RESOURCE": "mcp",
        "PREFIX": "/from/outside",
        "GROUP": "on",
        "POOL_HOST": "127.0.0.1",
        "POOL_PORT": str(redis_port),
        "POOL_NUMBER": str(database),
        "PROTECTED": "no",
    }
    config = {
        "ufo_json_rpc": {
            "security": {"protected_api": "%env(bool:PROTECTED)%"},
            "cache": {"pool": "redis://%env(POOL_HOST)%:%env(POOL_PORT)%/%env(POOL_NUMBER)%"},
        },
        "ufo_mcp": {
            "enabled": "%env(bool:MCP_ENABLED)%",
            "groups": {
                "on": {
                    "enabled": "%env(bool:MCP_ON)%",
                    "instructions": "%env(WORDS)%",
                    "max_body_bytes": "%env(int:BODY)%",
                    "session_ttl": "%env(int:TTL)%",
                    "mcp_server_info": {
                        "name": "%env(ID)%",
                        "title": "The %env(NAME)% server",
                        "icons": [{"src": "%env(ICON)%"}],
                    },
                }
            },
        },
    }
    routes = {
        "off": {"resource": "mcp", "prefix": "/off", "defaults": {"api_group": "off"}},
        "on": {"resource": "%env(RESOURCE)%", "prefix": "%env(PREFIX)%", "defaults": {"api_group": "%env(GROUP)%"}},
        "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "off"}},
    }
    with daemon(config=config, routes=routes, plugins={"shop.py": SHOP}, env=env) as running:
        yield running


@pytest.fixture(scope="module")
def unknown() -> Refusal:
    """A start with options that do not exist, and nothing else that is wrong."""
    config = """\
    ufo_json_rpc:
      security: {protected_api: false}
      caches: {}
    ufo_mcp:
      enabled: true
      session_directory: /tmp/sessions
      server_name: shop
      server_version: "1.0"
      methods: [Shop.size]
      mcp_server_info:
        version: "2"
      groups:
        common:
          instructions: words
          methods: [Shop.size]
          version: 2
          tools: [Shop.size]
    ufo_mpc: {}
    """
    routes = """\
    common:
      resource: mcp
      prefix: /common
      version: 2
      defaults:
        api_group: common
        methods: [Shop.size]
    """
    return refusal(config=config, routes=routes, plugins={"shop.py": SHOP})


@pytest.fixture(scope="module")
def out_of_range() -> Refusal:
    """A start with common values that are too small or of the wrong kind."""
    config = """\
    ufo_json_rpc:
      security: {protected_api: false}
    ufo_mcp:
      max_body_bytes: 0
      session_ttl: 0
      mcp_server_info:
        icons:
          - {mime_type: image/png}
          - {src: a.png, theme: pink}
    """
    return refusal(config=config, routes=imports(GROUPS), plugins={"shop.py": SHOP})


@pytest.fixture(scope="module")
def groups_out_of_range() -> Refusal:
    """A start with such values of groups, and nothing else that is wrong."""
    config = """\
    ufo_json_rpc:
      security: {protected_api: false}
    ufo_mcp:
      groups:
        partial:
          max_body_bytes: 0
          session_ttl: 0
        named:
          max_body_bytes: -1
          session_ttl: -1
        silent:
          max_body_bytes: 1.5
          session_ttl: ten
        open:
          max_body_bytes: true
          session_ttl: "60"
        common:
          max_body_bytes: 1
          session_ttl: 1
    """
    return refusal(config=config, routes=imports(GROUPS), plugins={"shop.py": SHOP})


def sized(client: Client, path: str, size: int, *, chunked: bool = False) -> Answer:
    """Post a `tools/call` whose body has so many bytes."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "Shop.size", "_meta": meta, "arguments": {"text": "?"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    body = message.replace(b"?", b"x" * (size - len(message) + 1))
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "Shop.size",
    }
    if chunked:
        body, headers["Transfer-Encoding"] = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), "chunked"
    return client.request("POST", path, body, headers)


def limit_is(client: Client, path: str, size: int) -> bool:
    """Say whether a body of so many bytes is taken and one more is not."""
    return (sized(client, path, size).status, sized(client, path, size + 1).status) == (200, 413)


def time_to_live(port: int, database: int, group: str, session: Session) -> float:
    """Return the seconds that a session has left in Redis."""
    said = redis_support.command(port, f"SELECT {database}", f"PTTL ufo_mcp_{group}_{session.id}")[-1]
    return int(said.removeprefix(":")) / 1000


# -- C-01: what no option decides


@pytest.mark.parametrize("option", ["methods", "version", "tools"])
def test_no_option_picks_tools_or_versions(unknown: Refusal, option: str) -> None:
    """C-01: there is no option by which the settings of a group could say what its tools or its version are."""
    assert unknown.about("Unrecognized option", f'"{option}"', '"ufo_mcp.groups.common"') != []


# -- C-08: defaults


def test_enabled_by_default(untuned: Daemon) -> None:
    """C-08: `enabled` is true."""
    assert Stateless(untuned, "/common").tools().keys() == {"Shop.size"}


def test_no_instructions_by_default(untuned: Daemon) -> None:
    """C-08: `instructions` is null, and a field that is null is not sent."""
    assert "instructions" not in Session(untuned, "/common").server
    assert "instructions" not in Stateless(untuned, "/common").discover()


def test_four_mebibytes_by_default(untuned: Daemon) -> None:
    """C-08: `max_body_bytes` is 4194304."""
    assert limit_is(untuned, "/common", 4_194_304)


def test_an_hour_by_default(untuned: Daemon, redis_port: int, database: int) -> None:
    """C-08: `session_ttl` is 3600 seconds."""
    assert 3590 < time_to_live(redis_port, database, "common", Session(untuned, "/common")) <= 3600


def test_no_server_info_by_default(untuned: Daemon) -> None:
    """C-08: `mcp_server_info` has neither name nor title of its own, and no icons."""
    assert Session(untuned, "/common").server["serverInfo"] == {"name": "ufo-rpc", "version": "v1"}


def test_defaults_may_be_written_down(pool: dict[str, Any], untuned: Daemon) -> None:
    """C-08: a configuration that says what is the default anyway, of every key, changes nothing."""
    info: dict[str, Any] = {"name": None, "title": None, "description": None, "icons": []}
    mcp = {
        "enabled": True,
        "instructions": None,
        "max_body_bytes": 4194304,
        "session_ttl": 3600,
        "mcp_server_info": info,
        "groups": {},
    }
    with daemon(
        config={"ufo_json_rpc": {**OPEN, **pool}, "ufo_mcp": mcp},
        routes=imports(("common",)),
        plugins={"shop.py": SHOP},
    ) as written:
        assert Session(written, "/common").server == Session(untuned, "/common").server
        assert Stateless(written, "/common").discover() == Stateless(untuned, "/common").discover()
        assert limit_is(written, "/common", 4_194_304)


@pytest.mark.parametrize("option", ["max_body_bytes", "session_ttl"])
def test_common_limits_begin_at_one(out_of_range: Refusal, option: str) -> None:
    """C-08: 0 is refused, with its place, and nothing starts."""
    assert out_of_range.about("gateway.yaml:", f'"ufo_mcp.{option}"', "at least 1") != []
    assert out_of_range.code == 78


# -- C-09: enabled, and variables


def test_what_is_disabled_for_all_is_not_found(from_environment: Daemon) -> None:
    """C-09: `enabled: false` makes the endpoint answer 404, whatever is asked; `%env(bool:MCP_ENABLED)%` works there."""
    for path in ("/off", "/off/v1"):
        stateless = Stateless(from_environment, path)
        assert [stateless.send(method).status for method in ("server/discover", "tools/list")] == [404, 404]
        assert from_environment.post(path, {"jsonrpc": "2.0", "id": 1, "method": "initialize"}).status == 404
        assert from_environment.get(path).status == 404
        assert from_environment.request("DELETE", path).status == 404


def test_other_protocols_are_not_disabled(from_environment: Daemon) -> None:
    """C-09: it is the MCP endpoint that is off; `/rpc` serves the group as before."""
    answer = from_environment.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Shop.size"})
    assert (answer.status, answer.json()["result"]) == (200, 0)


def test_what_is_disabled_for_one_group_is_not_found(tuned: Daemon) -> None:
    """C-09: `enabled: false` under a group makes that group's endpoint answer 404, and no other."""
    assert Stateless(tuned, "/closed").send("tools/list").status == 404
    assert Stateless(tuned, "/open").send("tools/list").status == 200


def test_a_group_is_enabled_alone(from_environment: Daemon) -> None:
    """C-09: `enabled: true` under a group, from a variable, holds against a common false."""
    assert Stateless(from_environment, "/from/outside").tools().keys() == {"Shop.size"}


def test_texts_come_from_variables(from_environment: Daemon) -> None:
    """C-09: `%env(...)%` works in texts, alone and inside longer ones."""
    said = Session(from_environment, "/from/outside").server
    assert said["instructions"] == "Words from outside."
    assert said["serverInfo"] == {"name": "org.example/env", "title": "The outer server", "version": "v1"}


def test_numbers_come_from_variables(from_environment: Daemon, redis_port: int, database: int) -> None:
    """C-09: `%env(int:...)%` works in numbers, and in the URL of a pool."""
    assert limit_is(from_environment, "/from/outside", 2500)
    assert 70 < time_to_live(redis_port, database, "on", Session(from_environment, "/from/outside")) <= 77


def test_routes_come_from_variables(from_environment: Daemon) -> None:
    """C-09: `%env(...)%` works in routes, in the resource, the prefix and the group."""
    assert Stateless(from_environment, "/from/outside/v1").send("tools/list").status == 200


# -- C-10, C-11: instructions and bodies


def test_instructions_are_told_in_initialize(tuned: Daemon) -> None:
    """C-10: `instructions` is the field of that name in the answer to `initialize`."""
    assert Session(tuned, "/common").server["instructions"] == "The common words."


def test_instructions_are_told_in_discovery(tuned: Daemon) -> None:
    """C-10: and in that to `server/discover`."""
    assert Stateless(tuned, "/common").discover()["instructions"] == "The common words."


@pytest.mark.parametrize("chunked", [False, True], ids=["a length that is told", "chunks"])
@pytest.mark.parametrize("path", ["/common", "/common/v2"])
def test_a_larger_body_is_refused(tuned: Daemon, path: str, chunked: bool) -> None:
    """C-11: one byte over `max_body_bytes` is 413; up to it a body is read."""
    assert sized(tuned, path, 3000, chunked=chunked).status == 200
    assert sized(tuned, path, 3001, chunked=chunked).status == 413


def test_a_larger_body_is_not_read(tuned: Daemon) -> None:
    """C-11: a length over the limit is refused before the body was sent."""
    head = "POST /common HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    with tuned.socket() as connection:
        connection.sendall(head.format(10**9).encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


# -- C-12, C-13, C-15: who the server says it is


def test_the_name_is_told(tuned: Daemon) -> None:
    """C-12: `mcp_server_info.name` is `serverInfo.name`, in both eras."""
    assert Session(tuned, "/common").server["serverInfo"]["name"] == "org.example/common"
    assert server_info(tuned, "/common")["name"] == "org.example/common"


def test_without_a_name_it_is_the_products(untuned: Daemon) -> None:
    """C-12: unset, it is `ufo-rpc`."""
    assert Session(untuned, "/common").server["serverInfo"]["name"] == "ufo-rpc"
    assert server_info(untuned, "/common")["name"] == "ufo-rpc"


def test_the_title_is_told_and_nothing_else(tuned: Daemon) -> None:
    """C-13: `title` is `serverInfo.title`; description and icons are not for clients."""
    expected = {"name": "org.example/common", "title": "The common server", "version": "v1"}
    assert Session(tuned, "/common").server["serverInfo"] == expected
    assert server_info(tuned, "/common") == expected


def test_without_a_title_there_is_none(untuned: Daemon) -> None:
    """C-13: unset, `title` is not sent."""
    assert "title" not in Session(untuned, "/common").server["serverInfo"]


def test_icons_are_checked(out_of_range: Refusal) -> None:
    """C-13: an icon needs its `src`, and its theme is `light` or `dark`."""
    assert out_of_range.about("gateway.yaml:8:", "mcp_server_info.icons", '"src"') != []
    assert out_of_range.about("gateway.yaml:9:", "mcp_server_info.icons", "theme", '"light"', '"dark"') != []


@pytest.mark.parametrize(("path", "version"), [("/common", "v1"), ("/common/v1", "v1"), ("/common/v2", "v2")])
def test_the_version_is_the_requests(tuned: Daemon, path: str, version: str) -> None:
    """C-15: `serverInfo.version` is always the request's `{ver}`, in both eras."""
    assert Session(tuned, path).server["serverInfo"]["version"] == version
    assert server_info(tuned, path)["version"] == version


@pytest.mark.parametrize("place", ["ufo_mcp.mcp_server_info", "ufo_mcp.groups.common"])
def test_there_is_no_version_setting(unknown: Refusal, place: str) -> None:
    """C-15: an option `version` is unknown wherever it might be looked for."""
    assert unknown.about("Unrecognized option", '"version"', f'"{place}"') != []


def server_info(client: Client, path: str) -> dict[str, Any]:
    """Return what the stateless era says of the server."""
    told: dict[str, Any] = Stateless(client, path).discover()["_meta"]["io.modelcontextprotocol/serverInfo"]
    return told


# -- C-14: what a group overrides


def test_a_group_overrides_each_field(tuned: Daemon, redis_port: int, database: int) -> None:
    """C-14: instructions, body limit, time of sessions and title of a group are its own, where it has them."""
    session = Session(tuned, "/partial")
    assert session.server["instructions"] == "Words of its own."
    assert session.server["serverInfo"]["title"] == "Its own title"
    assert limit_is(tuned, "/partial", 2000)
    assert 45 < time_to_live(redis_port, database, "partial", session) <= 50


def test_server_info_is_inherited_field_by_field(tuned: Daemon) -> None:
    """C-14: a group that sets only the title has the common name, one that sets only the name has the common title."""
    assert Session(tuned, "/partial").server["serverInfo"]["name"] == "org.example/common"
    assert Session(tuned, "/named").server["serverInfo"] == {
        "name": "org.example/named",
        "title": "The common server",
        "version": "v1",
    }


@pytest.mark.parametrize(
    "group",
    [
        pytest.param("common", id="a group without an entry"),
        pytest.param("silent", id="a group that says nothing (~)"),
        pytest.param("open", id="a group that sets another field"),
    ],
)
def test_what_a_group_does_not_set_is_common(tuned: Daemon, redis_port: int, database: int, group: str) -> None:
    """C-14: a field that is unset or `~` has the common value, and so has all of a group without an entry."""
    session = Session(tuned, f"/{group}")
    assert session.server["instructions"] == "The common words."
    assert session.server["serverInfo"] == {"name": COMMON["name"], "title": COMMON["title"], "version": "v1"}
    assert limit_is(tuned, f"/{group}", 3000)
    assert 490 < time_to_live(redis_port, database, group, session) <= 500


def test_enabled_is_inherited_and_overridden(tuned: Daemon, from_environment: Daemon) -> None:
    """C-14: `enabled` of a group goes before the common one; unset or `~`, it is the common one."""
    assert [Stateless(tuned, f"/{group}").send("tools/list").status for group in ("closed", "silent")] == [404, 200]
    assert Stateless(from_environment, "/off").send("tools/list").status == 404
    assert Stateless(from_environment, "/from/outside").send("tools/list").status == 200


# -- C-16, C-17: what is refused

FORMER = [("session_directory", 6), ("server_name", 7), ("server_version", 8), ("methods", 9)]
UNKNOWN = [
    ("gateway.yaml", "caches", 3),
    ("gateway.yaml", "version", 11),
    ("gateway.yaml", "methods", 15),
    ("gateway.yaml", "ufo_mpc", 18),
    ("routes.yaml", "version", 4),
    ("routes.yaml", "methods", 7),
]


@pytest.mark.parametrize(("option", "line"), FORMER)
def test_options_of_earlier_builds_are_unknown(unknown: Refusal, option: str, line: int) -> None:
    """C-16: each option of earlier builds is an unknown one, told with its place."""
    (told,) = unknown.about(f"gateway.yaml:{line}:")
    assert f'Unrecognized option "{option}" under "ufo_mcp"' in told


@pytest.mark.parametrize(("file", "option", "line"), UNKNOWN)
def test_an_unknown_option_is_told_with_its_place(unknown: Refusal, file: str, option: str, line: int) -> None:
    """C-16: wherever it stands, in both files: "Unrecognized option", its name, file and line; all of them at once."""
    (told,) = unknown.about(f"{file}:{line}:")
    assert f'Unrecognized option "{option}"' in told


def test_an_unknown_option_fails_the_start(unknown: Refusal) -> None:
    """C-16: the daemon does not start: exit code 78, and no traceback."""
    assert unknown.code == 78
    assert "Traceback" not in unknown.said


@pytest.mark.parametrize(
    ("option", "group", "line"),
    [
        pytest.param("max_body_bytes", "partial", 6, id="a body of 0"),
        pytest.param("session_ttl", "partial", 7, id="a time of 0"),
        pytest.param("max_body_bytes", "named", 9, id="a body below 0"),
        pytest.param("session_ttl", "named", 10, id="a time below 0"),
        pytest.param("max_body_bytes", "silent", 12, id="half a byte"),
        pytest.param("session_ttl", "silent", 13, id="a word for a time"),
        pytest.param("max_body_bytes", "open", 15, id="a boolean"),
        pytest.param("session_ttl", "open", 16, id="a number in quotes"),
    ],
)
def test_limits_of_groups_are_checked(groups_out_of_range: Refusal, option: str, group: str, line: int) -> None:
    """C-17: `max_body_bytes` and `session_ttl` of a group are integers from 1 on; anything else is told, with its place."""
    (told,) = groups_out_of_range.about(f"gateway.yaml:{line}:")
    assert re.search(rf'"ufo_mcp\.groups\.{group}\.{option}" must be (at least 1|an integer)', told)


def test_limits_of_groups_fail_the_start(groups_out_of_range: Refusal) -> None:
    """C-17: the daemon does not start, and says nothing of a group whose limits are 1."""
    assert (groups_out_of_range.code, groups_out_of_range.about("ufo_mcp.groups.common")) == (78, [])
