"""What a cell showed, as an agent reads it: text with its middle left out, frames, values, and a line for what is no text.

A live kernel of ours sends a data frame's shape, columns and first rows beside its table (`FRAME`, made in kernel.py). Of
tables that were made elsewhere they are read from the HTML that pandas and polars write.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from ...core.events import Display, Output, Raised, Stream
from ...core.sheet.equality import as_text
from ...core.sheet.sheet import is_json, is_text
from ...core.values import Json
from ...kernel import OURS, RECORD, SCRAP, carries, found_in
from ..html.escape import size
from ..terminal_safe import one_line, plain
from ..value_text import value_text
from .excerpt import Passage, cost, cut, fit, lines_cost
from .html_to_text import html_text, tables
from .image_size import dimensions

MARK = "> "
_TEXT = ("text/plain", "text/markdown", "text/latex")
_REPR = re.compile(r"\s*<[^<>\n]{1,200}>\s*")
_SVG = "image/svg+xml"
# Drawings in JSON: nothing that a reader of text could use.
_DRAWN = re.compile(r"application/vnd\.(?:plotly|vega|vegalite|bokeh|holoviews|jupyter\.widget)")
_DEEPEST = 6
_LONGEST = 60
_MOST_MEDIA = 5


def estimate(output: Output) -> int:
    """What an output would cost, roughly, without a look at it."""
    match output:
        case Stream():
            return output.length
        case Raised():
            return sum(map(len, output.traceback))
        case Display():
            return 200 + sum(len(value) if isinstance(value, str) else 400 for value in output.data.values())


def shown(output: Output, handle: str, most: int) -> list[str]:
    """The lines of an output, for no more than this; none where not even a line that names it can be paid for."""
    match output:
        case Stream():
            lines = _stream(output, handle, most)
            name = f"{output.name} {size(output.length)}"
        case Raised():
            said = f"{one_line(output.ename)}: {one_line(output.evalue, 200)}"
            lines = _fitting(
                [MARK + said, f"{MARK}[traceback: {how(handle)}]"], f"{MARK}[traceback: {how(handle)}]", most
            )
            name = one_line(output.ename)
        case Display():
            lines = _display(output, handle, most)
            name = ", ".join(one_line(media, 40) for media in dict.fromkeys((*output.data, *output.blobs)))[:80]
    if lines and lines_cost(lines) <= most:
        return lines
    line = f"{MARK}[{name}: {how(handle)}]"
    return [line] if cost(line) + 1 <= most and (lines or estimate(output)) else []


def how(handle: str) -> str:
    """The call that gets what is left out."""
    return f'output(of="{handle}")'


def _stream(stream: Stream, handle: str, most: int) -> list[str]:
    mark = MARK if stream.name == "stdout" else f"{MARK}[stderr] "
    lines = fit(Passage(head=stream.head, omitted=stream.omitted, tail=stream.tail), most, MARK, how(handle))
    if stream.name == "stderr" and lines and lines_cost(lines) + len(mark) <= most:
        return [mark + lines[0].removeprefix(MARK), *lines[1:]]
    return lines


# ---- One thing in several media types


def _display(display: Display, handle: str, most: int) -> list[str]:
    """The results that a display carries, and what else it shows."""
    recorded = _results(display, handle, most) if carries(display.data, display.metadata) else []
    beside = _without_results(display) if recorded else display
    if not beside.data and not beside.blobs:
        return recorded
    return [*recorded, *_shown_once(beside, handle, most - lines_cost(recorded))]


def _without_results(display: Display) -> Display:
    data = {media: value for media, value in display.data.items() if not _is_result(media)}
    blobs = {media: ref for media, ref in display.blobs.items() if not _is_result(media)}
    return Display(data=data, blobs=blobs)


def _is_result(media: str) -> bool:
    return media in (OURS, RECORD) or media.startswith(SCRAP)


def _shown_once(display: Display, handle: str, most: int) -> list[str]:
    """One thing, by the medium that says most to a reader of text; the others are named."""
    frame = frame_in(display.data)
    if frame is not None:
        # The rows that are missing are in the kernel; what the library showed is here.
        rest = f"{MARK}[as it was shown: {how(handle)}]"
        return [*_fitting([f"{MARK}{line}" for line in frame.lines()], "", most - cost(rest) - 1), rest]
    media = _main(display)
    others = [each for each in dict.fromkeys((*display.data, *display.blobs)) if each not in (media, FRAME)]
    if media != "text/plain":
        others = [each for each in others if each != "text/plain" or not _says_nothing(display)]
    named = [f"{MARK}{line}" for line in _named(display, others, handle, alone=media is None)]
    left = most - lines_cost(named)
    return [*(_medium(display, media, handle, left) if media is not None else []), *named]


def _results(display: Display, handle: str, most: int) -> list[str]:
    """A line for each named value that a display carries."""
    lines: list[str] = []
    is_cut = False
    for each in found_in(display.data, display.metadata):
        if each.is_shown:
            continue
        told = (
            f"[{one_line(each.media or each.kind)}, {size(len(each.data) * 3 // 4)}: {how(handle)}]"
            if each.data
            else ""
        )
        value = _shallow(each.value, _DEEPEST, [most])
        is_cut = is_cut or value != each.value
        lines.append(f"{MARK}{one_line(each.name)} = {told or plain(value_text(value))}")
    rest = f"{MARK}[in full: {how(handle)}]"
    return [*_fitting(lines, "", most - cost(rest) - 1), rest] if is_cut else _fitting(lines, rest, most)


def _main(display: Display) -> str | None:
    """The medium that a reader of text gets; None where there is none."""
    there = dict.fromkeys((*display.data, *display.blobs))
    media = [each for each in there if each in display.data and (is_text(each) or is_json(each))]
    rich = [each for each in media if each not in (*_TEXT, FRAME, _SVG) and not _DRAWN.match(each)]
    if not _says_nothing(display):
        return next((each for each in (*_TEXT, *rich) if each in media), None)
    # A name of what it is says nothing, unless there is nothing else.
    found = next((each for each in (*_TEXT[1:], *rich) if each in media), None)
    return found or ("text/plain" if list(there) == ["text/plain"] else None)


def _says_nothing(display: Display) -> bool:
    """Whether the plain text names only what kind of thing it is, and where in memory."""
    text = display.data.get("text/plain")
    return not isinstance(text, str) or _REPR.fullmatch(text[:300]) is not None


def _is_picture(media: str) -> bool:
    return media.startswith("image/")


def _medium(display: Display, media: str, handle: str, most: int) -> list[str]:
    value = display.data[media]
    ref = display.blobs.get(media)
    rest = how(handle if media in _TEXT else f"{handle}:{media}")
    if is_json(media) or not isinstance(value, str):
        return _json(value, f"{MARK}[in full: {rest}]", most)
    if media == "text/html":
        text = html_text(value[: most * 40])
        lines = fit(Passage(head=text), most - cost(rest) - 20, MARK, rest)
        return [*lines, f"{MARK}[as HTML: {rest}]"] if lines else []
    return fit(Passage(head=value, omitted=max(ref.size - len(value), 0) if ref is not None else 0), most, MARK, rest)


def _fitting(lines: list[str], rest: str, most: int) -> list[str]:
    """As many lines as can be paid for, the last of them cut; what lacks is told by `rest`, if there is one."""
    kept: list[str] = []
    is_whole = True
    room = most - cost(rest) - 1
    for line in lines:
        if cost(line) + 1 > room:
            part = cut(line, room - 1)
            kept += [part] if part else []
            is_whole = False
            break
        kept.append(line)
        room -= cost(line) + 1
    return kept if is_whole or not rest else [*kept, rest]


def _json(value: Json, rest: str, most: int) -> list[str]:
    """JSON as one line; what is deep or long in it is left out."""
    kept = _shallow(value, _DEEPEST, [most])
    line = MARK + plain(as_text(kept, ascii=False))
    return _fitting([line], rest, most) if kept == value else [*_fitting([line], "", most - cost(rest) - 1), rest]


def _shallow(value: Any, depth: int, left: list[int]) -> Any:
    """A value without what is deep or long in it, of a size that can about be paid for."""
    left[0] -= 8
    match value:
        case str():
            most = max(4 * _LONGEST, left[0]) if depth == _DEEPEST else 4 * _LONGEST
            return value if len(value) <= most else f"{value[:most]}… {len(value):,} characters"
        case list() | dict() if not depth or left[0] <= 0:
            return f"… {len(cast('list[Any]', value)):,}"
        case list():
            items = cast("list[Any]", value)
            kept = [_shallow(each, depth - 1, left) for each in items[:_LONGEST]]
            return [*kept, f"… {len(items) - _LONGEST:,} more"] if len(items) > _LONGEST else kept
        case dict():
            fields = list(cast("dict[str, Any]", value).items())
            kept = {name[:200]: _shallow(each, depth - 1, left) for name, each in fields[:_LONGEST]}
            return kept | {"…": f"{len(fields) - _LONGEST:,} more"} if len(fields) > _LONGEST else kept
        case _:
            return value


# ---- What is no text


def _named(display: Display, media: list[str], handle: str, *, alone: bool) -> Iterator[str]:
    """A line for a picture or for bytes; one for all other forms of the same thing."""
    pictures = [each for each in media if _is_picture(each)]
    others = [each for each in media if not _is_picture(each)]
    for number, each in enumerate(sorted(pictures, key=lambda each: each == _SVG)):
        what = f"{one_line(each, 60)}{_dimensions(display, each)} {_size(display, each)}"
        # Without a medium it is the first picture that is looked at, and a drawing is read as text.
        yield f"[{what}: {how(f'{handle}:{each}' if number or each == _SVG else handle)}]"
    if alone and not pictures:
        for each in others[:_MOST_MEDIA]:
            yield f"[{one_line(each, 60)} {_size(display, each)}: {how(f'{handle}:{one_line(each, 100)}')}]"
        others = others[_MOST_MEDIA:]
    if others:
        more = f" and {len(others) - _MOST_MEDIA} more" if len(others) > _MOST_MEDIA else ""
        yield f"[also {', '.join(one_line(each, 60) for each in others[:_MOST_MEDIA])}{more}: {how(f'{handle}:MEDIA')}]"


def _size(display: Display, media: str) -> str:
    ref = display.blobs.get(media)
    if ref is not None:
        return size(ref.size)
    value = display.data[media]
    text = value if isinstance(value, str) else as_text(value)
    return size(len(text) if is_text(media) or is_json(media) else len(text.rstrip("=")) * 3 // 4)


def _dimensions(display: Display, media: str) -> str:
    value = display.data.get(media)
    if media == _SVG or not isinstance(value, str):
        return ""
    try:
        found = dimensions(b64decode(value[:4096]))
    except (binascii.Error, ValueError):
        return ""
    return f" {found[0]}×{found[1]}" if found is not None else ""


FRAME = "application/vnd.quire.frame+json"
_HTML = "text/html"
_SHAPE = re.compile(r"([\d,]{1,20}) rows\s*(?:×|x|&times;)\s*([\d,]{1,20}) columns")
_POLARS_SHAPE = re.compile(r"shape:\s*\(([\d_]{1,20}),(?:\s*([\d_]{1,20}))?\)")
_MOST_ROWS = 12
_MOST_COLUMNS = 100
_CELL = 40
_LOOKED_AT = 5000


class DataFrameText(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a data frame."""

    rows: int
    columns: int
    names: tuple[tuple[str, str], ...]
    """Each column's name and type; the type is empty where nobody knows it."""
    first: tuple[tuple[str, ...], ...] = ()

    def lines(self) -> list[str]:
        """The shape with the columns, and a line for each row."""
        named = [f"{name} {kind}".strip() for name, kind in self.names]
        more, left = self.columns - len(named), self.rows - len(self.first)
        named += [f"… {more:,} more"] if more > 0 else []
        shape = f"frame {self.rows:,} × {self.columns:,} [{', '.join(named)}]"
        return [shape, *(" | ".join(row) for row in self.first), *([f"… {left:,} more rows"] if left > 0 else [])]


