"""Settings, plugins and catalogues -> one frozen Gateway, or every problem that keeps it from serving. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Final

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Place, Problem, errors
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.config.loading import Loaded
from rpcgw.config.settings import CallSettings, Settings
from rpcgw.gateway.endpoints import serve, tokens_of
from rpcgw.gateway.model import Gateway
from rpcgw.gateway.oauth import oauth_problems
from rpcgw.gateway.pages import plugin_pages
from rpcgw.gateway.plugins import Imported, quarantine_problems, reports, runtimes, validators
from rpcgw.gateway.protection import protection_problems
from rpcgw.gateway.sites import Surroundings, serve_sites
from rpcgw.gateway.webhooks import webhook_policy
from rpcgw.gateway.wording import wording
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.listeners import compile_listeners
from rpcgw.kernel.table import MethodTable, compile_methods
from rpcgw.kernel.tuning import Breaking, Crowd, Tuning, Tunings

Layers = Sequence[Sequence[CatalogueFile]]


def compile_gateway(loaded: Loaded, imported: Imported, plugin_catalogues: Layers = ()) -> Gateway:
    """Everything that a worker reads.

    Args:
        loaded: The configuration.
        imported: The plugins.
        plugin_catalogues: Each plugin's own texts; they stand below the operator's.

    Raises:
        ConfigError: with every problem, warnings and quarantined plugins included, if one of them is fatal.
    """
    settings = loaded.settings
    running, wrong_settings = runtimes(imported, settings.plugins)
    table, wrong_methods = compile_methods(
        [Registration(procedure, plugin.name) for plugin in running for procedure in plugin.procedures],
        [part for plugin in running for part in plugin.converters],
    )
    table = table.rescoped(
        {name: frozenset(own["scopes"]) for name, own in settings.methods.items() if "scopes" in own}
    )
    texts = wording([loaded.catalogues, *plugin_catalogues], settings.translations.default_locale)
    known_tokens, wrong_validators = validators(imported)
    served, wrong_endpoints = serve(settings, table, texts, known_tokens)
    listeners, wrong_listeners = compile_listeners(
        listener for plugin in imported.loaded for listener in plugin.plugin.listeners
    )
    webhooks, wrong_webhooks = webhook_policy(settings)
    known = partial(tokens_of, settings, known_tokens)
    sites, wrong_sites = serve_sites(Surroundings(settings, imported, table, texts, known))
    shown, wrong_pages = plugin_pages(settings, imported.loaded)
    quarantined = quarantine_problems(imported, strict=settings.plugins.strict)
    problems = [
        *loaded.warnings,
        *wrong_settings,
        *wrong_methods,
        *wrong_endpoints,
        *wrong_listeners,
        *wrong_webhooks,
        *wrong_sites,
        *wrong_pages,
        *wrong_validators,
        *protection_problems(settings, known_tokens, incomplete=bool(imported.quarantined)),
        *oauth_problems(settings, table),
        *_unknown_names(settings, table),
    ]
    if errors(problems) or (quarantined and settings.plugins.strict):
        raise ConfigError([*quarantined, *problems])
    return Gateway(
        settings=settings,
        table=table,
        wording=texts,
        rpc=served.rpc,
        mcp=served.mcp,
        plugins=reports(imported),
        running=running,
        listeners=listeners,
        tunings=_tunings(settings, table),
        catalogues=tuple(chain(loaded.catalogues, *plugin_catalogues)),
        webhooks=webhooks,
        sites=sites,
        pages=shown,
        warnings=tuple(sorted(problems)),
        notes=imported.notes,
    )


UNTUNED: Final = Tuning()


def _tunings(settings: Settings, table: MethodTable) -> Tunings:
    """By group and method, only where something differs from the defaults."""
    made: dict[tuple[str, str], Tuning] = {}
    for group in table.groups:
        common = _tuning(settings.calls_of(group))
        for version in table.versions(group):
            for name in table.methods(group, version) or {}:
                own = name in settings.methods
                made[group, name] = _tuning(settings.calls_of_method(group, name)) if own else common
    return {key: tuning for key, tuning in made.items() if tuning != UNTUNED}


def _tuning(own: CallSettings) -> Tuning:
    return Tuning(
        own.deadline,
        own.unknown_params == "refuse",
        own.cache_ttl,
        own.limits.method,
        None if own.concurrency is None else Crowd(own.concurrency.max, own.concurrency.queue),
        None if own.breaker is None else Breaking(own.breaker.failures, own.breaker.pause, own.breaker.probes),
    )


def _unknown_names(settings: Settings, table: MethodTable) -> Iterable[Problem]:
    """Tuning for a method that nobody brings: a typing mistake, or a plugin in quarantine."""
    known = {
        name for group in table.groups for version in table.versions(group) for name in _names(table, group, version)
    }
    for name in settings.methods:
        if name not in known:
            place = settings.places.get(f"methods.{name}", Place(settings.source))
            text = f"methods.{name} tunes a method that no plugin brings"
            yield Problem(place, "unknown-method", text, "`rpcgw methods` lists them", "warning")


def _names(table: MethodTable, group: str, version: int) -> Iterable[str]:
    return table.methods(group, version) or {}
