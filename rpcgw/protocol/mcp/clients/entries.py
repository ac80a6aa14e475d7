"""What each client's file wants, as trees of plain values; commands and links that write it. Pure.

Sources: each client's own documentation, as of November 2026. A token is never here, only the client's own way to look
one up.
"""

from __future__ import annotations

from base64 import b64encode
from shlex import quote as shell
from typing import Any, Final
from urllib.parse import quote, urlencode

from rpcgw.protocol.mcp.clients.connection import PLACEHOLDER, VARIABLE, Connection
from rpcgw.protocol.mcp.clients.notation import compact

Tree = dict[str, Any]

_ENVIRONMENT: Final = f"${{{VARIABLE}}}"
_CURSOR_STYLE: Final = f"${{env:{VARIABLE}}}"
_GEMINI_STYLE: Final = f"${VARIABLE}"
_CONTINUE_STYLE: Final = f"${{{{ secrets.{VARIABLE} }}}}"


def _servers(to: Connection, entry: Tree, key: str = "mcpServers") -> Tree:
    return {key: {to.name: entry}}


def claude_code(to: Connection) -> Tree:
    """`.mcp.json`; variables are looked up when Claude Code starts."""
    return _servers(to, {"type": "http", "url": to.url, **to.headers(_ENVIRONMENT)})


def claude_code_command(to: Connection) -> str:
    """The command that writes the same into `.mcp.json`."""
    return f"claude mcp add --scope project --transport http {to.name} {shell(to.url)}{_header(to, _ENVIRONMENT)}"


def bridge(to: Connection) -> Tree:
    """A local command that carries standard input and output to the server, for clients that take nothing else.

    The header's value comes from the environment, and no blank follows the colon: Windows would split there.
    """
    plain = [] if to.url.startswith("https:") else ["--allow-http"]
    arguments = ["-y", "mcp-remote@latest", to.url, "--transport", "http-only", *plain]
    if not to.protected:
        return _servers(to, {"command": "npx", "args": arguments})
    arguments += ["--header", f"{to.header}:${{AUTH_HEADER}}"]
    return _servers(to, {"command": "npx", "args": arguments, "env": {"AUTH_HEADER": to.credential(PLACEHOLDER)}})


def claude_api(to: Connection) -> Tree:
    """The part of a Messages request that names the server; it knows bearer tokens only."""
    token = {"authorization_token": PLACEHOLDER} if to.protected else {}
    return {
        "mcp_servers": [{"type": "url", "url": to.url, "name": to.name, **token}],
        "tools": [{"type": "mcp_toolset", "mcp_server_name": to.name}],
    }


def _cursor_entry(to: Connection) -> Tree:
    return {"url": to.url, **to.headers(_CURSOR_STYLE)}


def cursor(to: Connection) -> Tree:
    """`mcp.json` of Cursor."""
    return _servers(to, _cursor_entry(to))


def cursor_link(to: Connection) -> str:
    """A link that asks Cursor to install the server: the entry without its name, in Base64."""
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{_name_and_config(to, _cursor_entry(to))}"


def _vs_code_parts(to: Connection) -> tuple[Tree, list[Tree]]:
    """The server's entry, and the questions that VS Code asks before it starts."""
    asked = f"{to.name}-token"
    question = {"type": "promptString", "id": asked, "description": f"{to.name} access token", "password": True}
    entry = {"type": "http", "url": to.url, **to.headers(f"${{input:{asked}}}")}
    return entry, [question] if to.protected else []


def vs_code(to: Connection) -> Tree:
    """`mcp.json` of VS Code: the token is asked for and kept in its secret store."""
    entry, inputs = _vs_code_parts(to)
    return {**({"inputs": inputs} if inputs else {}), **_servers(to, entry, "servers")}


def _vs_code_install(to: Connection) -> str:
    entry, inputs = _vs_code_parts(to)
    return compact({"name": to.name, **entry, **({"inputs": inputs} if inputs else {})})


def vs_code_command(to: Connection) -> str:
    """The command that adds the server to the user's profile."""
    return f"code --add-mcp {shell(_vs_code_install(to))}"


def vs_code_link(to: Connection) -> str:
    """A link that asks VS Code to install the server."""
    return f"vscode:mcp/install?{quote(_vs_code_install(to), safe='')}"


def gemini_cli(to: Connection) -> Tree:
    """`settings.json` of Gemini CLI: `httpUrl` is Streamable HTTP, `url` would be the older transport."""
    return _servers(to, {"httpUrl": to.url, **to.headers(_GEMINI_STYLE), "timeout": 30000})


def gemini_cli_command(to: Connection) -> str:
    """The command that writes the same; the variable is looked up when Gemini CLI starts."""
    return f"gemini mcp add --scope user --transport http{_header(to, _GEMINI_STYLE)} {to.name} {shell(to.url)}"


