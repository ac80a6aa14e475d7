"""`rpcgw.testing` as an author of plugins uses it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.api.errors import ConfigError
from rpcgw.api.plugin import Plugin
from rpcgw.testing import Event, GatewayFactory, PluginGateway
from tests.unit.testing import words


@pytest.fixture
def gateway(rpcgw_gateway: GatewayFactory) -> PluginGateway:
    return rpcgw_gateway(words)


BROUGHT = [
    pytest.param(words, id="its module"),
    pytest.param(words.plugin, id="its value"),
    pytest.param("tests.unit.testing.words", id="its module's name"),
    pytest.param("tests.unit.testing.words:plugin", id="what an entry point says"),
]


@pytest.mark.parametrize("brought", BROUGHT)
def test_a_plugin_in_any_form(rpcgw_gateway: GatewayFactory, brought: Plugin | ModuleType | str) -> None:
    """A plugin is given by its module, its name or its value."""
    assert rpcgw_gateway(brought).call("Words.greet", {"name": "Ada"}).result == "Hello, Ada"


def test_a_plugin_is_configured(rpcgw_gateway: GatewayFactory) -> None:
    """`config` is what the operator says to the plugin."""
    gateway = rpcgw_gateway(words, config={"greeting": "Hi"})
    assert gateway.call("Words.greet", {"name": "Ada"}).result == "Hi, Ada"


@pytest.mark.parametrize(
    ("config", "settings", "text"),
    [
        pytest.param({"greeting": 7}, {}, "plugins.config", id="what the plugin does not take"),
        pytest.param(None, {"defaults": {"deadlin": 1}}, "deadlin", id="an option that there is not"),
    ],
)
def test_wrong_settings(
    rpcgw_gateway: GatewayFactory, config: Mapping[str, Any] | None, settings: Mapping[str, Any], text: str
) -> None:
    """Settings are checked as those of a file are."""
    with pytest.raises(ConfigError, match=text):
        rpcgw_gateway(words, config=config, settings=settings)


def test_a_plugin_that_cannot_be_imported(rpcgw_gateway: GatewayFactory) -> None:
    """What would be quarantined fails the test, with the reason."""
    with pytest.raises(AssertionError, match="no_such_plugin"):
        rpcgw_gateway("no_such_plugin")


def test_values_go_as_json(gateway: PluginGateway) -> None:
    """Params may be Python values; results are what a client gets."""
    assert gateway.call("Words.after", {"day": date(2026, 2, 28)}).result == "2026-03-01"
    assert gateway.tool("Words.after", {"day": date(2026, 2, 28)}).result == "2026-03-01"


@pytest.mark.parametrize("era", ["stateless", "session"])
def test_a_tool_says_how_far_it_is(gateway: PluginGateway, era: Any) -> None:
    """Progress comes with the answer, in both eras."""
    answer = gateway.tool("Words.tell", era=era)
    assert [(told["progress"], told["total"], told["message"]) for told in answer.progress] == [(1, 2, "half")]
    assert answer.result == "told"


def test_a_tool_sends_messages(gateway: PluginGateway) -> None:
    """What a procedure tells its client can be read."""
    assert [(m["level"], m["data"]) for m in gateway.tool("Words.tell").logged] == [("info", {"seen": 1})]


@pytest.mark.parametrize("name", ["eu-west", "Київ", " eu "], ids=["plain", "another script", "blanks around it"])
def test_headers_repeat_arguments(gateway: PluginGateway, name: str) -> None:
    """What a tool wants to see in a header stands there."""
    assert gateway.tool("Words.region", {"name": name}).result == name


def test_failures(gateway: PluginGateway, capsys: pytest.CaptureFixture[str]) -> None:
    """A client sees what production shows; the test's own output has the reason."""
    assert "secret" not in gateway.call("Words.broken").error.message
    assert "secret reason" in capsys.readouterr().err


