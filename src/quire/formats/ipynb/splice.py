"""JSON text with some values changed: all else keeps its bytes.

This knows nothing of notebooks. A text is taken apart into the parts of one object or list,
with the blanks between them; parts that did not change are put back as they were, others are
written in the manner of the file: its indentation, its line ends, its escapes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

import msgspec

from ...core.sheet.equality import same
from ...core.values import Json

_Fields: TypeAlias = dict[str, Json]

_OPENING = re.compile(r"[ \t\n\r]*[{\[][ \t\n\r]*")
_HEAD = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")[ \t\n\r]*:[ \t\n\r]*')
_NEXT = re.compile(r"[ \t\n\r]*([,}\]])[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
# An escape of a character that need not be escaped: \u00e9, and not \u001b; nor the \u of C:\\users.
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9A-Fa-f]{4}")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()
_SCANNER = json.JSONDecoder()


class Style(NamedTuple):
    """How a file is written."""

    unit: str | None = " "
    """The blanks of one level of indentation; None when all stands on one line."""
    newline: str = "\n"
    colon: str = ": "
    comma: str = ", "
    """Between the parts of what stands on one line."""
    ascii: bool = False
    """Whether other characters are written as escapes."""


class JsonPart(NamedTuple):
    """One member of an object, or one item of a list."""

    before: str
    """The comma and the blanks that part it from the one before."""
    head: str
    """The key, the colon and the blanks around it."""
    key: str
    body: str
    """The value."""


class Parts(NamedTuple):
    """An object or a list, taken apart."""

    opening: str
    parts: Sequence[JsonPart]
    closing: str


def common(old: Sequence[Json], new: Sequence[Json]) -> tuple[int, int]:
    """How many items both begin with, and how many more both end with."""
    most = min(len(old), len(new))
    start = next((at for at in range(most) if not same(old[at], new[at])), most)
    end = next((at for at in range(most - start) if not same(old[-1 - at], new[-1 - at])), most - start)
    return start, end


def loads(text: str) -> Json:
    """Read JSON. What Jupyter's files contain and JSON does not allow is read too: NaN, half a surrogate pair."""
    try:
        return _ANY.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return json.loads(text)


class _Misfit(Exception):
    """The quick way to the parts found something it does not understand."""


