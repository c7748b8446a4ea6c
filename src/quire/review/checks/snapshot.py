"""What the cells of a script or a logbook showed, in a file beside it that people read and compare.

`sales.py` has `sales.py.snapshot.yaml`. Texts stand in it line by line, so that a change of an output is a change of
its lines. Only what is compared is kept: no counts, no tracebacks, no cells whose outputs are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ...core.errors import BadInput
from ...core.ids import CellId
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...disk import read_text, write_text

ENDING = ".snapshot.yaml"
VERSION = 1
_RUNS = ("code", "sql")
_HEAD = "# What the cells of {name} showed when `quire check --update` last ran it.\n"


class OutputSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The outputs that are stored for a notebook."""

    path: Path
    is_there: bool = False
    outputs: dict[CellId, list[Json]] = {}


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A cell in the file."""

    name: str | None
    id: str
    outputs: list[Json]


def path_of(notebook: Path) -> Path:
    """Return where the snapshot of a notebook is."""
    return notebook.with_name(notebook.name + ENDING)


def read_snapshot(notebook: Path, sheet: Sheet) -> OutputSnapshot:
    """Return what is stored for a notebook, by its cells as they are now."""
    path = path_of(notebook)
    if not path.exists():
        return OutputSnapshot(path=path)
    entries = _entries(read_text(path), path)
    return OutputSnapshot(
        path=path, is_there=True, outputs=_by_cell(entries, [c for c in sheet.cells if c.kind in _RUNS])
    )


def write_snapshot(notebook: Path, cells: Sequence[tuple[SheetCell, Sequence[Json]]]) -> bool:
    """Store what cells showed; return whether the file is another than before."""
    path = path_of(notebook)
    text = _HEAD.format(name=notebook.name) + _as_yaml(
        {"version": VERSION, "cells": [_written(cell, outputs) for cell, outputs in cells]}
    )
    if path.exists() and read_text(path) == text:
        return False
    write_text(path, text)
    return True


# ---- Which entry is of which cell


def _by_cell(entries: Sequence[_Entry], cells: Sequence[SheetCell]) -> dict[CellId, list[Json]]:
    """Tell the cells by name and content; those between two that are known, by their order if none came or went."""
    by_name = {entry.name: number for number, entry in enumerate(entries) if entry.name is not None}
    by_id = {entry.id: number for number, entry in enumerate(entries)}
    known = [by_name.get(cell.name, by_id.get(cell.id)) if cell.name else by_id.get(cell.id) for cell in cells]
    for first, last in _gaps(known):
        before = known[first - 1] if first else -1
        after = known[last] if last < len(cells) else len(entries)
        if before is not None and after is not None and after - before - 1 == last - first:
            known[first:last] = range(before + 1, after)
    return {cell.id: entries[at].outputs for cell, at in zip(cells, known, strict=True) if at is not None}


def _gaps(known: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for number, each in enumerate([*known, -1]):
        if each is None and start is None:
            start = number
        elif each is not None and start is not None:
            yield start, number
            start = None


# ---- The file


def _written(cell: SheetCell, outputs: Sequence[Json]) -> dict[str, Json]:
    made: dict[str, Json] = {"cell": cell.name} if cell.name else {}
    made["id"] = cell.id
    if outputs:
        made["outputs"] = [_written_output(cast("dict[str, Any]", output)) for output in outputs]
    return made


def _written_output(output: Mapping[str, Any]) -> Json:
    match output["output_type"]:
        case "stream":
            return {str(output.get("name")): output.get("text", "")}
        case "error":
            return {"error": output.get("ename", ""), "message": output.get("evalue", "")}
        case kind:
            made: dict[str, Json] = {"result" if kind == "execute_result" else "display": output.get("data", {})}
            # By these, results are told from what is only shown.
            if carried := {name: output["metadata"][name] for name in _RESULTS if name in output.get("metadata", {})}:
                made["metadata"] = carried
            return made


_RESULTS = ("scrapbook", "papermill")


def _entries(text: str, path: Path) -> list[_Entry]:
    found: Any = _from_yaml(text, path)
    match found:
        case {"version": 1, "cells": list()}:
            return [_entry(each, path) for each in cast("list[Any]", found["cells"])]
        case {"version": int(version)} if version > VERSION:
            raise BadInput(f"{path} was written by a newer Quire. Update this one, or write it again with --update.")
        case _:
            raise _broken(path)


def _entry(said: Any, path: Path) -> _Entry:
    fields = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    name, id = fields.get("cell"), fields.get("id")
    outputs: Any = fields.get("outputs") or []
    if not isinstance(id, str) or not isinstance(outputs, list):
        raise _broken(path)
    read = [_read_output(each, path) for each in cast("list[Any]", outputs)]
    return _Entry(name=str(name) if name is not None else None, id=id, outputs=read)


def _read_output(said: Any, path: Path) -> Json:
    fields = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    metadata: Any = fields.get("metadata") or {}
    match fields:
        case {"error": name}:
            message = str(fields.get("message", ""))
            return {"output_type": "error", "ename": str(name), "evalue": message, "traceback": []}
        case {"result": dict()}:
            shown = {"data": fields["result"], "metadata": metadata}
            return {"output_type": "execute_result", "execution_count": None, **shown}
        case {"display": dict()}:
            return {"output_type": "display_data", "data": fields["display"], "metadata": metadata}
        case {"stdout": str(text)}:
            return {"output_type": "stream", "name": "stdout", "text": text}
        case {"stderr": str(text)}:
            return {"output_type": "stream", "name": "stderr", "text": text}
        case _:
            raise _broken(path)


def _broken(path: Path) -> BadInput:
    return BadInput(f"{path} is no snapshot that can be read. Write it again: quire check --update.")


def _as_yaml(value: Json) -> str:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    # A class of our own: representers of YAML's would be everybody's.
    dumper_class: Any = type("SnapshotDumper", (base,), {"ignore_aliases": lambda self, data: True})  # pyright: ignore[reportUnknownLambdaType]

    def text(dumper: Any, value: str) -> Any:
        # YAML has no such block for a text whose lines end in blanks: that one is quoted.
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    dumper_class.add_representer(str, text)
    return cast("Any", yaml).dump(value, Dumper=dumper_class, sort_keys=False, allow_unicode=True, width=10_000)


def _from_yaml(text: str, path: Path) -> Any:
    import yaml

    try:
        return cast("Any", yaml).load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError):
        raise _broken(path) from None
