"""What a web page's tool can do: one frozen value for each primitive. Its fields are the tool's `data` on the wire.

Texts are templates: `{name}` stands for a value, and what is unknown is empty. URLs may be relative to the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from rpcgw.api.records import record

Extra = Mapping[str, Any]


@record(frozen=True, slots=True)
class Option:
    """One place that `Navigate` leads to: the value that chooses it, what people call it, where it is."""

    match: str
    label: str
    url: str


@record(frozen=True, slots=True)
class NavigateText:
    """What `Navigate` answers. `{label}`: of the option; `{options}`: every value that there is."""

    success: str = "Going to {label}."
    unknown: str = "There is no such place. Choose one of: {options}."
    cancelled: str = ""


@record(frozen=True, slots=True)
class Navigate:
    """Goes to one of a fixed set of pages (W-05); the only argument is `param`."""

    wire: ClassVar[str] = "navigate"

    options: Sequence[Option]
    param: str = "value"
    messages: NavigateText = NavigateText()
    extra: Extra = field(default_factory=dict)


@record(frozen=True, slots=True)
class SearchText:
    """What `Search` answers. Headings: `{count}`, `{query}`; `line`: the item's fields, and `{n}`, its number from 1.

    `heading_all` and `empty_all` are for an empty query.
    """

    heading: str = "{count} results for “{query}”:"
    heading_all: str = ""
    line: str = "{n}. {title} – {url}"
    empty_query: str = "Nothing was found for “{query}”."
    empty_all: str = "There is nothing here yet."


@record(frozen=True, slots=True)
class Search:
    """Searches a JSON index, an array of objects that the site serves (W-06).

    Args:
        index_url: Where the index is: of the site itself, or of an origin in `webmcp.sites.<site>.targets`.
        search_fields: The fields of an item that are looked through.
        query_param: The argument with the words to look for; every word has to occur.
        query_required: Whether it must be given; otherwise an empty query finds everything.
        limit_param: The argument with the number of results.
        limit_default: How many there are where it is not given.
        limit_maximum: How many there are at most.
        result_key: The name of the results in `structuredContent`.
        result_fields: The fields that a result has: names, or `{shown: field}`. None passes items through whole.
        deep_link_template: The address of a page that shows the same results; arguments are percent-encoded.
        text: What is answered.
    """

    wire: ClassVar[str] = "search"

    index_url: str
    search_fields: Sequence[str]
    query_param: str = "query"
    query_required: bool = False
    limit_param: str = "limit"
    limit_default: int = 10
    limit_maximum: int = 50
    result_key: str = "results"
    result_fields: Sequence[str] | Mapping[str, str] | None = None
    deep_link_template: str | None = None
    text: SearchText = SearchText()
    extra: Extra = field(default_factory=dict)


@record(frozen=True, slots=True)
class BodyLine:
    """A line "Label: value" of a mail; an optional one is left out where its argument is empty."""

    label: str
    param: str
    optional: bool = False


@record(frozen=True, slots=True)
class Mailto:
    """Prepares a mail in the visitor's own program (W-07). Nothing is sent, and nothing is kept.

    `to` is a plain address; on the wire it is base64. `message_param` is the argument that stands after a blank line.
    Placeholders of the templates are the arguments and `{to}`.
    """

    wire: ClassVar[str] = "mailto"

    to: str
    subject_template: str
    body_lines: Sequence[BodyLine] = ()
    message_param: str | None = None
    success_template: str = "A mail to {to} is prepared. If no program opened, use the link."
    extra: Extra = field(default_factory=dict)


@record(frozen=True, slots=True)
class ListText:
    """What `StaticList` answers. `heading`: `{count}`; `line`: the item's fields, and `{n}`, its number from 1."""

    heading: str = "{count} entries:"
    line: str = "{n}. {title}"


@record(frozen=True, slots=True)
class StaticList:
    """A list that somebody wrote, verbatim (W-08)."""

    wire: ClassVar[str] = "static"

    items: Sequence[Mapping[str, Any]]
    result_key: str = "items"
    text: ListText = ListText()
    extra: Extra = field(default_factory=dict)


@record(frozen=True, slots=True)
class Module:
    """Runs `execute(args, {tool, config})` of an ES module (W-10, W-13), where nothing else fits.

    The URL stands beside `data` on the wire, as `moduleUrl`; `data` is `extra`.
    """

    wire: ClassVar[str] = "module"

    url: str
    extra: Extra = field(default_factory=dict)


@record(frozen=True, slots=True)
class Call:
    """Calls a method of the gateway with the rights that the visitor has, and no more.

    On the wire `data` is where to call, and a token that is bound to site, tool and time; method and group stay here.
    Description, title and schema are the method's own where the manifest gives none.
    """

    wire: ClassVar[str] = "call"

    method: str
    group: str = "general"
    version: int = 1
    extra: Extra = field(default_factory=dict)


@record(frozen=True, slots=True)
class Field:
    """A control of a form: its name there, and the argument that fills it (the same where none is given)."""

    name: str
    param: str = ""
    description: str = ""
    required: bool = False


@record(frozen=True, slots=True)
class FormText:
    """What `Form` answers. Placeholders are the arguments; `{fields}`: the controls that the form does not take."""

    filled: str = "The form is filled in. Please look through it and send it."
    submitted: str = "The form was sent."
    missing: str = "The form is not on this page."
    invalid: str = "The form does not take: {fields}."


@record(frozen=True, slots=True)
class Form:
    """Fills a form of the page, and submits it if `submit` says so; `selector` is a CSS selector."""

    wire: ClassVar[str] = "form"

    selector: str
    fields: Sequence[Field]
    submit: bool = False
    messages: FormText = FormText()
    extra: Extra = field(default_factory=dict)


Primitive = Navigate | Search | Mailto | StaticList | Module | Call | Form
PRIMITIVES: tuple[type[Primitive], ...] = (Navigate, Search, Mailto, StaticList, Module, Call, Form)
