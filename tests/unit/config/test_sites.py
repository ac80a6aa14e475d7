"""What a configuration says of sites and their tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rpcgw.api.webmcp import (
    BodyLine,
    Call,
    Confirm,
    Field,
    Form,
    FormText,
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
from rpcgw.config.loading import Loaded
from rpcgw.config.sites import Site, Usage, Webmcp

PAGES = "pages: {resource: webmcp, prefix: /webmcp}\n"

TOOLS = [
    pytest.param("navigate: {options: [{match: a, label: A, url: /a}]}", Navigate((Option("a", "A", "/a"),)), id="navigate, the least"),
    pytest.param(
        "navigate: {options: [{match: a, label: A, url: /a}], param: p, messages: {success: s, unknown: u, cancelled: c}, extra: {x: [1]}}",
        Navigate((Option("a", "A", "/a"),), "p", NavigateText("s", "u", "c"), {"x": [1]}),
        id="navigate, everything",
    ),
    pytest.param("search: {index_url: /i, search_fields: [t]}", Search("/i", ("t",)), id="search, the least"),
    pytest.param(
        "search: {index_url: /i, search_fields: [t], query_param: q, query_required: true, limit_param: n, limit_default: 1, limit_maximum: 2, result_key: r, result_fields: {a: t}, deep_link_template: '/?q={q}', text: {heading: a, heading_all: b, line: c, empty_query: d, empty_all: e}}",
        Search("/i", ("t",), "q", True, "n", 1, 2, "r", {"a": "t"}, "/?q={q}", SearchText("a", "b", "c", "d", "e")),
        id="search, everything",
    ),
    pytest.param("search: {index_url: /i, search_fields: [t], result_fields: [t]}", Search("/i", ("t",), result_fields=("t",)), id="search, a list of fields"),
    pytest.param(
        "mailto: {to: a@b.cd, subject_template: s, body_lines: [{label: L, param: l}, {label: O, param: o, optional: true}], message_param: m, success_template: t}",
        Mailto("a@b.cd", "s", (BodyLine("L", "l"), BodyLine("O", "o", optional=True)), "m", "t"),
        id="mailto",
    ),
    pytest.param("static: {items: [{a: 1, b: [x]}], result_key: k, text: {heading: h, line: l}}", StaticList(({"a": 1, "b": ["x"]},), "k", ListText("h", "l")), id="static"),
    pytest.param("module: {url: /m.mjs, extra: {k: v}}", Module("/m.mjs", {"k": "v"}), id="module"),
    pytest.param("call: {method: A.b, group: g, version: 2}", Call("A.b", "g", 2), id="call"),
    pytest.param("call: {method: A.b}", Call("A.b", "general", 1), id="call, the least"),
    pytest.param(
        "form: {selector: f, fields: [{name: n}, {name: m, param: p, description: d, required: true}], submit: true, messages: {filled: f, submitted: s, missing: m, invalid: i}}",
        Form("f", (Field("n"), Field("m", "p", "d", required=True)), True, FormText("f", "s", "m", "i")),
        id="form",
    ),
]  # fmt: skip


def site(compiled: Callable[..., Loaded], tool: str) -> Site:
    text = (
        f"webmcp:\n  sites:\n    main:\n      tools:\n        tool_name:\n          description: d\n          {tool}\n"
    )
    return compiled(text, PAGES).settings.webmcp.site("main")


@pytest.mark.parametrize(("written", "primitive"), TOOLS)
def test_tools(compiled: Callable[..., Loaded], written: str, primitive: Any) -> None:
    """A tool in YAML is the value that a plugin would have made, and knows where it stands."""
    (tool,) = site(compiled, written).tools
    assert tool.manifest == Manifest("tool_name", "d", primitive)
    assert (tool.paths, tool.at) == ((), "webmcp.sites.main.tools.tool_name")


def test_what_a_tool_says_of_itself(compiled: Callable[..., Loaded]) -> None:
    """Everything of a manifest can be said in YAML; a null in a schema is kept."""
    (tool,) = site(
        compiled,
        """title: t
          paths: [/, /blog/*]
          input_schema: {type: object, properties: {a: {default: ~}}}
          output_schema: {type: object}
          read_only: true
          untrusted: false
          consequential: true
          debugging: true
          confirm: {text: q, accept: y, decline: n, seconds: 5}
          module: {url: /m.mjs}""",
    ).tools
    assert tool.paths == ("/", "/blog/*")
    assert tool.manifest == Manifest(
        "tool_name",
        "d",
        Module("/m.mjs"),
        {"type": "object", "properties": {"a": {"default": None}}},
        "t",
        {"type": "object"},
        read_only=True,
        untrusted=False,
        consequential=True,
        confirm=Confirm("q", "y", "n", 5),
        debugging=True,
    )


LANGUAGES = [
    pytest.param(
        "static: {items: [{a: 1}], text: {heading: {uk: г, en: h}, line: l}}",
        StaticList(({"a": 1},), text=ListText("h", "l")),
        {
            "en": StaticList(({"a": 1},), text=ListText("h", "l")),
            "uk": StaticList(({"a": 1},), text=ListText("г", "l")),
        },
        id="a text beside one that holds for all languages",
    ),
    pytest.param(
        "static: {items: {en: [{a: x}], uk: [{a: ю}]}}",
        StaticList(({"a": "x"},)),
        {"en": StaticList(({"a": "x"},)), "uk": StaticList(({"a": "ю"},))},
        id="entries",
    ),
    pytest.param(
        "static: {items: [{en: x, uk: ю}]}",
        StaticList(({"en": "x", "uk": "ю"},)),
        {},
        id="what an entry holds is nobody's language",
    ),
    pytest.param(
        "navigate: {options: [{match: a, label: {en: A, uk: А}, url: {en: /a, uk: /uk/a}}], messages: {success: {en: s, uk: с}}}",
        Navigate((Option("a", "A", "/a"),), messages=NavigateText("s")),
        {
            "en": Navigate((Option("a", "A", "/a"),), messages=NavigateText("s")),
            "uk": Navigate((Option("a", "А", "/uk/a"),), messages=NavigateText("с")),
        },
        id="inside of a list",
    ),
    pytest.param(
        "static: {items: [{}], text: {heading: {de: d, en: h}, line: {uk: л, fr: l}}}",
        StaticList(({},), text=ListText("h", "л")),
        {
            "de": StaticList(({},), text=ListText("d", "л")),
            "en": StaticList(({},), text=ListText("h", "л")),
            "fr": StaticList(({},), text=ListText("h", "l")),
            "uk": StaticList(({},), text=ListText("h", "л")),
        },
        id="what is missing in a language: the site's own, else the first",
    ),
    pytest.param(
        "static: {items: [{}], text: {heading: {en: h, pt: p, pt_br: b}, line: {en: l, pt: m}}}",
        StaticList(({},), text=ListText("h", "l")),
        {
            "en": StaticList(({},), text=ListText("h", "l")),
            "pt": StaticList(({},), text=ListText("p", "m")),
            "pt-BR": StaticList(({},), text=ListText("b", "m")),
        },
        id="a regional language is content with the wider one",
    ),
]


@pytest.mark.parametrize(("written", "own", "languages"), LANGUAGES)
def test_languages(compiled: Callable[..., Loaded], written: str, own: Any, languages: dict[str, Any]) -> None:
    """In the place of a text may stand one for each language; the tool is made in each language that it names."""
    (tool,) = site(compiled, written).tools
    assert tool.manifest == Manifest("tool_name", "d", own)
    assert tool.languages == {name: Manifest("tool_name", "d", made) for name, made in languages.items()}


@pytest.mark.parametrize(
    ("more", "description"),
    [
        pytest.param("", "d", id="English without a word"),
        pytest.param("translations: {default_locale: uk-UA}", "о", id="that of all texts"),
        pytest.param("webmcp: {sites: {main: {locale: uk}}}", "о", id="the site's own"),
    ],
)
def test_the_language_of_a_site(compiled: Callable[..., Loaded], more: str, description: str) -> None:
    """What a tool says by itself is in the language of the site's pages, its manifest's own texts too."""
    tool = """
        imports: [more.yaml]
        webmcp:
          sites:
            main:
              tools:
                a:
                  description: {uk: о, en: d}
                  title: {en: t, uk: т}
                  confirm: {text: {en: q, uk: п}}
                  module: {url: /m.mjs}
    """
    (made,) = compiled(tool, PAGES, files={"more.yaml": more}).settings.webmcp.site("main").tools
    uk, en = (
        Manifest("a", "о", Module("/m.mjs"), title="т", confirm=Confirm("п")),
        Manifest("a", "d", Module("/m.mjs"), title="t", confirm=Confirm("q")),
    )
    assert (made.manifest.description, made.languages) == (description, {"uk": uk, "en": en})


def test_the_defaults(compiled: Callable[..., Loaded]) -> None:
    """Without a word a site is served, and its usage is counted."""
    settings = compiled("", PAGES).settings
    assert settings.webmcp == Webmcp()
    assert settings.webmcp.site("main") == Site()
    assert settings.webmcp.usage == Usage(
        enabled=True, dsn=None, retention_days=90, rate_limit=60, ceiling=60_000, clients=()
    )
    (route,) = settings.site_routes
    assert (route.site, route.prefix, route.full_group) == ("main", "/webmcp", "main")
    assert settings.routes == ()


def test_everything_of_a_site(compiled: Callable[..., Loaded]) -> None:
    """Lists become tuples, and what is not said has its default."""
    text = """
        webmcp:
          enabled: false
          strict: true
          secret: 0123456789abcdef
          call_ttl: 60
          usage: {enabled: false, dsn: "sqlite:/a.db", retention_days: 1, rate_limit: 0, ceiling: 0, clients: [Bot], respect_signals: true}
          sites:
            main:
              url: https://a.example/
              endpoint: https://b.example/w
              origins: [https://a.example]
              targets: [https://c.example]
              locale: uk
              plugins: [p]
              disabled: [x]
              output_limit: 0
              client_hint: false
              frames: true
              legacy_navigator: true
              beacon: text
    """
    webmcp = compiled(text, PAGES).settings.webmcp
    usage = Usage(False, "sqlite:/a.db", 1, 0, 0, ("Bot",), respect_signals=True)
    assert (webmcp.enabled, webmcp.strict, webmcp.secret, webmcp.call_ttl, webmcp.usage) == (
        False,
        True,
        "0123456789abcdef",
        60,
        usage,
    )
    assert webmcp.site("main") == Site(
        "https://a.example/",
        "https://b.example/w",
        ("https://a.example",),
        ("https://c.example",),
        "uk",
        ("p",),
        ("x",),
        0,
        client_hint=False,
        frames=True,
        legacy_navigator=True,
        beacon="text",
    )


def test_no_secret_is_shown(compiled: Callable[..., Loaded]) -> None:
    """Neither the secret nor a DSN with its password is in what a person may see of the settings."""
    text = "webmcp: {secret: 0123456789abcdef, usage: {dsn: 'postgresql://u:pw@h/d'}}"
    shown = repr(compiled(text, PAGES).settings.webmcp)
    assert ("0123456789abcdef" in shown, "pw@" in shown) == (False, False)


PROBLEMS = [
    pytest.param("webmcp: {sites: {main: {tools: {a: {description: d}}}}}", PAGES, 'error[webmcp-primitive] "webmcp.sites.main.tools.a" needs exactly one of', id="a tool that does nothing"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {module: {url: /m.js}, static: {items: [{}]}}}}}}", PAGES, "and has static, module.", id="a tool that does two things"),
    pytest.param("webmcp: {sites: {main: {tools: {'a b': {}}}}}", PAGES, "must name a tool's name of 1 to 128 letters", id="a tool's name"),
    pytest.param("webmcp: {sites: {'a b': {}}}", PAGES, "must name a site's name of letters", id="a site's name"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {navigate: {}}}}}}", PAGES, 'needs the option "options"', id="nowhere to go"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {navigate: {optoins: []}}}}}}", PAGES, 'Unrecognized option "optoins"', id="a typing mistake"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {title: {'e n': x}, call: {method: A.b}}}}}}", PAGES, "must name a language, say en, uk or pt-BR", id="a language"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {title: {}, call: {method: A.b}}}}}}", PAGES, 'tools.a.title" must be a text, or texts by language', id="a text in no language"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {title: 1, call: {method: A.b}}}}}}", PAGES, 'tools.a.title" must be a string or a mapping, not the number 1', id="a text that is none"),
    pytest.param("webmcp: {sites: {main: {tools: {a: {navigate: {options: [{match: {en: x}, label: l, url: u}]}}}}}}", PAGES, 'match" must be a string', id="what has no language"),
    pytest.param("webmcp: {sites: {other: {}}}", PAGES, 'error[unknown-site] The route "pages" serves the site "main", which webmcp.sites does not have. (it has "other")', id="a site that a route misses"),
    pytest.param("webmcp: {secret: short}", PAGES, '"webmcp.secret" must be at least 16 characters', id="a short secret"),
    pytest.param("webmcp: {usage: {dsn: 'mysql://x'}}", PAGES, '"webmcp.usage.dsn" must be sqlite:<file> or postgresql://...', id="another database"),
    pytest.param("webmcp: {sites: {main: {origins: ['https://a.example/path']}}}", PAGES, "must be an origin: scheme://host", id="an origin with a path"),
    pytest.param("", "pages: {resource: webmcp, prefix: /w, defaults: {api_group: x}}", '"pages.defaults.api_group" says nothing of a route with the resource "webmcp"', id="a group of a site"),
    pytest.param("", "rpc: {resource: rpc, prefix: /rpc, defaults: {site: x}}", '"rpc.defaults.site" says nothing of a route with the resource "rpc"', id="a site of a group"),
    pytest.param("", PAGES + "b: {resource: webmcp, prefix: /b}", 'would both be named "main_webmcp_config"', id="two routes of one site"),
    pytest.param("", PAGES + "b: {resource: webmcp, prefix: /webmcp, name_prefix: b_}", '"/webmcp/config.json" of the route "b" meets "/webmcp/config.json"', id="two routes of one prefix"),
]  # fmt: skip


@pytest.mark.parametrize(("gateway", "routes", "said"), PROBLEMS)
def test_problems(problems: Callable[..., list[str]], gateway: str, routes: str, said: str) -> None:
    """What cannot be meant is a problem with its place."""
    told = problems(gateway, routes)
    assert any(said in line for line in told), told
    assert all(line.startswith(("gateway.yaml:", "routes.yaml:")) for line in told)


def test_a_site_that_no_route_serves(compiled: Callable[..., Loaded]) -> None:
    """It is warned about."""
    loaded = compiled("webmcp: {sites: {main: {}, other: {}}}", PAGES)
    assert [warning.code for warning in loaded.warnings] == ["unused-site"]
