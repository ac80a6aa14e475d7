"""A plot of what a call costs, as SVG: bars on a logarithmic scale, readable in light and dark. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from html import escape

from bench.measuring import Runs
from bench.targets import FLOOR

_WIDTH, _LEFT, _RIGHT, _TOP, _STEP, _BAR = 760, 230, 70, 46, 26, 16
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.v{font-size:12px}.b{fill:#8a93a6}.o{fill:#3f51b5}"
    ".g{stroke:#8886;stroke-width:1}@media(prefers-color-scheme:dark){text{fill:#ddd}.o{fill:#8c9eff}.b{fill:#6b7385}}"
)


def bars(found: Mapping[str, Runs], labels: Mapping[str, str], ours: str) -> str:
    """CPU of a call over the bare handler's, a bar a case, by its label, dearest last; ours begin with `ours`."""
    values = {label: _middle(found[name]) for label, name in labels.items() if name in found and found[name].runs}
    values[FLOOR] = 1.0
    ordered = sorted(values.items(), key=lambda item: item[1])
    top = 10 ** math.ceil(math.log10(max(values.values()) * 1.01))
    low = 10 ** math.floor(math.log10(min(values.values())))
    height = _TOP + _STEP * len(ordered) + 12

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log(value / low) / math.log(top / low)

    ticks = [low * 10**power for power in range(round(math.log10(top / low)) + 1)]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>Processor time of one call, as a multiple of a bare aiohttp handler's</title><style>{_STYLE}</style>",
        '<text x="8" y="18">CPU of a small call, in bare aiohttp handlers (logarithmic)</text>',
        *(_tick(x(tick), tick, height) for tick in ticks),
        *(_bar(row, name, value, x(value), ours=name.startswith(ours)) for row, (name, value) in enumerate(ordered)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _middle(runs: Runs) -> float:
    return statistics.median(run.ratio("cpu") for run in runs.runs)


def _tick(x: float, value: float, height: int) -> str:
    line = f'<line class="g" x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{height - 8}"/>'
    return f'{line}<text class="v" x="{x:.1f}" y="{_TOP - 10}" text-anchor="middle">{value:g}</text>'


def _bar(row: int, name: str, value: float, end: float, *, ours: bool) -> str:
    y = _TOP + _STEP * row
    kind = "o" if ours else "b"
    text = f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
    rect = f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{max(1.0, end - _LEFT):.1f}" height="{_BAR}" rx="2"/>'
    return f'{text}{rect}<text class="v" x="{end + 6:.1f}" y="{y + 13}">{value:.3g}</text>'
