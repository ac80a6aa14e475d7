"""Queues, and what tunes the calls that go through them. Pure.

`ufo_json_rpc.async` has three forms, as the original's: a list of `{type, config}`, names with DSNs, and one DSN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from rpcgw.api.problems import Problem
from rpcgw.config.document import Document
from rpcgw.config.nodes import Path, dotted
from rpcgw.config.redisaddress import REDIS_SCHEMES, redis_address
from rpcgw.config.settings import Jobs, Transport, WebhookSettings

ASYNC: Path = ("ufo_json_rpc", "async")
DEFAULT_NAME = "rpc_async"

Kind = Literal["redis", "amqp", "mercure"]
_REDIS: Kind = "redis"
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(REDIS_SCHEMES, _REDIS),
    "amqp": "amqp",
    "amqps": "amqp",
    "http": "mercure",
    "https": "mercure",
}
_SHAPES = "redis://host:port/db, amqp://user:password@host/vhost, or a hub's http or https URL"


def build_jobs(document: Document) -> Jobs:
    """`jobs`."""
    given: Mapping[str, Any] = document.get("jobs", default={})
    webhooks: Mapping[str, Any] = given.get("webhooks", {})
    own = {name: value for name, value in given.items() if name != "webhooks"}
    allow = tuple(webhooks.get("allow", ()))
    return Jobs(**own, webhooks=WebhookSettings(**{**webhooks, "allow": allow}))


def build_transports(document: Document) -> tuple[tuple[Transport, ...], list[Problem]]:
    """The queues in their order, and what is wrong with them. A DSN holds passwords and is never shown."""
    found: list[Transport] = []
    problems: list[Problem] = []
    for path, kind, config in _entries(document.get(*ASYNC, default=[])):
        transport = _transport(document, path, kind, config)
        if isinstance(transport, Problem):
            problems.append(transport)
            continue
        if transport.name in [other.name for other in found]:
            text = f'Two queues are named "{transport.name}".'
            problems.append(document.problem(path, "bad-value", text, "rpcgw worker is given a queue by its name"))
        found.append(transport)
    return tuple(found), problems


def _entries(given: Any) -> Iterable[tuple[Path, str, Mapping[str, Any]]]:
    """Each entry as the longest form has it, with its place."""
    if isinstance(given, str):
        yield ASYNC, "default", {"dsn": given}
    elif isinstance(given, dict):
        for name, dsn in given.items():
            yield (*ASYNC, name), "default", {"name": name, "dsn": dsn}
    else:
        for at, entry in enumerate(given):
            yield (*ASYNC, at), entry.get("type", "default"), entry["config"]


def _transport(document: Document, path: Path, kind: str, config: Mapping[str, Any]) -> Transport | Problem:
    dsn = config["dsn"]
    meant = _KINDS.get(dsn.partition(":")[0].lower())
    if meant is None:
        return document.problem(path, "bad-value", f'"{dotted(path)}": the dsn must be {_SHAPES}.')
    if kind not in {"default", meant}:
        return document.problem(path, "bad-value", f'"{dotted(path)}": the dsn is one of {meant}, not of {kind}.')
    if meant == "redis":
        try:
            redis_address(dsn, strict=False)  # one DSN serves both products, and the original's has options of its own
        except ValueError as error:
            return document.problem(path, "bad-value", f'"{dotted(path)}": the dsn {error}.')
    prefix = config.get("topics_prefix", "")
    if meant == "mercure" and not prefix:
        text = f'"{dotted(path)}": a queue of mercure needs the option "topics_prefix".'
        return document.problem(path, "missing-option", text)
    return Transport(meant, config.get("name", DEFAULT_NAME), dsn, prefix, config.get("jwt"))
