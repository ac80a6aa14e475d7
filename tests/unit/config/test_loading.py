"""Files to settings: defaults, what goes before what, groups, paths, the snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Place
from rpcgw.config.gathering import read_sources
from rpcgw.config.loading import Loaded, compile_settings, load
from rpcgw.config.settings import (
    CallSettings,
    Cors,
    Docs,
    Icon,
    Logging,
    McpSettings,
    Metrics,
    PluginSettings,
    PoolSettings,
    ResultCacheSettings,
    Security,
    Server,
    ServerInfo,
    Settings,
    Token,
    Tools,
    Translations,
)
from rpcgw.config.sources import Sources

Compile = Callable[..., Loaded]
Problems = Callable[..., list[str]]


def hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def test_defaults(compiled: Compile) -> None:
    """C-08: an empty file is a whole configuration; the dataclasses and the loader agree on every default."""
    found = compiled("").settings
    expected = Settings(
        source="gateway.yaml",
        state_dir="/srv/var",
        server=Server(),
        routes=found.routes,
        plugins=PluginSettings(directory="/srv/plugins"),
        translations=Translations(directory="/srv/translations"),
        pools={"default": PoolSettings("file:/srv/var/pools/default")},
        cache=ResultCacheSettings(),
        docs=Docs(),
        logging=Logging(),
        metrics=Metrics(),
        cors=Cors(),
        security={"": Security()},
        mcp={"": McpSettings()},
        calls={"": CallSettings()},
        sources=("/srv/gateway.yaml", "/srv/routes.yaml"),
    )
    assert found == expected


@pytest.mark.parametrize(
    ("environment", "dev", "env", "expected"),
    [
        pytest.param(None, False, {}, "stage", id="the file"),
        pytest.param(None, False, {"RPCGW_ENV": "test"}, "test", id="RPCGW_ENV before the file"),
        pytest.param(None, True, {"RPCGW_ENV": "test"}, "dev", id="dev before RPCGW_ENV"),
        pytest.param("qa", True, {"RPCGW_ENV": "test"}, "qa", id="the option before all"),
        pytest.param(None, False, {"RPCGW_ENV": ""}, "stage", id="an empty RPCGW_ENV is none"),
    ],
)
def test_environment(compiled: Compile, environment: str | None, dev: bool, env: dict[str, str], expected: str) -> None:
    """The command line goes before variables, and they before the file."""
    loaded = compiled("environment: stage", environment=environment, dev=dev, env=env)
    assert loaded.settings.environment == expected


def test_dev_logs_for_people(compiled: Compile) -> None:
    """`--dev` means log lines for people, whatever the file says."""
    assert compiled("logging: {format: json}", dev=True).settings.logging.format == "console"


@pytest.mark.parametrize(
    ("gateway", "env", "expected"),
    [
        pytest.param("", {}, "/srv/var", id="beside the file"),
        pytest.param("", {"STATE_DIRECTORY": "/var/lib/rpcgw:/var/lib/other"}, "/var/lib/rpcgw", id="systemd's first directory"),
        pytest.param("state_dir: ../state", {"STATE_DIRECTORY": "/x"}, "/state", id="the file before the variable"),
    ],
)  # fmt: skip
def test_state_dir(compiled: Compile, gateway: str, env: dict[str, str], expected: str) -> None:
    """State lives where the file says, else where systemd says, else beside the file."""
    assert compiled(gateway, env=env).settings.state_dir == expected


def test_server(compiled: Compile) -> None:
    """Addresses are a list, paths absolute, names in lower case, a URL has no slash at its end."""
    found = compiled("""\
        server:
          bind: [0.0.0.0:80, "[::1]:80", unix:run/s.sock]
          public_url: https://Tools.example/api/
          allowed_hosts: [Tools.internal]
          timeouts: {grace: 1.5}
        cors: {allowed_origins: [HTTPS://App.example:443, "http://[::1]:80", http://a.example:8080]}
        """).settings
    assert found.server.bind == ("0.0.0.0:80", "[::1]:80", "unix:/srv/run/s.sock")
    assert found.server.public_url == "https://Tools.example/api"
    assert found.server.allowed_hosts == ("tools.internal",)
    assert (found.server.timeouts.grace, found.server.timeouts.keep_alive) == (1.5, 75)
    assert found.cors.allowed_origins == ("https://app.example", "http://[::1]", "http://a.example:8080")


@pytest.mark.parametrize(
    ("gateway", "pool", "url"),
    [
        pytest.param("", "default", "file:/srv/var/pools/default", id="the default pool"),
        pytest.param("pools: {default: 'memory:'}", "default", "memory:", id="another default pool"),
        pytest.param("pools: {x: {url: 'redis://:p@h:1/2', required: true}}\nufo_json_rpc: {cache: {pool: x}}", "x", "redis://:p@h:1/2", id="a named pool"),
        pytest.param("ufo_json_rpc: {cache: {pool: 'redis://h'}}", "ufo_json_rpc.cache.pool", "redis://h", id="a URL for a name"),
        pytest.param("pools: {default: 'file:../p'}", "default", "file:/p", id="a relative directory"),
        pytest.param("pools: {default: 'file:///p'}", "default", "file:/p", id="a directory as a URL"),
    ],
)  # fmt: skip
def test_pools(compiled: Compile, gateway: str, pool: str, url: str) -> None:
    """C-22: the cache's pool is a name under pools, or a URL; `default` always exists."""
    found = compiled(gateway).settings
    assert (found.cache.pool, found.pools[found.cache.pool].url) == (pool, url)
    assert "default" in found.pools


def test_security_by_group(compiled: Compile) -> None:
    """C-19: a group's provider stands over the common settings field by field; named tokens come in addition."""
    found = compiled(
        """\
        ufo_json_rpc:
          security:
            token_name: X-Token
            clients_tokens: ["%env(file:T)%"]
            providers: {a: {protected_doc: true, clients_tokens: [two]}}
        groups:
          a: {tokens: [{name: n, value: three, expires: 1970-01-02}]}
          general: {tokens: [{name: m, sha256: HASH, expires: "1970-01-01T01:00:00+01:00"}]}
        """.replace("HASH", hashed("four").upper()),
        env={"T": "t.txt"},
        files={"t.txt": " one\n"},
    ).settings
    one = nameless("one")
    assert found.security_of("other") == Security(token_name="X-Token", tokens=(one,))
    assert found.security_of("general").tokens == (one, Token("m", hashed("four"), 0.0))
    assert found.security_of("a") == Security(
        protected_doc=True,
        token_name="X-Token",
        tokens=(nameless("two"), Token("n", hashed("three"), 86400.0)),
    )


def nameless(token: str) -> Token:
    """A token of `clients_tokens`: named by the beginning of its digest."""
    return Token(f"client-{hashed(token)[:8]}", hashed(token))


def test_a_token_keeps_its_name_when_others_come_and_go(compiled: Compile) -> None:
    """A name stands for one token: whoever remains never takes over what another's name is kept under."""
    text = "ufo_json_rpc: {security: {clients_tokens: [%s]}}"
    both, one = (compiled(text % given).settings.security_of("a").tokens for given in ("one, two, one", "two"))
    assert both == (nameless("one"), nameless("two"))
    assert one == (nameless("two"),)


def test_a_named_token_takes_no_name_that_another_has(problems: Problems) -> None:
    """Neither another named one's, nor that of a token without a name."""
    token = nameless("one").name
    found = problems(
        f"""\
        ufo_json_rpc: {{security: {{clients_tokens: [one]}}}}
        groups:
          a: {{tokens: [{{name: {token}, value: x}}, {{name: n, value: y}}, {{name: n, value: z}}]}}
        """
    )
    assert [f'The group has two tokens named "{name}".' in line for name, line in zip((token, "n"), found, strict=True)]


def test_mcp_by_group(compiled: Compile) -> None:
    """C-14: a group overrides field by field, `~` inherits, `mcp_server_info` too; icons are replaced as a whole."""
    found = compiled("""\
        ufo_mcp:
          instructions: Common.
          session_ttl: 60
          mcp_server_info: {name: io.x/y, title: T, icons: [{src: i, sizes: [1x1], theme: dark}, {src: j}]}
          groups:
            a: {instructions: ~, enabled: false, max_body_bytes: 7, mcp_server_info: {name: io.x/a}}
            general: ~
        """).settings
    icons = (Icon("i", sizes=("1x1",), theme="dark"), Icon("j"))
    common = McpSettings(instructions="Common.", session_ttl=60, info=ServerInfo("io.x/y", "T", None, icons))
    assert found.mcp_of("general") == found.mcp_of("none") == common
    assert found.mcp_of("a") == McpSettings(
        enabled=False,
        instructions="Common.",
        max_body_bytes=7,
        session_ttl=60,
        info=ServerInfo("io.x/a", "T", None, icons),
    )


def test_calls_by_method(compiled: Compile) -> None:
    """Defaults, then the group, then the method."""
    found = compiled("""\
        defaults: {deadline: 9, max_batch: 5, unknown_params: refuse}
        groups: {a: {deadline: 8, cache_ttl: 1}}
        methods: {C.m: {deadline: 7, unknown_params: drop}}
        """).settings
    assert found.calls_of("general") == CallSettings(deadline=9, max_batch=5, unknown_params="refuse")
    assert found.calls_of("a") == CallSettings(deadline=8, max_batch=5, unknown_params="refuse", cache_ttl=1)
    assert found.calls_of_method("a", "C.m") == CallSettings(deadline=7, max_batch=5, cache_ttl=1)
    assert found.calls_of_method("general", "other") == found.calls_of("general")


def test_how_tools_are_shown_by_group(compiled: Compile) -> None:
    """Each field of `tools` is inherited on its own; a method has only what tunes its calls."""
    found = compiled("""\
        defaults: {lenient_arguments: true, tools: {naming: underscore, page_size: 5}}
        groups: {a: {tools: {refs: inline, output_arrays: exact, page_size: 7}}}
        methods: {C.m: {lenient_arguments: false}}
        """).settings
    assert found.calls_of("general").tools == Tools(naming="underscore", page_size=5)
    assert found.calls_of("a").tools == Tools("underscore", "inline", "exact", 7)
    assert found.calls_of("a").lenient_arguments
    assert found.calls_of_method("a", "C.m") == replace(found.calls_of("a"), lenient_arguments=False)


@pytest.mark.parametrize(
    ("gateway", "env", "workers"),
    [
        pytest.param("server: {workers: '${N}'}", {"N": "3"}, 3, id="a plain variable"),
        pytest.param("server: {workers: '%env(N)%'}", {"N": "3"}, 3, id="an untyped processor"),
        pytest.param("server: {workers: '${N:-2}'}", {}, 2, id="a default"),
        pytest.param("server: {workers: '${N:-}'}", {}, 1, id="an empty default is as if the option was not there"),
        pytest.param("server: {workers: '%env(json:N)%'}", {"N": "3"}, 3, id="a JSON number"),
    ],
)
def test_untyped_variables(compiled: Compile, gateway: str, env: dict[str, str], workers: int) -> None:
    """Where the schema wants a number or a switch, an untyped variable is read as a plain scalar."""
    assert compiled(gateway, env=env).settings.server.workers == workers


def test_untyped_variables_stay_text(compiled: Compile) -> None:
    """Where the schema wants text, a variable of digits is text: a token keeps its zeros."""
    found = compiled('ufo_json_rpc: {security: {clients_tokens: ["${T}"]}}', env={"T": "0012"}).settings
    assert found.security_of("general").tokens[0].sha256 == hashed("0012")


@pytest.mark.parametrize(
    ("enabled", "expected"),
    [pytest.param("0", False, id="switched off"), pytest.param("true", True, id="switched on")],
)
def test_bool_processor(compiled: Compile, enabled: str, expected: bool) -> None:
    """C-09: `%env(bool:MCP_ENABLED)%` switches MCP."""
    found = compiled("ufo_mcp: {enabled: '%env(bool:MCP_ENABLED)%'}", env={"MCP_ENABLED": enabled}).settings
    assert found.mcp_of("general").enabled is expected


def test_plugin_settings_are_kept_as_they_are(compiled: Compile) -> None:
    """What a plugin is told is the plugin's own: any keys, and null is null; its place is known."""
    found = compiled("plugins:\n  config:\n    shop: {dsn: '${D}', note: ~, list: [1, ~]}\n", env={"D": "x"}).settings
    assert found.plugins.config == {"shop": {"dsn": "x", "note": None, "list": [1, None]}}
    assert found.plugins.places == {"shop": Place("gateway.yaml", 3, 5)}


def test_places(compiled: Compile) -> None:
    """Later checks find where an option stands."""
    found = compiled("server:\n  bind: 0.0.0.0:80\n").settings
    assert found.places["server.bind"] == Place("gateway.yaml", 2, 3)


CATALOGUES = {"translations/rpc.uk.yaml": "A.b: {title: Т}\n", "translations/rpc/mcp.en.yaml": "A.b: {title: T}\n"}


def test_catalogues(compiled: Compile) -> None:
    """The operator's catalogues come with the settings."""
    found = [(c.group, c.locale, c.methods) for c in compiled("", files=CATALOGUES).catalogues]
    assert found == [("", "uk", {"A.b": {"title": "Т"}}), ("mcp", "en", {"A.b": {"title": "T"}})]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A configuration on disk that names files in every way."""
    (tmp_path / "conf/texts/rpc").mkdir(parents=True)
    (tmp_path / "conf/gateway.yaml").write_text(
        "routes: '${ROUTES}'\ntranslations: {directory: texts}\nserver: {public_url: '%env(file:URL)%'}\n"
    )
    (tmp_path / "conf/r.yaml").write_text("r: {resource: rpc, prefix: '%env(file:PREFIX)%'}\n")
    (tmp_path / "conf/url.txt").write_text("https://x.example")
    (tmp_path / "conf/prefix.txt").write_text("/p")
    (tmp_path / "conf/texts/rpc.en.yaml").write_text("A.b: {title: T}\n")
    (tmp_path / "conf/texts/rpc/mcp.en.yaml").write_text("A.b: {title: M}\n")
    return tmp_path


ENV = {"ROUTES": "r.yaml", "URL": "url.txt", "PREFIX": "prefix.txt"}


def test_snapshot(disk: Path) -> None:
    """A snapshot survives JSON and compiles without the disk, to the same settings; places are as the user names them."""
    sources = read_sources("conf/gateway.yaml", env=ENV, base=str(disk))
    for file in sorted(disk.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    loaded = compile_settings(Sources.from_json(json.loads(json.dumps(sources.as_json()))), env=ENV)
    assert loaded.settings.server.public_url == "https://x.example"
    assert loaded.settings.state_dir == str(disk / "conf/var")
    assert [(route.prefix, str(route.place)) for route in loaded.settings.routes] == [("/p", "conf/r.yaml:1:1")]
    assert [(c.file, c.group) for c in loaded.catalogues] == [
        ("conf/texts/rpc.en.yaml", ""),
        ("conf/texts/rpc/mcp.en.yaml", "mcp"),
    ]


@pytest.mark.parametrize(
    ("write", "line"),
    [
        pytest.param(None, "error[missing-file] The file cannot be read: no such file or directory.", id="no file"),
        pytest.param(b"a: \xff", "error[missing-file] The file cannot be read: byte 3 is not UTF-8.", id="no text"),
    ],
)
def test_unreadable(tmp_path: Path, write: bytes | None, line: str) -> None:
    """A file that cannot be read is a problem, not a traceback."""
    file = tmp_path / "gateway.yaml"
    if write is not None:
        file.write_bytes(write)
    with pytest.raises(ConfigError) as caught:
        load(str(file), env={})
    assert [str(problem) for problem in caught.value.problems] == [f"{file}: {line}"]


def test_routes_beside_an_example(tmp_path: Path) -> None:
    """A gateway file that ends in `.example` takes the example routes."""
    (tmp_path / "gateway.yaml.example").write_text("")
    (tmp_path / "routes.yaml.example").write_text("r: {resource: rpc, prefix: /p}\n")
    assert load(str(tmp_path / "gateway.yaml.example"), env={}).settings.routes[0].prefix == "/p"


def outcome(sources: Sources) -> object:
    """What came of it: settings, or at least one problem in one line."""
    try:
        return compile_settings(sources, env={}).settings
    except ConfigError as error:
        return all(len(str(problem).splitlines()) == 1 for problem in error.problems) and error.problems


YAMLISH = st.text(alphabet=st.sampled_from("server:bindpools ufo_mcp-[]{}&*!|>'\"%env()$~\n\t0189/,?#\\é"), max_size=80)


@settings(max_examples=150, deadline=None)
@given(gateway=YAMLISH, routes=YAMLISH, texts=st.text(max_size=30))
def test_only_config_errors(gateway: str, routes: str, texts: str) -> None:
    """Whatever the files hold, the loader loads them or raises ConfigError."""
    files = {"gateway.yaml": gateway, "routes.yaml": routes, "translations/rpc.en.yaml": texts}
    assert outcome(Sources("gateway.yaml", "/srv", files, {"translations": ["rpc.en.yaml"]}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x", "file:a", "unix:s", "redis://", "/a", "${X}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([f.name for cls in (Settings, Server, Security, McpSettings, CallSettings, Icon, Token) for f in fields(cls)] + ["ufo_mcp", "ufo_json_rpc", "defaults", "cache", "groups", "providers", "clients_tokens", "icons", "mcp_server_info", "resource", "api_group"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(gateway=VALUES, routes=VALUES)
def test_only_config_errors_for_known_keys(gateway: object, routes: object) -> None:
    """Known keys with values of any shape are loaded or refused with problems."""
    files = {"gateway.yaml": json.dumps(gateway), "routes.yaml": json.dumps(routes)}
    assert outcome(Sources("gateway.yaml", "/srv", files))


@pytest.mark.parametrize(
    ("defaults", "group", "method", "holds"),
    [
        pytest.param(9, 8, 7, 7.0, id="the method's is the shortest"),
        pytest.param(5, 8, 7, 5.0, id="a longer one further down changes nothing"),
        pytest.param(9, 3, 7, 3.0, id="the group's is the shortest"),
    ],
)
def test_the_shortest_deadline_holds(compiled: Compile, defaults: int, group: int, method: int, holds: float) -> None:
    """Whoever gives a deadline, the shortest of them is the call's."""
    text = (
        f"defaults: {{deadline: {defaults}}}\n"
        f"groups: {{a: {{deadline: {group}}}}}\n"
        f"methods: {{C.m: {{deadline: {method}}}}}\n"
    )
    found = compiled(text).settings
    assert found.calls_of_method("a", "C.m").deadline == holds
