"""What stands under a class's fields in its source: the texts that describe them. Pure but for reading source files.

    @dataclass
    class Product:
        price: Decimal
        "Without taxes."

Each module is parsed once in a compile, however many of its classes are described; pydantic's own reading of such texts
parses it for every class.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise

ByField = Mapping[str, str]


class FieldDocs:
    """The fields' texts of any class, remembered by module; a class without source has none."""

    def __init__(self) -> None:
        self._modules: dict[str, Mapping[str, ByField]] = {}

    def of(self, cls: type) -> ByField:
        """Texts by field, those of base classes included."""
        found: dict[str, str] = {}
        for base in reversed(cls.__mro__[:-1]):
            found |= self._in_module(base.__module__).get(base.__qualname__, {})
        return found

    def _in_module(self, name: str) -> Mapping[str, ByField]:
        if name not in self._modules:
            self._modules[name] = dict(_classes(_tree(name), ""))
        return self._modules[name]


def _tree(name: str) -> ast.AST:
    """The syntax of an author's module; libraries' classes are described by their authors' schemas."""
    module = sys.modules.get(name)
    if module is None or name.partition(".")[0] in ("builtins", "typing", "pydantic", "enum", "abc", "dataclasses"):
        return ast.Module([], [])
    try:
        return ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError, ValueError):
        return ast.Module([], [])


def _classes(node: ast.AST, within: str) -> Iterator[tuple[str, ByField]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield within + child.name, dict(_fields(child.body))
            yield from _classes(child, f"{within}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(child, f"{within}{child.name}.<locals>.")
        else:
            yield from _classes(child, within)


def _fields(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            yield field.target.id, " ".join(text.value.value.split())
