"""An error as an answer that can be acted on: what is wrong, and what the repair needs, so that nothing is read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from ...core.errors import QuireError
from ...core.values import Json
from ...core.visible import visible
from ...formats.terminal_safe import plain
from .answer import VerbAnswer

MOST_SOURCE = 12_000
MOST_DIFFERENCE = 6000
"""Characters that are shown; the facts have all of it."""
SHORT = 12


def told(error: QuireError) -> VerbAnswer:
    """Say what is wrong, with the source as it is and what changed in it, where the error knows them."""
    facts: dict[str, Json] = {"error": type(error).__name__, "message": str(error), **_json(error.details)}
    return VerbAnswer(text="\n".join((plain(str(error)), *_lines(facts))), facts=facts)


def shown(error: QuireError) -> str:
    """The same without the message: what to look at, if anything."""
    return "\n".join(_lines(_json(error.details)))


def _json(details: Mapping[str, Any]) -> dict[str, Json]:
    return cast("dict[str, Json]", msgspec.to_builtins(dict(details), enc_hook=str, str_keys=True))


def _lines(facts: dict[str, Json]) -> Iterator[str]:
    cells: set[str] = set()
    for details in (facts, *_several(facts)):
        if (cell := str(details.get("cell"))) not in cells:
            cells.add(cell)
            yield from _shown(details)


def _several(facts: dict[str, Json]) -> list[dict[str, Json]]:
    found = facts.get("faults")
    return cast("list[dict[str, Json]]", found) if isinstance(found, list) else []


def _shown(details: Mapping[str, Json]) -> Iterator[str]:
    difference, source = details.get("difference"), details.get("source")
    if isinstance(difference, str):
        yield "what changed since you read it:"
        yield _cut(difference, MOST_DIFFERENCE)
    if isinstance(source, str):
        hash = str(details.get("source_hash", ""))[:SHORT]
        yield f"source of {details.get('cell', 'the cell')}{f' now, base {hash}' if hash else ''}:"
        yield _cut(source, MOST_SOURCE)


def _cut(text: str, most: int) -> str:
    """The text, indented so that nothing in it passes for ours; past `most` its beginning and its end."""
    if len(text) > most:
        left_out = len(text) - most
        text = f"{text[: most // 2]}\n[… {left_out:,} characters left out …]\n{text[len(text) - most // 2 :]}"
    return "\n".join(f"  {line}" for line in visible(text).split("\n"))
