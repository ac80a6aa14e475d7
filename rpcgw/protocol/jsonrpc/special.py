"""`$rpc`: what a client asks of the server beside the call, as a member of named params. Pure.

`timeout` (seconds), `callback` (where the answer is to be POSTed once the call has run), `rayId` (trace id of a chain
of calls), `ignoreCache` (do not read the result cache). Other members are ignored. Where a callback may go is the
operator's to say; here only its form is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import msgspec

from rpcgw.api.errors import InvalidParams
from rpcgw.kernel.language import Phrase

SPECIAL: Final = "$rpc"
_SHORTEST, _LONGEST = 10, 120
_ABSOLUTE: Final = re.compile(r"https?://[\x21-\x7e]+", re.IGNORECASE)
LONGEST_RAY_ID: Final = 200
"""In characters: a trace id stands in every log line."""


class Special(msgspec.Struct, frozen=True):
    """The members of `$rpc` that were given."""

    timeout: float | None = None
    ray_id: str | None = None
    ignore_cache: bool = False
    callback: str | None = None


NO_SPECIAL: Final = Special()


def read_special(value: Any) -> Special | InvalidParams:
    """What `$rpc` asks for, or every mistake in it at once."""
    if type(value) is not dict:
        return _invalid({"": Phrase("special.no_object")})
    problems = {name: problem for name, check in _CHECKS.items() if name in value and (problem := check(value[name]))}
    if problems:
        return _invalid(problems)
    timeout, ray_id = value.get("timeout"), value.get("rayId")
    return Special(
        timeout, None if ray_id is None else str(ray_id), value.get("ignoreCache", False), value.get("callback")
    )


def callback_refused(reason: str) -> InvalidParams:
    """The error for a callback that must not be used."""
    return _invalid({"callback": reason})


def written_special(special: Special) -> dict[str, Any]:
    """`$rpc` as a client would write it; what was not given is left out."""
    members = {
        "timeout": special.timeout,
        "rayId": special.ray_id,
        "ignoreCache": special.ignore_cache or None,
        "callback": special.callback,
    }
    return {name: value for name, value in members.items() if value is not None}


def _invalid(problems: dict[str, str]) -> InvalidParams:
    extra = {f"[params][{SPECIAL}]{f'[{name}]' if name else ''}": [text] for name, text in problems.items()}
    told = [Phrase("error.at", path=path, what=texts[0]) for path, texts in extra.items()]
    return InvalidParams(
        reduce(lambda first, second: Phrase("error.and", first=first, second=second), told), extra=extra
    )


def _timeout(value: Any) -> str:
    fine = type(value) in (int, float) and _SHORTEST <= value <= _LONGEST
    return "" if fine else Phrase("special.timeout", least=_SHORTEST, most=_LONGEST)


def _callback(value: Any) -> str:
    fine = type(value) is str and _ABSOLUTE.fullmatch(value)
    return "" if fine else Phrase("special.callback")


def _ray_id(value: Any) -> str:
    fine = type(value) in (int, str) and 0 < len(str(value)) <= LONGEST_RAY_ID
    return "" if fine else Phrase("special.ray_id", most=LONGEST_RAY_ID)


def _ignore_cache(value: Any) -> str:
    return "" if type(value) is bool else Phrase("special.ignore_cache")


_CHECKS: Final[dict[str, Callable[[Any], str]]] = {
    "timeout": _timeout,
    "callback": _callback,
    "rayId": _ray_id,
    "ignoreCache": _ignore_cache,
}
