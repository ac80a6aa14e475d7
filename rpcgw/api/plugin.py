"""What an entry point of the group `rpcgw.plugins` names: one value that holds all that a plugin brings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Any

from rpcgw.api.context import Principal
from rpcgw.api.records import record

Lifespan = Callable[..., AbstractAsyncContextManager[Any]]

TokenValidator = Callable[[str], Principal | None]
"""Whose a token is; None where it is nobody's."""


_NO_CONTEXT = (inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.iscoroutinefunction)


@record(frozen=True, slots=True)
class Plugin:
    """All that one plugin brings.

    Args:
        procedures: Classes marked with `@rpc.procedure`, or instances of such classes.
        lifespan: An async context manager function, entered once in each worker before it serves. It may take
            `settings` (an instance of the type named below), `environment` (`rpc.Environment`), `cache`
            (`rpc.ResultCache`) and `switch` (`rpc.MethodSwitch`); what it yields fills the procedures' constructor
            parameters, by type: one value, or a tuple or list of values.
        settings: A type (dataclass, TypedDict or pydantic model) that `plugins.config.<name>` must satisfy.
        listeners: Functions marked with `@rpc.listens`.
        converters: `rpc.Converter` values, and functions marked with `@rpc.resolver`.
        validators: Functions that say whose a token is, by the names that `ufo_json_rpc.security` calls them by
            (`validator`). One is asked for each request with a token that the configuration does not list, on the event
            loop: it must not wait for anything.
        page_tools: Tools of web pages: `rpcgw.api.webmcp.ToolProvider`s, classes or instances. Each site has them,
            unless it names the plugins that it wants.
        page_data: What these tools need to know: `rpcgw.api.webmcp.DataProcessor`s, classes or instances.
        pages: Web pages that the daemon serves beside its own: text or bytes by path. What each is follows from the
            ending of its path, HTML where it has none. They are the same for everybody.
        translations: A directory of catalogues, relative to the plugin's package; stands below the operator's own.
    """

    procedures: Sequence[object] = ()
    lifespan: Lifespan | None = None
    settings: Any = None
    listeners: Sequence[Callable[..., Any]] = ()
    translations: str | None = None
    converters: Sequence[object] = ()
    validators: Mapping[str, TokenValidator] = field(default_factory=dict)
    page_tools: Sequence[object] = ()
    page_data: Sequence[object] = ()
    pages: Mapping[str, str | bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises `TypeError` where the lifespan is what `contextlib.asynccontextmanager` should have been given."""
        if any(is_one(self.lifespan) for is_one in _NO_CONTEXT):
            raise TypeError("the lifespan is no async context manager: decorate it with contextlib.asynccontextmanager")


@record(frozen=True, slots=True)
class Environment:
    """Where a worker runs: the name (`prod`, `dev`, `test`, ...) and the directory for state that plugins keep."""

    name: str
    state_dir: str
    plugin: str = field(default="")
