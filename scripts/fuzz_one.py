"""One parser under libFuzzer, by atheris: `python -m scripts.fuzz_one PARSER [libFuzzer's options] [corpus ...]`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Fuzz until libFuzzer ends the process."""
    import atheris  # noqa: PLC0415 -- `make fuzz` alone has it

    fuzzer: Any = atheris
    with fuzzer.instrument_imports(include=["rpcgw"]):
        from tests.fuzz.parsers import PARSERS  # noqa: PLC0415 -- instrumented as it is imported

    name = sys.argv.pop(1)
    check: Callable[[bytes], None] = PARSERS[name]
    fuzzer.Setup(sys.argv, check)
    fuzzer.Fuzz()


if __name__ == "__main__":
    main()
