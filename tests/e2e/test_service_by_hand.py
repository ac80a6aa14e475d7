"""The page on systemd without `make install`: its lines under "By hand", typed in a machine that has booted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.test_blocks import blocks
from tests.support.daemon import ROOT
from tests.support.http import Client
from tests.support.installing import WHEELS, checkout, make
from tests.support.machine import SYSTEM, booted, lay, missing

WHEELS_OF_SYSTEM = WHEELS if Path("/") == SYSTEM else SYSTEM.with_name("wheels")
FILES = {
    "gateway.yaml": "ufo_json_rpc: {security: {protected_api: false}}\n",
    "routes.yaml": "rpc: {resource: rpc, prefix: /rpc}\n",
}
"""What somebody has written before they come to this page."""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_same_by_hand(tmp_path: Path) -> None:
    """Line by line in the source, from an index that is a folder here: it serves."""
    if reason := missing():
        pytest.skip(reason)
    root, made = tmp_path / "root", checkout(tmp_path / "source")
    root.mkdir()
    lay(root)
    assert make("make wheel", made).returncode == 0
    for name, text in FILES.items():
        (made / name).write_text(text, "utf-8")
    [lines] = [each.text for each in blocks(ROOT / "docs/howto/systemd.md") if each.text.startswith("python3 -m venv")]
    index = f"PIP_NO_INDEX=1 PIP_FIND_LINKS='{WHEELS_OF_SYSTEM} {made / 'dist'}'"
    with booted(root, [made, WHEELS_OF_SYSTEM.resolve(), WHEELS_OF_SYSTEM]) as machine:
        machine.run("sh", "-ec", f"cd {made}\nexport {index}\n{lines}")
        assert machine.show("rpcgw", "ActiveState") == {"ActiveState": "active"}
        with machine.network():
            answer = Client("http://127.0.0.1:8080").post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.json()["result"] == "PONG"
