"""Environment variables in parsed scalars: `%env(int:NAME)%` as in Symfony, `${NAME:-default}` as in Compose.

Raw text is never touched, so no variable can add a key. `%%` is a percent sign, `$$` a dollar sign. A scalar that is
exactly one `%env(...)%` takes the type of its first processor; everything else is text.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rpcgw.api.problems import Place, Problem
from rpcgw.config.nodes import Leaf, Node, Path, replaced, wrapped
from rpcgw.config.sources import Reader, Unreadable, beside
from rpcgw.config.wording import choices, meant, quoted

_TOKEN = re.compile(
    r"%%|\$\$"
    r"|%env\((?P<env>[^()%]*)\)%"
    r"|\$\{(?P<variable>[^{}]*)\}"
    r"|(?P<parameter>%[A-Za-z_][A-Za-z0-9_.]*%)"
    r"|(?P<open>%env\(|\$\{)"
)
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)((?P<how>:[-?])(?P<rest>.*))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_TRUE = ("1", "true", "on", "yes")
_FALSE = ("0", "false", "off", "no", "")
_LATER = ("base64", "default", "defined", "enum", "key", "not", "query_string", "resolve", "trim", "url", "urlencode")


class _Wrong(Exception):
    """A problem without its place."""

    def __init__(self, code: str, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.code, self.text, self.hint = code, text, hint


def _bool(text: str, _: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError("it must be one of true, yes, on, 1, false, no, off, 0, or empty")
    return word in _TRUE


def _int(text: str, _: str) -> int:
    if not re.fullmatch(r"\s*[-+]?[0-9]{1,100}\s*", text):
        raise ValueError("it must be a whole number")
    return int(text)


def _float(text: str, _: str) -> float:
    if not re.fullmatch(r"\s*[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\s*", text):
        raise ValueError("it must be a number")
    return float(text)


def _json(text: str, _: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it must be JSON") from None


def _csv(text: str, _: str) -> list[str]:
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True)) if text else []
    except csv.Error:
        raise ValueError("it must be one line of comma-separated values") from None
    return [cell.strip() for row in rows for cell in row]


_PROCESSORS: Mapping[str, Callable[[str, str], Any]] = {
    "bool": _bool,
    "int": _int,
    "float": _float,
    "string": lambda text, _: text,
    "json": _json,
    "csv": _csv,
}
PROCESSORS = (*_PROCESSORS, "file")
"""The names that may stand before a variable in `%env(...)%`, the last one applied first."""


@dataclass(frozen=True, slots=True)
class Variables:
    """What a scalar may draw on: the environment, and files that variables name (relative to the YAML file)."""

    env: Mapping[str, str]
    reader: Reader
    file: str

    def text(self, scalar: str) -> tuple[Any, bool]:
        """A scalar with its variables filled in, and whether it holds any. Raises `_Wrong`."""
        found = list(_TOKEN.finditer(scalar))
        if not found:
            return scalar, False
        if len(found) == 1 and found[0].group() == scalar:
            return self._value(found[0]), _is_variable(found[0])
        parts: list[str] = []
        end = 0
        for token in found:
            parts += [scalar[end : token.start()], _as_text(self._value(token))]
            end = token.end()
        return "".join([*parts, scalar[end:]]), any(_is_variable(token) for token in found)

    def _value(self, token: re.Match[str]) -> Any:
        if token["env"] is not None:
            return self._processed(token["env"])
        if token["variable"] is not None:
            return self._compose(token["variable"])
        if token["parameter"] is not None:
            hint = "write %% for a percent sign"
            raise _Wrong("not-available", f"{token['parameter']}: this version does not do parameters yet.", hint)
        if token["open"] is not None:
            raise _Wrong("env-syntax", f"{quoted(token['open'])} has no end.", "write %env(NAME)% or ${NAME}")
        return token.group()[0]

    def _compose(self, inner: str) -> str:
        match = _VARIABLE.fullmatch(inner)
        if match is None:
            hint = "write ${NAME}, ${NAME:-default} or ${NAME:?message}"
            raise _Wrong("env-syntax", f"{quoted('${' + inner + '}')} is not a variable.", hint)
        value = self.env.get(match["name"])
        if match["how"] is None:
            return self._set(match["name"])
        if value:
            return value
        if match["how"] == ":-":
            return match["rest"]
        message = " ".join(match["rest"].split())
        reason = f": {message}" if message else "."
        raise _Wrong("env-unset", f"The environment variable {match['name']} is not set or empty{reason}")

    def _processed(self, inner: str) -> Any:
        *processors, name = inner.split(":")
        if not _NAME.fullmatch(name):
            raise _Wrong("env-syntax", f"{quoted(f'%env({inner})%')} names no variable.", "write %env(NAME)%")
        for processor in processors:
            _check_processor(processor)
        value: Any = self._set(name)
        for processor in reversed(processors):
            value = self._process(processor, value, name)
        return value

    def _process(self, processor: str, value: Any, name: str) -> Any:
        if not isinstance(value, str):
            raise _Wrong("env-syntax", f'The processor "{processor}" of {name} gets no text to work on.')
        if processor == "file":
            return self._file(value, name)
        try:
            return _PROCESSORS[processor](value, name)
        except ValueError as error:
            raise _Wrong("env-value", f'The environment variable {name} is no "{processor}": {error}.') from None

    def _file(self, value: str, name: str) -> str:
        try:
            return self.reader.text(beside(self.file, value))
        except Unreadable as error:
            text = f"The file {quoted(value)}, named by the environment variable {name}, cannot be read: {error}."
            raise _Wrong("missing-file", text) from None

    def _set(self, name: str) -> str:
        value = self.env.get(name)
        if value is None:
            hint = f"set it, or write ${{{name}:-default}}"
            raise _Wrong("env-unset", f"The environment variable {name} is not set.", hint)
        return value


def _is_variable(token: re.Match[str]) -> bool:
    return token["env"] is not None or token["variable"] is not None


def _as_text(value: Any) -> str:
    match value:
        case str():
            return value
        case bool() | None:
            return json.dumps(value)
        case int() | float():
            return str(value)
        case _:
            raise _Wrong("env-syntax", "A list or a mapping cannot stand inside a longer text.")


def _check_processor(processor: str) -> None:
    if processor in PROCESSORS:
        return
    if processor in _LATER:
        text = f'The processor "{processor}": this version does not do it yet.'
        raise _Wrong("not-available", text, f"available are {choices(PROCESSORS)}")
    text = f'Unknown processor "{processor}". Available processors are {choices(PROCESSORS)}.'
    raise _Wrong("env-syntax", text, meant(processor, PROCESSORS))


def interpolate(node: Node, variables: Variables) -> tuple[Node, list[Problem]]:
    """The tree with every variable filled in; what cannot be filled is taken out and reported at its scalar's place."""
    problems: list[Problem] = []

    def change(_: Path, leaf: Leaf) -> Node | None:
        if not isinstance(leaf.value, str):
            return leaf
        try:
            value, from_env = variables.text(leaf.value)
        except _Wrong as wrong:
            problems.append(_placed(wrong, leaf.place))
            return None
        return Leaf(value, leaf.place, from_env) if isinstance(value, str) else wrapped(value, leaf.place)

    return replaced(node, change), problems


def _placed(wrong: _Wrong, place: Place) -> Problem:
    return Problem(place, wrong.code, wrong.text, wrong.hint)
