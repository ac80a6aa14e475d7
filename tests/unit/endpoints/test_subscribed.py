"""Open streams: how many somebody has, and how all of them end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rpcgw.endpoints.subscribed import Subscription, Subscriptions


@pytest.mark.parametrize(
    ("tools", "changed"),
    [
        pytest.param({"mcp": "new"}, True, id="others"),
        pytest.param({"mcp": "old"}, False, id="the same"),
        pytest.param({}, True, id="none any more"),
        pytest.param(None, False, id="nobody serves on"),
    ],
)
def test_the_end(tools: Mapping[str, str] | None, changed: bool) -> None:
    """Who listens when it comes, and who asks a worker that drains already, are told the same."""
    subscriptions = Subscriptions({"mcp": "old"})
    early, late = Subscription("mcp", "tools"), Subscription("mcp", "tools")
    assert subscriptions.enter("alice", early)
    assert not early.over
    subscriptions.end(tools)
    assert subscriptions.enter("alice", late)
    assert [(each.over, each.changed) for each in (early, late)] == [(True, changed)] * 2


def test_who_leaves_makes_room() -> None:
    """One owner's streams are bounded, another's do not count, and nothing is kept of who has none."""
    subscriptions = Subscriptions(most=1)
    first, second = Subscription("mcp", "tools"), Subscription("mcp", "tools")
    assert subscriptions.enter("alice", first)
    assert not subscriptions.enter("alice", second)
    assert subscriptions.enter("bob", second)
    subscriptions.leave("alice", first)
    assert subscriptions.enter("alice", first)


def test_a_switch() -> None:
    """Those who listen to the group hear of it, once until they have said so; the streams go on."""
    subscriptions = Subscriptions()
    mine, other = Subscription("mcp", "tools"), Subscription("more", "others")
    assert subscriptions.enter("alice", mine)
    assert subscriptions.enter("alice", other)
    subscriptions.changed("tools")
    assert [(each.changed, each.news.is_set(), each.over) for each in (mine, other)] == [
        (True, True, False),
        (False, False, False),
    ]


def test_a_switch_before_the_end() -> None:
    """What was not said yet is said before the last words, though those who serve on have the same tools."""
    subscriptions, mine = Subscriptions({"mcp": "same"}), Subscription("mcp", "tools")
    assert subscriptions.enter("alice", mine)
    subscriptions.changed("tools")
    subscriptions.end({"mcp": "same"})
    assert (mine.changed, mine.over) == (True, True)
