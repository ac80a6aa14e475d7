"""Which files a generation was made of: what `--dev` and `server.watch` look at. Runs in the template."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

from rpcgw.gateway.model import Gateway

INSTALLED = ("site-packages", "dist-packages")


def watched_in_development(gateway: Gateway) -> tuple[str, ...]:
    """The directory of the configuration, and whatever lies elsewhere."""
    settings = gateway.settings
    directory = str(Path(settings.source).resolve().parent)
    places = (settings.plugins.directory, settings.translations.directory, *(p.location for p in gateway.plugins))
    found = [place for place in places if Path(place).exists() and "site-packages" not in place]
    return tuple(dict.fromkeys([directory, *found]))


def watched_in_production(gateway: Gateway) -> tuple[str, ...]:
    """What was read, and what of it is code: files, directories, and patterns; none where it is not asked for.

    An installed package is known by its `RECORD`, which holds the hashes of its files.
    """
    settings = gateway.settings
    if not settings.server.watch:
        return ()
    catalogues = (str(Path(file.file).resolve().parent) for file in gateway.catalogues)
    named = [settings.plugins.directory, settings.translations.directory]
    if (tls := settings.server.tls) is not None:
        named += [tls.cert, tls.key]
    return tuple(dict.fromkeys([*settings.sources, *named, *catalogues, *_code(), *_records()]))


def _records() -> Iterator[str]:
    """A pattern for each directory that packages are installed in."""
    for dist in distributions():
        yield str(Path(str(dist.locate_file("")), "*.dist-info", "RECORD"))


def _code() -> Iterator[str]:
    """Packages and modules that were imported from elsewhere, such as those installed as editable."""
    standard = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    for name, module in list(sys.modules.items()):
        if "." in name or name == "__main__":
            continue
        for place in _places(module):
            path = Path(place).resolve()
            if not {str(parent) for parent in path.parents} & standard and not set(path.parts) & set(INSTALLED):
                yield str(path)


def _places(module: ModuleType) -> list[str]:
    """A package's directories, or a module's file; nothing for what is built in."""
    if (path := getattr(module, "__path__", None)) is not None:
        return [str(entry) for entry in path]
    file = getattr(module, "__file__", None)
    return [file] if file and file.endswith(".py") else []
