"""What is to be done once somebody imports a library, without importing it for that."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_awaited: dict[str, Callable[[], None]] = {}


def when_imported(library: str, then: Callable[[], None]) -> None:
    """Call `then` now where the library is loaded, else right after it is; of several the last counts."""
    if library in sys.modules:
        then()
        return
    _awaited[library] = then
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


class _Finder(MetaPathFinder):
    """Finds nothing by itself: it has a hand in how what others find is loaded (PEP 451)."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 -- importlib's signature
        target: ModuleType | None = None,  # noqa: ARG002 -- as above
    ) -> ModuleSpec | None:
        """What the others find; whoever waits for it is called at the end of its loading."""
        then = _awaited.pop(fullname, None)
        if then is None:
            return None
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            then()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_finder = _Finder()
