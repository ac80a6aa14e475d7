"""What 2,000 beacons a second cost those who call methods by MCP at a daemon that has nothing to spare."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import uvloop
from prometheus_client.parser import text_string_to_metric_families

from tests.support.daemon import Daemon, daemon
from tests.support.figures import Figure
from tests.support.saturation import SENT, pinned, saturated
from tests.support.sites import PLUGIN, ROUTES, configured, stored

ROUNDS = 16
WIDE = 10_000_000
WITH_MCP = ROUTES + "mcp: {resource: mcp, prefix: /mcp, defaults: {api_group: public}}\n"


def counted(d: Daemon, name: str, label: str) -> Counter[str]:
    """A metric's numbers by one of its labels."""
    families = text_string_to_metric_families(d.get("/metrics").text)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return Counter({sample.labels[label]: int(sample.value) for sample in samples})


@pytest.mark.parametrize(
    ("what", "usage", "mostly"),
    [
        pytest.param("stored", {"rate_limit": WIDE, "ceiling": WIDE}, 204, id="within rates, stored"),
        pytest.param("refused", {}, 429, id="beyond the default rates, refused"),
    ],
)
def test_beacons_at_saturation(what: str, usage: dict[str, Any], mostly: int, figure: Figure) -> None:
    """Two saturated workers lose less than a tenth of their calls; each beacon is stored, or refused by the rule."""
    config = {**configured(usage=usage), "server": {"workers": 1}, "logging": {"calls": False}}
    with pinned(0), daemon(config=config, routes=WITH_MCP, plugins={"shop.py": PLUGIN}) as running:
        with pinned(1):
            seen = uvloop.run(saturated(int(running.url.rpartition(":")[2]), running.pid, ROUNDS))
        rows, became = len(stored(running)), counted(running, "rpcgw_webmcp_beacons_total", "outcome")
        limited = counted(running, "rpcgw_limited_total", "limit")
    kept, refused = seen.beacons[204], seen.beacons[429]
    case = f"2,000 beacons a second, {what}, beside MCP calls that saturate the daemon"
    figure(
        case, "throughput of calls lost, two workers on two cores", seen.lost / 2 * 100, "%", promised="less than 10 %"
    )
    figure(case, "throughput of calls lost, one worker on one core", seen.lost * 100, "%")
    figure(case, "processor time of a beacon", seen.beacon * 1000, "ms")
    figure(case, f"beacons unaccounted for, of {SENT * ROUNDS:,}", SENT * ROUNDS - rows - refused, promised="0")
    assert set(seen.calls) == {200}
    assert kept + refused == SENT * ROUNDS, seen.beacons
    assert (rows, became["begun"]) == (kept, kept)
    assert (became["limited"], limited["beacon"]) == (refused, refused)
    assert seen.beacons[mostly] > 0.9 * SENT * ROUNDS
    # Where other programs are at work on the same core, its caches are cold and a beacon costs half as much again.
    assert seen.lost / 2 < 0.1, [(window.rate, window.worked) for window in (*seen.quiet, *seen.beside)]
