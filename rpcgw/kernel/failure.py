"""What a failure looks like to a client: any exception -> `RpcError` -> `Failed`. Pure.

Two rules decide. The class of an exception decides its code (reference: the kernel's error table); and only `dev` and
`test` show where an error came from and what an unexpected exception says (T-17).
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isfinite
from types import TracebackType
from typing import Any

from rpcgw.api import errors
from rpcgw.api.errors import ApplicationError, InternalError, NotNow, RpcError, ServerError, TooManyRequests
from rpcgw.kernel.call import Failed
from rpcgw.kernel.language import ENGLISH, Phrase, in_language, worded
from rpcgw.kernel.messages import Texts

EXPOSED_ENVIRONMENTS = frozenset({"dev", "test"})
"""Where errors are shown in full; the names are exact."""

Names = Mapping[str, str]
"""What classes of rpcgw's errors are called in answers, where it is not their own name."""

PYTHON: Names = {}

UFO: Names = {
    name: rf"Ufo\RpcError\{original}"
    for name, original in {
        "ParseError": "RpcJsonParseException",
        "InvalidRequest": "RpcBadRequestException",
        "MethodNotFound": "RpcMethodNotFoundExceptionRpc",
        "InvalidParams": "RpcBadParamException",
        "AssertionFailed": "ConstraintsImposedException",
        "InternalError": "RpcInternalException",
        "RuntimeFault": "RpcRuntimeException",
        "CapabilityMissing": "RpcRuntimeException",
        "LogicError": "RpcLogicException",
        "LockedError": "RpcLogicException",
        "TokenNotSent": "RpcTokenNotSentException",
        "TokenInvalid": "RpcInvalidTokenException",
        "ScopeMissing": "RpcInvalidTokenException",
        "DataNotFound": "RpcDataNotFoundException",
        "AsyncError": "RpcAsyncRequestException",
        "Abandoned": "RpcAsyncRequestException",
        "BatchError": "RpcInvalidBatchRequestExceptions",
        "ServerError": "RpcCustomServerException",
        "ApplicationError": "CustomApplicationException",
    }.items()
}
"""The names of the original's package of errors, for clients that tell errors apart by them."""

_GATEWAY = __file__.rpartition("kernel")[0]
"""Where the gateway's own code lies."""
MAX_FRAMES = 50
MAX_PREVIOUS = 10
MAX_EXTRA_DEPTH = 20

_CLASSES: Mapping[int, type[RpcError]] = {
    kind.code: kind
    for kind in (
        errors.ParseError,
        errors.InvalidRequest,
        errors.MethodNotFound,
        errors.InvalidParams,
        errors.InternalError,
        errors.RuntimeFault,
        errors.LogicError,
        errors.TokenNotSent,
        errors.TokenInvalid,
        errors.DataNotFound,
        errors.AsyncError,
        errors.BatchError,
        errors.NotNow,
        errors.TooManyRequests,
    )
}
_HUNDREDS: Mapping[int, type[RpcError]] = {
    -32600: errors.InvalidRequest,
    -32500: errors.RuntimeFault,
    -32400: errors.LogicError,
    -32300: errors.AsyncError,
}


def is_exposed(environment: str) -> bool:
    """Whether clients see everything of an error in this environment."""
    return environment in EXPOSED_ENVIRONMENTS


def as_rpc_error(cause: BaseException, *, exposed: bool) -> RpcError:
    """The error that a client gets for `cause`: an `RpcError` as it is, anything else by its code.

    An exception of another kind with an integer `code` (other than 0) keeps that code; all the rest is an
    `InternalError`. Its own words are kept only where `exposed`: they were not written for clients.
    """
    if isinstance(cause, RpcError):
        return cause
    error = error_of(_code(cause), _words(cause) if exposed else None)
    error.__cause__ = cause
    return error


def error_of(code: int, message: str | None = None, *, extra: Mapping[str, object] | None = None) -> RpcError:
    """The error that a code stands for: by the table, by its hundred where reserved, else the application's own.

    The code is kept, except 0 and reserved ones that mean nothing (`InternalError`).
    """
    if kind := _CLASSES.get(code):
        return kind(message, extra=extra)
    if -32099 <= code <= -32000:
        return ServerError(message, code=code, extra=extra)
    if code and not -32768 <= code <= -32000:
        return ApplicationError(message, code=code, extra=extra)
    return _reserved(code)(message, extra=extra)


