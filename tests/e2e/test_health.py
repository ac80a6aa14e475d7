"""What load balancers and container runtimes ask a daemon, and what they hear."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemon import CONFIG, Daemon, daemon

PROTECTED = {"ufo_json_rpc": {"security": {"protected_api": True, "protected_doc": True, "clients_tokens": ["s3cret"]}}}
FOREIGN = {"Host": "evil.example", "Origin": "http://evil.example"}


@pytest.fixture(scope="module")
def protected() -> Iterator[Daemon]:
    with daemon(config=PROTECTED) as served:
        yield served


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz", "/readyz?verbose"])
def test_health_is_for_everybody(protected: Daemon, path: str) -> None:
    """No token is asked for, and no name: a probe calls by address, or by the name of a pod."""
    assert protected.request("GET", path, None, FOREIGN).status == 200
    assert protected.request("HEAD", path, None, FOREIGN).status == 200
    assert protected.request("POST", "/rpc", b"{}", FOREIGN).status in {403, 421}


def test_the_parts_are_named(protected: Daemon) -> None:
    """Which generation answers, whether the last reload succeeded, and every pool."""
    assert protected.get("/readyz?verbose").json() == {
        "status": "ready",
        "parts": [
            {"name": "generation", "ready": True, "detail": "1"},
            {"name": "configuration", "ready": True, "detail": ""},
            {"name": "pool:default", "ready": True, "detail": ""},
        ],
    }


def test_a_refused_reload_is_told_and_leaves_the_daemon_ready() -> None:
    """The old generation serves as it did: an operator should look, a load balancer need not."""
    with daemon() as served:
        served.write({"gateway.yaml": f"{CONFIG}\nserver: {{bnid: x}}\n"})
        served.hup()
        served.wait_log("reload.refused")
        answer = served.get("/readyz?verbose")
        parts = {part["name"]: part for part in answer.json()["parts"]}
        assert (answer.status, parts["generation"]["detail"]) == (200, "1")
        assert parts["configuration"] == {
            "name": "configuration",
            "ready": False,
            "detail": "the last reload was refused; the log says why",
        }
