"""The tools of a site, looked at when a configuration is compiled: every mistake with its file and line. Pure.

A plugin's tool is tried with the site's first page and no data. What needs data is looked at when a page is asked for;
there a tool with a mistake is left out, and logged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rpcgw.api.problems import Level, Place, Problem
from rpcgw.api.records import record
from rpcgw.api.webmcp import Call, Manifest, ToolProvider
from rpcgw.config.settings import Settings
from rpcgw.protocol.webmcp.assembling import worded
from rpcgw.protocol.webmcp.checks import MOST_TOOLS, check
from rpcgw.protocol.webmcp.findings import Finding, Path
from rpcgw.protocol.webmcp.site import Declared, Site, context


@record(frozen=True, slots=True)
class Offered:
    """A provider, and where it stands: `at` is the dotted path of a tool in YAML, empty for a plugin's class."""

    provider: ToolProvider
    place: Place
    shown: str
    at: str = ""


def examine(site: Site, offered: Sequence[Offered], settings: Settings) -> tuple[dict[str, Call], list[Problem]]:
    """What each tool calls, as far as it is known, and everything that is wrong with the tools of a site."""
    problems = [*_duplicates(offered), *_crowd(site, offered, settings), *_unknown(site, offered, settings)]
    calls: dict[str, Call] = {}
    for each in offered:
        tried = _tried(site, each)
        if isinstance(tried, Finding):
            problems.append(_problem(each, tried, settings))
            continue
        for manifest in tried:
            full, wrong = _complete(site, manifest, settings)
            findings = [*wrong, *(check(full, site.addresses) if full is not None else ())]
            problems += [_problem(each, finding, settings, manifest) for finding in findings]
            if isinstance(manifest.primitive, Call):
                calls[manifest.name] = manifest.primitive
    return calls, [_strict(problem) for problem in problems] if settings.webmcp.strict else problems


def _tried(site: Site, offered: Offered) -> tuple[Manifest, ...] | Finding:
    """The tool on the site's first page, if it stands there; that of YAML in each of its languages."""
    provider = offered.provider
    if isinstance(provider, Declared):
        return provider.tool, *provider.languages.values()
    try:
        manifest: object = provider.manifest(context(site, "/", site.locale, {}, {}), {})
    except Exception as error:  # noqa: BLE001 -- the author's code, which may need data that there is none of now
        level: Level = "note" if site.processors else "warning"
        text = f"raised {type(error).__name__}: {error}, asked for the page / without data"
        hint = "it is looked at again when a page is asked for"
        return Finding((), "webmcp-provider", text, hint, level)
    if manifest is None:
        return ()
    if not isinstance(manifest, Manifest):
        return Finding((), "webmcp-provider", f"gave a {type(manifest).__name__}, not a Manifest")
    if manifest.name != provider.name:
        text = f"has the name {provider.name!r}, and its manifest {manifest.name!r}"
        return Finding((), "webmcp-name", text, "they must be the same on every page")
    return (manifest,)


def _complete(site: Site, manifest: Manifest, settings: Settings) -> tuple[Manifest | None, list[Finding]]:
    """A manifest with what the method behind a call says; None where there is none."""
    call = manifest.primitive
    if not isinstance(call, Call):
        return manifest, []
    target = site.find(call.method, call.group, call.version, site.locale)
    if target is None:
        text = f"calls {call.method}, which the group {call.group!r} does not have in version {call.version}"
        return None, [Finding(("primitive", "method"), "webmcp-call", text, "`rpcgw methods` lists them")]
    if settings.security_of(call.group).protected_api:
        text = f"calls {call.method} of the group {call.group!r}, which asks for a token that visitors do not have"
        hint = f"put it into a group with ufo_json_rpc.security.providers.{call.group}.protected_api: false"
        return worded(manifest, target), [Finding(("primitive", "group"), "webmcp-call", text, hint, "warning")]
    if target.method.scopes:
        wanted = " ".join(sorted(target.method.scopes))
        text = f"calls {call.method}, which asks for scopes ({wanted}) that visitors do not have"
        return worded(manifest, target), [Finding(("primitive", "method"), "webmcp-call", text, "", "warning")]
    return worded(manifest, target), []


def _problem(offered: Offered, finding: Finding, settings: Settings, manifest: Manifest | None = None) -> Problem:
    """A finding at its place: in YAML where the value stands, in Python where the class stands."""
    wire = manifest.primitive.wire if manifest is not None else ""
    path = tuple(wire if offered.at and step == "primitive" else step for step in finding.path)
    where = ".".join(map(str, (offered.at or offered.shown, *path)))
    place = _place(offered, path, settings)
    return Problem(place, finding.code, f'"{where}" {finding.text}', finding.hint, finding.level)


def _place(offered: Offered, path: Path, settings: Settings) -> Place:
    for end in range(len(path), -1, -1) if offered.at else ():
        found = settings.places.get(".".join(map(str, (offered.at, *path[:end]))))
        if found is not None:
            return found
    return offered.place


def _duplicates(offered: Sequence[Offered]) -> Iterator[Problem]:
    first: dict[str, Offered] = {}
    for each in offered:
        other = first.setdefault(each.provider.name, each)
        if other is not each:
            text = f'"{each.shown}" is a tool of the name {each.provider.name!r}, as "{other.shown}" is ({other.place})'
            yield Problem(each.place, "webmcp-duplicate", text, "a page takes the first one only: rename one of them")


def _crowd(site: Site, offered: Sequence[Offered], settings: Settings) -> Iterator[Problem]:
    names = {each.provider.name for each in offered if not _is_elsewhere(each)}
    if len(names) > MOST_TOOLS:
        text = f'the site "{site.name}" has {len(names)} tools on a page; agents choose badly among so many'
        place = settings.places.get(f"webmcp.sites.{site.name}", Place(settings.source))
        yield Problem(place, "webmcp-budget", text, "let tools stand on the pages that need them", "warning")


def _is_elsewhere(offered: Offered) -> bool:
    """Whether a tool stands on pages of its own."""
    return isinstance(offered.provider, Declared) and bool(offered.provider.paths)


def _unknown(site: Site, offered: Sequence[Offered], settings: Settings) -> Iterable[Problem]:
    names = {each.provider.name for each in offered}
    at = f"webmcp.sites.{site.name}.disabled"
    for name in settings.webmcp.site(site.name).disabled:
        if name not in names:
            text = f'"{at}" names {name!r}, which is no tool of the site'
            place = settings.places.get(at, Place(settings.source))
            yield Problem(place, "webmcp-unknown-tool", text, "leave it out", "warning")


def _strict(problem: Problem) -> Problem:
    return replace(problem, level="error") if problem.level == "warning" else problem
