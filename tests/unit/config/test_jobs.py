"""Queues and what tunes deferred calls, in every form that they may be written in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rpcgw.config.loading import Loaded
from rpcgw.config.settings import Jobs, Transport, WebhookSettings

REDIS = Transport("redis", "rpc_async", "redis://h/1")
HUB = "https://hub/.well-known/mercure"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("[]", (), id="none"),
        pytest.param("redis://h/1", (REDIS,), id="one dsn"),
        pytest.param("[{config: {dsn: redis://h/1}}]", (REDIS,), id="a list, the type by the dsn"),
        pytest.param("[{type: redis, config: {name: a, dsn: redis://h/1, route: 'App\\\\Message'}}]", (Transport("redis", "a", "redis://h/1"),), id="a list as the original has it"),
        pytest.param("{a: redis://h/1, b: 'amqp://m/%2f/messages'}", (Transport("redis", "a", "redis://h/1"), Transport("amqp", "b", "amqp://m/%2f/messages")), id="names with dsns, in their order"),
        pytest.param(f"[{{type: mercure, config: {{name: s, dsn: '{HUB}', topics_prefix: 'urn:', jwt: j}}}}]", (Transport("mercure", "s", HUB, "urn:", "j"),), id="a hub"),
    ],
)  # fmt: skip
def test_transports(compiled: Callable[..., Loaded], given: str, expected: tuple[Transport, ...]) -> None:
    """The queues in their order; deferred calls go through the first."""
    assert compiled(f"ufo_json_rpc: {{async: {given}}}").settings.transports == expected


def test_secrets_are_not_shown() -> None:
    """Passwords and tokens do not stand in what a developer prints."""
    assert "s3cret" not in repr(Transport("amqp", "a", "amqp://u:s3cret@h", jwt="s3cret"))
    assert "s3cret" not in repr(WebhookSettings(secret="s3cret-s3cret-s3cret"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("", Jobs(), id="defaults"),
        pytest.param("jobs: {reclaim: 5, retries: 0}", Jobs(reclaim=5, retries=0), id="some"),
        pytest.param("jobs: {webhooks: {allow: ['https://*']}}", Jobs(webhooks=WebhookSettings(("https://*",))), id="webhooks"),
    ],
)  # fmt: skip
def test_jobs(compiled: Callable[..., Loaded], given: str, expected: Jobs) -> None:
    """What is not given has its default."""
    assert compiled(given).settings.jobs == expected
