"""What `rpcgw check` says of a gateway that would serve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rpcgw.api.problems import Problem
from rpcgw.config.wording import meant
from rpcgw.gateway.catalogues import catalogue_problems
from rpcgw.gateway.clients import client_problems
from rpcgw.gateway.documents import publication_problems
from rpcgw.gateway.languages import message_problems
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.table import MethodTable


def check_problems(gateway: Gateway) -> list[Problem]:
    """Warnings and notes, and what serves only in part: a quarantined plugin is an error here."""
    quarantined = [
        Problem(plugin.place, "plugin-import", f"plugin {plugin.name!r} cannot be used: {plugin.reason}")
        for plugin in gateway.plugins
        if plugin.state == "quarantined"
    ]
    unpublishable = publication_problems(gateway.settings, (route.publication for route in gateway.mcp))
    groups = [route.group for route in gateway.settings.routes]
    texts = catalogue_problems(gateway.catalogues, gateway.table, gateway.wording.texts, groups)
    messages = message_problems(gateway.catalogues)
    mistyped = [*_empty_groups(gateway), *_mistyped_groups(gateway.table, groups)]
    return sorted(
        [*gateway.warnings, *quarantined, *unpublishable, *texts, *messages, *mistyped, *client_problems(gateway)]
    )


def _empty_groups(gateway: Gateway) -> list[Problem]:
    """Routes that have nothing to serve: a group's name is mistyped there or in a plugin, or its plugin is missing."""
    groups = gateway.table.groups
    hint = f"name it as procedures do, with groups=[...]; there are methods in {', '.join(groups)}"
    return [
        Problem(
            route.place,
            "empty-group",
            f'the route "{route.key}" serves the group {route.group!r}, which has no methods.',
            hint,
            "warning",
        )
        for route in gateway.settings.routes
        if route.group not in groups
    ]


def _mistyped_groups(table: MethodTable, served: Sequence[str]) -> Iterator[Problem]:
    """Groups of procedures that no route serves, where one of nearly their name is; others are not meant for here."""
    for group in table.groups:
        methods = [each for version in table.versions(group) for each in (table.methods(group, version) or {}).values()]
        own = not any(method.plugin for method in methods)  # nobody has put those there
        if group not in served and not own and (hint := meant(group, served)):
            text = f"{methods[0].name} is in the group {group!r}, which no route serves"
            yield Problem(methods[0].place, "unserved-group", text, hint, "warning")
