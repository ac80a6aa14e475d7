"""Which beacons are counted, and as what."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.protocol.webmcp.agents import LONGEST, cleaned, counted
from rpcgw.protocol.webmcp.beacons import Begun, Ended, Refused, Told, read

CALL = "0123456789abcdef"
TOOLS = {"site_goto", "a" * 128}


def told(beacon: Any, agents: tuple[str, ...] = ()) -> Told | Refused:
    body = beacon if isinstance(beacon, bytes) else json.dumps(beacon).encode()
    return read(body, "main", TOOLS, 1_796_000_000.9, agents)


def begun(client: str = "ChatGPT", tool: str = "site_goto") -> Begun:
    return Begun(site="main", tool=tool, client=client, call=CALL, at=1_796_000_000)


def first(**more: Any) -> dict[str, Any]:
    return {"tool": "site_goto", "client": "ChatGPT", "call": CALL, **more}


def second(**more: Any) -> dict[str, Any]:
    return {"call": CALL, "outcome": "ok", "ms": 12, **more}


COUNTED = [
    pytest.param(first(), begun(), id="a call begins"),
    pytest.param({"tool": "site_goto", "call": CALL}, begun("unknown"), id="nobody says who"),
    pytest.param(first(tool="a" * 128), begun(tool="a" * 128), id="a name of 128 characters, whole"),
    pytest.param(first(call="A-_9" * 16), Begun(site="main", tool="site_goto", client="ChatGPT", call="A-_9" * 16, at=1_796_000_000), id="the longest id"),
    pytest.param(second(), Ended(site="main", call=CALL, outcome="ok", ms=12), id="a call ends"),
    pytest.param(second(outcome="declined", ms=0), Ended(site="main", call=CALL, outcome="declined", ms=0), id="a visitor declined"),
    pytest.param(second(ms=10**12), Ended(site="main", call=CALL, outcome="ok", ms=3_600_000), id="nobody waits for ever"),
]  # fmt: skip


@pytest.mark.parametrize(("beacon", "expected"), COUNTED)
def test_what_is_counted(beacon: Any, expected: Told) -> None:
    """W-11: `{tool, client, call}` counts a call, `{call, outcome, ms}` completes it."""
    assert told(beacon) == expected


MALFORMED = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"{", id="no JSON"),
    pytest.param(b"\xff", id="no text"),
    pytest.param([], id="an array"),
    pytest.param({}, id="an empty object"),
    pytest.param({"tool": "site_goto"}, id="no call"),
    pytest.param(first(call="short"), id="a short id"),
    pytest.param(first(call="a" * 65), id="a long id"),
    pytest.param(first(call="a b" * 8), id="an id with spaces"),
    pytest.param(first(call=CALL + "\n"), id="an id with a line break at its end"),
    pytest.param(first(client=3), id="a client that is no text"),
    pytest.param(first(tool=None), id="a tool that is null"),
    pytest.param(first(outcome="ok", ms=1), id="both forms at once"),
    pytest.param(first(extra=1), id="a member that nobody knows"),
    pytest.param({"call": CALL}, id="neither form"),
    pytest.param(second(outcome="fine"), id="an outcome that there is not"),
    pytest.param(second(ms=-1), id="less than no time"),
    pytest.param(second(ms=1.5), id="a part of a millisecond"),
    pytest.param(second(ms="1"), id="a number in quotes"),
    pytest.param(second(ms=True), id="a truth for a number"),
    pytest.param(second(client="x"), id="a client at the end"),
]  # fmt: skip


@pytest.mark.parametrize("beacon", MALFORMED)
def test_what_is_of_another_form(beacon: Any) -> None:
    """The two forms are exact."""
    assert told(beacon) is Refused.MALFORMED


@pytest.mark.parametrize("tool", ["", "other", "SITE_GOTO", "__proto__"])
def test_the_whitelist(tool: str) -> None:
    """W-11: only tools of the site are counted."""
    assert told(first(tool=tool)) is Refused.UNKNOWN


CLIENTS = [
    pytest.param("ChatGPT", "ChatGPT", "ChatGPT", id="a well-known one"),
    pytest.param("  claude-user/1.0 ", "claude-user/1.0", "Claude-User", id="in other letters, with a version"),
    pytest.param("Claude", "Claude", "Claude", id="the shorter of two names"),
    pytest.param("", "unknown", "unknown", id="nothing"),
    pytest.param("\x00\u202e<>", "unknown", "unknown", id="nothing that is kept"),
    pytest.param("<b>Ann Smith</b>", "b Ann Smith /b", "other", id="a person"),
    pytest.param("ann@example.org", "ann example.org", "other", id="an address"),
    pytest.param("Їжак\t\n2", "Їжак 2", "other", id="letters of any script"),
    pytest.param("a" * 100, "a" * 64, "other", id="too long"),
    pytest.param("a" * 63 + " b", "a" * 63, "other", id="a space at the cut"),
    pytest.param("\ud800x", "x", "other", id="half a character"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "clean", "name"), CLIENTS)
def test_clients(hint: str, clean: str, name: str) -> None:
    """A hint is cleaned, and kept by name only where it is a well-known agent's: no free text is kept."""
    assert (cleaned(hint), counted(hint)) == (clean, name)


def test_agents_of_the_operator_s() -> None:
    """`webmcp.usage.clients` are kept by name, too, and go before."""
    assert told(first(client="my-Agent 3"), ("My-Agent",)) == begun("My-Agent")
    assert counted("ChatGPT Atlas", ("Atlas",)) == "Atlas"


@given(st.text())
def test_any_hint_can_be_cleaned(hint: str) -> None:
    """Whatever is sent becomes 1 to 64 letters, digits, single spaces and `._-/()`; cleaning it again changes nothing."""
    clean = cleaned(hint)
    assert 1 <= len(clean) <= LONGEST
    assert all(sign.isalnum() or sign in " ._-/()" for sign in clean)
    assert "  " not in clean
    assert clean == clean.strip() == cleaned(clean)


@given(st.binary(max_size=300))
def test_any_body_can_be_read(body: bytes) -> None:
    """Whatever is sent is told of, or refused; nothing is raised."""
    assert isinstance(told(body), Begun | Ended | Refused)
