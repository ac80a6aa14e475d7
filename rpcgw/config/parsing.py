"""YAML text -> nodes with places. Strict: what YAML would guess or lose is a problem.

Scalars follow the core schema of YAML 1.2.2 (section 10.3.2): `yes`, `no`, `on`, `off` are text, `0o17` is octal, there
are no base-60 numbers and no dates. The tree is built from PyYAML's events, so no constructor ever runs; aliases share
nodes, and what they would unfold to is bounded.

The events are libyaml's, fifty times as fast as PyYAML's own. What libyaml refuses, and what it reads otherwise, PyYAML
reads by itself: its words are those that people see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import yaml

from rpcgw.api.problems import Place, Problem
from rpcgw.config.nodes import Atom, Items, Leaf, Node, Table
from rpcgw.config.wording import quoted

MAX_DEPTH = 64
MAX_NODES = 100_000

_CORE: tuple[tuple[re.Pattern[str], Callable[[str], Atom]], ...] = (
    (re.compile(r"null|Null|NULL|~|"), lambda _: None),
    (re.compile(r"true|True|TRUE"), lambda _: True),
    (re.compile(r"false|False|FALSE"), lambda _: False),
    (re.compile(r"[-+]?[0-9]{1,100}"), int),
    (re.compile(r"0o[0-7]{1,100}"), lambda text: int(text, 8)),
    (re.compile(r"0x[0-9a-fA-F]{1,100}"), lambda text: int(text, 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(inf|Inf|INF)"), lambda text: float(text.replace(".", ""))),
    (re.compile(r"\.(nan|NaN|NAN)"), lambda _: float("nan")),
)

_HINTS = (
    ("'\\t'", "indent with spaces"),
    ("'%'", "put a value that begins with % in quotes"),
    ("'@'", "put a value that begins with @ in quotes"),
    ("'`'", "put a value that begins with ` in quotes"),
    ("mapping values are not allowed", "put text that holds a colon and a space in quotes, or mend the indentation"),
    ("could not find expected ':'", "each line of a mapping is a key, a colon and a space"),
    ("did not find expected <block end>", "mend the indentation"),
    ("expected <block end>", "mend the indentation"),
    ("special characters are not allowed", "write control characters as escapes in double quotes"),
)

_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without libyaml
_READ_OTHERWISE = re.compile(r"(?m)[\t\x85\u2028\u2029\ufeff]|[|>][-+0-9]*#|^(?! *#).*\?")

_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_SHAPE_TAGS = (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


def core_value(text: str) -> Atom:
    """What a plain scalar is in the core schema of YAML 1.2: null, bool, int, float, else the text itself."""
    for pattern, make in _CORE:
        if pattern.fullmatch(text):
            return make(text)
    return text


def parse(text: str, file: str) -> tuple[Node | None, list[Problem]]:
    """The one document of a YAML file, or None where it is empty or cannot be read, with what is wrong in it."""
    node, problems = read(text, file)
    return node, list(problems)


@lru_cache(maxsize=16)
def read(text: str, file: str) -> tuple[Node | None, Sequence[Problem]]:
    """The same, remembered: one configuration is walked several times. `read.cache_clear()` forgets it."""
    if not _READ_OTHERWISE.search(text):
        with suppress(_Refused, yaml.YAMLError, ValueError, OverflowError):
            reading = _Reading(text, file, _FAST)
            return reading.document(), reading.problems
    return read_slowly(text, file)


def read_slowly(text: str, file: str) -> tuple[Node | None, list[Problem]]:
    """The same by PyYAML alone, which says what is wrong in words of its own."""
    reading = _Reading(text, file, yaml.SafeLoader)
    try:
        return reading.document(), reading.problems
    except _Refused as refused:
        return None, [*reading.problems, refused.problem]
    except yaml.YAMLError as error:
        return None, [*reading.problems, _syntax(error, text, file)]
    except (ValueError, OverflowError):
        # PyYAML lets them out for an escape beyond Unicode and for absurd numbers in a %YAML line
        what = "The file holds an escape beyond Unicode, or an absurd version of YAML."
        return None, [*reading.problems, Problem(Place(file), "yaml-syntax", what)]


class _Refused(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


class _Built:
    """A node with what it unfolds to: how many nodes, how deep."""

    __slots__ = ("height", "node", "weight")

    def __init__(self, node: Node, weight: int = 1, height: int = 0) -> None:
        self.node, self.weight, self.height = node, weight, height


class _Reading:
    """One pass over the events of one file."""

    def __init__(self, text: str, file: str, loader: Any) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=loader)
        self._anchors: dict[str, _Built] = {}

    def document(self) -> Node | None:
        found: Node | None = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._refused(event, "The file holds more than one document.", "keep the first `---` only")
            elif isinstance(event, yaml.NodeEvent):
                found = self._node(event, 0).node
        return found

    def _node(self, event: yaml.Event, depth: int) -> _Built:
        if isinstance(event, yaml.AliasEvent):
            built = self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            built = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            built = self._sequence(event, depth)
        else:
            built = self._mapping(event, depth)
        if depth + built.height > MAX_DEPTH:
            raise self._refused(event, f"Values are nested more than {MAX_DEPTH} levels deep.")
        if built.weight > MAX_NODES:
            raise self._refused(event, f"The file unfolds to more than {MAX_NODES} values.", "use fewer aliases")
        anchor = getattr(event, "anchor", None)
        if anchor and not isinstance(event, yaml.AliasEvent):
            self._anchors[anchor] = built
        return built

    def _alias(self, event: yaml.AliasEvent) -> _Built:
        known = self._anchors.get(event.anchor or "")
        if known is None:
            raise self._refused(event, f"The alias *{event.anchor} stands before the end of its anchor, or has none.")
        return known

    def _scalar(self, event: yaml.ScalarEvent) -> _Built:
        place = self._place(event)
        if not event.value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in event.value):
            raise self._refused(event, "The text holds half of a surrogate pair.", "write the character itself")
        if not event.style and event.tag is None:  # libyaml's word for a plain scalar is an empty one
            return _Built(Leaf(core_value(event.value), place))
        self._check_tag(event, (None, *_TEXT_TAGS))
        return _Built(Leaf(event.value, place))

    def _sequence(self, event: yaml.SequenceStartEvent, depth: int) -> _Built:
        self._check_tag(event, _SHAPE_TAGS)
        self._check_depth(event, depth)
        inner: list[_Built] = []
        while not isinstance(following := next(self._events), yaml.SequenceEndEvent):
            inner.append(self._node(following, depth + 1))
        return _around(Items(tuple(built.node for built in inner), self._place(event)), inner)

    def _mapping(self, event: yaml.Event, depth: int) -> _Built:
        self._check_tag(event, _SHAPE_TAGS)
        self._check_depth(event, depth)
        inner: list[_Built] = []
        entries: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        while not isinstance(following := next(self._events), yaml.MappingEndEvent):
            key = self._key(following)
            built = self._node(next(self._events), depth + 1)
            inner.append(built)
            if key in entries:
                text = f"The key {quoted(key)} stands twice; first at {keys[key]}."
                self.problems.append(Problem(self._place(following), "duplicate-key", text, "keep one of them"))
            else:
                entries[key], keys[key] = built.node, self._place(following)
        return _around(Table(entries, self._place(event), keys), inner)

    def _key(self, event: yaml.Event) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refused(event, "A key must be text.", "write the key out")
        if event.value == "<<" and not event.style:
            hint = "write the keys out; an alias for a whole value works"
            raise self._refused(event, "Merge keys (<<) are not part of YAML 1.2.", hint)
        self._scalar(event)
        return str(event.value)

    def _check_tag(self, event: yaml.Event, known: tuple[str | None, ...]) -> None:
        tag = getattr(event, "tag", None)
        if tag not in known:
            raise self._refused(event, f"The tag {quoted(str(tag))} means nothing here.", "leave the tag out")

    def _check_depth(self, event: yaml.Event, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise self._refused(event, f"Values are nested more than {MAX_DEPTH} levels deep.")

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        return Place(self.file, mark.line + 1, mark.column + 1) if mark is not None else Place(self.file)

    def _refused(self, event: yaml.Event, text: str, hint: str = "") -> _Refused:
        return _Refused(Problem(self._place(event), "yaml-syntax", text, hint))


def _around(node: Node, inner: list[_Built]) -> _Built:
    return _Built(node, 1 + sum(b.weight for b in inner), 1 + max((b.height for b in inner), default=0))


def _syntax(error: yaml.YAMLError, text: str, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    hint = next((hint for sign, hint in _HINTS if sign in what), "")
    if mark is not None:
        place = Place(file, mark.line + 1, mark.column + 1)
    else:
        before = text[: getattr(error, "position", 0)]
        place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
    return Problem(place, "yaml-syntax", f"This is no YAML: {what}.", hint)
