"""The logs of one process: the main one on stderr; the access log and the audit log there too, or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from rpcgw.adapters.telemetry.access import AccessLog
from rpcgw.adapters.telemetry.audit import Audit
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.settings import Audited, Settings
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.call import Call


@record(frozen=True, slots=True)
class Logs:
    """What a process writes; `access` and `audit` are None where nothing is to be written there."""

    main: Log
    access: AccessLog | None
    audit: Audit | None
    sinks: Sequence[Sink]

    def reopen(self) -> None:
        """Follow files that were moved away. One that cannot be opened is logged; its lines go on to the old file."""
        for sink in self.sinks:
            try:
                sink.reopen()
            except OSError as error:
                self.main.write("log.reopen_failed", "error", reason=str(error))

    def count_lost(self, lost: Callable[[], None]) -> None:
        """Tell `lost` of each line that cannot be written."""
        for sink in self.sinks:
            sink.lost = lost


def log_in_form(settings: Settings) -> None:
    """What plugins log while they are imported comes out in the form of everything else."""
    Log(settings.logging, Sink()).install()


def open_logs(gateway: Gateway, stack: ExitStack) -> Logs:
    """The logs of this process, closed with `stack`; structlog and stdlib logging write to the main one from now on.

    Raises:
        ConfigError: A file cannot be opened.
    """
    settings = gateway.settings
    main = Sink()
    log = Log(settings.logging, main)
    log.install()
    stack.callback(main.close)
    sinks = [main]

    def beside(option: str, path: str | None) -> Log:
        sink = _opened(settings, option, path) if path else main
        if path:
            stack.callback(sink.close)
            sinks.append(sink)
        return Log(settings.logging, sink)

    access = settings.logging.access
    return Logs(
        log,
        AccessLog(beside("logging.access.file", access.file)) if access.enabled else None,
        _audit(gateway, beside("logging.audit.file", settings.logging.audit_file)) if is_audited(settings) else None,
        sinks,
    )


def is_audited(settings: Settings) -> bool:
    """Whether any call is to be told to the audit log."""
    by_group = (calls.audit for calls in settings.calls.values())
    by_method = (own.get("audit", "none") for own in settings.methods.values())
    return any(audited != "none" for audited in (*by_group, *by_method))


def _audit(gateway: Gateway, log: Log) -> Audit:
    def wanted(group: str, method: str) -> Audited:
        return gateway.settings.calls_of_method(group, method).audit

    def parameters(call: Call) -> Sequence[str]:
        method = (gateway.table.methods(call.group, call.version) or {}).get(call.method)
        return [parameter.name for parameter in method.params] if method is not None else ()

    return Audit(log, wanted, parameters)


def _opened(settings: Settings, option: str, path: str) -> Sink:
    try:
        return Sink(path)
    except OSError as error:
        place = settings.places.get(option, Place(settings.source))
        text = f'"{option}": {path} cannot be written: {error.strerror}'
        hint = "make its directory, and let the user that the daemon runs as write there"
        raise ConfigError([Problem(place, "log-file", text, hint)]) from error
