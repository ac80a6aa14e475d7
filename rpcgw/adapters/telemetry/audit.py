"""The audit log: who called what, how it ended, and, where that is wanted, with which arguments; secrets are masked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.rendering import shown
from rpcgw.config.settings import Audited
from rpcgw.kernel.call import Call, Failed, Outcome
from rpcgw.protocol.trace import trace_id

LONGEST = 8192
"""Bytes of arguments in a line; of larger ones only their size is told."""
_NAME = 200

Parameters = Callable[[Call], Sequence[str]]
"""The names of a call's parameters in order, empty where its method is not known."""


class Audit:
    """Lines of an audit log.

    Args:
        log: Where they go; its mask hides arguments by their names.
        wanted: What is told of a method's calls, by group and name.
        parameters: What positional arguments are called.
    """

    def __init__(self, log: Log, wanted: Callable[[str, str], Audited], parameters: Parameters) -> None:
        self.wanted = wanted
        self._log = log
        self._parameters = parameters

    def write(self, call: Call, outcome: Outcome, name: str, *, arguments: bool) -> None:
        """One line for a call that has ended; `name` says how."""
        fields: dict[str, Any] = {
            "timestamp": self._log.now(),
            "level": "info",
            "event": "audit",
            "id": call.id,
            "ray_id": call.ray_id,
            "surface": call.surface,
            "group": call.group,
            "version": call.version,
            "method": call.method[:_NAME],
            "principal": call.principal.name,
            "peer": call.peer,
            "outcome": name,
        }
        if call.principal.claims:
            fields["issuer"] = shown(call.principal.claims.get("iss"))
            fields["scopes"] = sorted(call.principal.scopes)
        if call.trace:
            fields["trace_id"] = trace_id(call.trace)
        if type(outcome) is Failed:
            fields["code"] = outcome.code
        if arguments:
            fields["arguments"] = self._arguments(call)
        self._log.line(fields)

    def _arguments(self, call: Call) -> object:
        given = self._named(call)
        masked = self._log.masked({"arguments": given})["arguments"]
        try:
            size = len(msgspec.json.encode(masked, enc_hook=shown))
        except (TypeError, ValueError, OverflowError, RecursionError):
            return shown(masked)[:LONGEST]
        return masked if size <= LONGEST else f"{size} bytes, left out"

    def _named(self, call: Call) -> object:
        """Arguments by name, so that the mask sees the names; surplus ones by their place."""
        if not isinstance(call.params, list):
            return call.params or {}
        names = self._parameters(call)
        return {names[at] if at < len(names) else str(at): value for at, value in enumerate(call.params)}
