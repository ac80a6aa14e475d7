"""What catalogues say of nothing, and what they leave unsaid: for `rpcgw check`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rpcgw.api.locales import canonical, lineage
from rpcgw.api.problems import Place, Problem
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import MethodTable
from rpcgw.texts import Texts

_SHOWN = 5


def catalogue_problems(
    files: Sequence[CatalogueFile], table: MethodTable, texts: Texts, served: Iterable[str]
) -> list[Problem]:
    """Warnings, each with its place: keys that match nothing, and methods that lack a text that others have."""
    groups = [group for group in dict.fromkeys(served) if table.versions(group)]
    return [*_unmatched(files, table), *_missing(files, table, texts, groups)]


def _unmatched(files: Iterable[CatalogueFile], table: MethodTable) -> Iterator[Problem]:
    """Keys of methods that are not there, or not in the group; parameters that no version of the method has."""
    for file in files:
        known = _methods(table, [file.group] if file.group else table.groups)
        where = f' of the group "{file.group}"' if file.group else ""
        for name, texts in file.methods.items():
            place = file.places.get(name, Place(file.file))
            if name not in known:
                hint = "`rpcgw methods` lists them"
                yield Problem(place, "unknown-method", f'"{name}" matches no method{where}', hint, "warning")
                continue
            params = {param.name for method in known[name] for param in method.params}
            for param in texts.get("params", {}):
                if param not in params:
                    hint = f"parameters: {', '.join(sorted(params)) or 'none'}"
                    yield Problem(place, "unknown-parameter", f'"{name}" has no parameter "{param}"', hint, "warning")


def _missing(
    files: Sequence[CatalogueFile], table: MethodTable, texts: Texts, groups: Iterable[str]
) -> Iterator[Problem]:
    """For each language of a group but the default one: methods without a text, one warning each.

    Asked for is what somebody says in another language: the code, or a catalogue. Parameters only where the language
    has some parameters already. Plugins that no catalogue speaks of are not translated, nor is what is built in.
    """
    seen: set[tuple[str, str]] = set()
    for group in groups:
        of_group = [file for file in files if file.group in ("", group)]
        known = _translated(_methods(table, [group]), of_group)
        for locale in sorted({canonical(file.locale) for file in of_group}):
            spoken = [file for file in of_group if canonical(file.locale) in lineage(locale)]
            if texts.default_locale in lineage(locale) or not any(file.methods.keys() & known for file in spoken):
                continue
            with_params = any(texts.get("params") for file in spoken for texts in file.methods.values())
            for name, versions in known.items():
                lacking = _lacking(name, versions, spoken, of_group, with_params=with_params)
                if lacking and (locale, name) not in seen:
                    seen.add((locale, name))
                    more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
                    text = f'"{name}" has no {", ".join(lacking[:_SHOWN])}{more} in {locale}'
                    yield Problem(_place(name, spoken), "missing-text", text, level="warning")


def _translated(methods: Mapping[str, list[Method]], files: Iterable[CatalogueFile]) -> Mapping[str, list[Method]]:
    """The methods of those plugins of which catalogues know at least one."""
    named = {name for file in files for name in file.methods}
    plugins = {method.plugin for name in named & methods.keys() for method in methods[name]} - {""}
    return {name: of for name, of in methods.items() if any(method.plugin in plugins for method in of)}


def _lacking(
    name: str,
    versions: Sequence[Method],
    spoken: Iterable[CatalogueFile],
    of_group: Iterable[CatalogueFile],
    *,
    with_params: bool,
) -> list[str]:
    wanted = _said(versions) | _fields(name, of_group)
    lacking = wanted - _fields(name, spoken)
    return sorted(field for field in lacking if with_params or not field.startswith("params."))


def _said(versions: Iterable[Method]) -> set[str]:
    """What the code says of a method."""
    found: set[str] = set()
    for method in versions:
        found |= {"description"} if method.description else set()
        found |= {"title"} if method.title else set()
        found |= {f"params.{param.name}" for param in method.params if param.description}
    return found


def _fields(name: str, files: Iterable[CatalogueFile]) -> set[str]:
    """What catalogues say of a method."""
    found: set[str] = set()
    for file in files:
        texts = file.methods.get(name, {})
        found |= {field for field in texts if field != "params"}
        found |= {f"params.{param}" for param, text in texts.get("params", {}).items() if text}
    return found


def _place(name: str, spoken: Sequence[CatalogueFile]) -> Place:
    """Where the language speaks of the method, else the beginning of its first file."""
    return next((file.places[name] for file in spoken if name in file.places), Place(spoken[0].file))


def _methods(table: MethodTable, groups: Iterable[str]) -> Mapping[str, list[Method]]:
    """The methods of groups by name, in each of their versions."""
    found: dict[str, list[Method]] = {}
    for group in groups:
        for version in table.versions(group):
            for name, method in (table.methods(group, version) or {}).items():
                found.setdefault(name, []).append(method)
    return found
