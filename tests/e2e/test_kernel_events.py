"""The events of a call as a plugin's listeners see them, over `/rpc` and a real daemon."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.e2e.kernel_plugin import Notes, call, kernel_daemon, message, result
from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, wait_until

BOTH = [10, -10]
BEFORE = ["RequestReceived", "PreExecute", "PreResponse", "PostExecute"]
_numbers = count(1)


class Site:
    """A daemon, and what its listeners have noted."""

    def __init__(self, served: Daemon, notes: Notes) -> None:
        self.served = served
        self.notes = notes

    def events(self, tag: str) -> list[str]:
        """The events for a tag, of the listener that comes first."""
        return [note["name"] for note in self.notes.all("event", tag=tag, priority=10)]

    def wait_for(self, tag: str, name: str, number: int = 1) -> None:
        """Until both listeners have been told of so many events of a name."""
        wait_until(
            lambda: len(self.notes.all("event", tag=tag, name=name)) >= 2 * number,
            10,
            lambda: f"no {number} {name} of {tag}",
        )

    def ran(self, tag: str) -> int:
        return len(self.notes.all("run", tag=tag))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    notes = Notes(tmp_path_factory.mktemp("notes"))
    with kernel_daemon(notes) as served:
        yield Site(served, notes)


@pytest.fixture
def site(running: Site, record_property: Note) -> Iterator[Site]:
    """The same, overheard."""
    with noting(record_property, running.served):
        yield running


@pytest.fixture
def tag() -> str:
    """A word that no other test uses."""
    return f"tag-{next(_numbers)}"


def test_order(site: Site, tag: str) -> None:
    """A-RPC-52, A-RPC-54, A-RPC-58: every event of a success fires once, in the pipeline's order; of its listeners the higher priority is first."""
    assert result(site.served, "Watched.plain", {"tag": tag}) == tag
    site.wait_for(tag, "PostResponse")
    story = site.notes.kinds(("event", "run"), tag=tag)
    assert story == [*["event"] * 4, "run", *["event"] * 6]
    told = [(note["name"], note["priority"]) for note in site.notes.all("event", tag=tag)]
    assert told == [(name, priority) for name in [*BEFORE, "PostResponse"] for priority in BOTH]


def test_a_failure(site: Site, tag: str) -> None:
    """A-RPC-59: a failure fires `rpc.error` once and nothing after it; a listener's error is the one that is answered."""
    error = call(site.served, "Watched.fail", {"tag": tag})["error"]
    assert (error["code"], error["message"], error["data"]["extra"]) == (777, "another error", {"was": "gone"})
    errors = site.notes.all("event", name="ErrorRaised", method="Watched.fail")
    assert [note["priority"] for note in errors[-2:]] == BOTH
    assert site.events(tag) == ["RequestReceived", "PreExecute"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        pytest.param("Watched.nosuch", {"tag": "x"}, -32601, id="an unknown method"),
        pytest.param("Watched.plain", {}, -32602, id="a missing parameter"),
        pytest.param("Watched.plain", {"tag": 7}, -32602, id="a wrong type"),
        pytest.param("Watched.plain", ["a", "b"], -32602, id="too many positions"),
        pytest.param("Watched.plain", {"tag": "veto-request"}, -32400, id="a veto of rpc.request"),
        pytest.param("Watched.plain", {"tag": "veto-execute"}, 4010, id="a veto of rpc.pre_execute"),
        pytest.param("Watched.plain", {"tag": "break-request"}, -32602, id="parameters that a listener broke"),
    ],
)
def test_every_failure_is_told_once(site: Site, method: str, params: Any, code: int) -> None:
    """A-RPC-59, A-RPC-55: wherever a call fails in the pipeline, `rpc.error` fires once, and the procedure has not run."""
    before = len(site.notes.all("event", name="ErrorRaised", priority=10))
    runs = len(site.notes.all("run"))
    assert call(site.served, method, params)["error"]["code"] == code
    assert len(site.notes.all("event", name="ErrorRaised", priority=10)) == before + 1
    assert len(site.notes.all("run")) == runs


@pytest.mark.parametrize(
    ("tag", "expected", "ran"),
    [
        pytest.param("replace-request", "replaced-request", "replaced-request", id="rpc.request"),
        pytest.param("replace-execute", "replaced-execute", "replaced-execute", id="rpc.pre_execute"),
        pytest.param("replace-response", {"replaced": "replace-response"}, "replace-response", id="rpc.pre_response"),
    ],
)
def test_replacements(site: Site, tag: str, expected: Any, ran: str) -> None:
    """A-RPC-55, A-RPC-54, A-RPC-56: what a listener puts in the place of parameters or result is what counts."""
    before = site.ran(ran)
    assert result(site.served, "Watched.plain", {"tag": tag}) == expected
    assert site.ran(ran) == before + 1


def test_a_hit_fires_nothing_after_the_request(site: Site, tag: str) -> None:
    """A-RPC-53, A-RPC-58: a cached answer is the one after `rpc.pre_response`, and fires `rpc.request` alone."""
    result(site.served, "Watched.kept", {"tag": tag})
    site.wait_for(tag, "PostResponse")
    result(site.served, "Watched.kept", {"tag": tag})
    result(site.served, "Watched.plain", {"tag": f"{tag}-after"})
    site.wait_for(f"{tag}-after", "PostResponse")
    assert site.events(tag) == [*BEFORE, "PostResponse", "RequestReceived"]
    assert site.ran(tag) == 1


def test_post_response_comes_after_the_bytes(site: Site, tag: str) -> None:
    """A-RPC-58, T-18: the client has its answer while a listener of `rpc.post_response` still waits."""
    waiting = f"wait-{tag}"
    assert result(site.served, "Watched.plain", {"tag": waiting}) == waiting
    assert site.events(waiting) == BEFORE
    site.notes.go(waiting)
    site.wait_for(waiting, "PostResponse")


def test_post_response_of_a_batch(site: Site, tag: str) -> None:
    """A-RPC-58, T-18: once for each executed success of a batch: not for errors, not for hits; a notification's comes last."""
    result(site.served, "Watched.kept", {"tag": f"{tag}-kept"})
    site.wait_for(f"{tag}-kept", "PostResponse")
    names = ["plain", "fail", "kept", "plain"]
    batch = [message(f"Watched.{name}", {"tag": f"{tag}-{name}"}, number) for number, name in enumerate(names)]
    notification = {"jsonrpc": "2.0", "method": "Watched.plain", "params": {"tag": f"{tag}-note"}}
    answers = site.served.post("/rpc", [notification, *batch]).json()
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    site.wait_for(f"{tag}-note", "PostResponse")
    fired = {name: site.events(f"{tag}-{name}").count("PostResponse") for name in {*names, "note"}}
    assert fired == {"plain": 2, "fail": 0, "kept": 1, "note": 1}
