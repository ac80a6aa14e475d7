"""What a docstring says of a function, in Google, reST or NumPy style. Pure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final

import docstring_parser
from docstring_parser.google import GoogleParser

from rpcgw.api.records import record


@record(frozen=True, slots=True)
class Docstring:
    """A docstring in parts; wrapped lines of parameters are joined, the description keeps its paragraphs.

    `description` is the text above the first section (T-05). `raises` pairs names as written with their texts.
    """

    description: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""
    raises: tuple[tuple[str, str], ...] = ()
    deprecated: bool = False


NOTHING = Docstring()

_REST_FIELD = re.compile(
    r"^:(param|parameter|arg|argument|type|return|returns|rtype|raise|raises|deprecated)\b", re.MULTILINE
)
_DIRECTIVE = re.compile(r"^\.\. deprecated::.*(\n+[ \t]+.*)*\n*", re.MULTILINE)
_UNDERLINE = re.compile(r"^(Parameters|Returns|Raises|Yields|Deprecated|Other Parameters)\n-{3,}$", re.MULTILINE)


def read_docstring(text: str | None) -> Docstring:
    """The parts of a docstring; one that no style can read is all description."""
    if not text:
        return NOTHING
    clean, directives = _DIRECTIVE.subn("", inspect.cleandoc(text))
    clean = clean.strip()
    if "\n" not in clean and not clean.startswith(":"):
        return Docstring(description=clean, deprecated=directives > 0)
    try:
        parsed = _parsed(clean)
    except docstring_parser.ParseError:
        return Docstring(description=clean, deprecated=directives > 0)
    return Docstring(
        description=_description(parsed),
        params={param.arg_name.lstrip("*"): _joined(param.description) for param in parsed.params},
        returns=_joined(parsed.returns.description) if parsed.returns else "",
        raises=tuple((error.type_name or "", _joined(error.description)) for error in parsed.raises),
        deprecated=directives > 0 or parsed.deprecation is not None,
    )


def _parsed(text: str) -> docstring_parser.Docstring:
    """A docstring in the style that its sections are in: to try all of them takes four times as long."""
    if _REST_FIELD.search(text):
        return docstring_parser.parse(text, docstring_parser.DocstringStyle.REST)
    if _UNDERLINE.search(text):
        return docstring_parser.parse(text, docstring_parser.DocstringStyle.NUMPYDOC)
    return _GOOGLE.parse(text)


_GOOGLE: Final = GoogleParser()
"""Made once: it compiles the titles of its sections."""


def _description(parsed: docstring_parser.Docstring) -> str:
    between = "\n\n" if parsed.blank_after_short_description else "\n"
    return between.join(part for part in (parsed.short_description, parsed.long_description) if part)


def _joined(text: str | None) -> str:
    return " ".join((text or "").split())
