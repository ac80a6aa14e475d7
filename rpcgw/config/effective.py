"""The effective value of every setting and where it came from, for `rpcgw check --print-config`. Pure but for reading.

Settings of groups, methods, pools and plugins stand here where a file says something of them; what they inherit is
where they inherit it from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.assembling import Assembled, Chosen
from rpcgw.config.document import Document, is_secret
from rpcgw.config.gathering import default_routes, gather
from rpcgw.config.nodes import Items, Leaf, Node, Path, Table, find, plain
from rpcgw.config.sources import Sources
from rpcgw.config.validation import schema, validate

MASK = "***"

_DEFAULT = "default"
_NOT_SECRET = frozenset({"token_name", "required", "expires", "name", "type"})
_PLUGINS: Path = ("plugins", "config")
_URLS_AT: tuple[Path, ...] = (("pools",), ("ufo_json_rpc", "async"), ("ufo_json_rpc", "cache", "pool"))
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_REFERENCE = re.compile(
    r"\$\{(?P<variable>[A-Za-z_][A-Za-z0-9_]*)|%env\((?:[^()%]*:)?(?P<env>[A-Za-z_][A-Za-z0-9_]*)\)%"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://|file:|memory:")


@record(frozen=True, slots=True)
class Setting:
    """One setting: its value, masked where it may be a secret, and where it came from.

    `origin` is `default`, a place with the variables that it draws on, or an option of the command line.
    """

    path: Path
    value: Any
    origin: str
    place: Place | None = None


@record(frozen=True, slots=True)
class Override:
    """What goes before the files: an option of the command line, or a variable that the daemon looks at itself."""

    value: Any
    origin: str


def effective(
    sources: Sources, env: Mapping[str, str], chosen: Chosen, overrides: Mapping[Path, Override]
) -> tuple[list[Setting], list[Problem]]:
    """Every setting of a snapshot in the order of the schema, and what is wrong in the files.

    Args:
        sources: The files.
        env: The environment's variables.
        chosen: What the command line says of the environment.
        overrides: What goes before the files, by the setting's path.
    """
    gathered = gather(sources, sources.root, env, chosen)
    document, wrong = validate(gathered.gateway.node, gathered.gateway.file, "gateway")
    before, unsaid = {**_environment(env, chosen), **overrides}, _unsaid(sources.root, env)
    listing = _Listing(document, gathered.assembled, before, unsaid, schema("gateway"))
    return list(listing.settings()), [*gathered.problems, *wrong]


def _environment(env: Mapping[str, str], chosen: Chosen) -> dict[Path, Override]:
    name = chosen.name(env)
    if name is None:
        return {}
    origin = "--env" if chosen.environment else "--dev" if chosen.dev else "$RPCGW_ENV"
    found = {("environment",): Override(name, origin)}
    return found | ({("logging", "format"): Override("console", "--dev")} if chosen.dev else {})


def _unsaid(file: str, env: Mapping[str, str]) -> dict[Path, Override]:
    """Defaults that no schema can name."""
    # systemd gives a list where several directories are asked for
    given = env.get("STATE_DIRECTORY", "").split(":")[0]
    return {
        ("state_dir",): Override(given, "$STATE_DIRECTORY") if given else Override("var", _DEFAULT),
        ("routes",): Override(default_routes(file.rpartition("/")[2]), _DEFAULT),
    }


@record(frozen=True, slots=True)
class _Listing:
    document: Document
    assembled: Assembled
    overrides: Mapping[Path, Override]
    unsaid: Mapping[Path, Override]
    schema: Mapping[str, Any]

    def settings(self) -> Iterator[Setting]:
        yield from self._below((), self.schema)

    def _below(self, path: Path, part: Mapping[str, Any]) -> Iterator[Setting]:
        """The settings of a section: those of the schema, and those of names that the user chose."""
        given = find(self.document.root, path)
        known: Mapping[str, Any] = part.get("properties", {})
        for name, inner in known.items():
            if path or name not in ("imports", "parameters"):
                yield from self._one((*path, name), self._resolved(inner))
        more = part.get("additionalProperties")
        for name in given.entries if isinstance(given, Table) else ():
            if name not in known:
                yield from self._one((*path, name), self._resolved(more) if isinstance(more, dict) else {})

    def _one(self, path: Path, part: Mapping[str, Any]) -> Iterator[Setting]:
        node = find(self.document.root, path)
        if path in self.overrides:
            override = self.overrides[path]
            yield Setting(path, override.value, override.origin)
        elif isinstance(node, Table) and (node.entries or "properties" in part):
            yield from self._below(path, part)
        elif node is not None:
            place = self.document.place(*path)
            yield Setting(path, _shown(node, path), self._origin(path, place), place)
        elif "properties" in part and not _is_named(path):
            yield from self._below(path, part)
        elif not _is_named(path):
            unsaid = self.unsaid.get(path, Override(part.get("default"), _DEFAULT))
            yield Setting(path, unsaid.value, unsaid.origin)

    def _resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in part:
            return part
        found: Mapping[str, Any] = self.schema["$defs"][part["$ref"].rpartition("/")[2]]
        return found

    def _origin(self, path: Path, place: Place) -> str:
        variables = self._variables(path)
        return f"{place.file}:{place.line}" + (f" ({', '.join(variables)})" if variables else "")

    def _variables(self, path: Path) -> list[str]:
        """The variables that stand in a value as it was written."""
        written = find(self.assembled.written, path) if self.assembled.written is not None else None
        texts = _texts(written) if written is not None else ()
        names = [match["variable"] or match["env"] for text in texts for match in _REFERENCE.finditer(text)]
        return [f"${name}" for name in dict.fromkeys(names)]


_CHOSEN_NAMES: tuple[Path, ...] = (
    ("groups",),
    ("methods",),
    ("pools",),
    ("ufo_mcp", "groups"),
    ("ufo_json_rpc", "security", "providers"),
)


def _is_named(path: Path) -> bool:
    """Whether a setting belongs to something that the user named: what it does not say it inherits."""
    return any(len(path) > len(holder) and path[: len(holder)] == holder for holder in _CHOSEN_NAMES)


def _texts(node: Node) -> Iterator[str]:
    match node:
        case Leaf(str() as text):
            yield text
        case Items(items):
            for item in items:
                yield from _texts(item)
        case Table(entries):
            for value in entries.values():
                yield from _texts(value)
        case _:
            return


def _shown(node: Node, path: Path) -> Any:
    """A value as it may be seen."""
    return _masked(plain(node), path)


def _masked(value: Any, path: Path) -> Any:
    match value:
        case dict():
            return {key: _masked(inner, (*path, key)) for key, inner in value.items()}
        case list():
            return [_masked(inner, (*path, at)) for at, inner in enumerate(value)]
        case str() if _is_address(path, value):
            return _without_credentials(value)
        case str():
            return MASK if _hidden(path) else _CREDENTIALS.sub(f"{MASK}@", value)
        case bool() | None:
            return value
        case _:
            return MASK if _hidden(path) else value


def _hidden(path: Path) -> bool:
    if path[: len(_PLUGINS)] == _PLUGINS:
        return True
    return is_secret(path) and path[-1] not in _NOT_SECRET and path != ("ufo_json_rpc", "cache", "pool")


def _is_address(path: Path, value: str) -> bool:
    return any(path[: len(at)] == at for at in _URLS_AT) and bool(_URL.match(value))


def _without_credentials(url: str) -> str:
    """A URL without a password, and without the query, which may hold one."""
    address, query, _ = url.partition("?")
    return _CREDENTIALS.sub(f"{MASK}@", address) + (f"?{MASK}" if query else "")