@lru_cache(maxsize=1024)
def _reserved(code: int) -> type[RpcError]:
    """A code belongs to a class, so a code of its own is a class of its own, by the name of its hundred's."""
    kind = _HUNDREDS.get(-(-code // 100) * 100)
    if kind is None:
        return InternalError
    return type(kind.__name__, (kind,), {"code": code, "__module__": kind.__module__, "__doc__": kind.__doc__})


def not_now_status(error: NotNow) -> int:
    """The HTTP status that says the same: who came too often is told so (RFC 6585), else the service is busy."""
    return 429 if isinstance(error, TooManyRequests) else 503


def render(error: RpcError, *, exposed: bool, names: Names = PYTHON, texts: Texts = ENGLISH) -> Failed:
    """An error as it goes out. `data` holds its class, its `extra` if any, and the whole story where `exposed`.

    `names` are those of rpcgw's own classes; an author's class has its own. `texts` are the client's language.
    """
    data: dict[str, Any] = {"exception": name_of(error, names)}
    if extra := json_safe(error.extra, texts):
        data["extra"] = extra
    if exposed:
        data |= _story(error, names)
    return Failed(error.wire_code, clean(str(worded(error, texts))), data, error)


def name_of(error: BaseException, names: Names = PYTHON) -> str:
    """What the class of an error is called in answers."""
    kind = type(error)
    return names.get(kind.__name__, kind.__name__) if kind.__module__ == errors.__name__ else kind.__name__


def clean(text: str) -> str:
    """A text that has a form in UTF-8: halves of surrogate pairs become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_DROP = object()


def json_safe(bag: Mapping[str, object], texts: Texts = ENGLISH) -> dict[str, Any]:
    """What of a bag JSON can carry, the product's own texts in a language; the rest is left out, at any depth."""
    return dict(_safe_items(bag, MAX_EXTRA_DEPTH, texts))


def _safe(value: object, depth: int, texts: Texts) -> object:
    if type(value) is str:
        return clean(value)
    if depth and isinstance(value, list | tuple):
        return [safe for item in value if (safe := _safe(item, depth - 1, texts)) is not _DROP]
    if depth and isinstance(value, Mapping):
        return dict(_safe_items(value, depth, texts))
    return _safe_scalar(in_language(value, texts) if isinstance(value, Phrase) else value)


def _safe_scalar(value: object) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(str.__str__(value))
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) and isfinite(value) else _DROP


def _safe_items(bag: Mapping[Any, object], depth: int, texts: Texts) -> Iterator[tuple[str, object]]:
    for key, value in bag.items():
        if isinstance(key, str | int) and (safe := _safe(value, depth - 1, texts)) is not _DROP:
            yield clean(str(key)), safe


def _story(error: BaseException, names: Names, seen: frozenset[int] = frozenset()) -> dict[str, Any]:
    frames = _frames(error)
    if not frames and error.__cause__ is not None:
        # Made of the cause by us: it was raised where the cause was.
        frames = _frames(error.__cause__)
    return {
        "message": _words(error),
        "code": _code(error),
        "file": frames[-1]["file"] if frames else None,
        "line": frames[-1]["line"] if frames else None,
        "trace": frames,
        "trace_string": clean("".join(_lines(error))),
        "previous": _previous(error, names, seen | {id(error)}),
    }


def _previous(error: BaseException, names: Names, seen: frozenset[int]) -> dict[str, Any] | None:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is None or id(before) in seen or len(seen) > MAX_PREVIOUS:
        return None
    extra = {"extra": json_safe(before.extra)} if isinstance(before, RpcError) and before.extra else {}
    return {"exception": name_of(before, names), **extra, **_story(before, names, seen)}


def _lines(error: BaseException) -> list[str]:
    return traceback.format_exception(
        type(error), error, _authored(error.__traceback__), limit=-MAX_FRAMES, chain=False
    )


def _authored(trace: TracebackType | None) -> TracebackType | None:
    """A trace from where it leaves the gateway, whose own steps tell an author nothing. The last step stays."""
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename.startswith(_GATEWAY):
        trace = trace.tb_next
    return trace


def _frames(error: BaseException) -> list[dict[str, Any]]:
    walked = list(traceback.walk_tb(_authored(error.__traceback__)))[-MAX_FRAMES:]
    return [
        {"file": frame.f_code.co_filename, "line": line, "function": frame.f_code.co_qualname} for frame, line in walked
    ]


def _code(error: BaseException) -> int:
    """The code that an exception carries; an exit status is none."""
    if isinstance(error, RpcError):
        return error.wire_code
    try:
        code = getattr(error, "code", None)
    except BaseException:  # noqa: BLE001 -- an author's property may do anything, SystemExit too, and nothing awaits
        code = None
    if not isinstance(code, int) or isinstance(code, bool) or isinstance(error, SystemExit):
        return InternalError.code
    return int(code) or InternalError.code


def _words(error: BaseException) -> str:
    try:
        return clean(str(error.message if isinstance(error, RpcError) else error))
    except BaseException:  # noqa: BLE001 -- an author's __str__ may do anything, SystemExit too, and nothing awaits
        return f"{type(error).__name__} without words"
