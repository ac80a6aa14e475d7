"""The clients that configurations are written for, one row each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rpcgw.api.records import record
from rpcgw.protocol.mcp.clients import entries
from rpcgw.protocol.mcp.clients.connection import VARIABLE, Connection
from rpcgw.protocol.mcp.clients.notation import TEXT, Format

_SET: Final = f"Set {VARIABLE} in the client's environment where the server needs a token."
_REPLACE: Final = "Where the server needs a token, put it in the place of <token>; the file then holds a secret."


def _nothing(_: Connection) -> str | None:
    return None


@record(frozen=True, slots=True)
class Client:
    """One client: what its file is called and made of.

    `files` are the places where it looks, the usual one first; `{name}` is the server's. `command` and `link` install
    the server without an editor; they are None where the client has no such thing, or not for that connection.
    """

    name: str
    title: str
    files: tuple[str, ...]
    tree: Callable[[Connection], dict[str, Any]]
    format: Format = "json"
    aliases: tuple[str, ...] = ()
    command: Callable[[Connection], str | None] = _nothing
    link: Callable[[Connection], str | None] = _nothing
    notes: tuple[str, ...] = ()

    def places(self, to: Connection) -> tuple[str, ...]:
        """Its files, for one server."""
        return tuple(file.replace("{name}", to.name) for file in self.files)

    def text(self, to: Connection) -> str:
        """The client's own file, as it is pasted."""
        return TEXT[self.format](self.tree(to))


CLIENTS: Final[tuple[Client, ...]] = (
    Client(
        "claude-code",
        "Claude Code",
        (".mcp.json",),
        entries.claude_code,
        aliases=("claude", "claudecode"),
        command=entries.claude_code_command,
        notes=(_SET,),
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        (
            "~/Library/Application Support/Claude/claude_desktop_config.json",
            "%APPDATA%\\Claude\\claude_desktop_config.json",
            "~/.config/Claude/claude_desktop_config.json",
        ),
        entries.bridge,
        aliases=("claudedesktop", "claude-app"),
        notes=("The file takes local commands only: the mcp-remote bridge runs under Node.js.", _REPLACE),
    ),
    Client(
        "claude-api",
        "Claude API (Messages)",
        ("the body of POST /v1/messages",),
        entries.claude_api,
        aliases=("anthropic", "anthropic-api"),
        notes=(
            "Send the header anthropic-beta: mcp-client-2025-11-20.",
            "The address must be https and reachable from the internet.",
            "Where the server needs a token, put it in the place of <token>.",
        ),
    ),
    Client(
        "cursor",
        "Cursor",
        (".cursor/mcp.json", "~/.cursor/mcp.json"),
        entries.cursor,
        link=entries.cursor_link,
        notes=(_SET,),
    ),
    Client(
        "vs-code",
        "VS Code (GitHub Copilot)",
        (".vscode/mcp.json",),
        entries.vs_code,
        aliases=("vscode", "copilot", "github-copilot", "visual-studio-code"),
        command=entries.vs_code_command,
        link=entries.vs_code_link,
        notes=("VS Code asks for the token where the server needs one.",),
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        ("~/.gemini/settings.json", ".gemini/settings.json"),
        entries.gemini_cli,
        aliases=("gemini",),
        command=entries.gemini_cli_command,
        notes=(_SET,),
    ),
    Client(
        "openai-responses",
        "OpenAI Responses API",
        ("an element of tools in POST /v1/responses",),
        entries.openai_responses,
        aliases=("openai", "openai-api", "responses"),
        notes=(
            "The address must be https and reachable from the internet.",
            "Where the server needs a token, put it in the place of <token>, with every request.",
        ),
    ),
    Client(
        "codex",
        "Codex",
        ("~/.codex/config.toml", ".codex/config.toml"),
        entries.codex,
        format="toml",
        aliases=("codex-cli", "openai-codex"),
        command=entries.codex_command,
        notes=(_SET,),
    ),
    Client(
        "chatgpt",
        "ChatGPT",
        ("Settings, Apps and Connectors",),
        entries.chatgpt,
        aliases=("chat-gpt",),
        notes=("There is no file: the values are typed into a dialogue.",),
    ),
    Client(
        "windsurf",
        "Windsurf",
        ("~/.codeium/windsurf/mcp_config.json",),
        entries.windsurf,
        aliases=("codeium",),
        notes=(_SET,),
    ),
    Client(
        "cline",
        "Cline",
        ("cline_mcp_settings.json", "~/.cline/data/settings/cline_mcp_settings.json"),
        entries.cline,
        notes=(_REPLACE,),
    ),
    Client("zed", "Zed", ("~/.config/zed/settings.json", ".zed/settings.json"), entries.zed, notes=(_REPLACE,)),
    Client(
        "lm-studio",
        "LM Studio",
        ("~/.lmstudio/mcp.json",),
        entries.plain,
        aliases=("lmstudio",),
        link=entries.lm_studio_link,
        notes=(_REPLACE,),
    ),
    Client(
        "goose",
        "Goose",
        ("~/.config/goose/config.yaml", "%APPDATA%\\Block\\goose\\config\\config.yaml"),
        entries.goose,
        format="yaml",
        aliases=("block-goose",),
        command=entries.goose_command,
        notes=(_REPLACE,),
    ),
    Client(
        "continue",
        "Continue",
        (".continue/mcpServers/{name}.yaml",),
        entries.continue_,
        format="yaml",
        aliases=("continue-dev",),
        command=entries.continue_command,
        notes=(f"Where the server needs a token, keep it as the secret {VARIABLE}.",),
    ),
    Client(
        "jetbrains",
        "JetBrains AI Assistant",
        ("Settings, Tools, AI Assistant, Model Context Protocol (MCP)",),
        entries.plain,
        aliases=("jetbrains-ai", "ai-assistant", "intellij"),
        notes=(_REPLACE, "Junie takes local commands only: use the form for Claude Desktop in .junie/mcp/mcp.json."),
    ),
    Client(
        "kiro",
        "Kiro",
        (".kiro/settings/mcp.json", "~/.kiro/settings/mcp.json"),
        entries.kiro,
        aliases=("amazon-q", "amazonq"),
        notes=(_SET, f"Kiro looks up only variables that were approved: approve {VARIABLE} when it asks."),
    ),
    Client("warp", "Warp", ("~/.warp/.mcp.json", ".warp/.mcp.json"), entries.plain, notes=(_REPLACE,)),
    Client(
        "generic",
        "Any other client",
        ("mcp.json",),
        entries.generic,
        aliases=("default", "other", "mcp"),
        notes=(_REPLACE,),
    ),
)

BY_NAME: Final[Mapping[str, Client]] = {name: client for client in CLIENTS for name in (client.name, *client.aliases)}
"""Every client by its name and by each of its aliases."""


def normal(name: str) -> str:
    """A client's name as it is looked up: case does not matter, nor does what stands between its words."""
    return name.lower().replace("_", "-").replace(" ", "-")


def find(name: str) -> Client | None:
    """The client of a name or an alias."""
    return BY_NAME.get(normal(name))
