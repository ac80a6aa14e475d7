"""rpcgw: typed Python procedures as JSON-RPC, MCP and browser tools.

What a plugin author imports, as `import rpcgw as rpc`. Names are resolved when they are first used (PEP 562), so that
importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "rpcgw.api.assertions": (
        "Choice",
        "Date",
        "DateTime",
        "Email",
        "EqualTo",
        "Ip",
        "Json",
        "NotBlank",
        "NotEqualTo",
        "NotNull",
        "Regex",
        "Url",
        "Uuid",
        "Zoned",
    ),
    "rpcgw.api.containers": ("Each", "Fields", "Unique"),
    "rpcgw.api.context": ("CallContext", "Principal"),
    "rpcgw.api.converters": ("Converter", "resolver"),
    "rpcgw.api.dates": ("DateFormat",),
    "rpcgw.api.cache": ("ResultCache",),
    "rpcgw.api.content": ("Audio", "EmbeddedResource", "Image", "ResourceLink", "Text", "ToolResult"),
    "rpcgw.api.errors": (
        "ApplicationError",
        "AssertionFailed",
        "AsyncError",
        "BatchError",
        "CapabilityMissing",
        "ConfigError",
        "DataNotFound",
        "InternalError",
        "InvalidParams",
        "InvalidRequest",
        "LockedError",
        "LogicError",
        "MethodNotFound",
        "ParseError",
        "RpcError",
        "RpcGatewayError",
        "RuntimeFault",
        "ScopeMissing",
        "ServerError",
        "TokenInvalid",
        "TokenNotSent",
    ),
    "rpcgw.api.events": (
        "ErrorRaised",
        "PostExecute",
        "PostResponse",
        "PreExecute",
        "PreResponse",
        "RequestReceived",
    ),
    "rpcgw.api.marks": (
        "cache",
        "groups",
        "hidden",
        "inline",
        "invalidates",
        "listens",
        "lock",
        "procedure",
        "scopes",
        "tool",
    ),
    "rpcgw.api.plugin": ("Environment", "Plugin"),
    "rpcgw.api.rules": ("Rule",),
    "rpcgw.api.switch": ("MethodSwitch",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from rpcgw.api.assertions import Choice as Choice
    from rpcgw.api.assertions import Date as Date
    from rpcgw.api.assertions import DateTime as DateTime
    from rpcgw.api.assertions import Email as Email
    from rpcgw.api.assertions import EqualTo as EqualTo
    from rpcgw.api.assertions import Ip as Ip
    from rpcgw.api.assertions import Json as Json
    from rpcgw.api.assertions import NotBlank as NotBlank
    from rpcgw.api.assertions import NotEqualTo as NotEqualTo
    from rpcgw.api.assertions import NotNull as NotNull
    from rpcgw.api.assertions import Regex as Regex
    from rpcgw.api.assertions import Url as Url
    from rpcgw.api.assertions import Uuid as Uuid
    from rpcgw.api.assertions import Zoned as Zoned
    from rpcgw.api.cache import ResultCache as ResultCache
    from rpcgw.api.containers import Each as Each
    from rpcgw.api.containers import Fields as Fields
    from rpcgw.api.containers import Unique as Unique
    from rpcgw.api.content import Audio as Audio
    from rpcgw.api.content import EmbeddedResource as EmbeddedResource
    from rpcgw.api.content import Image as Image
    from rpcgw.api.content import ResourceLink as ResourceLink
    from rpcgw.api.content import Text as Text
    from rpcgw.api.content import ToolResult as ToolResult
    from rpcgw.api.context import CallContext as CallContext
    from rpcgw.api.context import Principal as Principal
    from rpcgw.api.converters import Converter as Converter
    from rpcgw.api.converters import resolver as resolver
    from rpcgw.api.dates import DateFormat as DateFormat
    from rpcgw.api.errors import ApplicationError as ApplicationError
    from rpcgw.api.errors import AssertionFailed as AssertionFailed
    from rpcgw.api.errors import AsyncError as AsyncError
    from rpcgw.api.errors import BatchError as BatchError
    from rpcgw.api.errors import CapabilityMissing as CapabilityMissing
    from rpcgw.api.errors import ConfigError as ConfigError
    from rpcgw.api.errors import DataNotFound as DataNotFound
    from rpcgw.api.errors import InternalError as InternalError
    from rpcgw.api.errors import InvalidParams as InvalidParams
    from rpcgw.api.errors import InvalidRequest as InvalidRequest
    from rpcgw.api.errors import LockedError as LockedError
    from rpcgw.api.errors import LogicError as LogicError
    from rpcgw.api.errors import MethodNotFound as MethodNotFound
    from rpcgw.api.errors import ParseError as ParseError
    from rpcgw.api.errors import RpcError as RpcError
    from rpcgw.api.errors import RpcGatewayError as RpcGatewayError
    from rpcgw.api.errors import RuntimeFault as RuntimeFault
    from rpcgw.api.errors import ScopeMissing as ScopeMissing
    from rpcgw.api.errors import ServerError as ServerError
    from rpcgw.api.errors import TokenInvalid as TokenInvalid
    from rpcgw.api.errors import TokenNotSent as TokenNotSent
    from rpcgw.api.events import ErrorRaised as ErrorRaised
    from rpcgw.api.events import PostExecute as PostExecute
    from rpcgw.api.events import PostResponse as PostResponse
    from rpcgw.api.events import PreExecute as PreExecute
    from rpcgw.api.events import PreResponse as PreResponse
    from rpcgw.api.events import RequestReceived as RequestReceived
    from rpcgw.api.marks import cache as cache
    from rpcgw.api.marks import groups as groups
    from rpcgw.api.marks import hidden as hidden
    from rpcgw.api.marks import inline as inline
    from rpcgw.api.marks import invalidates as invalidates
    from rpcgw.api.marks import listens as listens
    from rpcgw.api.marks import lock as lock
    from rpcgw.api.marks import procedure as procedure
    from rpcgw.api.marks import scopes as scopes
    from rpcgw.api.marks import tool as tool
    from rpcgw.api.plugin import Environment as Environment
    from rpcgw.api.plugin import Plugin as Plugin
    from rpcgw.api.rules import Rule as Rule
    from rpcgw.api.switch import MethodSwitch as MethodSwitch


def __getattr__(name: str) -> Any:
    if (home := _HOME_OF.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