def frame_in(data: Mapping[str, Json]) -> DataFrameText | None:
    """The frame that a display shows; None where it shows something else."""
    found = _from_ours(data.get(FRAME))
    html: Any = data.get(_HTML)
    if found is not None or not isinstance(html, str) or 'class="dataframe"' not in html[:_LOOKED_AT]:
        return found
    return _from_html(html)


def _from_ours(said: Any) -> DataFrameText | None:
    """Read what kernel.py wrote; anything may call itself by that media type."""
    match said:
        case {"shape": [int(rows), int(columns)], "columns": list(), "rows": list()}:
            names, first = cast("list[Any]", said["columns"]), cast("list[Any]", said["rows"])
        case _:
            return None
    pairs = [cast("list[Any]", each) for each in names if isinstance(each, list)]
    listed = [cast("list[Any]", each) for each in first if isinstance(each, list)]
    return DataFrameText(
        rows=rows,
        columns=columns,
        names=tuple((_shown(pair[0]), _shown(pair[1])) for pair in pairs[:_MOST_COLUMNS] if len(pair) == 2),
        first=tuple(tuple(map(_shown, row[:_MOST_COLUMNS])) for row in listed[:_MOST_ROWS]),
    )


def _shown(value: Any) -> str:
    return one_line(value if isinstance(value, str) else str(value), _CELL)


