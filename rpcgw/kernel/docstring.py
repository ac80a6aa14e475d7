"""What a docstring says of a function, in Google, reST or NumPy style. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

import docstring_parser


@dataclass(frozen=True, slots=True)
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


def read_docstring(text: str | None) -> Docstring:
    """The parts of a docstring; one that no style can read is all description."""
    if not text:
        return NOTHING
    clean = inspect.cleandoc(text)
    if "\n" not in clean and not clean.startswith((":", "@")):
        return Docstring(description=clean)
    try:
        parsed = docstring_parser.parse(clean)
    except docstring_parser.ParseError:
        return Docstring(description=clean)
    return Docstring(
        description=_description(parsed),
        params={param.arg_name.lstrip("*"): _joined(param.description) for param in parsed.params},
        returns=_joined(parsed.returns.description) if parsed.returns else "",
        raises=tuple((error.type_name or "", _joined(error.description)) for error in parsed.raises),
        deprecated=parsed.deprecation is not None,
    )


def _description(parsed: docstring_parser.Docstring) -> str:
    between = "\n\n" if parsed.blank_after_short_description else "\n"
    return between.join(part for part in (parsed.short_description, parsed.long_description) if part)


def _joined(text: str | None) -> str:
    return " ".join((text or "").split())
