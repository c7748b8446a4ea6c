"""The coding agents that Quire knows, and where each keeps its settings and skills, as their documentation says.

A new one is a line in AGENTS, with a test that its file is what its documentation shows.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ...core.errors import BadInput
from ...core.ids import nearest
from ...core.values import Json

Scope = Literal["project", "user"]
Shape = Literal["plain", "stdio", "opencode", "toml"]
"""How an entry is written: command and args; with `"type": "stdio"`; all in one list; as a table of TOML."""
AddressKey = Literal["url", "httpUrl", "serverUrl"]
"""Under which name an entry has the address of a server that is reached over HTTP."""
SERVER = "quire"


class AgentLocation(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent looks, in one scope: for its servers, and for its skills."""

    settings: str
    skills: str
    folder: str | None = None
    """What the agent puts in for the project's folder, where it starts servers somewhere else."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """A coding agent."""

    name: str
    title: str
    key: str
    """Under which its servers stand."""
    shape: Shape = "plain"
    project: AgentLocation | None = None
    user: AgentLocation
    address_key: AddressKey = "url"
    command: str = ""
    """The command of the agent that adds a server over HTTP, with `{address}` and `{token}`."""
    note: str = ""
    """What a person has to do besides."""
    http_note: str | None = None
    """The same for a server over HTTP, in the settings of a user; None: as for one of a project."""


_WORKSPACE = "${workspaceFolder}"

AGENTS: tuple[Agent, ...] = (
    Agent(
        name="claude-code",
        title="Claude Code",
        key="mcpServers",
        shape="stdio",
        project=AgentLocation(settings=".mcp.json", skills=".claude/skills"),
        user=AgentLocation(settings="~/.claude.json", skills="~/.claude/skills"),
        command='claude mcp add --transport http quire {address} --header "Authorization: Bearer {token}"',
        note="Claude Code asks once whether it may use the servers of a project; `/mcp` shows them.",
        http_note="`/mcp` in Claude Code shows whether it is connected.",
    ),
    Agent(
        name="codex",
        title="Codex",
        key="mcp_servers",
        shape="toml",
        project=AgentLocation(settings=".codex/config.toml", skills=".agents/skills"),
        user=AgentLocation(settings="$CODEX_HOME/config.toml", skills="~/.agents/skills"),
        note="Codex reads a project's settings only where the project is trusted; `/mcp` shows the servers.",
        http_note="`/mcp` in Codex shows whether it is connected.",
    ),
    Agent(
        name="cursor",
        title="Cursor",
        key="mcpServers",
        project=AgentLocation(settings=".cursor/mcp.json", skills=".cursor/skills", folder=_WORKSPACE),
        user=AgentLocation(settings="~/.cursor/mcp.json", skills="~/.cursor/skills", folder=_WORKSPACE),
        note="Turn the server on in Cursor's list of MCP servers.",
    ),
    Agent(
        name="vscode",
        title="VS Code",
        key="servers",
        shape="stdio",
        project=AgentLocation(settings=".vscode/mcp.json", skills=".github/skills", folder=_WORKSPACE),
        user=AgentLocation(settings="$VSCODE/mcp.json", skills="~/.copilot/skills", folder=_WORKSPACE),
        note="VS Code asks once whether you trust the server; `MCP: List Servers` shows it.",
    ),
    Agent(
        name="gemini-cli",
        title="Gemini CLI",
        key="mcpServers",
        project=AgentLocation(settings=".gemini/settings.json", skills=".gemini/skills"),
        user=AgentLocation(settings="~/.gemini/settings.json", skills="~/.gemini/skills"),
        address_key="httpUrl",
        command='gemini mcp add --transport http quire {address} --header "Authorization: Bearer {token}"',
    ),
    Agent(
        name="opencode",
        title="opencode",
        key="mcp",
        shape="opencode",
        project=AgentLocation(settings="opencode.json", skills=".opencode/skills"),
        user=AgentLocation(settings="$CONFIG/opencode/opencode.json", skills="$CONFIG/opencode/skills"),
    ),
    Agent(
        name="windsurf",
        title="Windsurf",
        key="mcpServers",
        user=AgentLocation(settings="~/.codeium/windsurf/mcp_config.json", skills="~/.codeium/windsurf/skills"),
        address_key="serverUrl",
        note="Windsurf starts servers in no particular folder: name yours with --at, and press refresh in its list.",
        http_note="Press refresh in Windsurf's list of MCP servers.",
    ),
    Agent(
        name="zed",
        title="Zed",
        key="context_servers",
        project=AgentLocation(settings=".zed/settings.json", skills=".agents/skills"),
        user=AgentLocation(settings="$CONFIG/zed/settings.json", skills="~/.agents/skills"),
    ),
)


def find_agent(name: str) -> Agent:
    """The agent of that name."""
    known = {agent.name: agent for agent in AGENTS}
    if name not in known:
        close = nearest(name, known)
        hint = f" Did you mean {', '.join(close)}?" if close else f" Known: {', '.join(known)}."
        other = "Any other that speaks MCP starts `quire mcp` by itself: docs/how-to/agents.md."
        raise BadInput(f"{name!r} is no agent that Quire knows.{hint} {other}")
    return known[name]


def place_of(agent: Agent, scope: Scope) -> AgentLocation:
    """Where it looks in that scope."""
    place = agent.project if scope == "project" else agent.user
    if place is None:
        raise BadInput(f"{agent.title} has settings for a user, and none for a project. Use --user.")
    return place


def settings_path(written: str, folder: Path, environ: Mapping[str, str]) -> Path:
    """Return where the settings of a coding agent are, for a place in the table: in the project's folder, or the user's."""
    home = Path(environ.get("HOME") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    roots = {
        "~": home,
        "$CONFIG": config,
        "$CODEX_HOME": Path(environ.get("CODEX_HOME") or home / ".codex"),
        "$VSCODE": (home / "Library/Application Support" if sys.platform == "darwin" else config) / "Code/User",
    }
    first, _, rest = written.partition("/")
    return roots[first] / rest if first in roots else folder / written


def entry_of(agent: Agent, command: str, arguments: list[str]) -> dict[str, Json]:
    """What the agent reads about the server."""
    listed: list[Json] = list(arguments)
    match agent.shape:
        case "opencode":
            return {"type": "local", "command": [command, *listed], "enabled": True}
        case "stdio":
            return {"type": "stdio", "command": command, "args": listed}
        case _:
            return {"command": command, "args": listed}
