"""Which manifests are refused, which are warned about, and where the mistake is said to be."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.api.webmcp import (
    BodyLine,
    Confirm,
    Field,
    Form,
    ListText,
    Mailto,
    Manifest,
    Module,
    Navigate,
    NavigateText,
    Option,
    Search,
    SearchText,
    StaticList,
)
from rpcgw.protocol.webmcp.addresses import mail_fault, template_fault, url_fault
from rpcgw.protocol.webmcp.checks import check
from rpcgw.protocol.webmcp.schemas import reduced
from rpcgw.protocol.webmcp.site import Addresses

SITE = Addresses("https://www.example.org", frozenset({"https://shop.example.org", "http://127.0.0.1:8080"}))
STATIC = StaticList([{"title": "a"}])


def tool(
    primitive: Any = STATIC, *, name: str = "site_tool", description: str = "What it is for.", **more: Any
) -> Manifest:
    return Manifest(name, description, primitive, **more)


def found(manifest: Manifest) -> list[tuple[str, str, str]]:
    """Each finding as its code, where it is, and its level."""
    return [(each.code, ".".join(map(str, each.path)), each.level) for each in check(manifest, SITE)]


def navigate(url: str, **more: Any) -> Navigate:
    return Navigate([Option("a", "A", url)], **more)


def search(**more: Any) -> Search:
    given = {"index_url": "/i.json", "search_fields": ["title"], "result_fields": ["title", "url"], **more}
    return Search(**given)


def mail(**more: Any) -> Mailto:
    return Mailto(**{"to": "info@example.org", "subject_template": "Question from {name}", **more})


def properties(**named: Any) -> dict[str, Any]:
    return {"type": "object", "properties": named}


GOOD = [
    pytest.param(tool(), id="static"),
    pytest.param(tool(navigate("/blog/")), id="navigate"),
    pytest.param(tool(search()), id="search"),
    pytest.param(tool(search(deep_link_template="/s?q={query}&n={limit}")), id="search with a deep link"),
    pytest.param(tool(mail(body_lines=[BodyLine("N", "name")], message_param="message")), id="mailto"),
    pytest.param(tool(Module("/m.mjs")), id="module"),
    pytest.param(tool(Form("form", [Field("a"), Field("b")])), id="form"),
    pytest.param(tool(name="a.b-c_D9" * 3), id="every sign of a name"),
    pytest.param(tool(name="__proto__"), id="a name that only looks dangerous"),
    pytest.param(tool(confirm=Confirm("Really, {client}?")), id="a question"),
    pytest.param(tool(input_schema={"type": "object", "properties": {"a": {"type": "string", "title": "t"}}, "additionalProperties": False}), id="a schema of what stays"),
]  # fmt: skip


@pytest.mark.parametrize("manifest", GOOD)
def test_good(manifest: Manifest) -> None:
    """What is right is neither refused nor warned about."""
    assert list(check(manifest, SITE)) == []


ERRORS = [
    pytest.param(tool(name=""), "webmcp-name", "name", id="no name"),
    pytest.param(tool(name="a b"), "webmcp-name", "name", id="a space in the name"),
    pytest.param(tool(name="ü"), "webmcp-name", "name", id="an umlaut"),
    pytest.param(tool(name="a/b"), "webmcp-name", "name", id="a slash"),
    pytest.param(tool(name="a" * 129), "webmcp-name", "name", id="129 characters"),
    pytest.param(tool(name="a\n"), "webmcp-name", "name", id="a line break at the end"),
    pytest.param(tool(description=" "), "webmcp-description", "description", id="no description"),
    pytest.param(tool(description="a\u202eb"), "webmcp-description", "description", id="a sign that turns the text around"),
    pytest.param(tool(title=""), "webmcp-description", "title", id="an empty title"),
    pytest.param(tool(input_schema={"type": "array"}), "webmcp-schema", "input_schema", id="a schema of an array"),
    pytest.param(tool(input_schema={"type": "banana"}), "webmcp-schema", "input_schema", id="a schema of no type"),
    pytest.param(tool(input_schema={"properties": {"a": {"type": 3}}}), "webmcp-schema", "input_schema", id="a schema that is none, deep inside"),
    pytest.param(tool(input_schema={"required": "a"}), "webmcp-schema", "input_schema", id="required is a text"),
    pytest.param(tool(output_schema={"type": "string"}), "webmcp-schema", "output_schema", id="an output schema of a text"),
    pytest.param(tool(Navigate([])), "webmcp-data", "primitive.options", id="nowhere to go"),
    pytest.param(tool(Navigate([Option("a", "A", "/"), Option("a", "B", "/b")])), "webmcp-data", "primitive.options.1.match", id="two options of one value"),
    pytest.param(tool(Navigate([Option("", "A", "/")])), "webmcp-data", "primitive.options.0.match", id="an option of no value"),
    pytest.param(tool(navigate("javascript:alert(1)")), "webmcp-url", "primitive.options.0.url", id="a script as a page"),
    pytest.param(tool(navigate("https://evil.example/")), "webmcp-url", "primitive.options.0.url", id="another site"),
    pytest.param(tool(navigate("/"), input_schema=properties(x={})), "webmcp-data", "primitive.param", id="the argument is not in the schema"),
    pytest.param(tool(search(index_url="//evil.example/i.json")), "webmcp-url", "primitive.index_url", id="an index elsewhere"),
    pytest.param(tool(search(search_fields=[])), "webmcp-data", "primitive.search_fields", id="no field is looked through"),
    pytest.param(tool(search(limit_default=0)), "webmcp-data", "primitive.limit_default", id="no result"),
    pytest.param(tool(search(limit_default=60)), "webmcp-data", "primitive.limit_default", id="more results than there may be"),
    pytest.param(tool(search(limit_param="query")), "webmcp-data", "primitive.limit_param", id="one argument for both"),
    pytest.param(tool(search(result_key="total")), "webmcp-data", "primitive.result_key", id="results under a taken name"),
    pytest.param(tool(search(deep_link_template="https://{query}/")), "webmcp-url", "primitive.deep_link_template", id="an argument chooses the host"),
    pytest.param(tool(search(deep_link_template="{query}")), "webmcp-url", "primitive.deep_link_template", id="an argument is the address"),
    pytest.param(tool(mail(to="me@x.org?bcc=evil@x.org")), "webmcp-address", "primitive.to", id="a header in the address"),
    pytest.param(tool(mail(to="a@x.org,b@x.org")), "webmcp-address", "primitive.to", id="two addresses"),
    pytest.param(tool(mail(subject_template="a\nBcc: b")), "webmcp-data", "primitive.subject_template", id="a line break in the subject"),
    pytest.param(tool(mail(subject_template="")), "webmcp-data", "primitive.subject_template", id="no subject"),
    pytest.param(tool(mail(body_lines=[BodyLine("a\nb", "x")])), "webmcp-data", "primitive.body_lines.0.label", id="a line break in a label"),
    pytest.param(tool(mail(subject_template="s", body_lines=[BodyLine("a", "x")]), input_schema=properties(y={})), "webmcp-data", "primitive.body_lines.0.param", id="a line of an unknown argument"),
    pytest.param(tool(mail(subject_template="s", message_param="m"), input_schema=properties(y={})), "webmcp-data", "primitive.message_param", id="a message of an unknown argument"),
    pytest.param(tool(StaticList([])), "webmcp-data", "primitive.items", id="an empty list"),
    pytest.param(tool(StaticList([{"title": float("nan")}])), "webmcp-data", "primitive", id="a number that JSON does not have"),
    pytest.param(tool(StaticList([{"title": object()}])), "webmcp-data", "primitive", id="a value that JSON does not have"),
    pytest.param(tool(StaticList([{"title": "a"}], result_key="count")), "webmcp-data", "primitive.result_key", id="a list under a taken name"),
    pytest.param(tool(Module("data:text/javascript,1")), "webmcp-url", "primitive.url", id="a module in its own address"),
    pytest.param(tool(Form(" ", [Field("a")])), "webmcp-data", "primitive.selector", id="no selector"),
    pytest.param(tool(Form("f", [])), "webmcp-data", "primitive.fields", id="nothing to fill in"),
    pytest.param(tool(Form("f", [Field("a"), Field("b", "a")])), "webmcp-data", "primitive.fields.1", id="two controls of one argument"),
    pytest.param(tool(Form("f", [Field("")])), "webmcp-data", "primitive.fields.0", id="a control without a name"),
    pytest.param(tool(StaticList([{"title": "a"}], extra={"__proto__": 1})), "webmcp-data", "primitive.extra.__proto__", id="an extra that scripts stumble over"),
    pytest.param(tool(StaticList([{"title": "a"}], extra={"resultKey": 1})), "webmcp-data", "primitive.extra.resultKey", id="an extra of the primitive's own name"),
    pytest.param(tool(confirm=Confirm(seconds=0)), "webmcp-data", "confirm.seconds", id="no time to answer"),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "code", "where"), ERRORS)
def test_errors(manifest: Manifest, code: str, where: str) -> None:
    """What a browser would refuse, or nobody can want, is an error at its field."""
    assert (code, where, "error") in found(manifest)


WARNINGS = [
    pytest.param(tool(name="a" * 31), "webmcp-budget", "name", id="a name of 31 characters"),
    pytest.param(tool(description="a" * 501), "webmcp-budget", "description", id="a description of 501 characters"),
    pytest.param(tool(input_schema=properties(**{"p" * 31: {}})), "webmcp-budget", "input_schema", id="a parameter of 31 characters"),
    pytest.param(tool(input_schema=properties(p={"description": "a" * 151})), "webmcp-budget", "input_schema", id="a parameter's description of 151 characters"),
    pytest.param(tool(input_schema=properties(p={"items": properties(**{"q" * 31: {}})})), "webmcp-budget", "input_schema", id="a parameter inside of an array"),
    pytest.param(tool(input_schema=properties(p={"$ref": "#/$defs/x"})), "webmcp-keyword", "input_schema", id="a reference"),
    pytest.param(tool(input_schema=properties(p={"format": "date"})), "webmcp-keyword", "input_schema", id="a format"),
    pytest.param(tool(input_schema={"type": "object", "additionalProperties": True}), "webmcp-keyword", "input_schema", id="further properties"),
    pytest.param(tool(search(result_fields=None)), "webmcp-data", "primitive.result_fields", id="items as they are"),
    pytest.param(tool(Module("/m")), "webmcp-url", "primitive.url", id="a module of another ending"),
    pytest.param(tool(navigate("/", messages=NavigateText("{labell}"))), "webmcp-placeholder", "primitive.messages.success", id="a placeholder of navigate"),
    pytest.param(tool(search(text=SearchText(heading="{n}"))), "webmcp-placeholder", "primitive.text.heading", id="a placeholder of search's heading"),
    pytest.param(tool(search(text=SearchText(line="{price}"))), "webmcp-placeholder", "primitive.text.line", id="a placeholder of search's line"),
    pytest.param(tool(search(deep_link_template="/?q={q}")), "webmcp-placeholder", "primitive.deep_link_template", id="a placeholder of a deep link"),
    pytest.param(tool(mail(success_template="{subject}")), "webmcp-placeholder", "primitive.success_template", id="a placeholder of mailto"),
    pytest.param(tool(StaticList([{"a": 1}], text=ListText(line="{b}"))), "webmcp-placeholder", "primitive.text.line", id="a placeholder of static"),
    pytest.param(tool(confirm=Confirm("{x}?")), "webmcp-placeholder", "confirm.text", id="a placeholder of the question"),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "code", "where"), WARNINGS)
def test_warnings(manifest: Manifest, code: str, where: str) -> None:
    """W-09 and the browsers' budgets: what works today and is no good is warned about, and nothing else is."""
    assert found(manifest) == [(code, where, "warning")]


