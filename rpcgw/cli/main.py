"""`rpcgw`, as a shell starts it. Imports nothing of weight before it can answer for what happens meanwhile."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; a pipe that was closed early is no error, and Ctrl-C no traceback."""
    try:
        from rpcgw.cli.plain import serving  # noqa: PLC0415 -- Ctrl-C may come while libraries are loaded

        if (options := serving(sys.argv[1:], os.environ)) is not None:
            from rpcgw.daemon.supervisor import run  # noqa: PLC0415 -- as above

            sys.exit(run(options))
        from rpcgw.cli.commands import cli  # noqa: PLC0415 -- as above

        cli(prog_name="rpcgw")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        sys.stderr.write("\nAborted!\n")
        sys.exit(1)
