"""The errors of rpcgw. Pure: classes and their codes, nothing that renders or logs them.

RpcGatewayError
├── ConfigError(problems)      start and reload only: what a person must mend, every problem at once
└── RpcError                   what a client may see; the code belongs to the class
    ├── ParseError             -32700  ├── AsyncError      -32300
    ├── InvalidRequest         -32600  ├── BatchError      -32301
    ├── MethodNotFound         -32601  ├── LogicError      -32400
    ├── InvalidParams          -32602  ├── LockedError     -32400
    │   └── AssertionFailed    -32602  ├── TokenNotSent    -32401
    ├── InternalError          -32603  ├── TokenInvalid    -32403
    ├── RuntimeFault           -32500  │   └── ScopeMissing             -32403
    │   └── CapabilityMissing  -32500  ├── DataNotFound    -32404
    │                                  ├── NotNow          -32053
    │                                  │   ├── Overloaded, CircuitOpen  -32053
    │                                  │   └── TooManyRequests          -32029
    └── ServerError            -32000  └── ApplicationError  any code outside -32768..-32000

The table is the kernel's (reference: JSON-RPC 2.0 section 5.1, and the error table of the original bundle).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import floor
from typing import ClassVar, Literal

from rpcgw.api.problems import Problem

Category = Literal["user", "security", "server", "procedure"]


class RpcGatewayError(Exception):
    """Whatever rpcgw raises on purpose derives from this."""


class ConfigError(RpcGatewayError):
    """The configuration, or a plugin that it names, cannot be served.

    `problems` holds every problem that was found, sorted by place; never empty.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class RpcError(RpcGatewayError):
    """An error that a client may see: `message` and `extra` go out in every environment.

    A procedure raises it (or a class of its own that derives from it) to answer with an error of its choice.
    `code` belongs to the class; only `ApplicationError` and `ServerError` take one per instance.
    `extra` is a bag of JSON values: what else the client should know.
    """

    code: ClassVar[int] = -32603
    default_message: ClassVar[str] = "Internal JSON-RPC error"
    category: ClassVar[Category] = "server"

    def __init__(self, message: str | None = None, *, extra: Mapping[str, object] | None = None) -> None:
        self.message = self.default_message if message is None else message
        self.extra: dict[str, object] = dict(extra or {})
        super().__init__(self.message)

    @property
    def wire_code(self) -> int:
        """The code that the client sees."""
        return self.code


class ParseError(RpcError):
    """The body is no JSON that could be read."""

    code = -32700
    default_message = "Invalid JSON was received by the server."
    category: ClassVar[Category] = "user"


class InvalidRequest(RpcError):
    """The JSON is no valid request."""

    code = -32600
    default_message = "The JSON sent is not a valid request."
    category: ClassVar[Category] = "user"


class MethodNotFound(RpcError):
    """The endpoint's group has no such method in this version."""

    code = -32601
    default_message = "Method not found"
    category: ClassVar[Category] = "user"


class InvalidParams(RpcError):
    """A parameter is missing, unknown or of the wrong shape."""

    code = -32602
    default_message = "Required parameter not passed"
    category: ClassVar[Category] = "user"


class AssertionFailed(InvalidParams):
    """Parameters of the right shape that break a rule of the method."""

    default_message = "Invalid data"


class InternalError(RpcError):
    """Anything that nobody foresaw; the text is generic outside dev and test."""


class RuntimeFault(RpcError):
    """A procedure failed at run time and says so."""

    code = -32500
    default_message = "Runtime error on procedure"


class CapabilityMissing(RuntimeFault):
    """The procedure needs something of its client that the client does not offer (`CallContext.require`)."""

    category: ClassVar[Category] = "user"

    def __init__(self, capability: str) -> None:
        self.capability = capability
        first, _, second = capability.partition(".")
        self.required: dict[str, object] = {first: {second: {}} if second else {}}
        """What is missing, as a client would declare it."""
        super().__init__(
            f"The client must have the capability {capability}", extra={"requiredCapabilities": self.required}
        )


