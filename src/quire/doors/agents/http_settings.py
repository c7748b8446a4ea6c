"""What a coding agent's settings say about a server that it reaches over HTTP with a token.

The same agents, files and names as in `known_agents`. The token is not known here: `PLACEHOLDER` stands for it, and whoever
has the secret puts it in.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from ...core.errors import BadInput
from ...core.values import Json
from ...formats.settings_edit import json_edit, toml_edit
from .known_agents import AGENTS, SERVER, Agent

PLACEHOLDER = "quire-token-goes-here"
"""What stands where the token belongs."""
MCP_PATH = "/mcp"


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What to paste so that one coding agent finds the tools of this server."""

    name: str
    title: str
    file: str
    """Its settings of the user, which the text belongs into."""
    text: str
    """The settings, as they are in a file that holds nothing else; `placeholder` stands for the token."""
    command: str | None
    """The command of the agent that does the same; null where it has none."""
    note: str
    placeholder: str = PLACEHOLDER


def http_settings(origin: str) -> list[AgentSettings]:
    """Return what to paste for each agent so that it finds the server at `origin` (https://quire.example.org)."""
    address = f"{_checked(origin)}{MCP_PATH}"
    return [_settings_of(agent, address) for agent in AGENTS]


def _checked(origin: str) -> str:
    try:
        parts = urlsplit(origin)
        is_origin = parts.scheme in ("http", "https") and parts.hostname is not None and parts.port != 0
    except ValueError:
        is_origin, parts = False, None
    if not is_origin or parts is None or origin.rstrip("/") != f"{parts.scheme}://{parts.netloc}" or parts.username:
        raise BadInput(
            f"{origin[:100]!r} is not the address of a server. Give scheme, name and port: https://host:8765"
        )
    return origin.rstrip("/")


def _settings_of(agent: Agent, address: str) -> AgentSettings:
    command = agent.command.format(address=address, token=PLACEHOLDER) if agent.command else None
    return AgentSettings(
        name=agent.name,
        title=agent.title,
        file=_file_of(agent),
        text=_text(agent, address),
        command=command,
        note=agent.note if agent.http_note is None else agent.http_note,
    )


def _file_of(agent: Agent) -> str:
    """The file's name as a person knows it: where the variable is not set, and on Linux."""
    roots = {"$CONFIG": "~/.config", "$CODEX_HOME": "~/.codex", "$VSCODE": "~/.config/Code/User"}
    first, _, rest = agent.user.settings.partition("/")
    return f"{roots.get(first, first)}/{rest}"


def _text(agent: Agent, address: str) -> str:
    headers: dict[str, Json] = {"Authorization": f"Bearer {PLACEHOLDER}"}
    if agent.shape == "toml":
        table = toml_edit.with_table("", (agent.key, SERVER), {"url": address})
        return toml_edit.with_table(table, (agent.key, SERVER, "http_headers"), headers)
    entry: dict[str, Json] = {agent.address_key: address, "headers": headers}
    if agent.shape == "stdio":
        entry = {"type": "http", **entry}
    elif agent.shape == "opencode":
        entry = {"type": "remote", **entry, "enabled": True}
    return json_edit.with_entry("", (agent.key, SERVER), entry)
