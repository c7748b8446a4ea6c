"""A call of a tool: its arguments read strictly but for what cannot be mistaken, and the verb called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ...core.errors import BadInput
from ...core.ids import LogId, nearest
from ...verbs.answers.answer import Here, VerbAnswer
from ...verbs.arguments import VerbArguments
from ...verbs.execution_wait import Tell
from .tool_schemas import fields_of
from .tools import Tool

SAID_CHARACTERS = 300
"""How much of what is wrong is repeated."""
_PLACE = re.compile(r"(?P<said>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_NAMES_CELLS = frozenset(("after", "cell", "cells", "of", "run"))
_WHOLE_NUMBERS = frozenset(("at", "budget", "limit", "since"))
_TAKEN_AS_THEY_ARE = frozenset(("parameters", "sources"))
_WORKS_ON = frozenset(("edit", "run", "wait", "propose"))
"""After these a logbook may be further than before."""


async def call(here: Here, tool: Tool, arguments: Mapping[str, Any] | None, tell: Tell | None = None) -> VerbAnswer:
    """Do what a tool is for; what is wrong is one of the six errors."""
    wanted = read_arguments(tool, arguments or {})
    answer = await (tool.verb(here, wanted, tell=tell) if tool.waits else tool.verb(here, wanted))
    log = answer.facts.get("notebook")
    if tool.name not in _WORKS_ON or not isinstance(log, str):
        return answer
    from ...verbs.logbook.begin_logbook import after_call

    return await after_call(here, LogId(log), answer)


def read_arguments(tool: Tool, arguments: Mapping[str, Any]) -> VerbArguments:
    """The arguments as what they should be; refused with the place, what was expected, and an example."""
    try:
        msgspec.json.encode(arguments)  # finds what no text and no log could hold
        return msgspec.convert(_meant(dict(arguments)), tool.wanted)
    except msgspec.ValidationError as error:
        raise _told(tool, str(error)) from error
    except UnicodeEncodeError as error:
        raise _told(tool, "The text holds half of a character (a lone surrogate)") from error
    except RecursionError as error:
        raise _told(tool, "The arguments are nested too deeply") from error


def _meant(value: Any, name: str = "") -> Any:
    """What models write for what they mean: null for what they do not give, a number for a cell, 5.0 for 5."""
    match value:
        case dict() if name not in _TAKEN_AS_THEY_ARE:
            given = cast("dict[str, Any]", value)
            return {key: _meant(each, key) for key, each in given.items() if each is not None}
        case list():
            return [_meant(each, name) for each in cast("list[Any]", value)]
        case int() if name in _NAMES_CELLS and not isinstance(value, bool):
            return str(value)
        case float() if value.is_integer() and name in _WHOLE_NUMBERS:
            return int(value)
        case _:
            return value


def _told(tool: Tool, message: str) -> BadInput:
    found = _PLACE.fullmatch(message)
    said, place = (found["said"], found["place"]) if found is not None else (message, None)
    where = f" at `{place}`" if place else ""
    told = f"{tool.name}: {said[:SAID_CHARACTERS]}{where}.{_hint(tool, said, place)}"
    example = msgspec.json.encode(tool.example).decode()
    return BadInput(f"{told} Nothing was done. Example: {example}", tool=tool.name, place=place or "")


def _hint(tool: Tool, said: str, place: str | None) -> str:
    fields = fields_of(tool.schema)
    if unknown := _UNKNOWN.fullmatch(said):
        close = nearest(unknown[1], fields)
        return f" Did you mean `{close[0]}`?" if close else f" Known: {', '.join(fields)}."
    last = re.split(r"[.\[]", place or "")[-1]
    choices = fields.get(last, []) if said.startswith("Invalid") else []
    return f" Known: {', '.join(map(str, choices))}." if choices else ""
