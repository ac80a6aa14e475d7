"""`$rpc`: what a client asks of the server beside the call, as a member of named params. Pure.

`timeout` (seconds), `rayId` (trace id of a chain of calls), `ignoreCache` (do not read the result cache). Other members
are ignored. `callback` asks for an answer by webhook, which this version cannot give: it is refused, not dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from rpcgw.api.errors import InvalidParams

SPECIAL: Final = "$rpc"
_SHORTEST, _LONGEST = 10, 120
LONGEST_RAY_ID: Final = 200
"""In characters: a trace id stands in every log line."""


class Special(msgspec.Struct, frozen=True):
    """The members of `$rpc` that were given."""

    timeout: float | None = None
    ray_id: str | None = None
    ignore_cache: bool = False


NO_SPECIAL: Final = Special()


def read_special(value: Any) -> Special | InvalidParams:
    """What `$rpc` asks for, or every mistake in it at once."""
    if type(value) is not dict:
        return _invalid({"": "must be an object"})
    problems = {name: problem for name, check in _CHECKS.items() if name in value and (problem := check(value[name]))}
    if problems:
        return _invalid(problems)
    timeout, ray_id = value.get("timeout"), value.get("rayId")
    return Special(timeout, None if ray_id is None else str(ray_id), value.get("ignoreCache", False))


def _invalid(problems: dict[str, str]) -> InvalidParams:
    extra = {f"[params][{SPECIAL}]{f'[{name}]' if name else ''}": [text] for name, text in problems.items()}
    return InvalidParams("; ".join(f"{path}: {texts[0]}" for path, texts in extra.items()), extra=extra)


def _timeout(value: Any) -> str:
    fine = type(value) in (int, float) and _SHORTEST <= value <= _LONGEST
    return "" if fine else f"must be a number of seconds from {_SHORTEST} to {_LONGEST}"


def _callback(_: Any) -> str:
    return "webhooks are not available in this version; leave it out and wait for the answer"


def _ray_id(value: Any) -> str:
    fine = type(value) in (int, str) and 0 < len(str(value)) <= LONGEST_RAY_ID
    return "" if fine else f"must be an integer or a string of 1 to {LONGEST_RAY_ID} characters"


def _ignore_cache(value: Any) -> str:
    return "" if type(value) is bool else "must be true or false"


_CHECKS: Final[dict[str, Callable[[Any], str]]] = {
    "timeout": _timeout,
    "callback": _callback,
    "rayId": _ray_id,
    "ignoreCache": _ignore_cache,
}
