"""Queues in documents: parts, and no secrets."""

from rpcgw.config.settings import Transport
from rpcgw.gateway.transports import described


def test_masked() -> None:
    """Users, passwords, and parameters that look like secrets are names in braces; the rest is told."""
    dsn = "amqp://rpcgw:hunter2@mq.internal:5672/%2f/messages?heartbeat=30&access_token=hunter2"
    assert described([Transport("amqp", "rpc_async", dsn)]) == {
        "rpc_async": {
            "scheme": "amqp",
            "user": "{user}",
            "pass": "{pass}",
            "host": "mq.internal",
            "port": 5672,
            "path": "/%2f/messages",
            "query": {"heartbeat": "30", "access_token": "{access_token}"},
        }
    }


def test_mercure() -> None:
    """A hub's topics are told, its token is not."""
    transport = Transport("mercure", "sse", "https://hub.example.com/.well-known/mercure", "https://x/", "hunter2")
    assert described([transport])["sse"] == {
        "scheme": "https",
        "host": "hub.example.com",
        "path": "/.well-known/mercure",
        "topics_prefix": "https://x/",
        "jwt": "{jwt}",
    }


def test_without_secrets() -> None:
    """What is not there is not told."""
    assert described([Transport("redis", "q", "redis://mq/1")]) == {
        "q": {"scheme": "redis", "host": "mq", "path": "/1"}
    }
