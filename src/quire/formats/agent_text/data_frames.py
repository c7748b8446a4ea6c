"""Data frames as an agent reads them: shape, columns with their types, first rows.

A live kernel of ours sends that beside the table (`FRAME`, made in kernel.py). Of tables that were
made elsewhere it is read from the HTML that pandas and polars write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from ...core.values import Json
from ..terminal_safe import one_line
from .html_to_text import tables

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
