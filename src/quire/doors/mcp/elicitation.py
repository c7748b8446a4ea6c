"""Asking the person before an agent's client for values that a logbook needs and nobody gave: MCP's elicitation.

Only where the client says that it can show a form, and the connection lets the server ask: the protocol of 2026-07 does not.
What is not answered stays missing, and is refused by name: then the agent asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}


async def ask_values(ctx: ServerRequestContext[Any, Any], name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a person gave for what was missing in a call; none where nobody can be asked, or answers."""
    asks = _asks(facts)
    capabilities = ctx.session.client_capabilities
    if not asks or capabilities is None or capabilities.elicitation is None or not ctx.session.can_send_request:
        return {}
    schema = {
        "type": "object",
        "properties": {each: _field(told) for each, told in asks.items()},
        "required": list(asks),
    }
    try:
        found = await ctx.session.elicit_form(f"{name} needs these values.", schema, ctx.request_id)
    except MCPError:
        return {}  # it cannot after all
    return dict(found.content or {}) if found.action == "accept" else {}


def _asks(facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: Any = facts.get("asks")
    return cast("dict[str, dict[str, Any]]", found) if isinstance(found, dict) else {}


def _field(told: Mapping[str, Any]) -> dict[str, Any]:
    field: dict[str, Any] = {"type": _TYPES.get(str(told.get("type")), "string")}
    return field | ({"description": told["help"]} if told.get("help") else {})
