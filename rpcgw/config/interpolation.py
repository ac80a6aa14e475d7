"""References in parsed scalars: `%env(int:NAME)%` and `%parameter%` as in Symfony, `${NAME:-default}` as in Compose.

Raw text is never touched, so no variable can add a key. `%%` is a percent sign, `$$` a dollar sign. A scalar that is
exactly one `%env(...)%` has the type that its first processor makes, and one that is exactly one `%parameter%` is what
the parameter is; everything else is text. Where NAME is not set and NAME_FILE is, the variable is that file's content,
without the line end after it: so secrets come as files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.nodes import Leaf, Node, Path, placed, plain, replaced, wrapped
from rpcgw.config.processors import ARGUED, PROCESSORS, at_key, process
from rpcgw.config.sources import Reader, Unreadable, beside
from rpcgw.config.wording import choices, meant, quoted

_TOKEN = re.compile(
    r"%%|\$\$"
    r"|%env\((?P<env>[^()%]*)\)%"
    r"|\$\{(?P<variable>[^{}]*)\}"
    r"|%(?P<parameter>[A-Za-z_][A-Za-z0-9_.-]*)%"
    r"|(?P<open>%env\(|\$\{)"
)
_RESOLVED = re.compile(r"%%|%env\((?P<env>[^()%]*)\)%|%(?P<parameter>[^%\s]+)%")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)((?P<how>:[-?])(?P<rest>.*))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_Step = tuple[str, str]


class _Wrong(Exception):
    """A problem; `place` is where, unless it is the scalar that was asked for."""

    def __init__(self, code: str, text: str, hint: str = "", place: Place | None = None) -> None:
        super().__init__(text)
        self.code, self.text, self.hint, self.place = code, text, hint, place


class _Absent(_Wrong):
    """A variable that is not there: what `default` and `defined` are for."""


@record(frozen=True, slots=True)
class Variables:
    """What a scalar may draw on: the environment, files that variables name, parameters with their definitions."""

    env: Mapping[str, str]
    reader: Reader
    parameters: Mapping[str, Node] = field(default_factory=dict)


@record(frozen=True, slots=True)
class _Scalar:
    """One scalar at its place; `within` names the parameters whose definitions it stands in."""

    variables: Variables
    place: Place
    within: tuple[str, ...] = ()

    def filled(self, scalar: str) -> Node:
        """The scalar with its references filled in. Raises `_Wrong`."""
        found = list(_TOKEN.finditer(scalar))
        if not found:
            return Leaf(scalar, self.place)
        if len(found) == 1 and found[0].group() == scalar:
            return self._node(found[0])
        parts: list[str] = []
        end, from_env = 0, False
        for token in found:
            node = self._node(token)
            parts += [scalar[end : token.start()], _as_text(plain(node))]
            from_env |= isinstance(node, Leaf) and node.from_env
            end = token.end()
        return Leaf("".join([*parts, scalar[end:]]), self.place, from_env)

    def _node(self, token: re.Match[str]) -> Node:
        if token["parameter"] is not None:
            return self._parameter(token["parameter"])
        if token["open"] is not None:
            raise _Wrong("env-syntax", f"{quoted(token['open'])} has no end.", "write %env(NAME)% or ${NAME}")
        if token["env"] is None and token["variable"] is None:
            return Leaf(token.group()[0], self.place)
        value = self._processed(token["env"]) if token["env"] is not None else self._compose(token["variable"])
        return Leaf(value, self.place, from_env=True) if isinstance(value, str) else wrapped(value, self.place)

    # -- parameters

    def _parameter(self, name: str) -> Node:
        if name in self.within:
            circle = choices(sorted(self.within[self.within.index(name) :]))
            raise _Wrong("reference-cycle", f"The parameters {circle} name each other in a circle.", place=self.place)
        node = self.variables.parameters.get(name)
        if node is None:
            hint = meant(name, self.variables.parameters) or "write %% for a percent sign"
            raise _Wrong("undefined-parameter", f"There is no parameter {quoted(name)}.", hint)
        return placed(self._defined(node, name), self.place)

    def _defined(self, node: Node, name: str) -> Node:
        def change(_: Path, leaf: Leaf) -> Node:
            if not isinstance(leaf.value, str):
                return leaf
            try:
                return _Scalar(self.variables, leaf.place, (*self.within, name)).filled(leaf.value)
            except _Wrong as wrong:
                wrong.place = wrong.place or leaf.place
                raise

        return replaced(node, change)

    # -- variables

    def _compose(self, inner: str) -> str:
        match = _VARIABLE.fullmatch(inner)
        if match is None:
            hint = "write ${NAME}, ${NAME:-default} or ${NAME:?message}"
            raise _Wrong("env-syntax", f"{quoted('${' + inner + '}')} is not a variable.", hint)
        if match["how"] is None:
            return _as_text(self._set(match["name"]))
        value = self._found(match["name"])
        if value:
            return value
        if match["how"] == ":-":
            return match["rest"]
        message = " ".join(match["rest"].split())
        reason = f": {message}" if message else "."
        raise _Wrong("env-unset", f"The environment variable {match['name']} is not set or empty{reason}")

    def _processed(self, inner: str) -> Any:
        steps, name = _steps(inner)
        return self._chain(steps, name)

    def _chain(self, steps: Sequence[_Step], name: str) -> Any:
        if not steps:
            return self._set(name)
        (processor, argument), *rest = steps
        if processor in ("default", "defined"):
            return self._or_else(processor, argument, rest, name)
        value = self._chain(rest, name)
        if value is None:
            return None
        if processor == "key":
            return _picked(value, argument, name)
        return self._made(processor, self._text(processor, value, name), name)

    def _made(self, processor: str, text: str, name: str) -> Any:
        match processor:
            case "file":
                return self._content(text, name)
            case "resolve":
                within = (*self.within, f"env({name})")
                return _RESOLVED.sub(replace(self, within=within).resolved, text)
        try:
            return process(processor, text, name)
        except ValueError as error:
            raise _Wrong("env-value", f'The environment variable {name} is no "{processor}": {error}.') from None

    def _or_else(self, processor: str, argument: str, rest: Sequence[_Step], name: str) -> Any:
        try:
            value = self._chain(rest, name)
        except _Absent:
            value = None
        if processor == "defined":
            return value not in (None, "")
        if value not in (None, ""):
            return value
        return plain(self._parameter(argument)) if argument else None

    def _text(self, processor: str, value: Any, name: str) -> str:
        if isinstance(value, list | dict):
            raise _Wrong("env-syntax", f'The processor "{processor}" of {name} gets no text to work on.')
        return _as_text(value)

    def resolved(self, token: re.Match[str]) -> str:
        """A reference in the value of a variable that `resolve` works on. Raises `_Wrong`."""
        if token["parameter"] is not None:
            return _as_text(plain(self._parameter(token["parameter"])))
        if token["env"] is None:
            return "%"
        _, name = _steps(token["env"])
        if f"env({name})" in self.within:
            raise _Wrong("reference-cycle", f"The environment variable {name} names itself.")
        return _as_text(self._processed(token["env"]))

    def _set(self, name: str) -> Any:
        value = self._found(name)
        if value is None and f"env({name})" in self.variables.parameters:
            return plain(self._parameter(f"env({name})"))
        if value is None:
            hint = f"set it, or write ${{{name}:-default}}"
            raise _Absent("env-unset", f"The environment variable {name} is not set.", hint)
        return value

    def _found(self, name: str) -> str | None:
        """A variable, or the content of the file that NAME_FILE names; None where neither is set."""
        value = self.variables.env.get(name)
        if value is None and (file := self.variables.env.get(f"{name}_FILE")):
            return self._content(file, f"{name}_FILE").rstrip("\r\n")
        return value

    def _content(self, path: str, name: str) -> str:
        try:
            return self.variables.reader.text(beside(self.place.file, path))
        except Unreadable as error:
            text = f"The file {quoted(path)}, named by the environment variable {name}, cannot be read: {error}."
            raise _Absent("missing-file", text) from None


def _steps(inner: str) -> tuple[list[_Step], str]:
    """The processors of `%env(inner)%` with their arguments, the outermost first, and the variable's name."""
    *words, name = inner.split(":")
    if not _NAME.fullmatch(name):
        raise _Wrong("env-syntax", f"{quoted(f'%env({inner})%')} names no variable.", "write %env(NAME)%")
    steps: list[_Step] = []
    left = iter(words)
    for word in left:
        if word not in PROCESSORS:
            text = f'Unknown processor "{word}". Available processors are {choices(PROCESSORS)}.'
            raise _Wrong("env-syntax", text, meant(word, PROCESSORS))
        argument = next(left, None) if word in ARGUED else ""
        if argument is None:
            what = {"key": "an index", "default": "the name of a parameter, or nothing"}[word]
            text = f'The processor "{word}" of {name} needs {what} after it.'
            raise _Wrong("env-syntax", text, f"write %env({word}:...:{name})%")
        steps.append((word, argument))
    return steps, name


def _picked(value: Any, key: str, name: str) -> Any:
    try:
        return at_key(value, key)
    except KeyError:
        text = f"The environment variable {name} holds nothing under the key {quoted(key)}."
        raise _Absent("env-value", text) from None
    except TypeError:
        text = f'The processor "key" of {name} gets no mapping to look into.'
        raise _Wrong("env-syntax", text, f"write %env(key:{key}:json:{name})%") from None


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


def interpolate(node: Node, variables: Variables) -> tuple[Node, list[Problem]]:
    """The tree with every reference filled in; what cannot be filled is taken out and reported at its scalar's place.

    A mistake in a parameter's definition is reported there.
    """
    problems: list[Problem] = []

    def change(_: Path, leaf: Leaf) -> Node | None:
        if not isinstance(leaf.value, str):
            return leaf
        try:
            return _Scalar(variables, leaf.place).filled(leaf.value)
        except _Wrong as wrong:
            problems.append(Problem(wrong.place or leaf.place, wrong.code, wrong.text, wrong.hint))
            return None

    return replaced(node, change), list(dict.fromkeys(problems))
