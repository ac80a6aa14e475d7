"""Import plugins. One that fails is quarantined with its traceback; it never takes the daemon with it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import threading
import traceback
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from rpcgw.api.converters import Converter, Resolver
from rpcgw.api.marks import Listener, Procedure, marks_of
from rpcgw.api.plugin import Plugin
from rpcgw.api.problems import Place
from rpcgw.discovery.found import Candidate, LoadedPlugin, Quarantined


class DirectoryFinder(MetaPathFinder):
    """Finds the top-level modules of the plugins directory's own plugins before the venv's copies of them.

    Only those: a dependency that `pip install --target` left in the directory never shadows the venv's.
    """

    def __init__(self, roots: dict[str, str]) -> None:
        self._roots = roots

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a plugin's top-level module, or None for everything else."""
        root = self._roots.get(fullname)
        return PathFinder.find_spec(fullname, [root], target) if root and path is None else None


def load_all(candidates: Iterable[Candidate]) -> tuple[list[LoadedPlugin], list[Quarantined]]:
    """Import every candidate, in order. Changes `sys.path` and `sys.meta_path`: call it once in a process."""
    chosen = list(candidates)
    _make_importable(chosen)
    loaded: list[LoadedPlugin] = []
    quarantined: list[Quarantined] = []
    for candidate in chosen:
        result = load(candidate)
        (loaded if isinstance(result, LoadedPlugin) else quarantined).append(result)  # type: ignore[arg-type]  # narrowed by the same test
    return loaded, quarantined


def _make_importable(candidates: list[Candidate]) -> None:
    roots = {c.module.partition(".")[0]: c.root for c in candidates if c.root}
    if roots:
        sys.meta_path.insert(0, DirectoryFinder(roots))
    for root in dict.fromkeys(c.root for c in candidates if c.root):
        if root not in sys.path:
            sys.path.append(root)


def load(candidate: Candidate) -> LoadedPlugin | Quarantined:
    """Import one plugin; whatever its code raises becomes a `Quarantined`."""
    if candidate.target.startswith("!"):
        return Quarantined(candidate, candidate.target[1:])
    threads = threading.active_count()
    try:
        module = importlib.import_module(candidate.module)
        plugin = _plugin_of(module, candidate)
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- the plugin's own code, and it must not end the daemon
        reason = f"{type(error).__name__}: {error}"
        return Quarantined(
            candidate, reason, _traceback(error, candidate.location), _at_fault(error, candidate.location)
        )
    if isinstance(plugin, str):
        return Quarantined(candidate, plugin)
    if threading.active_count() > threads:
        return Quarantined(candidate, "it starts threads when it is imported (start them in the plugin's lifespan)")
    return LoadedPlugin(candidate, plugin, _catalogues(plugin, module))


def _traceback(error: BaseException, location: str) -> str:
    """An error's traceback from the plugin's own code on: how Python came there is no help to its author."""
    reached = error.__traceback__
    while reached and not (location and Path(reached.tb_frame.f_code.co_filename).is_relative_to(location)):
        reached = reached.tb_next
    return "".join(traceback.format_exception(type(error), error, reached)).rstrip()


def _at_fault(error: BaseException, location: str) -> Place | None:
    """The innermost line of the plugin's own code that an error came through, or that is no Python."""
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        lines.append((error.filename or "", error.lineno))
    own = [Place(file, line) for file, line in lines if line and location and Path(file).is_relative_to(location)]
    return own[-1] if own else None


def _plugin_of(module: ModuleType, candidate: Candidate) -> Plugin | str:
    """The plugin, or the reason why there is none."""
    attribute = candidate.target.partition(":")[2] or "plugin"
    value = getattr(module, attribute, None)
    if isinstance(value, Plugin):
        return value
    if value is None and candidate.origin == "file":
        return _gathered(module)
    if value is None:
        return f"{candidate.module} has no attribute {attribute!r} (say {attribute} = rpc.Plugin(procedures=[...]))"
    return f"{candidate.target} is a {type(value).__name__}, not an rpc.Plugin"


def _gathered(module: ModuleType) -> Plugin | str:
    """A single file need not say `plugin = ...`: whatever is marked in it counts."""
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    procedures = [value for value in own if inspect.isclass(value) and Procedure in marks_of(value)]
    listeners = [value for value in own if inspect.isfunction(value) and Listener in marks_of(value)]
    resolvers = [value for value in own if inspect.isfunction(value) and Resolver in marks_of(value)]
    converters = [value for value in vars(module).values() if isinstance(value, Converter)]
    if not procedures and not listeners:
        return "it defines no plugin (mark a class with @rpc.procedure, or say plugin = rpc.Plugin(...))"
    return Plugin(procedures=procedures, listeners=listeners, converters=[*converters, *resolvers])


def _catalogues(plugin: Plugin, module: ModuleType) -> str:
    if plugin.translations is None or module.__file__ is None:
        return ""
    return str((Path(module.__file__).parent / plugin.translations).resolve())