def test_output_schemas_are_the_author_s() -> None:
    """Of answers browsers read any schema."""
    schema = {
        "type": "object",
        "properties": {"p" * 31: {"format": "date"}},
        "additionalProperties": {"type": "string"},
    }
    assert found(tool(output_schema=schema)) == []


def test_reduced() -> None:
    """What a method's schema has and browsers are about to refuse is left out, at any depth; nothing gets stricter."""
    schema = {
        "type": "object",
        "title": "T",
        "$defs": {"x": {}},
        "properties": {
            "day": {"type": "string", "format": "date", "minLength": 1},
            "tags": {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}], "description": "d"},
                "uniqueItems": True,
            },
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": True,
            "pair": {"prefixItems": [{"const": 1}, {"type": "string"}]},
        },
        "required": ["day"],
        "additionalProperties": False,
    }
    assert reduced(schema) == {
        "type": "object",
        "properties": {
            "day": {"type": "string", "minLength": 1},
            "tags": {"type": "array", "items": {"description": "d"}},
            "map": {"type": "object"},
            "any": {},
            "pair": {"prefixItems": [{}, {"type": "string"}]},
        },
        "required": ["day"],
        "additionalProperties": False,
    }


URLS = [
    pytest.param("/blog/", True, id="a path"),
    pytest.param("blog?x=1#y", True, id="beside the page"),
    pytest.param("#top", True, id="a place of the page"),
    pytest.param("https://www.example.org/x", True, id="the site itself"),
    pytest.param("HTTPS://WWW.EXAMPLE.ORG:443/x", True, id="the site itself, spelt otherwise"),
    pytest.param("https://shop.example.org", True, id="a target"),
    pytest.param("http://127.0.0.1:8080/x", True, id="a target with a port"),
    pytest.param("", False, id="nothing"),
    pytest.param("http://www.example.org/", False, id="the site without protection"),
    pytest.param("https://www.example.org.evil.example/", False, id="a name that begins like the site's"),
    pytest.param("https://www.example.org@evil.example/", False, id="credentials"),
    pytest.param("https:/\\evil.example/", False, id="a backslash"),
    pytest.param("https:evil.example", False, id="a scheme without a host"),
    pytest.param("/\\evil.example", False, id="a backslash in a path"),
    pytest.param("//evil.example/", False, id="another host of the same scheme"),
    pytest.param("java\tscript:alert(1)", False, id="a tab in the scheme"),
    pytest.param(" javascript:alert(1)", False, id="a space before it"),
    pytest.param("JaVaScRiPt:alert(1)", False, id="capitals"),
    pytest.param("data:text/html,x", False, id="data"),
    pytest.param("mailto:a@b.cd", False, id="a mail"),
    pytest.param("/a\u202eb", False, id="a sign that nobody sees"),
    pytest.param("/" + "a" * 2000, False, id="too long"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "good"), URLS)
