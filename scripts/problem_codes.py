"""What each problem code means, and which codes the source names. The codes of configuration stand in rpcgw itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from rpcgw.config.codes import CODES
from rpcgw.protocol.mcp.lint import BUDGETS, RULES
from rpcgw.protocol.webmcp.findings import CODES as FINDINGS

ROOT = Path(__file__).resolve().parent.parent
REPORTS = {"Problem": 1, "report": 0}
"""What a problem is made with, and which argument is its code."""
NO_REPORTS = ("cli", "config", "adapters", "daemon/dev.py", "daemon/jobworker.py", "daemon/supervisor.py")
"""Where `report` tells something else, or where the code comes from the table of rpcgw."""

PLUGINS = {
    "auto-enum": "Agents see an enum as numbers that say nothing (warning).",
    "cache-by": "@rpc.cache names a parameter that the method does not have.",
    "cache-context": "A cached method takes a CallContext: one caller could get another's answer.",
    "cache-vary": "@rpc.cache varies by something that a cache cannot vary by.",
    "constraint": "A rule in an Annotated does not fit its type, or a pattern cannot be matched in linear time.",
    "content-mixed": "A result is annotated as content blocks and as plain values at once.",
    "certificate": "The certificate or key of server.tls cannot be used.",
    "converter": "A converter or resolver cannot be used.",
    "converter-unused": "No parameter is of a class that a converter makes (warning).",
    "default": "A default is not valid for its own parameter.",
    "default-json": "A default has no JSON form.",
    "doc-param": "A docstring describes a parameter that does not exist (warning).",
    "doc-raises": "A docstring says that a method raises something that is no exception known there (warning).",
    "duplicate": "Two procedures define the same method, version and group.",
    "empty-group": "A route serves a group that has no methods (warning).",
    "enum-or-text": "A text could be an enum's value or any text, and is always taken for a text (warning).",
    "forward-ref": "An annotation names something that is not defined where the method is.",
    "input-schema": "An `input_schema` of @rpc.tool is not valid, or does not fit the method.",
    "internal": "The gateway cannot be compiled: a bug of rpcgw.",
    "invalidates": "@rpc.invalidates names a method or parameter that does not exist or is not cached.",
    "listener-event": "A listener listens to something that is no event.",
    "listener-unmarked": "A function is given as a listener and not marked with @rpc.listens.",
    "lock-by": "@rpc.lock names a parameter that the method does not have.",
    "mcp-header": "An `x-mcp-header` of a schema cannot be used.",
    "message-facts": "A translated message names a fact that there is none of (warning).",
    "missing-text": "A method has no text in a language that others have (warning).",
    "mutable-default": "A default is a list, dict or set (warning).",
    "name": "A method's name has characters that names do not have.",
    "no-group": "A method belongs to no group, so nothing serves it (warning).",
    "no-method": "A procedure has no public method (warning).",
    "no-procedure": "A plugin gives a class that is not marked with @rpc.procedure.",
    "no-schema": "A type has no JSON Schema.",
    "no-self": "A method takes no self.",
    "no-resource": "A group takes access tokens, and nobody knows the URL that they are meant for.",
    "no-token": "A group is protected, and no token is configured for it.",
    "note": "Nothing enforces what stands in an Annotated.",
    "plugin-import": "A plugin cannot be imported. Everything else serves, unless `plugins.strict` is true.",
    "plugin-name": "Two plugins have one name.",
    "plugin-settings": "`plugins.config` does not satisfy the type that a plugin names.",
    "procedure-constructor": "A procedure's constructor failed.",
    "procedure-parameter": "A constructor's parameter is of a type that no lifespan gives.",
    "removed": "`removed` names a method that no earlier version has (warning).",
    "reserved": "A parameter has a name that the protocol keeps for itself (warning).",
    "restart-needed": "Another version of rpcgw is installed than the daemon that is to reload.",
    "log-file": "A log's file cannot be opened.",
    "scope-out-of-reach": "A method needs scopes that no token of a group has (warning).",
    "state-dir": "The directory for state cannot be used.",
    "threads-at-import": "A plugin starts threads when it is imported; a fork would lose them.",
    "tool-collision": "Two methods would be tools of one name.",
    "tool-name-long": "A tool's name is longer than well-known clients take (warning).",
    "type": "An annotation is no type that a value could have.",
    "unknown-message": "A catalogue translates a message that the product does not have (warning).",
    "unknown-method": "A method is named that does not exist (warning).",
    "unknown-parameter": "A catalogue describes a parameter that does not exist (warning).",
    "unserved-group": "A procedure is in a group that no route serves, and one of nearly that name is (warning).",
    "unknown-plugin": "`plugins.config` names a plugin that is not there.",
    "validator-async": "A token validator is an async function, which nobody awaits.",
    "plugin-page": "A plugin brings a web page that cannot be served, or that another plugin brings too.",
    "validator-name": "Two plugins bring a token validator of one name.",
    "unknown-validator": "A token validator is named that no plugin brings.",
    "unprotected-resource": "A group takes access tokens, and asks nobody for one.",
    "unprotected": "A group without tokens would be served on an address that is not loopback.",
    "unpublishable": "The server's own description cannot be published (warning).",
    "untyped": "A parameter has no annotation, so anything is accepted (warning).",
    "variadic": "A method takes *args or **kwargs.",
}
"""The codes of plugins, texts and what joins them."""

CLIENTS = {rule.code: f"A tool has {rule.text}. {', '.join(rule.clients)} {rule.effect}." for rule in RULES} | {
    budget.code: f"A group has more than {budget.most} {budget.unit}. {', '.join(budget.clients)} {budget.effect}."
    for budget in BUDGETS
}
"""The codes of the lint of well-known clients."""

TOOLS = dict(FINDINGS)
"""The codes of what tools of web pages have."""

ALL = {**CODES, **PLUGINS, **TOOLS, **CLIENTS}


def named() -> Iterator[tuple[str, str]]:
    """Each code that the source reports by a literal, with its place."""
    for path in sorted((ROOT / "rpcgw").rglob("*.py")):
        name = path.relative_to(ROOT / "rpcgw").as_posix()
        if not name.startswith(NO_REPORTS):
            yield from ((code, f"{name}:{line}") for code, line in _named(ast.parse(path.read_text("utf-8"))))


def _named(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        position = REPORTS.get(node.func.id)
        if position is not None and len(node.args) > position:
            code = node.args[position]
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield code.value, code.lineno
