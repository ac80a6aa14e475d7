"""The OpenRPC document of a group in one version: methods, types and texts as clients' tools read them. Pure.

Source: OpenRPC 1.3.2. The document never depends on the request's `Host`: where nobody configured a public URL, the
server's is that of `localhost`, the specification's own default, since a path alone is no URI and clients' tools refuse
the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec

from rpcgw.api.records import record
from rpcgw.kernel.codec import decode, encode
from rpcgw.kernel.method import ErrorDoc, Method, ParamDoc
from rpcgw.kernel.rewrite import references
from rpcgw.kernel.scopes import NONE, named, usable
from rpcgw.protocol.texts import Texts

VERSION: Final = "1.3.2"
UNKNOWN: Final = "http://localhost"
"""Where a server is that nobody knows the address of."""
_KEPT: Final = 64
_JSON_RPC: Final = "https://www.jsonrpc.org/specification"
_PORTS: Final = {"http": 80, "https": 443}


@record(frozen=True, slots=True)
class Edition:
    """What a group serves in one version: its methods by name, and the `components.schemas` that they refer to."""

    methods: Mapping[str, Method]
    components: Mapping[str, Any] = field(default_factory=dict)

    def seen_with(self, granted: frozenset[str], off: frozenset[str]) -> Edition:
        """What of it a reader with these scopes may use, without what is off, and the types of that."""
        methods = usable(self.methods, granted, off)
        if methods is self.methods:
            return self
        return Edition(methods, _referred(methods.values(), self.components))


@record(frozen=True, slots=True)
class Project:
    """What documents say of the project and of the server.

    `public_url` is scheme, host and port, without a path; None where unknown. `product` is the server's own version,
    `version` the project's. `transports` are the queues by name, in parts and without their secrets.
    """

    title: str
    description: str = ""
    public_url: str | None = None
    server_name: str = "rpcgw"
    product: str = ""
    version: str | None = None
    environment: str = "prod"
    transports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Document(Protocol):
    """The documents of a group."""

    def __call__(
        self,
        version: int,
        locale: str,
        head_only: bool,  # noqa: FBT001 -- a key of what is kept
        granted: frozenset[str] = NONE,
        off: frozenset[str] = NONE,
        /,
    ) -> bytes | None:
        """A version's bytes for a reader with these scopes, without what is off.

        None where the group has nothing in it.
        """


def documents(project: Project, prefix: str, group: str, editions: Mapping[int, Edition], texts: Texts) -> Document:
    """A function that makes each document once, on first use, and keeps the last few."""
    versions = tuple(version for version in sorted(editions) if editions[version].methods)

    scopes = named(method for edition in editions.values() for method in edition.methods.values())

    @lru_cache(maxsize=_KEPT)
    def made(version: int, locale: str, head_only: bool, granted: frozenset[str], off: frozenset[str]) -> bytes:  # noqa: FBT001 -- a key of the cache
        described = {
            "openrpc": VERSION,
            "info": _info(project, version, versions),
            "servers": [server(project, prefix, version)],
        }
        edition = editions[version].seen_with(granted, off)
        methods = () if head_only else edition.methods.values()
        described["methods"] = [_method(method, group, texts, locale) for method in methods]
        if edition.components and not head_only:
            described["components"] = {"schemas": edition.components}
        return encode(described)

    def document(
        version: int,
        locale: str,
        head_only: bool,  # noqa: FBT001 -- as above
        granted: frozenset[str] = NONE,
        off: frozenset[str] = NONE,
        /,
    ) -> bytes | None:
        return made(version, locale, head_only, granted & scopes, off) if version in versions else None

    return document


def _referred(methods: Iterable[Method], components: Mapping[str, Any]) -> dict[str, Any]:
    """The components that methods refer to, directly or not, in their order."""
    todo = [text for method in methods for text in (*(p.schema for p in method.params), method.result.schema)]
    wanted: set[str] = set()
    names = [name for text in todo for name in references(decode(text))]
    while names:
        name = names.pop()
        if name not in wanted and name in components:
            wanted.add(name)
            names += references(components[name])
    return {name: schema for name, schema in components.items() if name in wanted}


def path_of(prefix: str, version: int) -> str:
    """Where a version is served: the first one at the prefix itself (C-07)."""
    below = prefix.rstrip("/")
    return below or "/" if version == 1 else f"{below}/v{version}"


def base_of(project: Project) -> str:
    """Scheme, host and port without a slash at the end."""
    return (project.public_url or UNKNOWN).rstrip("/")


def server(project: Project, prefix: str, version: int) -> dict[str, Any]:
    """The server entry of a version. The kernel's own clients know a server by its `x-ufo` block."""
    base, path = base_of(project), path_of(prefix, version)
    documentation = {"postman": f"{base}{path.rstrip('/')}/postman", "json-rpc": _JSON_RPC}
    return {
        "name": project.server_name,
        **_unless_empty("description", project.description),
        "url": base + path,
        "x-method": "POST",
        "x-ufo": {
            "envelop": f"JSON-RPC-2.0/UFO-RPC-{project.product}".rstrip("-"),
            "environment": {"env": project.environment, **_unless_empty(project.server_name, project.product)},
            "transport": {"sync": {**_address(base), "path": path, "method": "POST"}, **project.transports},
            "documentation": documentation,
        },
    }


