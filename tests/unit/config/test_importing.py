"""One configuration from several files: imports, `when@` blocks, parameters, several files of routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rpcgw.api.problems import Place
from rpcgw.config.loading import Loaded, load

Compile = Callable[..., Loaded]
Problems = Callable[..., list[str]]


def test_importing_file_wins(compiled: Compile) -> None:
    """Options of an import hold where the importing file says nothing: key by key, lists as a whole, `~` says nothing."""
    files = {
        "packages/ufo_mcp.yaml": "ufo_mcp: {instructions: theirs, session_ttl: 5, max_body_bytes: 7}",
        "packages/rpc.yaml": "ufo_json_rpc: {security: {token_name: X-Theirs, clients_tokens: [a, b]}}",
    }
    found = compiled(
        """\
        imports:
            - { resource: packages/ufo_mcp.yaml }
            - packages/rpc.yaml
        ufo_mcp: { session_ttl: 9, instructions: ~ }
        ufo_json_rpc: { security: { clients_tokens: [c] } }
        """,
        files=files,
    ).settings
    mcp, security = found.mcp_of("any"), found.security_of("any")
    assert (mcp.instructions, mcp.session_ttl, mcp.max_body_bytes) == ("theirs", 9, 7)
    assert (security.token_name, len(security.tokens)) == ("X-Theirs", 1)


def test_later_imports_win(compiled: Compile) -> None:
    """Of two imports the later one goes over the earlier one."""
    files = {"a.yaml": "ufo_mcp: {session_ttl: 1, max_body_bytes: 1}", "b.yaml": "ufo_mcp: {session_ttl: 2}"}
    mcp = compiled("imports: [a.yaml, b.yaml]", files=files).settings.mcp_of("any")
    assert (mcp.session_ttl, mcp.max_body_bytes) == (2, 1)


def test_places_are_kept(compiled: Compile) -> None:
    """An option remembers the file that it stands in."""
    files = {"conf/a.yaml": "# first\nufo_mcp:\n  session_ttl: 1\n"}
    places = compiled("imports: [conf/a.yaml]\nufo_mcp: {max_body_bytes: 3}", files=files).settings.places
    assert places["ufo_mcp.session_ttl"] == Place("conf/a.yaml", 3, 3)
    assert places["ufo_mcp.max_body_bytes"] == Place("gateway.yaml", 2, 11)


def test_paths_are_relative_to_their_file(compiled: Compile) -> None:
    """A path is relative to the file that it stands in, also when another file imports that one."""
    files = {
        "conf/a.yaml": (
            "state_dir: data\nplugins: {directory: ../plugs}\ntranslations: {directory: texts}\n"
            "pools: {p: file:store}\nserver: {bind: unix:run.sock}\nufo_json_rpc: {docs: {project_name: '$$ ${NAME}'}}"
        ),
        "conf/name.txt": "ann\n",
        "conf/texts/rpc.en.yaml": "{}",
    }
    found = compiled("imports: [conf/a.yaml]", files=files, env={"NAME_FILE": "name.txt"}).settings
    assert found.state_dir == "/srv/conf/data"
    assert found.plugins.directory == "/srv/plugs"
    assert found.translations.directory == "/srv/conf/texts"
    assert found.pools["p"].url == "file:/srv/conf/store"
    assert found.server.bind == ("unix:/srv/conf/run.sock",)
    assert found.docs.project_name == "$ ann"


def test_imports_of_imports(compiled: Compile) -> None:
    """An imported file may import; its names are relative to itself, and one file may be imported twice."""
    files = {
        "a/a.yaml": "imports: [../c.yaml, b.yaml]\nufo_mcp: {session_ttl: 2}",
        "a/b.yaml": "imports: [../c.yaml]\nufo_mcp: {session_ttl: 3, max_body_bytes: 3}",
        "c.yaml": "ufo_mcp: {session_ttl: 4, max_body_bytes: 4, instructions: c}",
    }
    mcp = compiled("imports: [a/a.yaml]", files=files).settings.mcp_of("any")
    assert (mcp.session_ttl, mcp.max_body_bytes, mcp.instructions) == (2, 3, "c")


@pytest.mark.parametrize(
    ("resource", "ttl"),
    [
        pytest.param("packages/*.yaml", 2, id="a pattern takes what fits, by name"),
        pytest.param("packages/", 3, id="a directory takes its YAML files, by name"),
        pytest.param('"packages/{b,a}.yaml"', 1, id="choices come in the order that is written"),
        pytest.param("packages/nothing*.yaml", 3600, id="a pattern may fit nothing"),
        pytest.param("nowhere/*.yaml", 3600, id="a pattern may look where nothing is"),
        pytest.param('"packages/%kernel.environment%.yaml"', 7, id="the environment in a name"),
    ],
)
def test_resources(compiled: Compile, resource: str, ttl: float) -> None:
    """What an import may name beside a file."""
    files = {
        "packages/a.yaml": "ufo_mcp: {session_ttl: 1}",
        "packages/b.yaml": "ufo_mcp: {session_ttl: 2}",
        "packages/c.yml": "ufo_mcp: {session_ttl: 3}",
        "packages/.hidden.yaml": "nonsense: 1",
        "packages/notes.txt": "nonsense",
        "elsewhere/test.yaml": "",
    }
    if "%" in resource:
        files["packages/test.yaml"] = "ufo_mcp: {session_ttl: 7}"
    found = compiled(f"imports: [{{resource: {resource}}}]", files=files, environment="test")
    assert found.settings.mcp_of("any").session_ttl == ttl


@pytest.mark.parametrize(
    ("gateway", "more", "ttl"),
    [
        pytest.param("", {"environment": "dev"}, 2, id="the command line"),
        pytest.param("", {"dev": True}, 2, id="--dev"),
        pytest.param("", {"env": {"RPCGW_ENV": "dev"}}, 2, id="RPCGW_ENV"),
        pytest.param("environment: dev", {}, 2, id="the file"),
        pytest.param("environment: ${APP_ENV:-dev}", {}, 2, id="a variable in the file"),
        pytest.param("imports: [env.yaml]", {"files": {"env.yaml": "environment: dev"}}, 2, id="an import"),
        pytest.param("environment: dev", {"environment": "test"}, 1, id="the command line before the file"),
        pytest.param("", {}, 1, id="nobody says dev"),
    ],
)
def test_when(compiled: Compile, gateway: str, more: Mapping[str, object], ttl: float) -> None:
    """A `when@` block goes over the rest of its file in its environment, and is as if absent in another."""
    text = f"{gateway}\nwhen@dev:\n  ufo_mcp: {{session_ttl: 2}}\nufo_mcp: {{session_ttl: 1, max_body_bytes: 5}}\n"
    mcp = compiled(text, **more).settings.mcp_of("any")
    assert (mcp.session_ttl, mcp.max_body_bytes) == (ttl, 5)


def test_when_below_imports(compiled: Compile) -> None:
    """The block of an imported file stays below the importing file, and a block may import."""
    files = {
        "a.yaml": "ufo_mcp: {session_ttl: 1, max_body_bytes: 1}\nwhen@dev: {ufo_mcp: {session_ttl: 2, max_body_bytes: 2}}",
        "dev.yaml": "ufo_mcp: {instructions: for dev}",
    }
    text = "imports: [a.yaml]\nufo_mcp: {session_ttl: 3}\nwhen@dev: {imports: [dev.yaml]}"
    mcp = compiled(text, files=files, environment="dev").settings.mcp_of("any")
    assert (mcp.session_ttl, mcp.max_body_bytes, mcp.instructions) == (3, 2, "for dev")


def test_parameters(compiled: Compile) -> None:
    """Parameters of all files are one table; the importing file's go over, blocks over both; two are given."""
    files = {"conf/p.yaml": "parameters: {ttl: 1, name: theirs}\nufo_mcp: {session_ttl: '%ttl%'}"}
    found = compiled(
        """\
        imports: [conf/p.yaml]
        parameters: { ttl: 2 }
        when@dev: { parameters: { ttl: 3 } }
        ufo_mcp: { instructions: "%name% in %kernel.environment% of %kernel.project_dir%" }
        """,
        files=files,
        environment="dev",
    ).settings.mcp_of("any")
    assert (found.session_ttl, found.instructions) == (3, "theirs in dev of /srv")


