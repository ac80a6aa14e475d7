"""What a person reads when a configuration is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rpcgw.config.codes import CODES

MCP = '"enabled", "instructions", "max_body_bytes", "session_ttl", "mcp_server_info", "groups"'
ROOTS = '"imports", "parameters", "environment", "state_dir", "server", "routes", "plugins", "translations", "pools", "limits", "ufo_json_rpc", "ufo_mcp", "defaults", "groups", "methods", "jobs", "webmcp", "errors", "logging", "metrics", "tracing", "http", "console", "cors"'
TUNING = '"deadline", "unknown_params", "validation_errors", "lenient_arguments", "cache_ttl", "deprecated", "audit", "limits", "concurrency", "breaker", "scopes"'
POOLS = "file:<directory>, memory: or redis://host:port/db"


def one(line: str) -> str:
    return f"gateway.yaml:{line}"


CASES = [
    pytest.param("ufo_mcp: {x: 1}", one(f'1:11: error[unknown-option] Unrecognized option "x" under "ufo_mcp". Available options are {MCP}.'), id="an unknown option"),
    pytest.param("ufo_mcp: {enable: true}", one(f'1:11: error[unknown-option] Unrecognized option "enable" under "ufo_mcp". Available options are {MCP}. (did you mean "enabled"?)'), id="a misspelt option"),
    pytest.param("ufo_mcp: {session_directory: x}", one(f'1:11: error[unknown-option] Unrecognized option "session_directory" under "ufo_mcp". Available options are {MCP}. (sessions live in the pool that ufo_json_rpc.cache.pool names)'), id="session_directory of earlier builds"),
    pytest.param("ufo_mcp: {server_name: x}", one(f'1:11: error[unknown-option] Unrecognized option "server_name" under "ufo_mcp". Available options are {MCP}. (it is ufo_mcp.mcp_server_info.name now)'), id="server_name of earlier builds"),
    pytest.param("ufo_mcp: {server_version: 1}", one(f'1:11: error[unknown-option] Unrecognized option "server_version" under "ufo_mcp". Available options are {MCP}. (the version is always that of the request)'), id="server_version of earlier builds"),
    pytest.param("ufo_mcp: {methods: []}", one(f'1:11: error[unknown-option] Unrecognized option "methods" under "ufo_mcp". Available options are {MCP}. (a method is a tool where its group says so; nothing is listed)'), id="methods of earlier builds"),
    pytest.param("ufo_mcp: {groups: {a: {groups: {}}}}", one('1:24: error[unknown-option] Unrecognized option "groups" under "ufo_mcp.groups.a". Available options are "enabled", "instructions", "max_body_bytes", "session_ttl", "mcp_server_info".'), id="groups inside a group"),
    pytest.param("workers: 2", one(f'1:1: error[unknown-option] Unrecognized option "workers" at the top level. Available options are {ROOTS}. (it is server.workers)'), id="an option at the top that belongs below"),
    pytest.param("methods: {Catalog.search: {max_batch: 3}}", one(f'1:28: error[unknown-option] Unrecognized option "max_batch" under "methods.Catalog.search". Available options are {TUNING}. (it holds for a group or for all, not for one method)'), id="a group's option on a method"),
    pytest.param("methods: {Catalog.search: {tools: {}}}", one(f'1:28: error[unknown-option] Unrecognized option "tools" under "methods.Catalog.search". Available options are {TUNING}. (it holds for a group or for all, not for one method)'), id="how tools are shown, on a method"),
    pytest.param("defaults: {tools: {naming: dashed}}", one('1:20: error[bad-value] "defaults.tools.naming" must be one of "dotted", "underscore", not the string "dashed".'), id="an unknown spelling of tool names"),
    pytest.param('"a\\nb": 1', one(f'1:1: error[unknown-option] Unrecognized option "a\\nb" at the top level. Available options are {ROOTS}.'), id="an option with a line break stays in its line"),
    pytest.param("- a", one("1:1: error[wrong-type] The file must hold a mapping, not a list. (write `option: value` lines)"), id="a list for a file"),
    pytest.param("server: {workers: four}", one('1:10: error[wrong-type] "server.workers" must be an integer, not the string "four".'), id="text for a number"),
    pytest.param("server: {workers: true}", one('1:10: error[wrong-type] "server.workers" must be an integer, not true.'), id="a switch for a number"),
    pytest.param("server: {workers: 1.0}", one('1:10: error[wrong-type] "server.workers" must be an integer, not the number 1.0.'), id="a float for an integer"),
    pytest.param("server: {timeouts: {grace: .nan}}", one('1:21: error[wrong-type] "server.timeouts.grace" must be a number, not the number nan.'), id="not a number for a number"),
    pytest.param("ufo_mcp: {enabled: yes}", one('1:11: error[wrong-type] "ufo_mcp.enabled" must be true or false, not the string "yes". (write true or false)'), id="yes for a switch"),
    pytest.param("environment: 1", one('1:1: error[wrong-type] "environment" must be a string, not the number 1. (put it in quotes)'), id="a number for text"),
    pytest.param("cors: {allowed_origins: 'https://a.example'}", one('1:8: error[wrong-type] "cors.allowed_origins" must be a list, not the string "https://a.example". (write [a, b], or one `- a` line for each)'), id="text for a list"),
    pytest.param("server: 127.0.0.1", one('1:1: error[wrong-type] "server" must be a mapping, not the string "127.0.0.1".'), id="text for a mapping"),
    pytest.param("logging: {mask: [a, ~]}", one('1:21: error[wrong-type] "logging.mask.1" must be a string, not nothing.'), id="nothing in a list"),
    pytest.param("ufo_json_rpc: {security: {clients_tokens: [12345678]}}", one('1:44: error[wrong-type] "ufo_json_rpc.security.clients_tokens.0" must be a string, not this number. (put it in quotes)'), id="a token is never shown"),
    pytest.param('ufo_json_rpc: {security: {clients_tokens: [" "]}}', one('1:44: error[bad-value] "ufo_json_rpc.security.clients_tokens.0" must be a token that is not empty, not this string.'), id="an empty token"),
    pytest.param("ufo_mcp: {max_body_bytes: 0}", one('1:11: error[out-of-range] "ufo_mcp.max_body_bytes" must be at least 1, not the number 0.'), id="a number that is too small"),
    pytest.param("ufo_mcp: {groups: {a: {session_ttl: 0}}}", one('1:24: error[out-of-range] "ufo_mcp.groups.a.session_ttl" must be at least 1, not the number 0.'), id="a group's number that is too small"),
    pytest.param("ufo_mcp: {groups: {a: {max_body_bytes: x}}}", one('1:24: error[wrong-type] "ufo_mcp.groups.a.max_body_bytes" must be an integer, not the string "x".'), id="a group's number that is none"),
    pytest.param("defaults: {deadline: 0}", one('1:12: error[out-of-range] "defaults.deadline" must be more than 0, not the number 0.'), id="a deadline of nothing"),
    pytest.param("server: {workers: 5000}", one('1:10: error[out-of-range] "server.workers" must be at most 1024, not the number 5000.'), id="a number that is too large"),
    pytest.param("logging: {level: warn}", one('1:11: error[bad-value] "logging.level" must be one of "debug", "info", "warning", "error", not the string "warn". (did you mean "warning"?)'), id="a choice that is near"),
    pytest.param("server: {bind: ':8080'}", one('1:10: error[bad-value] "server.bind" must be host:port, [v6]:port or unix:/path, not the string ":8080".'), id="an address without a host"),
    pytest.param("server: {bind: [127.0.0.1:80, nonsense]}", one('1:31: error[bad-value] "server.bind.1" must be host:port, [v6]:port or unix:/path, not the string "nonsense".'), id="an address in a list"),
    pytest.param("server: {bind: '127.0.0.1:99999'}", one('1:10: error[bad-value] "server.bind": 127.0.0.1:99999 has a port above 65535.'), id="a port that is too large"),
    pytest.param("server: {bind: '[::zz]:80'}", one('1:10: error[bad-value] "server.bind" must be host:port, [v6]:port or unix:/path, not the string "[::zz]:80".'), id="letters that are not hexadecimal"),
    pytest.param("server: {bind: '[1:2]:80'}", one('1:10: error[bad-value] "server.bind": [1:2]:80 holds no IPv6 address in its brackets.'), id="half an IPv6 address"),
    pytest.param("server: {allowed_hosts: ['a:70000']}", one('1:26: error[bad-value] "server.allowed_hosts.0": a:70000 has a port above 65535.'), id="a host with a port that is too large"),
    pytest.param("cors: {allowed_origins: ['http://[1]']}", one('1:26: error[bad-value] "cors.allowed_origins.0": http://[1] holds no IPv6 address in its brackets.'), id="an origin with half an IPv6 address"),
    pytest.param("server: {public_url: 'http://ann:secret@a/c'}", one('1:10: error[bad-value] "server.public_url" must be an absolute http or https URL without a query, not the string "http://...@a/c".'), id="a URL with credentials, which are not shown"),
    pytest.param("server: {bind: [localhost:80, localhost:80]}", one('1:31: error[bad-value] "server.bind" names localhost:80 twice.'), id="an address twice"),
    pytest.param("server: {bind: []}", one('1:10: error[bad-value] "server.bind" must not be empty.'), id="no address"),
    pytest.param("server: {public_url: tools.example.com}", one('1:10: error[bad-value] "server.public_url" must be an absolute http or https URL without a query, not the string "tools.example.com".'), id="a URL without a scheme"),
    pytest.param("server: {allowed_hosts: ['https://a.example']}", one('1:26: error[bad-value] "server.allowed_hosts.0" must be a host name, with a port if need be, and without a scheme or path, not the string "https://a.example".'), id="a URL for a host"),
    pytest.param("cors: {allowed_origins: ['*']}", one('1:26: error[bad-value] "cors.allowed_origins.0" must be an origin: scheme://host or scheme://host:port, without a path, not the string "*".'), id="every origin"),
    pytest.param("cors: {allowed_origins: ['null']}", one('1:26: error[bad-value] "cors.allowed_origins.0" must be an origin: scheme://host or scheme://host:port, without a path, not the string "null".'), id="the origin null"),
    pytest.param('metrics: {path: "/m\\n"}', one('1:11: error[bad-value] "metrics.path" must be a path that begins with "/" and does not end with one, not the string "/m\\n".'), id="a line break after a path"),
    pytest.param("groups: {'a b': {}}", one('1:10: error[bad-value] "groups.a b" must name a group\'s name of letters, digits, "_", "." and "-".'), id="a group with a space"),
    pytest.param("ufo_mcp: {mcp_server_info: {icons: [{theme: light}]}}", one('1:37: error[missing-option] "ufo_mcp.mcp_server_info.icons.0" needs the option "src".'), id="an icon without its address"),
    pytest.param("ufo_mcp: {mcp_server_info: {icons: [{src: ~}]}}", one('1:37: error[missing-option] "ufo_mcp.mcp_server_info.icons.0" needs the option "src".'), id="an icon with an empty address"),
    pytest.param("ufo_mcp: {mcp_server_info: {icons: [{src: '${NOPE}'}]}}", one("1:43: error[env-unset] The environment variable NOPE is not set. (set it, or write ${NOPE:-default})"), id="an unset variable is said once"),
    pytest.param("server: {workers: '${N:-x}'}", one('1:10: error[wrong-type] "server.workers" must be an integer, not this string.'), id="a variable's value is never shown"),
    pytest.param("groups: {a: {oauth: {}}}", one('1:14: error[missing-option] "groups.a.oauth" needs the option "issuer".'), id="oauth without an issuer"),
    pytest.param("groups: {a: {oauth: {issuer: 'https://i'}}}", one('1:14: error[bad-value] "groups.a.oauth" needs one of jwks_uri and introspection, and not both. (jwks_uri for tokens that carry a signature (JWT), introspection for opaque ones)'), id="oauth without a source"),
    pytest.param("groups: {a: {oauth: {issuer: 'http://i', jwks_uri: 'https://i/k'}}}", one('1:22: error[bad-value] "groups.a.oauth.issuer" must be an https URL; plain http is for this machine only.'), id="an issuer without TLS"),
    pytest.param("methods: {A.b: {scopes: [x y]}}", one('1:26: error[bad-value] "methods.A.b.scopes.0" must be a scope: one word without blanks, quotes and backslashes, not the string "x y".'), id="two scopes in one"),
    pytest.param("ufo_json_rpc: {async: [{type: redis}]}", one('1:24: error[missing-option] "ufo_json_rpc.async.0" needs the option "config".'), id="a queue without its place"),
    pytest.param("ufo_json_rpc: {async: [{config: {name: a}}]}", one('1:25: error[missing-option] "ufo_json_rpc.async.0.config" needs the option "dsn".'), id="a queue without its address"),
    pytest.param("ufo_json_rpc: {async: 'kafka://ann:secret@x'}", one('1:16: error[bad-value] "ufo_json_rpc.async": the dsn must be redis://host:port/db, amqp://user:password@host/vhost, or a hub\'s http or https URL.'), id="a queue of an unknown kind, whose address is not shown"),
    pytest.param("ufo_json_rpc: {async: [{type: amqp, config: {dsn: 'redis://x'}}]}", one('1:24: error[bad-value] "ufo_json_rpc.async.0": the dsn is one of redis, not of amqp.'), id="a queue whose type is not its address's"),
    pytest.param("ufo_json_rpc: {async: [{config: {dsn: 'redis://x'}}, {config: {dsn: 'redis://y'}}]}", one('1:54: error[bad-value] Two queues are named "rpc_async". (rpcgw worker is given a queue by its name)'), id="two queues of one name"),
    pytest.param("ufo_json_rpc: {async: [{config: {dsn: 'https://hub'}}]}", one('1:24: error[missing-option] "ufo_json_rpc.async.0": a queue of mercure needs the option "topics_prefix".'), id="a hub without its topics"),
    pytest.param("jobs: {webhooks: {allow: [hooks.example.com]}}", one('1:27: error[bad-value] "jobs.webhooks.allow.0" must be an absolute http or https URL, in which *.example.com and * stand for any host, not the string "hooks.example.com".'), id="a place for webhooks without a scheme"),
    pytest.param("jobs: {webhooks: {secret: short}}", one('1:19: error[bad-value] "jobs.webhooks.secret" must be at least 16 characters, not this string.'), id="a secret that can be guessed is not shown"),
    pytest.param("pools: {default: 'ftp://x:secret@y'}", one(f'1:9: error[bad-value] "pools.default" must be {POOLS}.'), id="an unknown store"),
    pytest.param("pools: {a: 'redis+sentinel://ann:secret@h'}", one('1:9: error[bad-value] "pools.a" must name what the Sentinels watch, as in redis+sentinel://host:26379/mymaster.'), id="Sentinels without the name of their master"),
    pytest.param("pools: {a: {url: 'redis://h', timeout: 0}}", one('1:31: error[out-of-range] "pools.a.timeout" must be at least 0.05, not this number.'), id="a pool that may take no time"),
    pytest.param("ufo_json_rpc: {async: 'redis+cluster://ann:secret@h/1'}", one('1:16: error[bad-value] "ufo_json_rpc.async": the dsn must not name a database: a Cluster has none but 0.'), id="a queue in a database of a Cluster"),
    pytest.param("pools: {a: {required: true}}", one('1:9: error[missing-option] "pools.a" needs the option "url".'), id="a pool without a URL"),
    pytest.param("ufo_json_rpc: {cache: {pool: cache.app}}", one('1:24: error[unknown-pool] There is no pool "cache.app". The pools are "default". (write it under pools, say pools: {cache.app: redis://127.0.0.1:6379/0})'), id="a pool that is not configured"),
    pytest.param("server: {workers: 2}\npools: {default: 'memory:'}", one("2:9: warning[shared-nothing] 2 workers cannot share a pool in memory: each has its own sessions, results and locks. (use a pool of files or Redis)"), id="workers with a pool in memory"),
    pytest.param("groups: {general: {tokens: [{name: a}]}}", one('1:29: error[bad-value] The token "a" needs either a value or a sha256, and not both.'), id="a token without a value"),
    pytest.param("groups: {general: {tokens: [{name: a, sha256: zz}]}}", one('1:39: error[bad-value] "groups.general.tokens.0.sha256" must be 64 hexadecimal digits, not this string.'), id="a token whose digest is none is one problem"),
    pytest.param("groups: {general: {tokens: [s3cret]}}", one('1:29: error[wrong-type] "groups.general.tokens.0" must be a mapping, not this string. (write {name: ..., sha256: ...}, as `rpcgw token new` prints it)'), id="a token that is written as it is"),
    pytest.param("server: {bind: 8080}", one('1:10: error[wrong-type] "server.bind" must be a string or a list, not the number 8080. (write host:port, [v6]:port or unix:/path)'), id="an address that is a number"),
    pytest.param("groups: {general: {tokens: [{name: a, value: x}, {name: a, value: y}]}}", one('1:51: error[bad-value] The group has two tokens named "a". (logs tell tokens apart by their names)'), id="two tokens of one name"),
    pytest.param("groups: {general: {tokens: [{name: a, value: x, expires: soon}]}}", one('1:49: error[bad-value] "groups.general.tokens.0.expires" must be a date or a time, not "soon". (write 2027-01-31 or 2027-01-31T12:00:00Z)'), id="a time that is none"),
    pytest.param("ufo_mcp: {groups: {mpc: {}}}", one('1:20: warning[unused-group] "ufo_mcp.groups.mpc" tunes a group that no route serves. (the routes serve a, general)'), id="a group that no route serves"),
    pytest.param("routes: other.yaml", one("1:1: error[missing-file] The routes cannot be read from other.yaml: it was not there when the configuration was read. (routes say which endpoints exist; `rpcgw init` writes a routes.yaml to begin with)"), id="routes that are not there"),
    pytest.param("translations: {directory: nowhere}", one("1:16: error[missing-file] The directory nowhere cannot be read: it was not there when the configuration was read."), id="a directory that is not there"),
    pytest.param("plugins: {directory: plugin}", one("1:11: warning[missing-file] The directory plugin cannot be read: it was not there when the configuration was read."), id="a directory of plugins that is not there, beside those of the venv"),
    pytest.param("translations: {default_locale: english}", one('1:16: error[bad-value] "translations.default_locale" must be a locale, say en, uk or pt-BR, not the string "english".'), id="a language that is no locale"),
]  # fmt: skip


@pytest.mark.parametrize(("gateway", "line"), CASES)
def test_problems(problems: Callable[..., list[str]], gateway: str, line: str) -> None:
    """One mistake is one line: place, code, what is wrong, what to do."""
    assert problems(gateway) == [line]


@pytest.mark.parametrize("name", ["plugins", "translations"])
def test_the_directory_of_a_beginner_may_be_missing(problems: Callable[..., list[str]], name: str) -> None:
    """A directory that is called as it is where nobody says need not be there."""
    assert problems(f"{name}: {{directory: {name}}}") == []


def test_all_at_once(problems: Callable[..., list[str]]) -> None:
    """Every problem of both files is reported at once, sorted by place."""
    gateway = """\
        server: {workers: 0, bind: nonsense}
        ufo_mcp: {x: 1, enabled: maybe}
        pools: {a: 'nonsense'}
        logging: {level: '${NOPE}'}
        """
    found = problems(gateway, "a: {resource: rpc}\nb: {resource: what, prefix: /b}\n")
    assert [line.split("] ")[0] for line in found] == [
        "gateway.yaml:1:10: error[out-of-range",
        "gateway.yaml:1:22: error[bad-value",
        "gateway.yaml:2:11: error[unknown-option",
        "gateway.yaml:2:17: error[wrong-type",
        "gateway.yaml:3:9: error[bad-value",
        "gateway.yaml:4:18: error[env-unset",
        "routes.yaml:1:1: error[missing-option",
        "routes.yaml:2:5: error[bad-value",
    ]


def test_every_code_is_explained() -> None:
    """Every code that a problem carries here stands in the table of codes."""
    used = {str(case.values[1]).split("[")[1].split("]")[0] for case in CASES}
    assert used <= set(CODES)