def _from_html(html: str) -> DataFrameText | None:
    rows = next((table for table in tables(html, _MOST_ROWS + 3) if table and table[0]), None)
    if rows is None:
        return None
    polars = _POLARS_SHAPE.search(html[:_LOOKED_AT])
    return _of_polars(polars, rows) if polars is not None else _of_pandas(html, rows)


def _of_polars(shape: re.Match[str], rows: Sequence[Sequence[str]]) -> DataFrameText:
    names, kinds = rows[0], rows[1] if len(rows) > 1 else ()
    shown = [tuple(map(_shown, row)) for row in rows[2 : 2 + _MOST_ROWS]]
    return DataFrameText(
        rows=_number(shape[1]),
        columns=_number(shape[2]) if shape[2] else len(names),
        names=tuple((_shown(name), _shown(kind)) for name, kind in zip(names, kinds, strict=False)),
        first=_before_gap(shown),
    )


def _of_pandas(html: str, rows: Sequence[Sequence[str]]) -> DataFrameText:
    """Pandas writes names, at times the name of the index, and rows that begin with it; the shape only when it cut."""
    said = _SHAPE.search(html[-_LOOKED_AT:])
    names = rows[0][1:]
    body = [row for row in rows[1:] if len(row) == len(rows[0]) and any(cell.strip() for cell in row[1:])]
    above = len(rows) - len(body)
    shown = _before_gap([tuple(map(_shown, row)) for row in body[:_MOST_ROWS]])
    return DataFrameText(
        rows=_number(said[1]) if said is not None else max(html.count("<tr") - above, len(shown)),
        columns=_number(said[2]) if said is not None else len(names),
        names=tuple((_shown(name), "") for name in names),
        first=shown,
    )


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def _before_gap(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The rows up to where the library left some out."""
    for number, row in enumerate(rows):
        if all(cell in ("…", "...") for cell in row):
            return tuple(rows[:number])
    return tuple(rows)
