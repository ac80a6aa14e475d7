"""Tools of a web page, for the agent in the visitor's browser: what their author says, and the page they stand on.

A provider gives each page its `Manifest`, or None where the tool has no place there. What the tool does is one
primitive, a frozen value whose fields are the tool's `data` on the wire (`index_url` is `indexUrl` there; None is left
out; `extra` is merged in as it is), so that the two cannot disagree. Nobody writes JavaScript, except for `Module`.
Templates hold `{name}` placeholders (W-09). Source: the Web Model Context API, and clauses W-01 to W-13.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import field
from typing import Any, Protocol
from urllib.parse import urlencode, urljoin

from rpcgw.api.primitives import (
    PRIMITIVES,
    BodyLine,
    Call,
    Field,
    Form,
    FormText,
    ListText,
    Mailto,
    Module,
    Navigate,
    NavigateText,
    Option,
    Primitive,
    Search,
    SearchText,
    StaticList,
)
from rpcgw.api.records import record

__all__ = [
    "PRIMITIVES",
    "BodyLine",
    "Call",
    "Confirm",
    "DataProcessor",
    "Field",
    "Form",
    "FormText",
    "ListText",
    "Mailto",
    "Manifest",
    "Module",
    "Navigate",
    "NavigateText",
    "Option",
    "PageContext",
    "Primitive",
    "Search",
    "SearchText",
    "StaticList",
    "ToolProvider",
]


@record(frozen=True, slots=True)
class Confirm:
    """What the visitor is asked before anything happens.

    Args:
        text: The question; placeholders are the arguments. Empty: the runtime's own words, with the tool's title.
        accept: The button that lets the tool act; empty: the runtime's own word.
        decline: The button that does not; empty: the runtime's own word.
        seconds: How long the question stands before it counts as declined.
    """

    text: str = ""
    accept: str = ""
    decline: str = ""
    seconds: int = 60


@record(frozen=True, slots=True)
class Manifest:
    """One tool as a page registers it (W-03).

    Args:
        name: 1 to 128 letters, digits, `_`, `.` and `-`; the provider's own name. Browsers like at most 30.
        description: What it does and when to use it, for an agent; at most 500 characters. Empty only for `Call`,
            whose method has one.
        primitive: What it does, one of `rpcgw.api.primitives`.
        input_schema: A JSON Schema of type object. None: made of what the primitive knows of its arguments.
        title: A name for people.
        output_schema: A JSON Schema of `structuredContent`.
        read_only: Whether it changes nothing. None: as the primitive says (`search` and `static` change nothing, `call`
            as its method is marked).
        untrusted: Whether its answers hold text that others wrote. None: as the primitive says (`search` and `call`).
        consequential: Whether it does something that a visitor should be asked about first. None: as the primitive
            says (`mailto`, a form that is submitted, a call of a method that changes something).
        confirm: What the visitor is asked. None: the runtime's own words where it is consequential, else nothing.
        debugging: Whether it is for developers only.
    """

    name: str
    description: str
    primitive: Primitive
    input_schema: Mapping[str, Any] | None = None
    title: str | None = None
    output_schema: Mapping[str, Any] | None = None
    read_only: bool | None = None
    untrusted: bool | None = None
    consequential: bool | None = None
    confirm: Confirm | None = None
    debugging: bool = False


@record(frozen=True, slots=True)
class PageContext:
    """The page that is asked for.

    Args:
        site: The site's name in the configuration.
        base: The site's own address, absolute, with a slash at its end; relative where the operator gives none.
        path: The page's path, with a slash at its beginning and without a query.
        locale: The page's language, such as `en` or `uk`.
        query: The page's query, the first value of each name.
        data: What data processors found so far (a menu, say); what each adds stands beside the others'.
    """

    site: str
    base: str = "/"
    path: str = "/"
    locale: str = "en"
    query: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    def url(self, path: str | None = None, /, **query: str | int) -> str:
        """An address of the site; without a path the page's own, with its query. Values are percent-encoded."""
        asked = self.query if path is None and not query else query
        target = urljoin(self.base, (self.path if path is None else path).removeprefix("/"))
        return f"{target}?{urlencode(asked)}" if asked else target


class ToolProvider(Protocol):
    """A tool (W-01, W-02): an instance, or a class that is made without arguments.

    Providers are asked for each page that is asked for, one after another, and must not wait for anything: what takes
    time belongs into a data processor.
    """

    @property
    def name(self) -> str:
        """The tool's name, the same on every page."""

    def manifest(self, page: PageContext, data: Mapping[str, Any], /) -> Manifest | None:
        """The tool on this page; None leaves it out. `data` is what the data processors found (`page.data`).

        It is tried when the configuration is compiled, too, with the site's first page and no data.
        """


class DataProcessor(Protocol):
    """Looks up what several tools of a page need: an instance, or a class whose parameters the lifespan fills.

    An attribute `order` (a number, 0 where there is none) says when it runs: the lowest first.
    """

    def process(self, page: PageContext, /) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """What stands in the `data` of everything that comes later; one that fails adds nothing, and is logged."""