def _address(base: str) -> dict[str, Any]:
    parts = urlsplit(base)
    return {"scheme": parts.scheme, "host": parts.hostname, "port": parts.port or _PORTS.get(parts.scheme, 80)}


def _info(project: Project, version: int, versions: tuple[int, ...]) -> dict[str, Any]:
    return {
        "title": project.title,
        **_unless_empty("description", project.description),
        "version": f"v{version}",
        "x-versions": [f"v{number}" for number in versions],
        **_unless_empty("x-project-version", project.version or ""),
    }


def _method(method: Method, group: str, texts: Texts, locale: str) -> dict[str, Any]:
    description = texts.description(group, method, locale)
    return {
        "name": method.name,
        "tags": [_tag(method)],
        **_unless_empty("summary", texts.title(group, method, locale) or description.partition("\n")[0]),
        **_unless_empty("description", description),
        "params": [_param(param, texts.parameter(group, method, param.name, locale)) for param in method.params],
        "result": {
            "name": method.result.name,
            **_unless_empty("description", texts.result(group, method, locale) or method.result.description),
            "schema": msgspec.Raw(method.result.schema),
        },
        "deprecated": method.deprecated,
        **({"errors": [_error(error) for error in method.errors]} if method.errors else {}),
        **({"examples": examples} if (examples := _examples(method)) else {}),
    }


def _tag(method: Method) -> dict[str, Any]:
    """The procedure that a method belongs to: its name in the API, and its class."""
    owner = method.procedure.__name__
    return {"name": method.name.rpartition(".")[0] or owner, "description": owner}


def _param(param: ParamDoc, text: str) -> dict[str, Any]:
    return {
        "name": param.name,
        **_unless_empty("description", text or param.description),
        "required": param.required,
        "schema": msgspec.Raw(param.schema),
        **_unless_empty("x-ufo-assertions", f"[{', '.join(param.assertions)}]" if param.assertions else ""),
    }


def _examples(method: Method) -> list[dict[str, Any]]:
    """One pairing for each position among the examples that the parameters' types give, as far as all of them go."""
    given = {param.name: decode(param.schema).get("examples", []) for param in method.params}
    required = [given[param.name] for param in method.params if param.required]
    count = min(map(len, required), default=max(map(len, given.values()), default=0))
    return [
        {
            "name": f"{method.name} {at + 1}",
            "params": [
                {"name": name, "value": values[min(at, len(values) - 1)]} for name, values in given.items() if values
            ],
        }
        for at in range(count)
    ]


def _error(error: ErrorDoc) -> dict[str, Any]:
    return {"code": error.code, "message": error.message}


def _unless_empty(name: str, text: str) -> dict[str, str]:
    return {name: text} if text else {}