def test_a_result_of_what_failed(gateway: PluginGateway) -> None:
    """Asking a failure for its result fails the test with the error."""
    with pytest.raises(AssertionError, match="-32602"):
        _ = gateway.call("Words.greet").result
    with pytest.raises(AssertionError, match="succeeded"):
        _ = gateway.call("Words.alone").error


def test_a_batch(gateway: PluginGateway) -> None:
    """A batch's answers come in the order of its calls."""
    answers = gateway.batch(("Words.slow", {"seconds": 0.01}), ("Words.one", {"id": 5}), ("Words.none", None))
    assert [answers[0].result, answers[1].result, answers[2].error.code] == ["done", 5, -32601]


def test_the_clock_moves_caches(gateway: PluginGateway) -> None:
    """Kept results grow old as the clock moves."""
    for seconds in (0, timedelta(seconds=59), 2):
        gateway.clock.advance(seconds)
        gateway.call("Words.greet", {"name": "Ada"})
    assert [line["outcome"] for line in gateway.logs("call")] == ["success", "cached", "success"]
    assert gateway.events("cache.write") == [Event("cache.write", {"method": "Words.greet"})] * 2


def test_the_clock_moves_sessions(rpcgw_gateway: GatewayFactory) -> None:
    """A session that nobody used for its time to live has ended."""
    gateway = rpcgw_gateway(words, settings={"ufo_mcp": {"session_ttl": 60}})
    gateway.tool("Words.alone", era="session")
    gateway.clock.advance(61)
    assert gateway.tool("Words.alone", era="session").status == 404


def test_the_clock_does_not_go_back(gateway: PluginGateway) -> None:
    """Time goes on only."""
    with pytest.raises(ValueError, match="back"):
        gateway.clock.advance(-1)


def test_the_clock_moves_timers(gateway: PluginGateway) -> None:
    """What sleeps wakes as the clock moves."""

    async def sleep_for_an_hour() -> str:
        sleeping = asyncio.create_task(asyncio.sleep(3600, "woken"))
        await asyncio.sleep(0)
        gateway.clock.advance(3600)
        return await sleeping

    assert gateway.run(sleep_for_an_hour()) == "woken"


@pytest.mark.parametrize(
    ("method", "params", "other", "code"),
    [
        pytest.param("Words.alone", {}, {}, -32400, id="a lock of the method"),
        pytest.param("Words.one", {"id": 1}, {"id": 1}, -32400, id="a lock of a value"),
    ],
)
def test_a_lock_is_held(
    gateway: PluginGateway, method: str, params: dict[str, Any], other: dict[str, Any], code: int
) -> None:
    """While a test holds a lock, callers are refused; then they are not."""
    with gateway.locked(method, params):
        assert gateway.call(method, other).error.code == code
    assert gateway.call(method, other).result == 1


def test_a_lock_of_another_value(gateway: PluginGateway) -> None:
    """Another value's lock is free."""
    with gateway.locked("Words.one", {"id": 1}):
        assert gateway.call("Words.one", {"id": 2}).result == 2


def test_tokens(rpcgw_gateway: GatewayFactory) -> None:
    """A protected group wants its token."""
    security = {"protected_api": True, "clients_tokens": ["s3cret-token-of-a-test"]}
    gateway = rpcgw_gateway(words, settings={"ufo_json_rpc": {"security": security}})
    assert gateway.call("Words.alone").status == 401
    assert gateway.call("Words.alone", token="s3cret-token-of-a-test").result == 1
    assert gateway.tool("Words.alone", token="s3cret-token-of-a-test").result == 1


def test_groups_and_versions(gateway: PluginGateway) -> None:
    """Every group of the plugin is served; a version that is not there is none."""
    assert "Words.greet" in gateway.methods(group="desk")
    assert "Words.greet" in gateway.tools(group="desk")
    assert gateway.methods(version=2) == []
    assert gateway.call("Words.alone", version=2).error.code == -32601


def test_the_document(gateway: PluginGateway) -> None:
    """The OpenRPC document is the one that `/rpc` answers."""
    assert "Words.greet" in [method["name"] for method in gateway.openrpc()["methods"]]


