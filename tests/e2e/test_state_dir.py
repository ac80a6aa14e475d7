"""A state directory that keeps nothing."""

from __future__ import annotations

from tests.support.refusal import refusal


def test_a_daemon_that_can_keep_nothing_says_where_and_what_to_do() -> None:
    """It ends with 78 and the option's line, without a traceback."""
    refused = refusal(config={"state_dir": "occupied/var", "ufo_json_rpc": OPEN}, files={"occupied": "a file"})
    (line,) = refused.about("error[state-dir]")
    assert refused.code == 78
    assert line.startswith("gateway.yaml:2:")
    assert "occupied/var: Not a directory" in line
    assert "Traceback" not in refused.said


OPEN = {"security": {"protected_api": False}}
