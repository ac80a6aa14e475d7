"""Is a manifest one that a browser takes, and that does what it says? Pure: manifest in, findings out.

Texts of findings go on where a place and a field stand: "site_goto: primitive.options[0].url has the scheme ...".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rpcgw.api.webmcp import Call, Form, Mailto, Manifest, Module, Navigate, Search, StaticList
from rpcgw.protocol.webmcp import schemas
from rpcgw.protocol.webmcp.addresses import mail_fault, template_fault, url_fault
from rpcgw.protocol.webmcp.arguments import input_schema
from rpcgw.protocol.webmcp.findings import Finding, Path, warning
from rpcgw.protocol.webmcp.payload import camel, wire
from rpcgw.protocol.webmcp.placeholders import placeholders
from rpcgw.protocol.webmcp.site import Addresses

LONGEST_NAME: Final = 30
LONGEST_DESCRIPTION: Final = 500
MOST_TOOLS: Final = 50
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_DANGEROUS: Final = frozenset({"__proto__", "constructor", "prototype"})
_SPECIAL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LINE: Final = re.compile(r"[\r\n]")

At: Final[Path] = ("primitive",)


def check(manifest: Manifest, addresses: Addresses) -> Iterator[Finding]:
    """Everything that is wrong with a manifest. That of a `Call` holds what its method says already."""
    yield from _name(manifest)
    yield from _description(manifest)
    for field, schema in (("input_schema", manifest.input_schema), ("output_schema", manifest.output_schema)):
        if schema is not None:
            yield from schemas.check(schema, (field,), arguments=field == "input_schema")
    yield from _extra(manifest)
    own = _CHECKS.get(type(manifest.primitive))
    if own is not None:
        yield from own(manifest, addresses)
    if manifest.confirm is not None:
        yield from unknown(manifest.confirm.text, arguments(manifest), ("confirm", "text"))
        if manifest.confirm.seconds < 1:
            yield Finding(("confirm", "seconds"), "webmcp-data", "must be at least 1")


def arguments(manifest: Manifest) -> set[str]:
    """The names of the arguments that a tool takes, the hint `client` included."""
    schema = input_schema(manifest.primitive) if manifest.input_schema is None else manifest.input_schema
    properties = schema.get("properties", {})
    return {*(properties if isinstance(properties, Mapping) else ()), "client"}


def unknown(template: str, known: set[str], path: Path) -> Iterator[Finding]:
    """The placeholders of a template that nothing will ever fill."""
    for name in placeholders(template):
        if name not in known:
            text = f"names {{{name}}}, which is never known there and will be empty"
            yield warning(path, "webmcp-placeholder", text, f"known are {', '.join(sorted(known - {'client'}))}")


def _name(manifest: Manifest) -> Iterator[Finding]:
    if not _NAME.fullmatch(manifest.name):
        text = "must be 1 to 128 letters, digits, _, . and -"
        yield Finding(("name",), "webmcp-name", text)
    elif len(manifest.name) > LONGEST_NAME:
        text = f"has {len(manifest.name)} characters; browsers like at most {LONGEST_NAME}"
        yield warning(("name",), "webmcp-budget", text)


def _description(manifest: Manifest) -> Iterator[Finding]:
    if not manifest.description.strip():
        yield Finding(("description",), "webmcp-description", "is empty: an agent would not know what the tool is for")
    elif len(manifest.description) > LONGEST_DESCRIPTION:
        text = f"has {len(manifest.description)} characters; browsers like at most {LONGEST_DESCRIPTION}"
        yield warning(("description",), "webmcp-budget", text)
    if _SPECIAL.search(manifest.description):
        yield Finding(("description",), "webmcp-description", "holds signs that nobody sees")
    if manifest.title is not None and not manifest.title.strip():
        yield Finding(("title",), "webmcp-description", "is empty: leave it out")


def _extra(manifest: Manifest) -> Iterator[Finding]:
    primitive = manifest.primitive
    own = set() if isinstance(primitive, Module) else {camel(name) for name in type(primitive).__slots__}
    if isinstance(primitive, Call):
        own = {"endpoint", "token", "expires"}
    for name in sorted(primitive.extra):
        if name in _DANGEROUS or name in own - {"extra"}:
            what = "is a name that scripts stumble over" if name in _DANGEROUS else "is the primitive's own"
            yield Finding((*At, "extra", name), "webmcp-data", what)
    try:
        json.dumps(wire(primitive), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        yield Finding(At, "webmcp-data", f"holds something that JSON does not have: {error}")


# -- one check for each primitive


def _navigate(manifest: Manifest, addresses: Addresses) -> Iterator[Finding]:
    navigate = manifest.primitive
    assert isinstance(navigate, Navigate), "checks are by type"
    if not navigate.options:
        yield Finding((*At, "options"), "webmcp-data", "is empty: there is nowhere to go")
    seen: set[str] = set()
    for at, option in enumerate(navigate.options):
        here = (*At, "options", at)
        if not option.match or option.match in seen:
            what = "is empty" if not option.match else f"is {option.match!r} a second time: the first would win"
            yield Finding((*here, "match"), "webmcp-data", what)
        seen.add(option.match)
        yield from _url(option.url, addresses, (*here, "url"))
    yield from _needs(manifest, {navigate.param}, "param")
    known = {navigate.param, "options", *arguments(manifest)}
    yield from unknown(navigate.messages.success, known | {"label", "match", "url"}, (*At, "messages", "success"))
    yield from unknown(navigate.messages.unknown, known, (*At, "messages", "unknown"))
    yield from unknown(navigate.messages.cancelled, known | {"label"}, (*At, "messages", "cancelled"))


def _search(manifest: Manifest, addresses: Addresses) -> Iterator[Finding]:
    search = manifest.primitive
    assert isinstance(search, Search), "checks are by type"
    yield from _url(search.index_url, addresses, (*At, "index_url"))
    if not search.search_fields or not all(search.search_fields):
        yield Finding((*At, "search_fields"), "webmcp-data", "needs the names of fields: nothing would be found")
    if not 0 < search.limit_default <= search.limit_maximum:
        text = f"must be at least 1 and at most limit_maximum, which is {search.limit_maximum}"
        yield Finding((*At, "limit_default"), "webmcp-data", text)
    if search.query_param == search.limit_param:
        yield Finding((*At, "limit_param"), "webmcp-data", "is the name of the query, too")
    yield from _needs(manifest, {search.query_param}, "query_param")
    yield from _result_key(search.result_key, {"count", "total", "searchUrl", search.query_param})
    if search.result_fields is None:
        text = "is not set: items are passed through whole, with every field that the index has"
        yield warning((*At, "result_fields"), "webmcp-data", text, "name the fields that an agent needs")
    if search.deep_link_template is not None:
        here = (*At, "deep_link_template")
        if fault := template_fault(search.deep_link_template, addresses):
            yield Finding(here, "webmcp-url", fault, _TARGETS)
        yield from unknown(search.deep_link_template, arguments(manifest), here)
    yield from _search_texts(search, manifest)


def _search_texts(search: Search, manifest: Manifest) -> Iterator[Finding]:
    known = {"count", "total", "query", "searchUrl", *arguments(manifest)}
    for field in ("heading", "heading_all", "empty_query", "empty_all"):
        yield from unknown(getattr(search.text, field), known, (*At, "text", field))
    fields = search.result_fields
    if fields is not None:
        shown = {*fields, *(fields.values() if isinstance(fields, Mapping) else ())}
        yield from unknown(search.text.line, {*shown, *search.search_fields, "n"}, (*At, "text", "line"))


def _mailto(manifest: Manifest, _: Addresses) -> Iterator[Finding]:
    mail = manifest.primitive
    assert isinstance(mail, Mailto), "checks are by type"
    if fault := mail_fault(mail.to):
        yield Finding((*At, "to"), "webmcp-address", fault)
    if not mail.subject_template or _LINE.search(mail.subject_template):
        what = "is empty" if not mail.subject_template else "holds a line break"
        yield Finding((*At, "subject_template"), "webmcp-data", what)
    known = {*arguments(manifest), "to"}
    for at, line in enumerate(mail.body_lines):
        here = (*At, "body_lines", at)
        if _LINE.search(line.label):
            yield Finding((*here, "label"), "webmcp-data", "holds a line break")
        if line.param not in known:
            yield Finding((*here, "param"), "webmcp-data", f"is {line.param!r}, which input_schema does not have")
    if mail.message_param is not None and mail.message_param not in known:
        text = f"is {mail.message_param!r}, which input_schema does not have"
        yield Finding((*At, "message_param"), "webmcp-data", text)
    yield from unknown(mail.subject_template, known, (*At, "subject_template"))
    yield from unknown(mail.success_template, known, (*At, "success_template"))


def _static(manifest: Manifest, _: Addresses) -> Iterator[Finding]:
    listed = manifest.primitive
    assert isinstance(listed, StaticList), "checks are by type"
    if not listed.items:
        yield Finding((*At, "items"), "webmcp-data", "is empty: there is nothing to list")
    yield from _result_key(listed.result_key, {"count"})
    fields = {name for item in listed.items for name in item}
    yield from unknown(listed.text.heading, {"count"}, (*At, "text", "heading"))
    yield from unknown(listed.text.line, fields | {"n"}, (*At, "text", "line"))


def _module(manifest: Manifest, addresses: Addresses) -> Iterator[Finding]:
    module = manifest.primitive
    assert isinstance(module, Module), "checks are by type"
    yield from _url(module.url, addresses, (*At, "url"))
    if not module.url.partition("?")[0].endswith((".js", ".mjs")):
        text = "does not end in .js or .mjs; the server has to send it as JavaScript"
        yield warning((*At, "url"), "webmcp-url", text)


def _form(manifest: Manifest, _: Addresses) -> Iterator[Finding]:
    form = manifest.primitive
    assert isinstance(form, Form), "checks are by type"
    if not form.selector.strip():
        yield Finding((*At, "selector"), "webmcp-data", "is empty")
    if not form.fields:
        yield Finding((*At, "fields"), "webmcp-data", "is empty: there is nothing to fill in")
    names = [field.param or field.name for field in form.fields]
    for at, (field, name) in enumerate(zip(form.fields, names, strict=True)):
        if not field.name or name in names[:at]:
            what = "needs a name" if not field.name else f"has the argument {name!r} a second time"
            yield Finding((*At, "fields", at), "webmcp-data", what)
    yield from _needs(manifest, set(names), "fields")
    known = arguments(manifest)
    for part in ("filled", "submitted", "missing"):
        yield from unknown(getattr(form.messages, part), known, (*At, "messages", part))
    yield from unknown(form.messages.invalid, known | {"fields"}, (*At, "messages", "invalid"))


_TARGETS: Final = "origins beside the site's own stand in webmcp.sites.<site>.targets"


def _url(url: str, addresses: Addresses, path: Path) -> Iterator[Finding]:
    if fault := url_fault(url, addresses):
        yield Finding(path, "webmcp-url", f"{fault}: {url[:100]!r}", _TARGETS)


def _needs(manifest: Manifest, wanted: set[str], field: str) -> Iterator[Finding]:
    """A schema of the author's own has to have the arguments that the primitive works with."""
    for name in sorted(wanted - arguments(manifest)):
        yield Finding((*At, field), "webmcp-data", f"is {name!r}, which input_schema does not have")


def _result_key(key: str, taken: set[str]) -> Iterator[Finding]:
    if not key or key in taken or key in _DANGEROUS:
        what = "is empty" if not key else f"is {key!r}, which means something else there"
        yield Finding((*At, "result_key"), "webmcp-data", what)


_CHECKS: Final[Mapping[type, Callable[[Manifest, Addresses], Iterator[Finding]]]] = {
    Navigate: _navigate,
    Search: _search,
    Mailto: _mailto,
    StaticList: _static,
    Module: _module,
    Form: _form,
}
