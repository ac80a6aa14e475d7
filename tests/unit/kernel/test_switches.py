"""Which methods are off, and who is told."""

from __future__ import annotations

import pytest

from rpcgw.endpoints.sessions import LocalRevocations
from rpcgw.kernel.switches import LocalStore, Off, Switches, changed
from tests.unit.kernel.cached_world import Names

KNOWN = {
    "mcp": frozenset({"Catalog.add", "Catalog.search", "Cart.add"}),
    "general": frozenset({"Catalog.search", "ping"}),
}


class Host:
    """A host with two workers that share a store; `announced` counts how often one asked the others to look."""

    def __init__(self) -> None:
        self.store, self.state, self.notes, self.announced = LocalStore(), LocalRevocations(), Names(), 0
        self.one, self.other = self.worker(), self.worker()

    def worker(self) -> Switches:
        return Switches(KNOWN, self.store, self.state, self.notes, self._announce)

    def _announce(self) -> None:
        self.announced += 1


@pytest.mark.parametrize(
    ("method", "group", "off"),
    [
        pytest.param("Catalog.add", None, {"mcp": {"Catalog.add"}}, id="one method"),
        pytest.param(
            "Catalog.search", None, {"mcp": {"Catalog.search"}, "general": {"Catalog.search"}}, id="in all its groups"
        ),
        pytest.param("Catalog.search", "mcp", {"mcp": {"Catalog.search"}}, id="in one group"),
        pytest.param("Catalog.*", "mcp", {"mcp": {"Catalog.add", "Catalog.search"}}, id="a whole procedure"),
        pytest.param("ping", None, {"general": {"ping"}}, id="a method of no procedure"),
    ],
)
async def test_what_a_name_stands_for(method: str, group: str | None, off: Off) -> None:
    """It is off in the worker that turned it off, and in those that look; on again, nothing is."""
    host = Host()
    await host.one.disable(method, group=group)
    for worker in (host.one, host.other):
        assert {own: worker.off(own) for own in KNOWN if worker.off(own)} == off
        assert not worker.is_enabled(method, group=group)
    await host.other.enable(method, group=group)
    assert [worker.off(own) for worker in (host.one, host.other) for own in KNOWN] == [frozenset()] * 4
    assert host.one.is_enabled(method)
    assert (host.announced, set(host.notes.names)) == (2, {"methods.switched"})


@pytest.mark.parametrize(
    ("method", "group"),
    [
        pytest.param("Catalog.none", None, id="no such method"),
        pytest.param("ping", "mcp", id="none in this group"),
        pytest.param("ping", "nowhere", id="no such group"),
        pytest.param("Cat*", None, id="half a name"),
    ],
)
async def test_what_is_no_method(method: str, group: str | None) -> None:
    """It is said, whichever way it is asked, and nothing changes."""
    host = Host()
    with pytest.raises(LookupError, match="there is no method"):
        await host.one.disable(method, group=group)
    with pytest.raises(LookupError, match="there is no method"):
        host.one.is_enabled(method, group=group)
    assert (host.announced, host.store.read()) == (0, {})


async def test_what_is_off_already() -> None:
    """Nobody is told a second time."""
    host = Host()
    await host.one.disable("ping")
    await host.other.disable("ping")
    assert (host.announced, host.notes.names) == (1, ["methods.switched"])


async def test_who_is_told() -> None:
    """Followers of a group hear of its changes, each once, in every worker that looks; one that comes later hears it now."""
    host = Host()
    heard: list[tuple[str, frozenset[str]]] = []
    host.one.follow("mcp", lambda off: heard.append(("one", off)))
    host.other.follow("mcp", lambda off: heard.append(("other", off)))
    host.other.follow("general", lambda off: heard.append(("never", off)))
    await host.one.disable("Cart.add")
    off = frozenset({"Cart.add"})
    assert heard == [("one", off)]
    host.other.settle()
    host.other.settle()
    host.one.settle()
    assert heard == [("one", off), ("other", off)]
    host.worker().follow("mcp", lambda off: heard.append(("late", off)))
    assert heard[2:] == [("late", off)]


def test_changes() -> None:
    """Others' switches stay as they are, and a group where all is on leaves nothing behind."""
    off = changed({"a": frozenset("xy")}, {"b": frozenset("z")}, on=False)
    assert off == {"a": frozenset("xy"), "b": frozenset("z")}
    assert changed(off, {"a": frozenset("xyw")}, on=True) == {"b": frozenset("z")}