class LogicError(RpcError):
    """The call makes no sense in the present state."""

    code = -32400
    default_message = "Logic error on procedure"


class LockedError(LogicError):
    """Another call holds the method's lock."""

    default_message = "The method is locked by another call"


class TokenNotSent(RpcError):
    """The group is protected and no token came."""

    code = -32401
    default_message = "Unauthorized. Token not found"
    category: ClassVar[Category] = "security"


class TokenInvalid(RpcError):
    """A token came and is not one of the group's."""

    code = -32403
    default_message = "Forbidden. Invalid token"
    category: ClassVar[Category] = "security"


class ScopeMissing(TokenInvalid):
    """Who calls is known, and lacks a scope that the method needs (RFC 6750 section 3.1, `insufficient_scope`)."""

    default_message = "Forbidden. The token lacks a scope"

    def __init__(self, message: str | None = None, *, scopes: Iterable[str] = ()) -> None:
        self.scopes = tuple(sorted(scopes))
        """All that the method needs."""
        super().__init__(message, extra={"scopes": list(self.scopes)})


class DataNotFound(RpcError):
    """What the caller asks for does not exist."""

    code = -32404
    default_message = 'Api method returned error "Data not found"'


class AsyncError(RpcError):
    """A call ran past its deadline, or cannot be deferred."""

    code = -32300
    default_message = "Async request is invalid"
    category: ClassVar[Category] = "user"


class Abandoned(AsyncError):
    """The caller left before the answer: nobody sees it, it is counted as a cancellation."""

    default_message = "The caller left before the answer"


class BatchError(RpcError):
    """A batch cannot be run as it is."""

    code = -32301
    default_message = "Batch request error"
    category: ClassVar[Category] = "user"


class ServerError(RpcError):
    """An implementation-defined error, -32099 to -32000."""

    code = -32000
    default_message = "Custom RPC server error"

    def __init__(
        self, message: str | None = None, *, code: int = -32000, extra: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message, extra=extra)
        if not -32099 <= code <= -32000:
            raise ValueError(f"{code} is not between -32099 and -32000; use ApplicationError for codes of your own")
        self._code = code

    @property
    def wire_code(self) -> int:
        """The code given when it was raised."""
        return self._code


class NotNow(RpcError):
    """The call was not run, and may be later: `retry_after` says in how many seconds it is worth another try.

    The house raises it before anything of the author's has run: the answer is 503 with Retry-After, or 429.
    """

    code = -32053
    default_message = "The method cannot be called now"

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: float | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        self.retry_after = retry_after
        told = {} if retry_after is None else {"retryAfter": floor(retry_after) + 1}
        super().__init__(message, extra={**told, **(extra or {})})


class Overloaded(NotNow):
    """As many calls of the method run and wait as may."""

    default_message = "Too many calls of this method are running"


class CircuitOpen(NotNow):
    """The method has failed too often of late, and is left in peace."""

    default_message = "The method fails at present, and is not tried"


class TooManyRequests(NotNow):
    """More came than the limits allow."""

    code = -32029
    default_message = "Too many requests"
    category: ClassVar[Category] = "user"


class ApplicationError(RpcError):
    """An error of the application's own: its code lies outside -32768..-32000 and is kept as it is."""

    default_message = "Custom application error occurred"
    category: ClassVar[Category] = "procedure"

    def __init__(self, message: str | None = None, *, code: int, extra: Mapping[str, object] | None = None) -> None:
        super().__init__(message, extra=extra)
        if -32768 <= code <= -32000:
            raise ValueError(f"{code} is reserved by JSON-RPC; an application's codes lie outside -32768..-32000")
        self._code = code

    @property
    def wire_code(self) -> int:
        """The code given when it was raised."""
        return self._code