def parts_of(text: str) -> Parts:
    """Take apart the object or the list that `text` is, and that is known to be well formed."""
    try:
        return _parts(text, _bodies(text))
    except (_Misfit, msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        # Keys that stand twice, and what only Python's own reader takes: NaN, halves of surrogate pairs.
        return _parts(text, None)


def _bodies(text: str) -> Mapping[str | int, str]:
    """The text of each value, by key or by number."""
    is_object = text.lstrip().startswith("{")
    found = _OBJECT.decode(text).items() if is_object else enumerate(_LIST.decode(text))
    return {key: bytes(raw).decode() for key, raw in found}


def _parts(text: str, bodies: Mapping[str | int, str] | None) -> Parts:
    opening = _found(_OPENING, text, 0)
    is_object, at = "{" in opening[0], opening.end()
    if text[at] in "}]":
        return Parts(opening[0], (), text[at:])
    parts: list[JsonPart] = []
    before = ""
    while True:
        key, value = _key(text, at) if is_object else ("", at)
        end = _end(text, value, None if bodies is None else bodies[key if is_object else len(parts)])
        parts.append(JsonPart(before, text[at:value], key, text[value:end]))
        following = _found(_NEXT, text, end)
        if following[1] != ",":
            return Parts(opening[0], parts, text[end:])
        before, at = following[0], following.end()


def _key(text: str, at: int) -> tuple[str, int]:
    """The key that begins here, and where its value does."""
    head = _found(_HEAD, text, at)
    return loads(head[1]) if "\\" in head[1] else head[1][1:-1], head.end()


def _end(text: str, start: int, body: str | None) -> int:
    """Where the value ends that begins at `start`."""
    if body is None:
        return _SCANNER.raw_decode(text, start)[1]
    # Of two members with one key only the last is known: the text at hand may be another. A number
    # may also begin another: then what follows is no comma.
    if not text.startswith(body, start):
        raise _Misfit
    return start + len(body)


def _found(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    if match is None:
        raise _Misfit
    return match


def joined(parts: Parts, chosen: Iterable[tuple[JsonPart | None, str]], style: Style) -> str:
    """Put together what is chosen: the parts of old with their new text, and new ones without a part."""
    blank = _inner_blank(parts.opening)
    default = "," + blank if "\n" in blank else style.comma
    if len(parts.parts) > 1:
        default = parts.parts[1].before
    pieces: list[str] = []
    for part, text in chosen:
        if pieces:
            pieces.append(part.before if part is not None and part.before else default)
        pieces.append(text)
    if not pieces:
        return parts.opening.rstrip() + parts.closing.lstrip()
    return "".join((parts.opening, *pieces, parts.closing))


def _inner_blank(opening: str) -> str:
    return opening[len(opening.rstrip()) :]


def opened(parts: Parts, indent: str | None, style: Style) -> tuple[Parts, str | None]:
    """The parts with room for more, and the indentation of what stands in them; None: all on one line."""
    if parts.parts:
        blank = _inner_blank(parts.opening)
        return parts, blank.rpartition("\n")[2] if "\n" in blank else None
    if indent is None or style.unit is None:
        return parts, None
    inner = indent + style.unit
    opening = parts.opening.rstrip() + style.newline + inner
    return Parts(opening, (), style.newline + indent + parts.closing.lstrip()), inner


def style_of(text: str, parts: Parts) -> Style:
    """How the object that `text` is, and that was taken apart, is written."""
    escaped = text.isascii() and "\\u" in text and _ESCAPED.search(text) is not None
    if not parts.parts:
        return Style(ascii=escaped)
    blank = _inner_blank(parts.opening)
    unit = blank.rpartition("\n")[2] if "\n" in blank else None
    before = parts.parts[1].before if len(parts.parts) > 1 else ", "
    return Style(
        unit=unit,
        newline="\r\n" if "\r\n" in blank else "\n",
        colon=parts.parts[0].head.rpartition('"')[2],
        comma=", " if "\n" in before else before,
        ascii=escaped,
    )


def dumps(value: Json, style: Style, indent: str | None = "") -> str:
    """Write a value; `indent` is what its line begins with, None means on one line."""
    if indent is None or style.unit is None:
        separators = (style.comma, style.colon)
        return _escaped(json.dumps(value, ensure_ascii=style.ascii, sort_keys=True, separators=separators))
    return _indented(value, style).replace("\n", style.newline + indent)


def _indented(value: Json, style: Style) -> str:
    unit = style.unit or ""
    if unit and not unit.strip(" ") and style.colon == ": ":
        # Several times faster than Python's own indentation, and the same.
        compact = json.dumps(value, ensure_ascii=style.ascii, sort_keys=True, separators=(",", ":"))
        try:
            return msgspec.json.format(_escaped(compact), indent=len(unit))
        except msgspec.DecodeError:
            pass  # NaN and the infinities
    separators = (",", style.colon)
    return _escaped(json.dumps(value, ensure_ascii=style.ascii, sort_keys=True, indent=unit, separators=separators))


def _escaped(text: str) -> str:
    """Halves of surrogate pairs cannot stand in a file as they are."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text


def respelled(text: str, old: Json, new: Json, style: Style, indent: str | None) -> str:
    """Return `text`, which says `old`, so that it says `new`, which is another value."""
    if new and isinstance(old, dict) and isinstance(new, dict):
        return _respelled_members(text, cast("_Fields", old), cast("_Fields", new), style, indent)
    if new and isinstance(old, list) and isinstance(new, list):
        return _respelled_items(text, cast("list[Json]", old), cast("list[Json]", new), style, indent)
    return dumps(new, style, indent)


def _respelled_members(text: str, old: _Fields, new: _Fields, style: Style, indent: str | None) -> str:
    parts, inner = opened(parts_of(text), indent, style)
    return with_members(parts, changed_members(parts, old, new, style, inner), style)


def changed_members(parts: Parts, old: _Fields, new: _Fields, style: Style, inner: str | None) -> dict[str, str | None]:
    """The members of an object that are not as they were, as text; None for those that go."""
    # The last of several members with one key is the one that counts.
    last = {part.key: part for part in parts.parts}
    bodies: dict[str, str | None] = {key: None for key in old if key not in new}
    for key, value in new.items():
        if key in old and not same(old[key], value):
            bodies[key] = respelled(last[key].body, old[key], value, style, inner)
        elif key not in old:
            bodies[key] = dumps(value, style, inner)
    return bodies


def with_members(parts: Parts, bodies: Mapping[str, str | None], style: Style) -> str:
    """Return an object with the values in `bodies` in place of its own; None: the member goes."""
    last = {part.key: part for part in parts.parts}
    chosen: list[tuple[JsonPart | None, str]] = []
    for part in parts.parts:
        body = bodies.get(part.key, part.body)
        if body is not None:
            chosen.append((part, part.head + (body if part is last[part.key] else part.body)))
    keys = [part.key for part in parts.parts if bodies.get(part.key, "") is not None]
    is_sorted = keys == sorted(keys)
    for key in sorted(bodies.keys() - last.keys()):
        # Where the file sorts its keys, a new one goes to its place.
        at = bisect(keys, key) if is_sorted else len(keys)
        keys.insert(at, key)
        chosen.insert(at, (None, f"{dumps(key, style, None)}{style.colon}{bodies[key]}"))
    return joined(parts, chosen, style)


def _respelled_items(text: str, old: list[Json], new: list[Json], style: Style, indent: str | None) -> str:
    parts, inner = opened(parts_of(text), indent, style)
    start, end = common(old, new)
    spelled = {value: part for value, part in zip(old, parts.parts, strict=True) if isinstance(value, str)}
    chosen: list[tuple[JsonPart | None, str]] = [(part, part.body) for part in parts.parts[:start]]
    for at in range(start, len(new) - end):
        part = spelled.get(new[at]) if isinstance(new[at], str) else None
        if part is not None:
            chosen.append((part, part.body))
        elif at < len(old) - end:
            part = parts.parts[at]
            chosen.append((part, respelled(part.body, old[at], new[at], style, inner)))
        else:
            chosen.append((None, dumps(new[at], style, inner)))
    chosen += [(part, part.body) for part in parts.parts[len(old) - end :]]
    return joined(parts, chosen, style)
