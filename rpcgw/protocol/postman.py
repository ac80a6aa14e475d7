"""The Postman collection of a group in one version: every method as a request that can be sent as it stands. Pure.

Source: Postman Collection Format 2.1.0. Nothing in it is random or taken from a clock: the same methods make the same
bytes, and an import over an older one replaces its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, Protocol
from uuid import NAMESPACE_URL, uuid5

import msgspec

from rpcgw.kernel.codec import decode, encode
from rpcgw.kernel.method import Method, ParamDoc
from rpcgw.kernel.scopes import NONE, named
from rpcgw.protocol.openrpc import Edition, Project, base_of, path_of
from rpcgw.protocol.texts import Texts

SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_KEPT: Final = 64
_DEEPEST: Final = 6
_REFERENCE: Final = "#/components/schemas/"
_BY_TYPE: Final[Mapping[str, Any]] = {
    "integer": 0,
    "number": 0,
    "boolean": True,
    "string": "",
    "array": [],
    "object": {},
    "null": None,
}
_BY_FORMAT: Final[Mapping[str, str]] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00",
    "duration": "PT1H",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


class Collection(Protocol):
    """The collections of a group."""

    def __call__(
        self, version: int, locale: str, granted: frozenset[str] = NONE, off: frozenset[str] = NONE, /
    ) -> bytes | None:
        """A version's bytes for a reader with these scopes, without what is off.

        None where the group has nothing in it.
        """


def collections(
    project: Project,
    prefix: str,
    group: str,
    editions: Mapping[int, Edition],
    texts: Texts,
    *,
    header: str,
    protected: bool,
) -> Collection:
    """A function that makes each collection once, on first use, and keeps the last few.

    `header` is the one that carries a token; where calls are not `protected`, requests have it switched off.
    """
    served = {version for version, edition in editions.items() if edition.methods}
    scopes = named(method for edition in editions.values() for method in edition.methods.values())

    @lru_cache(maxsize=_KEPT)
    def made(version: int, locale: str, granted: frozenset[str], off: frozenset[str]) -> bytes:
        edition = editions[version].seen_with(granted, off)
        url = "{{base_url}}" + path_of(prefix, version)
        headers: list[dict[str, Any]] = [
            {"key": "Content-Type", "value": "application/json"},
            {"key": header, "value": "{{apiToken}}", **({} if protected else {"disabled": True})},
        ]
        samples = _Samples(edition.components)
        items = [
            (method, _item(method, texts.description(group, method, locale), url, headers, samples))
            for method in edition.methods.values()
        ]
        variables = [
            {"key": "base_url", "value": base_of(project), "type": "string"},
            {"key": "apiToken", "value": "", "type": "string"},
        ]
        return encode(
            {
                "info": {
                    "_postman_id": _id(url, group),
                    "name": f"RPC: {project.title} v{version}" + (f" ({group})" if group != "general" else ""),
                    "description": project.description,
                    "schema": SCHEMA,
                    "version": project.version or f"{version}.0.0",
                },
                "item": list(_folders(items, group)),
                "variable": variables,
                "variables": variables,
            }
        )

    def collection(
        version: int, locale: str, granted: frozenset[str] = NONE, off: frozenset[str] = NONE, /
    ) -> bytes | None:
        return made(version, locale, granted & scopes, off) if version in served else None

    return collection


def _folders(items: Iterable[tuple[Method, dict[str, Any]]], group: str) -> Iterator[dict[str, Any]]:
    """A folder for each procedure; methods of none after them."""
    folders: dict[str, list[dict[str, Any]]] = {}
    for method, item in items:
        folders.setdefault(method.name.rpartition(".")[0], []).append(item)
    loose = folders.pop("", [])
    for name, inside in folders.items():
        yield {"id": _id(group, name), "name": name, "item": inside}
    yield from loose


def _item(
    method: Method, description: str, url: str, headers: list[dict[str, Any]], samples: _Samples
) -> dict[str, Any]:
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method.name}
    if method.params:
        body["params"] = {param.name: samples.of(param) for param in method.params}
    body["id"] = _number(method.name)
    return {
        "id": _id(url, method.name),
        "name": method.name,
        "request": {
            "description": description,
            "method": "POST",
            "header": headers,
            "body": {
                "mode": "raw",
                "raw": msgspec.json.format(encode(body), indent=4).decode(),
                "options": {"raw": {"language": "json"}},
            },
            "url": url,
        },
        "response": [],
    }


class _Samples:
    """Values that fit schemas where the schemas say enough: a default, an example, the first of several choices."""

    def __init__(self, components: Mapping[str, Any]) -> None:
        self._components = components

    def of(self, param: ParamDoc) -> Any:
        """What a parameter is sent as."""
        return self._value(decode(param.schema), _DEEPEST)

    def _value(self, schema: Mapping[str, Any], depth: int) -> Any:
        for name in ("default", "const"):
            if name in schema:
                return schema[name]
        for name in ("examples", "enum"):
            if schema.get(name):
                return schema[name][0]
        branches = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        if "$ref" in schema:
            branches = (self._referred(schema["$ref"]),)
        if branches:
            return self._value(branches[0], depth - 1) if depth else None
        return self._by_type(schema, depth)

    def _referred(self, reference: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._components.get(reference.removeprefix(_REFERENCE), {})
        return found

    def _by_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if kind == "object" and depth:
            fields = schema.get("properties", {})
            return {name: self._value(fields[name], depth - 1) for name in schema.get("required", ()) if name in fields}
        if kind == "array" and depth and schema.get("minItems"):
            return [self._value(schema.get("items", {}), depth - 1)] * schema["minItems"]
        if kind in ("integer", "number"):
            return _least(schema)
        if kind == "string":
            return _BY_FORMAT.get(schema.get("format", ""), "x" * min(schema.get("minLength", 0), 100))
        return _BY_TYPE.get(kind) if isinstance(kind, str) else None


def _least(schema: Mapping[str, Any]) -> Any:
    """The number nearest to 0 that the bounds of most schemas allow."""
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    least = schema.get("minimum", above + 1 if above is not None else None)
    most = schema.get("maximum", below - 1 if below is not None else None)
    if least is not None and least > 0:
        return least
    return most if most is not None and most < 0 else 0


def _number(name: str) -> int:
    return 1 + int.from_bytes(sha256(name.encode()).digest()[:4]) % 10_000


def _id(*parts: str) -> str:
    return str(uuid5(NAMESPACE_URL, "\n".join(parts)))
