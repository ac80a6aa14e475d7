"""What is wrong with a plugin's texts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rpcgw.api.locales import canonical, lineage
from rpcgw.gateway.catalogues import catalogue_problems
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.method import Method


def text_problems(gateway: Gateway, locales: Iterable[str]) -> list[str]:
    """One line for each: texts of nothing, and methods of the plugin that are not described in a language."""
    groups = [route.group for route in gateway.settings.routes]
    found = catalogue_problems(gateway.catalogues, gateway.table, gateway.wording.texts, groups)
    lost = [str(problem) for problem in found if problem.code != "missing-text"]
    return [*lost, *(line for locale in locales for line in _missing(gateway, canonical(locale)))]


def _missing(gateway: Gateway, locale: str) -> Iterator[str]:
    default = gateway.settings.translations.default_locale
    by_code = canonical(default) in lineage(locale)
    described = {
        name
        for file in gateway.catalogues
        if canonical(file.locale) in lineage(locale)
        for name, texts in file.methods.items()
        if texts.get("description") or texts.get("title")
    }
    for method in _own(gateway):
        if method.name not in described and not (by_code and method.description):
            yield f"{method.place}: {method.name} has no text in {locale}"


def _own(gateway: Gateway) -> Iterable[Method]:
    """The plugin's methods, each name once."""
    table = gateway.table
    found = (
        method
        for group in table.groups
        for version in table.versions(group)
        for method in (table.methods(group, version) or {}).values()
        if method.plugin
    )
    return {method.name: method for method in found}.values()
