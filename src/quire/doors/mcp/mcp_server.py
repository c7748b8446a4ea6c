"""The tools and resources in the protocol's own words. Both transports use the one server that is made here."""

from __future__ import annotations

import logging
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import mcp_types as t
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ... import __version__
from ...core.errors import QuireError, Unavailable, answer
from ...core.ids import nearest
from ...verbs.answers.answer import Here, VerbAnswer
from ...verbs.answers.error_answer import told
from ...verbs.execution_wait import Tell
from . import resources
from .elicitation import ask_values
from .tool_call import call
from .tools import INSTRUCTIONS, TOOLS, Tool

Context: TypeAlias = ServerRequestContext[Any, Any]
log = logging.getLogger("quire.mcp")

STEP = 0.0001
"""How much further it is, at least, whenever there is something to say."""
AGENTS = frozenset(
    ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "visual", "vscode", "windsurf", "zed")
)
"""Words in the names of clients that hand everything to a model: "claude-code", "Visual Studio Code" …"""
_FAILED = "The server failed at this call. Its log says why; try again, or tell whoever runs it."
_FOR_AGENTS = t.Annotations(audience=["assistant"])


def make_server(here: Callable[[Context], Here]) -> Server[Any]:
    """The server. `here` tells for each request where it acts, and as whom."""

    async def list_tools(ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        return t.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call_tool(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
        acting, tool, arguments = here(ctx), _tool(params.name), params.arguments or {}
        said, is_error = await _called(acting, tool, arguments, _telling(ctx))
        if is_error and (given := await ask_values(ctx, str(arguments.get("notebook", "This")), said.facts)):
            # What was asked for is missing in parameters that could be read: they are an object, or not there.
            values = cast("dict[str, Any]", arguments.get("parameters") or {}) | given
            said, is_error = await _called(acting, tool, arguments | {"parameters": values}, _telling(ctx))
        if acting.presence is not None:
            await acting.presence.rest()
        return t.CallToolResult(content=_content(said), structured_content=_facts(ctx, said), is_error=is_error)

    async def list_resources(ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        return await _or_fault(resources.listed(here(ctx), cursor))

    async def list_templates(ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListResourceTemplatesResult:
        return t.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(ctx: Context, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
        return await _or_fault(resources.read(here(ctx), params.uri))

    return Server(
        "quire",
        version=__version__,
        title="Quire",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: TOOLS[name].schema if name in TOOLS else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


# ---- Tools


def _described(tool: Tool) -> t.Tool:
    hints = t.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=tool.destroys,
        idempotent_hint=tool.reads,
        open_world_hint=tool.opens,
    )
    return t.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)


def _tool(name: str) -> Tool:
    if (tool := TOOLS.get(name)) is not None:
        return tool
    close = nearest(name, TOOLS) or list(TOOLS)
    raise MCPError(code=t.INVALID_PARAMS, message=f"There is no tool {name[:100]!r}. Known: {', '.join(close)}.")


async def _called(here: Here, tool: Tool, arguments: dict[str, Any] | None, tell: Tell) -> tuple[VerbAnswer, bool]:
    """What a tool says, and whether that is what is wrong."""
    try:
        return await call(here, tool, arguments, tell), False
    except QuireError as error:
        return told(error), True
    except Exception:  # whatever it is, no traceback leaves
        log.exception("%s failed", tool.name)
        return told(Unavailable(_FAILED)), True


def _content(said: VerbAnswer) -> list[t.ContentBlock]:
    pictures = [
        t.ImageContent(data=b64encode(each.data).decode(), mime_type=each.media, annotations=_FOR_AGENTS)
        for each in said.pictures
    ]
    return [t.TextContent(text=said.text, annotations=_FOR_AGENTS), *pictures]


def _facts(ctx: Context, said: VerbAnswer) -> dict[str, Any] | None:
    """The facts, for programs. Many clients show their models nothing else when there are any: so the text is there, too.

    Of an image there are none, or it would never be seen; and those that are known to be agents get what is
    meant for agents.
    """
    if said.pictures or _is_agent(ctx):
        return None
    # By way of JSON, which has no NaN: what it cannot say is null.
    facts: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(said.facts, enc_hook=str))
    return facts | {"text": said.text}


def _is_agent(ctx: Context) -> bool:
    told = ctx.session.client_params
    name = told.client_info.name if told is not None else ""
    if not name and ctx.request is not None:  # older clients by HTTP say it once, and to nobody in particular
        name = ctx.request.headers.get("user-agent", "")
    return not AGENTS.isdisjoint(re.findall("[a-z]+", name.casefold()))


def _telling(ctx: Context) -> Tell:
    """Tell how far it is to who asked to be told: always further than before, as the protocol wants it."""
    last = 0.0

    async def tell(message: str, done: float | None = None) -> None:
        nonlocal last
        last = max(last + STEP, done or 0.0)
        await ctx.session.report_progress(last, 1.0, message)

    return tell


# ---- Resources


async def _or_fault(asked: Any) -> Any:
    try:
        return await asked
    except QuireError as error:
        raise MCPError(code=answer(error).mcp, message=str(error)) from error
    except Exception as error:  # as above
        log.exception("A resource could not be read")
        raise MCPError(code=t.INTERNAL_ERROR, message=_FAILED) from error
