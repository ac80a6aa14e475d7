"""Running the author's function: async on the loop, sync in a thread, inline where it is marked so."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from rpcgw.api.context import CallContext
from rpcgw.kernel.method import Method
from rpcgw.kernel.threads import Ended, Threads, nobody

Invoke = Callable[[Mapping[str, Any], CallContext], Coroutine[Any, Any, Any]]
"""Runs a procedure's function once with converted values."""

InvokeNoting = Callable[[Mapping[str, Any], CallContext, Ended], Coroutine[Any, Any, Any]]
"""The same; `Ended` is told once, when the function has really ended, whatever became of the caller."""


def compile_invoke(method: Method, function: Callable[..., Any], threads: Threads) -> tuple[Invoke, InvokeNoting]:
    """How to run a method whose bound function is `function`."""
    start = _starter(method, function)

    async def inline(values: Mapping[str, Any], context: CallContext) -> Any:
        return start(values, context)

    async def in_thread(values: Mapping[str, Any], context: CallContext, ended: Ended = nobody) -> Any:
        return await threads.run(partial(start, values, context), ended)

    if method.is_async:
        return start, _noting(start)
    if method.inline:
        return inline, _noting(inline)
    return in_thread, in_thread


def _starter(method: Method, function: Callable[..., Any]) -> Callable[[Mapping[str, Any], CallContext], Any]:
    signature = method.signature
    if signature.contexts or signature.positional:
        return partial(method.call, function)

    def start(values: Mapping[str, Any], _: CallContext) -> Any:
        return function(**values)

    return start


def _noting(invoke: Invoke) -> InvokeNoting:
    async def noting(values: Mapping[str, Any], context: CallContext, ended: Ended) -> Any:
        try:
            return await invoke(values, context)
        finally:
            ended()

    return noting
