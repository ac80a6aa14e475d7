"""Calls over `/rpc`: references in batches, what is absent and what is null, and whose deadline holds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.kernel_plugin import Notes, call, kernel_daemon, message, result
from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, wait_until


class Site:
    """A daemon, and what has run."""

    def __init__(self, served: Daemon, notes: Notes) -> None:
        self.served = served
        self.notes = notes

    def batch(self, *items: dict[str, Any]) -> list[Any]:
        answers: list[Any] = self.served.post("/rpc", list(items)).json()
        return answers


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    notes = Notes(tmp_path_factory.mktemp("notes"))
    methods = {
        "Demo.deadline": {"deadline": 20},
        "Demo.pid": {"unknown_params": "refuse"},
    }
    with kernel_daemon(notes, methods=methods, defaults={"batch_concurrency": 3}) as served:
        yield Site(served, notes)


@pytest.fixture
def site(running: Site, record_property: Note) -> Iterator[Site]:
    """The same, overheard."""
    with noting(record_property, running.served):
        yield running


def test_references(site: Site) -> None:
    """A-RPC-25, A-RPC-27: a chain with several parents, its end first: answered in the batch's order, each with what its parents gave."""
    answers = site.batch(
        message("Demo.echo", {"value": "@FROM:b()", "other": "@FROM:a(id)"}, "c"),
        message("Demo.echo", ["@from:a(name)"], "b"),
        message("Demo.make", {"name": "pot"}, "a"),
        message("Demo.echo", {"value": "@FROM:a(none)"}, "d"),
        message("Demo.echo", {"value": "@FROM:a(twist)"}, "e"),
    )
    assert [answer["id"] for answer in answers] == ["c", "b", "a", "d", "e"]
    assert [answer["result"] for answer in answers if answer["id"] != "a"] == ["pot", "pot", None, "@FROM:a(id)"]


REFERENCES = [
    pytest.param("@FROM:bad(x)", -32600, ['"value"', '"x"', '"bad"', "an error"], id="a parent that failed"),
    pytest.param("@FROM:a(zz)", -32600, ['"value"', '"zz"', '"a"', "no such field"], id="a field that is not there"),
    pytest.param("@FROM:nobody(x)", -32600, ['"value"', '"x"', '"nobody"', "not in this batch"], id="no such parent"),
    pytest.param("@FROM:a(", -32602, ['"value"', "must be @FROM"], id="a malformed marker"),
    pytest.param("@FROM:me(x)", -32301, ['"value"', '"x"', '"me"', "circle"], id="a circle"),
]


@pytest.mark.parametrize(("reference", "code", "words"), REFERENCES)
def test_references_that_fail(site: Site, reference: str, code: int, words: list[str]) -> None:
    """A-RPC-26: the item is an error that names parent, field and parameter; the others are answered as if it were not there."""
    first, second, third = site.batch(
        message("Demo.make", {"name": "pan"}, "a"),
        message("Demo.fail", None, "bad"),
        message("Demo.echo", {"value": reference}, "me"),
    )
    assert first["result"]["name"] == "pan"
    assert second["error"]["code"] == -32404
    assert (third["id"], third["error"]["code"]) == ("me", code)
    assert [word for word in words if word not in third["error"]["message"]] == []


def test_references_keep_special_parameters(site: Site) -> None:
    """A-RPC-25: `$rpc` of an item that waits for its parent holds all the same."""
    _, waited = site.batch(
        message("Demo.sleep", {"seconds": 0.1}, "a"),
        message("Demo.deadline", {"$rpc": {"timeout": 15}}, "b"),
    )
    assert waited["result"] == pytest.approx(15, abs=1)


def test_batch_is_concurrent_within_its_limit(site: Site) -> None:
    """A-RPC-20: six items of half a second, three at a time, take a second, and are answered in order."""
    begun = time.monotonic()
    answers = site.batch(*(message("Demo.sleep", {"seconds": 0.5}, number) for number in range(6)))
    assert 0.9 < time.monotonic() - begun < 2.5
    assert [answer["id"] for answer in answers] == list(range(6))


def test_absent_and_null(site: Site) -> None:
    """A-RPC-68: an absent parameter has its default, null is null."""
    assert result(site.served, "Demo.echo") == "nothing"
    assert result(site.served, "Demo.echo", {"value": None}) is None
    assert call(site.served, "Demo.echo", [None])["result"] is None


def test_all_that_is_wrong_at_once(site: Site) -> None:
    """A-RPC-70: missing parameters and wrong types are one answer."""
    error = call(site.served, "Demo.touch_exact", {"key": 7})["error"]
    assert error["code"] == -32602
    assert error["data"]["extra"].keys() == {"key", "lang"}


def test_unknown_names(site: Site) -> None:
    """A-RPC-16: dropped, or refused where the operator says so."""
    assert result(site.served, "Demo.echo", {"value": 1, "zzz": 2}) == 1
    error = call(site.served, "Demo.pid", {"zzz": 2})["error"]
    assert (error["code"], list(error["data"]["extra"])) == (-32602, ["zzz"])


@pytest.mark.parametrize(
    ("special", "single", "batched"),
    [
        pytest.param({}, 20, 20, id="the method's own"),
        pytest.param({"timeout": 12}, 12, 12, id="the caller's, which is shorter"),
        pytest.param({"timeout": 100}, 20, 20, id="the method's, which is shorter"),
    ],
)
def test_the_shortest_deadline_holds(site: Site, special: dict[str, Any], single: float, batched: float) -> None:
    """A-RPC-28: `$rpc.timeout` and the configured deadline: the shorter one, for a call and for a batch's item."""
    params = {"$rpc": special}
    assert result(site.served, "Demo.deadline", params) == pytest.approx(single, abs=1)
    [answer] = site.batch(message("Demo.deadline", params))
    assert answer["result"] == pytest.approx(batched, abs=1)


def test_an_item_without_a_deadline_gets_ten_seconds(site: Site) -> None:
    """A-RPC-22: a batch does not wait for ever: -32300, also where the item says when, and the others are answered."""
    late, asked, slow, quick = site.batch(
        message("Demo.sleep", {"seconds": 60}, 1),
        message("Demo.sleep", {"seconds": 60, "$rpc": {"timeout": 10.5}}, 2),
        message("Demo.sleep", {"seconds": 10.5, "$rpc": {"timeout": 20}}, 3),
        message("Demo.echo", {"value": 2}, 4),
    )
    assert (late["error"]["code"], asked["error"]["code"]) == (-32300, -32300)
    assert (slow["result"], quick["result"]) == (10.5, 2)


def test_a_notification_that_refers(site: Site) -> None:
    """A-RPC-25: it runs after the answers, with what they hold."""
    body = [
        {"jsonrpc": "2.0", "method": "Demo.make", "params": {"name": "@FROM:a(name)"}},
        message("Demo.make", {"name": "jar"}, "a"),
    ]
    assert len(site.batch(*body)) == 1
    wait_until(lambda: len(site.notes.all("make", name="jar")) == 2, 10, lambda: "it did not run")
