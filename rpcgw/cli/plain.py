"""`rpcgw serve` as service managers and containers write it, understood without click.

To load click is a tenth of a start. Whatever is not plain (help, a mistake, an option in one word with its value) is
left to it, and said in its words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rpcgw.daemon.options import Options

DEFAULT_FILES: Final = ("gateway.yaml", "gateway.yml")
"""What a configuration is called where none is named."""
_NAMES: Final = {"-c": "config", "--config": "config", "--env": "env", "--bind": "bind", "--workers": "workers"}


def serving(arguments: Sequence[str], env: Mapping[str, str]) -> Options | None:
    """What to serve with, by the words after `rpcgw`; None where click is to say what they mean.

    Args:
        arguments: The words of the command line.
        env: The environment: `RPCGW_ENV` stands for `--env`.
    """
    if not arguments or arguments[0] != "serve" or len(arguments) % 2 == 0:
        return None
    pairs = list(zip(arguments[1::2], arguments[2::2], strict=True))
    if not all(name in _NAMES and value and not value.startswith("-") for name, value in pairs):
        return None
    given = {_NAMES[name]: value for name, value in pairs}
    config, workers = given.get("config") or next(_standing(), ""), given.get("workers", "1")
    bind = tuple(value for name, value in pairs if name == "--bind")
    if not Path(config).is_file() or not _is_count(workers) or any(map(_fault, bind)):
        return None
    return Options(
        config=config,
        environment=given.get("env", env.get("RPCGW_ENV")) or None,
        bind=bind,
        workers=int(workers) if "workers" in given else None,
    )


def _standing() -> Iterator[str]:
    return (name for name in DEFAULT_FILES if Path(name).is_file())


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0


def _fault(address: str) -> str:
    from rpcgw.config.addresses import bind_fault  # noqa: PLC0415 -- most who serve say it in the file

    return bind_fault(address)