def openai_responses(to: Connection) -> Tree:
    """One element of `tools` in a Responses request; the token is sent with each request and kept nowhere."""
    described = {"server_description": to.description} if to.description else {}
    bearer = {"authorization": PLACEHOLDER} if to.protected and to.bearer else {}
    other = {} if to.bearer else to.headers(PLACEHOLDER)
    return {
        "type": "mcp",
        "server_label": to.name,
        **described,
        "server_url": to.url,
        **bearer,
        **other,
        "require_approval": "always",
    }


def codex(to: Connection) -> Tree:
    """`config.toml` of Codex: it takes the names of variables, never a token."""
    bearer = {"bearer_token_env_var": VARIABLE} if to.protected and to.bearer else {}
    other = {"env_http_headers": {to.header: VARIABLE}} if to.protected and not to.bearer else {}
    return _servers(to, {"url": to.url, **bearer, **other}, "mcp_servers")


def codex_command(to: Connection) -> str | None:
    """The command that writes the same; it has no option for a header of another name."""
    if to.protected and not to.bearer:
        return None
    token = f" --bearer-token-env-var {VARIABLE}" if to.protected else ""
    return f"codex mcp add {to.name} --url {shell(to.url)}{token}"


def chatgpt(to: Connection) -> Tree:
    """What a person types into ChatGPT's dialogue, and whether that will do."""
    reachable = "ChatGPT calls from its own servers: the address must be https and reachable from the internet."
    if to.protected:
        reason = "It signs in by OAuth or not at all, and sends no token; this server asks for one, so it cannot call."
        return {"name": to.name, "url": to.url, "supported": False, "note": f"{reason} {reachable}"}
    asked = "Settings, Apps and Connectors, Developer mode, Create; choose no authentication."
    return {
        "name": to.name,
        "url": to.url,
        "authentication": "none",
        "supported": True,
        "note": f"{asked} {reachable}",
    }


def windsurf(to: Connection) -> Tree:
    """`mcp_config.json` of Windsurf: `serverUrl` is Streamable HTTP."""
    return _servers(to, {"serverUrl": to.url, **to.headers(_CURSOR_STYLE)})


def cline(to: Connection) -> Tree:
    """`cline_mcp_settings.json`: without `type` older versions take it for the older transport."""
    tuning = {"disabled": False, "autoApprove": [], "timeout": 60}
    return _servers(to, {"type": "streamableHttp", "url": to.url, **to.headers(PLACEHOLDER), **tuning})


def zed(to: Connection) -> Tree:
    """`settings.json` of Zed; without a header it tries OAuth where the server asks for a token."""
    return _servers(to, {"url": to.url, **to.headers(PLACEHOLDER)}, "context_servers")


def plain(to: Connection) -> Tree:
    """The form that many clients share, with a token for a person to fill in."""
    return _servers(to, {"url": to.url, **to.headers(PLACEHOLDER)})


def lm_studio_link(to: Connection) -> str:
    """A link that asks LM Studio to install the server."""
    return f"lmstudio://add_mcp?{_name_and_config(to, {'url': to.url, **to.headers(PLACEHOLDER)})}"


def goose(to: Connection) -> Tree:
    """`config.yaml` of Goose; times are in seconds."""
    entry = {
        "enabled": True,
        "type": "streamable_http",
        "name": to.name,
        "uri": to.url,
        **to.headers(PLACEHOLDER),
        "env_keys": [],
        "timeout": 300,
    }
    return _servers(to, entry, "extensions")


def goose_command(to: Connection) -> str:
    """A session with the server where no token is needed; else the dialogue, since a session takes no header."""
    return "goose configure" if to.protected else f"goose session --with-streamable-http-extension {shell(to.url)}"


def continue_(to: Connection) -> Tree:
    """One file of Continue's `mcpServers` folder; its top level `headers` would be ignored."""
    headers = to.headers(_CONTINUE_STYLE)
    options = {"requestOptions": headers} if headers else {}
    server = {"name": to.name, "type": "streamable-http", "url": to.url, **options}
    return {"name": to.name, "version": "0.0.1", "schema": "v1", "mcpServers": [server]}


def continue_command(to: Connection) -> str:
    """The command that fetches the file to where it belongs."""
    file = f".continue/mcpServers/{to.name}.yaml"
    return f"curl -fsS --create-dirs -o {file} {shell(to.manifest('continue.yaml'))}"


def kiro(to: Connection) -> Tree:
    """`mcp.json` of Kiro; it asks before it looks up a variable."""
    return _servers(to, {"url": to.url, **to.headers(_ENVIRONMENT)})


def generic(to: Connection) -> Tree:
    """The form that a client takes which says nothing else."""
    return _servers(to, {"type": "streamable-http", "url": to.url, **to.headers(PLACEHOLDER)})


def _header(to: Connection, token: str) -> str:
    """`--header` for a command line, quoted so that the client and not the shell looks the variable up."""
    return f" --header {shell(f'{to.header}: {to.credential(token)}')}" if to.protected else ""


def _name_and_config(to: Connection, entry: Tree) -> str:
    return urlencode({"name": to.name, "config": b64encode(compact(entry).encode()).decode()}, quote_via=quote, safe="")
