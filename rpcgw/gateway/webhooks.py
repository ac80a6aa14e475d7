"""Where webhooks may go, compiled from `jobs.webhooks`. Pure."""

from __future__ import annotations

from rpcgw.access.webhooks import WebhookPolicy, compile_policy
from rpcgw.api.problems import Place, Problem
from rpcgw.config.settings import Settings


def webhook_policy(settings: Settings) -> tuple[WebhookPolicy, list[Problem]]:
    """The policy, and what is wrong with its entries."""
    given = settings.jobs.webhooks
    try:
        return compile_policy(given.allow, allow_private=given.allow_private), []
    except ValueError as error:
        place = settings.places.get("jobs.webhooks.allow", Place(settings.source))
        return WebhookPolicy(), [Problem(place, "bad-value", f'"jobs.webhooks.allow": {error}.')]