@pytest.mark.parametrize(
    ("routes", "groups"),
    [
        pytest.param("config/routes/", ["general", "a", "b"], id="a directory"),
        pytest.param("config/routes/*.yaml", ["general", "a"], id="a pattern"),
        pytest.param("[config/routes/b.yml, config/routes/a.yaml]", ["b", "general", "a"], id="a list"),
    ],
)
def test_several_files_of_routes(compiled: Compile, routes: str, groups: list[str]) -> None:
    """Routes may stand in several files; their `when@` blocks and parameters work too."""
    files = {
        "config/routes/a.yaml": (
            "rpc: {resource: rpc, prefix: /rpc}\n"
            "when@prod: {a: {resource: rpc, prefix: '%at%', defaults: {api_group: a}}}\n"
            "when@dev: {z: {resource: rpc, prefix: /z}}\n"
        ),
        "config/routes/b.yml": "b: {resource: rpc, prefix: /b, defaults: {api_group: b}}\n",
    }
    found = compiled(f"routes: {routes}\nparameters: {{at: /at}}", files=files).settings.routes
    assert [route.group for route in found] == groups
    assert {route.group: route.prefix for route in found}["a"] == "/at"


CASES = [
    pytest.param("imports: no.yaml", {}, ['gateway.yaml:1:1: error[wrong-type] "imports" must be a list, not the string "no.yaml". (write `- { resource: other.yaml }` lines)'], id="imports are no list"),
    pytest.param("imports: [no.yaml]", {}, ["gateway.yaml:1:11: error[missing-file] The import cannot be read from no.yaml: it was not there when the configuration was read."], id="an import that is not there"),
    pytest.param("imports: [no/]", {}, ["gateway.yaml:1:11: error[missing-file] The directory no cannot be read: it was not there when the configuration was read."], id="a directory that is not there"),
    pytest.param("imports: [{resource: no.yaml, ignore_errors: not_found}]", {}, [], id="an import that may be missing"),
    pytest.param("imports: [{resource: no.yaml, ignore_errors: true, type: yaml}]", {}, [], id="an import whose errors are ignored"),
    pytest.param("imports: [{file: a.yaml}]", {}, ["gateway.yaml:1:11: error[bad-value] An import must name a file, not be a mapping. (write `- { resource: other.yaml }`)"], id="an import of nothing"),
    pytest.param("imports: [{resource: a.yaml, ignore: true}]", {"a.yaml": ""}, ['gateway.yaml:1:30: error[unknown-option] Unrecognized option "ignore" in an import. Available options are "resource", "ignore_errors", "type". (did you mean "ignore_errors"?)'], id="an unknown option of an import"),
    pytest.param("imports: ['*/a.yaml']", {}, ['gateway.yaml:1:11: error[missing-file] "*/a.yaml": a pattern may stand in the last part of a path only.'], id="a pattern for directories"),
    pytest.param("imports: ['%nope%.yaml']", {}, ['gateway.yaml:1:11: error[undefined-parameter] There is no parameter "nope". (write %% for a percent sign)'], id="an unknown parameter in a name is said once"),
    pytest.param("imports: [a.yaml]", {"a.yaml": "- 1"}, ["a.yaml:1:1: error[wrong-type] The file must hold a mapping, not a list. (write `option: value` lines)"], id="an import that is a list"),
    pytest.param("imports: [a.yaml]", {"a.yaml": "a: ["}, ["a.yaml:1:5: error[yaml-syntax] This is no YAML: expected the node content, but found '<stream end>'."], id="an import that is no YAML"),
    pytest.param("imports: [a.yaml, a.yaml]", {"a.yaml": "servr: 1"}, ["a.yaml:1:1: error[unknown-option] Unrecognized option"], id="a mistake in an import is said once, in its file"),
    pytest.param("imports: [gateway.yaml]", {}, ["gateway.yaml:1:11: error[import-cycle] The file gateway.yaml imports itself: gateway.yaml -> gateway.yaml. (take one of these imports out)"], id="a file that imports itself"),
    pytest.param("imports: [a.yaml]", {"a.yaml": "imports: [b.yaml]", "b.yaml": "\nimports: [a.yaml]"}, ["b.yaml:2:11: error[import-cycle] The file a.yaml imports itself: a.yaml -> b.yaml -> a.yaml. (take one of these imports out)"], id="files that import each other"),
    pytest.param("when@prod: 1", {}, ['gateway.yaml:1:1: error[wrong-type] "when@prod" must be a mapping, not the number 1. (write options below it)'], id="a block that is no mapping"),
    pytest.param("when@dev: {environment: dev}", {}, ['gateway.yaml:1:12: error[unknown-option] "environment" cannot stand under "when@dev": it says which of these blocks hold.'], id="an environment that depends on itself"),
    pytest.param("when@prod: {servr: 1}", {}, ["gateway.yaml:1:13: error[unknown-option] Unrecognized option"], id="a mistake in a block"),
    pytest.param("parameters: [1]", {}, ['gateway.yaml:1:1: error[wrong-type] "parameters" must be a mapping, not a list. (write `name: value` lines)'], id="parameters are no mapping"),
    pytest.param("parameters: {kernel.environment: x}", {}, ['gateway.yaml:1:14: error[bad-value] The parameter "kernel.environment" is given; it cannot be set.'], id="a given parameter"),
    pytest.param("parameters: {a: '%b%', b: 'x%a%'}", {}, ['gateway.yaml:1:17: error[reference-cycle] The parameters "a", "b" name each other in a circle.', 'gateway.yaml:1:27: error[reference-cycle] The parameters "a", "b" name each other in a circle.'], id="parameters in a circle"),
    pytest.param("parameters: {a: '${NOPE}'}\nstate_dir: '%a%'", {}, ["gateway.yaml:1:17: error[env-unset] The environment variable NOPE is not set. (set it, or write ${NOPE:-default})"], id="a mistake in a parameter is said once, where it is"),
    pytest.param("parameters: {a: [1]}\nserver: {workers: '%a%'}", {}, ['gateway.yaml:2:10: error[wrong-type] "server.workers" must be an integer, not a list.'], id="a parameter of a wrong type is said where it is used"),
    pytest.param("routes: [a.yaml, b.yaml]", {"a.yaml": "rpc: {resource: rpc, prefix: /a}", "b.yaml": "rpc: {resource: rpc, prefix: /b}"}, ['b.yaml:1:1: error[duplicate-key] The route "rpc" stands in two files; first at a.yaml:1:1. (give one of them another name)'], id="a route in two files"),
    pytest.param("routes: [a.yaml, no.yaml]", {"a.yaml": "rpc: {resource: rpc, prefix: /a}"}, ["gateway.yaml:1:18: error[missing-file] The routes cannot be read from no.yaml: it was not there when the configuration was read. (routes say which endpoints exist; `rpcgw init` writes a routes.yaml to begin with)"], id="one of the files of routes is not there"),
]  # fmt: skip


@pytest.mark.parametrize(("gateway", "files", "lines"), CASES)
def test_problems(problems: Problems, gateway: str, files: dict[str, str], lines: list[str]) -> None:
    """What is wrong with files that belong together is said once, at its place."""
    found = problems(gateway, files=files)
    assert [line[: len(wanted)] for line, wanted in zip(found, lines, strict=True)] == lines


def test_from_disk(tmp_path: Path) -> None:
    """Files on a disk: a directory's own files, names relative to the importing file, wherever the command is typed."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "mcp.yaml").write_text("ufo_mcp: {session_ttl: 4}")
    (tmp_path / "gateway.yaml").write_text(
        "imports: [packages/]\nroutes: routes.yaml\nwhen@dev: {server: {workers: 2}}"
    )
    (tmp_path / "routes.yaml").write_text("rpc: {resource: rpc, prefix: /rpc}")
    found = load(str(tmp_path / "gateway.yaml"), env={}, environment="dev").settings
    assert (found.mcp_of("any").session_ttl, found.server.workers) == (4, 2)
