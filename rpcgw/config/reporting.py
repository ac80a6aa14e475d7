"""Problems as a compiler prints them: the place, the line, a caret, what to do. Also as annotations of GitHub.

Lines of YAML may hold secrets: what stands after the key of a token, a password, a pool or a plugin's setting is not
shown, unless it only names a variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rpcgw.api.problems import Level, Place, Problem

Lines = Callable[[str], Sequence[str]]
"""A file's lines by its name; none where it cannot be read."""

_COLOURS: dict[Level, str] = {"error": "31", "warning": "33", "note": "36"}
_ANNOTATIONS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}

_WIDEST = 120
_LARGEST = 4_000_000
_YAML = re.compile(r"\.ya?ml(\.\w+)?$")
_KEY = re.compile(r"""^\s*(?:-\s+)*(?P<key>"[^"]*"|'[^']*'|[^\s:#,{}\[\]"'][^:#]*):(?=\s|$)""")
_WORDS = r"passw|secret|token(?!_name)|api_?key|\bpools?\b|\bconfig\b|\basync\b|\bdsn\b|\bjwt\b"
_SECRET = re.compile(_WORDS, re.IGNORECASE)
_SECRET_INSIDE = re.compile(rf"({_WORDS})[\w-]*[\"']?\s*:(?=\s)", re.IGNORECASE)
_NAMED = re.compile(r"""(?:[\s\[\]{},:"'-]|\$\{[A-Za-z0-9_]+\}|%env\([^()%]*\)%)*(#.*)?""")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")


def read_lines(file: str) -> Sequence[str]:
    """The lines of a file on disk; none where it cannot be read, is no file, or is absurdly large."""
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return ()
        return path.read_text("utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return ()


def report(problems: Iterable[Problem], *, colour: bool, lines: Lines = read_lines) -> Iterator[str]:
    """The lines that tell a person of problems, in the order given."""
    known: dict[str, Sequence[str]] = {}
    for problem in problems:
        place = problem.place
        paint = _COLOURS[problem.level] if colour else ""
        yield f"{place}: {_painted(f'{problem.level}[{problem.code}]', paint)} {problem.text}"
        if place.line and place.file not in known:
            known[place.file] = lines(place.file)
        yield from _excerpt(place, known.get(place.file, ()), paint)
        if problem.hint:
            yield f"    {_painted('help:', paint)} {problem.hint}"


def workflow_commands(problems: Iterable[Problem]) -> Iterator[str]:
    """Workflow commands that GitHub shows beside the lines of a pull request."""
    for problem in problems:
        place = problem.place
        where = {"file": place.file, "line": place.line, "col": place.column, "title": problem.code}
        fields = ",".join(f"{name}={_escaped(str(value), _IN_FIELD)}" for name, value in where.items() if value)
        text = f"{problem.text}\n{problem.hint}" if problem.hint else problem.text
        yield f"::{_ANNOTATIONS[problem.level]} {fields}::{_escaped(text, _IN_TEXT)}"


_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_FIELD = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def _escaped(text: str, how: dict[str, str]) -> str:
    return "".join(how.get(letter, letter) for letter in text)


def _painted(text: str, colour: str) -> str:
    """Text in bold and a colour; as it is where there is none."""
    return f"\x1b[1;{colour}m{text}\x1b[0m" if colour else text


def _excerpt(place: Place, lines: Sequence[str], colour: str) -> Iterator[str]:
    """The line with its number, and a caret under the column."""
    if not 0 < place.line <= len(lines):
        return
    line = lines[place.line - 1]
    shown = _seemly(lines, place.line - 1) if _YAML.search(place.file) else line
    shown, column = _cut("".join(c if c.isprintable() or c == "\t" else "?" for c in shown), place.column)
    gutter = f"{place.line:>5} | "
    yield f"{gutter}{shown}".rstrip()
    if 0 < column <= len(shown) + 1:
        blank = "".join("\t" if letter == "\t" else " " for letter in shown[: column - 1])
        yield f"{' ' * (len(gutter) - 2)}| {blank}{_painted('^', colour)}"


def _cut(line: str, column: int) -> tuple[str, int]:
    """A long line around its column."""
    if len(line) <= _WIDEST:
        return line, column
    start = max(0, min(column - _WIDEST // 2, len(line) - _WIDEST))
    return line[start : start + _WIDEST], column - start


# -- secrets


def _seemly(lines: Sequence[str], at: int) -> str:
    """A line of YAML without what may be a secret."""
    line = lines[at]
    key = _KEY.match(line)
    start = key.end() if key else len(line) - len(line.lstrip(" -"))
    if line.lstrip().startswith("#") or _NAMED.fullmatch(line[start:]):
        return line
    above = [key["key"]] if key else []
    if any(_SECRET.search(word) for word in (*above, *_above(lines, at))):
        return f"{line[:start]}{' ' if key else ''}***"
    inside = _SECRET_INSIDE.search(line, start)
    return f"{line[: inside.end()]} ***" if inside else _CREDENTIALS.sub("***@", line)


def _above(lines: Sequence[str], at: int) -> Iterator[str]:
    """The keys that a line stands below; a line without a key that it stands below as a whole."""
    depth, is_item = _depth(lines[at]), lines[at].lstrip().startswith("-")
    for line in reversed(lines[:at]):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        # a list may stand as deep as its key
        within = depth + 1 if is_item and not line.lstrip().startswith("-") else depth
        if _depth(line) < within:
            key = _KEY.match(line)
            yield key["key"] if key else line
            depth, is_item = _depth(line), line.lstrip().startswith("-")


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
