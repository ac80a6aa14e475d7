"""The address of a Redis: one server, one that Sentinels know, or a Cluster. Pure.

    redis://[user:password@]host[:port][/database]
    unix://[user:password@]/path/of/the/socket?db=0
    redis+sentinel://[user:password@]host[:port][,host[:port]...]/name[/database]
    redis+cluster://[user:password@]host[:port][,host[:port]...]

With `rediss` for `redis` it is spoken over TLS. User and password are the servers'; those of Sentinels are options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import parse_qsl, unquote

from rpcgw.api.records import record

Kind = Literal["server", "sentinel", "cluster"]
Node = tuple[str, int]

PORT: Final = 6379
SENTINEL_PORT: Final = 26379

_SCHEMES: Final[Mapping[str, tuple[Kind, bool]]] = {
    "redis": ("server", False),
    "rediss": ("server", True),
    "unix": ("server", False),
    "redis+sentinel": ("sentinel", False),
    "rediss+sentinel": ("sentinel", True),
    "redis+cluster": ("cluster", False),
    "rediss+cluster": ("cluster", True),
}
REDIS_SCHEMES: Final = tuple(_SCHEMES)
"""What the address of a Redis may begin with."""

_URL: Final = re.compile(
    r"(?P<scheme>[a-z+]+)://((?P<user>[^@/\s]*)@)?(?P<hosts>[^/?#\s]*)(?P<path>[^?#\s]*)(\?(?P<query>[^#\s]*))?"
)
_HOST: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/?#@,\[\]]*)(:(?P<port>[0-9]{1,5}))?")
_OPTIONS: Final = (
    "db", "sentinel_username", "sentinel_password", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname",
)  # fmt: skip
_MOST_PORT: Final = 65535


@record(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """Where a Redis is and how it is spoken to. `nodes` are servers or Sentinels; `path` is a socket's instead of them.

    `ca_file`, `cert_file` and `key_file` are PEM files; without the first the system's authorities are trusted.
    """

    kind: Kind
    nodes: tuple[Node, ...]
    path: str = ""
    master: str = ""
    database: int = 0
    username: str | None = None
    password: str | None = None
    tls: bool = False
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    check_hostname: bool = True
    sentinel_username: str | None = None
    sentinel_password: str | None = None


def is_redis(url: str) -> bool:
    """Whether a URL's scheme is one of Redis."""
    return url.partition("://")[0] in _SCHEMES


def redis_address(url: str, *, strict: bool = True) -> RedisAddress:
    """What a URL says; unless `strict`, options that mean something to other programs alone are passed over.

    Raises:
        ValueError: It is none; the text says what is wrong, as the end of a sentence, and shows nothing of the URL.
    """
    found = _URL.fullmatch(url)
    if found is None or found["scheme"] not in _SCHEMES:
        raise ValueError(f"must begin with {', '.join(f'{scheme}://' for scheme in _SCHEMES)}")
    kind, tls = _SCHEMES[found["scheme"]]
    options = _options(found["query"] or "", strict=strict)
    user, colon, password = (found["user"] or "").partition(":")
    is_socket = found["scheme"] == "unix"
    if is_socket and (found["hosts"] or not found["path"].strip("/")):
        raise ValueError("must name a socket by its absolute path")
    master, database = ("", "") if is_socket else _path(kind, found["path"])
    return RedisAddress(
        kind=kind,
        nodes=() if is_socket else _nodes(kind, found["hosts"]),
        path=unquote(found["path"]) if is_socket else "",
        master=master,
        database=_database(kind, options.get("db") or database),
        username=unquote(user) or None,
        password=unquote(password) if colon else None,
        tls=tls,
        ca_file=options.get("ssl_ca_certs"),
        cert_file=options.get("ssl_certfile"),
        key_file=options.get("ssl_keyfile"),
        check_hostname=options.get("ssl_check_hostname", "true").lower() not in {"false", "no", "0"},
        sentinel_username=options.get("sentinel_username"),
        sentinel_password=options.get("sentinel_password"),
    )


def _options(query: str, *, strict: bool) -> Mapping[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    if not strict:
        return options
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise ValueError(f"has the unknown option {unknown[0]!r}; known are {', '.join(_OPTIONS)}")
    return options


def _nodes(kind: Kind, hosts: str) -> tuple[Node, ...]:
    given = hosts.split(",")
    if len(given) > 1 and kind == "server":
        raise ValueError("may name several hosts only for redis+sentinel and redis+cluster")
    if len(given) > 1 and "" in given:
        raise ValueError("names an empty host")
    return tuple(_node(each, SENTINEL_PORT if kind == "sentinel" else PORT) for each in given)


def _node(given: str, port: int) -> Node:
    found = _HOST.fullmatch(given)
    if found is None or int(found["port"] or port) > _MOST_PORT:
        raise ValueError("must name each host as host:port or [v6]:port")
    return found["host"].strip("[]") or "localhost", int(found["port"] or port)


def _path(kind: Kind, path: str) -> tuple[str, str]:
    """The name that Sentinels know a server by, and the database."""
    steps = path.strip("/").split("/")
    if kind != "sentinel":
        steps = ["", *steps]
    elif not steps[0]:
        raise ValueError("must name what the Sentinels watch, as in redis+sentinel://host:26379/mymaster")
    if len(steps) > 2:
        raise ValueError("has a path that is too long")
    return unquote(steps[0]), steps[1] if len(steps) > 1 else ""


def _database(kind: Kind, given: str) -> int:
    if not given:
        return 0
    if not given.isascii() or not given.isdecimal():
        raise ValueError("must give its database as a number")
    if kind == "cluster" and int(given):
        raise ValueError("must not name a database: a Cluster has none but 0")
    return int(given)
