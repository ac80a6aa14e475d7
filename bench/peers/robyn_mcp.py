"""Robyn's MCP server (its HTTP is Rust). argv: port. It checks nothing of its tools' arguments."""

import logging
import sys

from robyn import Robyn
from work import reduced

logging.disable(logging.INFO)
app = Robyn(__file__)


@app.mcp.tool(
    name="discounted",
    description="What a price becomes after a discount, rounded down to whole cents.",
    input_schema={
        "type": "object",
        "properties": {
            "cents": {"type": "integer", "minimum": 0},
            "percent": {"type": "integer", "minimum": 0, "maximum": 100},
        },
        "required": ["cents", "percent"],
    },
)
def discounted(cents: int, percent: int) -> str:
    """What a price becomes after a discount, rounded down to whole cents."""
    return str(reduced(cents, percent))


port = int(sys.argv[1])
sys.argv = sys.argv[:1]  # the rest is ours: Robyn reads the command line as well
app.start(host="127.0.0.1", port=port)
