"""Plugins as the gateway takes them: which serve, with which settings, and what is wrong with the rest."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

from rpcgw.api.plugin import TokenValidator
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.settings import PluginSettings
from rpcgw.discovery.found import Candidate, LoadedPlugin, Quarantined
from rpcgw.gateway.model import PluginReport, PluginRuntime
from rpcgw.kernel.typed import Mismatch, typed

_STRICT = "mend it or remove it; without plugins.strict: true everything else would serve"
_LENIENT = "mend it or remove it; until then everything else serves without it"


@record(frozen=True, slots=True)
class Imported:
    """What discovery made of the candidates; `notes` are for the log."""

    loaded: tuple[LoadedPlugin, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    notes: tuple[str, ...] = ()


def reports(imported: Imported) -> tuple[PluginReport, ...]:
    """All plugins, quarantined ones with their reason, sorted by name."""
    served = [_report(plugin.candidate) for plugin in imported.loaded]
    refused = [_report(plugin.candidate, plugin) for plugin in imported.quarantined]
    return tuple(sorted([*served, *refused], key=lambda report: report.name))


def quarantine_problems(imported: Imported, *, strict: bool) -> list[Problem]:
    """Each quarantined plugin as a problem: fatal under `plugins.strict`, and to `rpcgw check`."""
    return [
        Problem(
            plugin.place,
            "plugin-import",
            f"plugin {plugin.name!r} cannot be used: {plugin.reason}",
            _STRICT if strict else _LENIENT,
        )
        for plugin in imported.quarantined
    ]


def runtimes(imported: Imported, settings: PluginSettings) -> tuple[tuple[PluginRuntime, ...], list[Problem]]:
    """What runs in a worker, with each plugin's settings checked against the type that it names."""
    made: list[PluginRuntime] = []
    problems = [*_same_names(imported.loaded), *_nobodys_settings(imported, settings)]
    for plugin in imported.loaded:
        given = settings.config.get(plugin.name)
        value, wrong = _settings_of(plugin, given, settings.places.get(plugin.name, Place(plugin.candidate.location)))
        problems += wrong
        brought = plugin.plugin
        made.append(
            PluginRuntime(
                plugin.name,
                tuple(brought.procedures),
                brought.lifespan,
                value,
                tuple(brought.converters),
                tuple(brought.page_data),
            )
        )
    return tuple(made), problems


def validators(imported: Imported) -> tuple[dict[str, TokenValidator], list[Problem]]:
    """What plugins know of tokens, by the names that the configuration calls it by."""
    known: dict[str, tuple[LoadedPlugin, TokenValidator]] = {}
    problems: list[Problem] = []
    for plugin in imported.loaded:
        for name, validator in plugin.plugin.validators.items():
            if _is_async(validator):
                text = f"the validator {name!r} of the plugin {plugin.name!r} is async: it would never say who it is"
                hint = "make it a plain function; what it needs to know a lifespan can fetch beforehand"
                problems.append(Problem(Place(plugin.candidate.location), "validator-async", text, hint))
            other, _ = known.setdefault(name, (plugin, validator))
            if other is not plugin:
                text = f"two plugins bring a validator {name!r}: {plugin.name!r} and {other.name!r}"
                problems.append(Problem(Place(plugin.candidate.location), "validator-name", text, "rename one of them"))
    return {name: validator for name, (_, validator) in known.items()}, problems


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 -- an instance may be called, too


def _report(candidate: Candidate, refused: Quarantined | None = None) -> PluginReport:
    return PluginReport(
        name=candidate.name,
        version=candidate.version,
        origin=candidate.origin,
        location=candidate.location,
        place=refused.place if refused else Place(candidate.location),
        state="quarantined" if refused else "loaded",
        reason=refused.reason if refused else "",
        traceback=refused.traceback if refused else "",
    )


def _settings_of(plugin: LoadedPlugin, given: object, place: Place) -> tuple[object, list[Problem]]:
    """The settings that a plugin's lifespan gets: of its own type, or the plain mapping where it names none."""
    kind = plugin.plugin.settings
    if kind is None:
        return given or {}, []
    try:
        return typed(kind, given or {}), []
    except Mismatch as error:
        return None, [
            Problem(place, "plugin-settings", f"plugins.config.{plugin.name}{_under(path)} {text}")
            for path, texts in error.errors.items()
            for text in texts
        ]


def _under(path: str) -> str:
    return path if not path or path.startswith("[") else f".{path}"


def _same_names(loaded: Sequence[LoadedPlugin]) -> Iterable[Problem]:
    first: dict[str, LoadedPlugin] = {}
    for plugin in loaded:
        other = first.setdefault(plugin.name, plugin)
        if other is not plugin:
            text = f"two plugins are called {plugin.name!r}: this one, and the one of {other.candidate.location}"
            yield Problem(Place(plugin.candidate.location), "plugin-name", text, "rename one entry point")


def _nobodys_settings(imported: Imported, settings: PluginSettings) -> Iterable[Problem]:
    known = {plugin.name for plugin in imported.loaded} | {plugin.name for plugin in imported.quarantined}
    for name in settings.config:
        if name not in known:
            found = ", ".join(sorted(known)) or "none"
            place = settings.places.get(name, Place("plugins.config"))
            yield Problem(place, "unknown-plugin", f"there is no plugin {name!r}", f"plugins found: {found}")