def test_what_the_plugin_logs(gateway: PluginGateway) -> None:
    """Lines of logging and structlog are there, with the call that they belong to."""
    gateway.call("Words.tell")
    for event in ("by logging", "by structlog"):
        assert [line["method"] for line in gateway.logs(event)] == ["Words.tell"]


def test_logging_is_as_it_was(rpcgw_gateway: GatewayFactory, caplog: pytest.LogCaptureFixture) -> None:
    """The log capture of pytest sees the plugin's lines too."""
    rpcgw_gateway(words).call("Words.tell")
    assert "by logging" in caplog.messages


def test_sync_procedures_run_in_threads(gateway: PluginGateway) -> None:
    """As in a daemon."""
    assert gateway.call("Words.thread").result is True


async def test_within_a_loop(rpcgw_gateway: GatewayFactory) -> None:
    """An async test is told to be a plain one."""
    with pytest.raises(RuntimeError, match="plain function"):
        rpcgw_gateway(words)


TEXTS = {
    "complete": ("Notes.add: {title: Add}\n", "Notes.add: {title: Додати}\n", None),
    "a language that lacks one": ("Notes.add: {title: Add}\n", "", "Notes.add has no text in uk"),
    "a text of nothing": ("Notes.ad: {title: Add}\n", "Notes.add: {title: Додати}\n", '"Notes.ad" matches no method'),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts(rpcgw_gateway: GatewayFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Texts are complete in the languages that are asked for, or the test fails with what is wrong."""
    english, ukrainian, problem = TEXTS[case]
    name = f"notes_{abs(hash(case))}"
    package = tmp_path / name
    (package / "texts").mkdir(parents=True)
    (package / "texts" / "rpc.en.yaml").write_text(english)
    (package / "texts" / "rpc.uk.yaml").write_text(ukrainian)
    (package / "__init__.py").write_text(
        "import rpcgw as rpc\n"
        "@rpc.procedure('Notes', groups=['mcp'])\n"
        "class Notes:\n"
        "    def add(self, tags: list) -> int:\n"
        "        '''Add one.'''\n"
        "        return 1\n"
        "plugin = rpc.Plugin(procedures=[Notes], translations='texts')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    gateway = rpcgw_gateway(name)
    sys.modules.pop(name)
    if problem is None:
        gateway.assert_texts("en", "uk")
        return
    with pytest.raises(AssertionError, match=problem):
        gateway.assert_texts("en", "uk")


def test_clients_that_take_everything(gateway: PluginGateway) -> None:
    """Dots in names are the operator's to mend, and no fault of the plugin."""
    gateway.assert_clients()


def test_a_client_that_does_not(gateway: PluginGateway) -> None:
    """Asked about one client, everything that it does not take is told, and the setting that mends it."""
    with pytest.raises(AssertionError, match=r"Words.greet: .*tools.naming: underscore"):
        gateway.assert_clients("claude.ai")


def test_a_client_that_nobody_knows(gateway: PluginGateway) -> None:
    """A name that no rule has is a mistake in the test."""
    with pytest.raises(ValueError, match="Nobody"):
        gateway.assert_clients("Nobody")


@rpc.procedure("Desk", groups=["mcp"])
class Desk:
    """Turns itself off."""

    def __init__(self, switch: rpc.MethodSwitch) -> None:
        self.switch = switch

    async def close(self) -> None:
        """Close."""
        await self.switch.disable("Desk.close")


def test_a_plugin_turns_a_method_off(rpcgw_gateway: GatewayFactory) -> None:
    """It is gone from lists and calls of this gateway, and of no other."""
    gateway, other = rpcgw_gateway(Plugin(procedures=[Desk])), rpcgw_gateway(Plugin(procedures=[Desk]))
    assert not gateway.tool("Desk.close").is_error
    assert "Desk.close" not in gateway.tools()
    assert "Desk.close" in other.tools()
    assert gateway.tool("Desk.close").error.code == -32602
