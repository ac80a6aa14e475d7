"""What `rpcgw check` says of a gateway that would serve."""

from __future__ import annotations

from rpcgw.api.problems import Problem
from rpcgw.gateway.catalogues import catalogue_problems
from rpcgw.gateway.clients import client_problems
from rpcgw.gateway.documents import publication_problems
from rpcgw.gateway.languages import message_problems
from rpcgw.gateway.model import Gateway


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
    return sorted([*gateway.warnings, *quarantined, *unpublishable, *texts, *messages, *client_problems(gateway)])