def test_urls(url: str, good: bool) -> None:
    """Only the site itself and its targets are gone to, by http and https."""
    assert (url_fault(url, SITE) == "") is good


def test_a_site_of_no_known_address() -> None:
    """Where the operator does not say what the site's address is, absolute URLs lead nowhere."""
    assert (url_fault("/x", Addresses()), bool(url_fault("https://www.example.org/", Addresses()))) == ("", True)


@pytest.mark.parametrize(
    ("template", "good"),
    [
        pytest.param("/search?q={query}", True, id="in the query"),
        pytest.param("/{query}/x", True, id="in the path"),
        pytest.param("https://shop.example.org/{query}", True, id="in the path of a target"),
        pytest.param("https://shop.example.org{query}", False, id="in the host"),
        pytest.param("{query}", False, id="the whole"),
        pytest.param("https://{query}.example.org/", False, id="a part of the host"),
    ],
)  # fmt: skip
def test_templates_of_urls(template: str, good: bool) -> None:
    """No argument chooses where a URL leads to."""
    assert (template_fault(template, SITE) == "") is good


@pytest.mark.parametrize(
    ("address", "good"),
    [
        pytest.param("info@example.org", True, id="an address"),
        pytest.param("first.last+tag@sub.example.co.uk", True, id="with dots and a tag"),
        pytest.param("info@example.org?bcc=x@y.z", False, id="a header"),
        pytest.param("a@b.cd&cc=x@y.z", False, id="another header"),
        pytest.param("a@b.cd,x@y.zz", False, id="two"),
        pytest.param("a@b.cd%0Abcc:x", False, id="encoded line break"),
        pytest.param("a@b.cd\r\nBcc: x@y.zz", False, id="line break"),
        pytest.param("a b@c.de", False, id="a space"),
        pytest.param("a@b", False, id="no domain"),
        pytest.param(".a@b.cd", False, id="a dot in front"),
        pytest.param("a..b@c.de", False, id="two dots"),
        pytest.param("a@" + "b." * 130 + "de", False, id="too long"),
    ],
)  # fmt: skip
def test_mail_addresses(address: str, good: bool) -> None:
    """One plain address, in which nothing could be a header of the mail."""
    assert (mail_fault(address) == "") is good
