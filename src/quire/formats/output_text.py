"""Outputs as lines of text: what they say, and of pictures and pages what and how large they are."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, cast

from ..core.sheet.equality import as_text
from ..core.values import Json
from .terminal_safe import plain

MOST_LINES = 2000
"""Longer outputs are cut; a line with a hash says whether what was cut is the same."""
_TEXT = ("text/plain", "text/markdown", "text/latex")


def output_lines(outputs: list[Json]) -> list[str]:
    """Return what a cell showed as lines that are safe on a terminal."""
    return [line for output in outputs for line in _cut(list(_lines(output)))]


def _lines(output: Json) -> Iterator[str]:
    if not isinstance(output, dict):
        yield as_text(output)
        return
    fields = cast("dict[str, Any]", output)
    match fields.get("output_type"):
        case "stream":
            mark = "" if fields.get("name") == "stdout" else f"[{plain(str(fields.get('name')))}] "
            yield from (mark + line for line in _text_lines(fields.get("text", "")))
        case "error":
            yield from _text_lines(f"{fields.get('ename', '')}: {fields.get('evalue', '')}")
            yield from _traceback(fields.get("traceback"))
        case _:
            yield from _bundle(fields.get("data"))


def _traceback(traceback: Json) -> Iterator[str]:
    if isinstance(traceback, list):
        yield from _text_lines("\n".join(map(str, cast("list[Any]", traceback))))


def _bundle(data: Json) -> Iterator[str]:
    """The plain text, and a line for each other media type."""
    if not isinstance(data, dict):
        return
    bundle = cast("dict[str, Any]", data)
    shown = next((media for media in _TEXT if media in bundle), None)
    if shown is not None:
        yield from _text_lines(bundle[shown])
    for media, value in bundle.items():
        if media != shown:
            text = value if isinstance(value, str) else as_text(value)
            yield f"[{plain(media)}, {size_of(media, text)}, {_digest(text)}]"


def size_of(media: str, text: str) -> str:
    """How large it is, for people; a picture's bytes, not their base64."""
    binary = media.startswith("image/") and media != "image/svg+xml"
    size = len(text.replace("\n", "").rstrip("=")) * 3 // 4 if binary else len(text)
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1000:,.0f} kB"


def _text_lines(text: Json) -> list[str]:
    lines = plain(text if isinstance(text, str) else as_text(text)).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return lines
    rest = lines[MOST_LINES:]
    return [*lines[:MOST_LINES], f"[{len(rest):,} more lines, {_digest(chr(10).join(rest))}]"]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
