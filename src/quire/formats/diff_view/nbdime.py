"""A diff in the form that nbdime has: operations on the JSON of an .ipynb.

nbdime knows no moves: a cell that moved is removed and added. `nbdime.patch(old, operations)`
gives the new notebook.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from ...core.diff.align import Alignment
from ...core.diff.line_diff import LineChange, changes
from ...core.sheet.equality import as_text, same
from ...core.sheet.sheet import Sheet, is_json
from ...core.values import Json
from ..registry import format_of, write

Operations: TypeAlias = list[dict[str, Json]]


def notebook_json(sheet: Sheet, text: str | None, path: str) -> dict[str, Json]:
    """Return the notebook as nbformat reads it: the file's own JSON, each text joined to one string."""
    if text is not None and format_of(path) == "ipynb":
        found: Any = json.loads(text.removeprefix("\ufeff"))
        if found.get("nbformat") == 4:
            return _joined(found)
    return _joined(json.loads(write(sheet, "notebook.ipynb")))


def to_nbdime(old: dict[str, Json], new: dict[str, Json], alignment: Alignment) -> Operations:
    """Return the operations that turn one notebook, as nbformat reads it, into the other."""
    around = [{key: value for key, value in each.items() if key != "cells"} for each in (old, new)]
    operations = _of_objects(around[0], around[1])
    if cells := list(_of_cells(old["cells"], new["cells"], alignment)):
        operations.append(_patched("cells", cells))
    return sorted(operations, key=lambda operation: operation["key"])


def _joined(notebook: dict[str, Json]) -> dict[str, Json]:
    """Texts that are written as lists of lines, as one string each."""
    for cell in notebook["cells"]:
        if isinstance(cell.get("source"), list):
            cell["source"] = "".join(cell["source"])
        for bundle in cell.get("attachments", {}).values():
            _join_bundle(bundle)
        for output in cell.get("outputs", ()):
            _join_bundle(output.get("data", {}))
            if isinstance(output.get("text"), list):
                output["text"] = "".join(output["text"])
    return notebook


def _join_bundle(bundle: dict[str, Json]) -> None:
    for media, value in bundle.items():
        if (
            not is_json(media)
            and isinstance(value, list)
            and all(isinstance(line, str) for line in cast("list[Any]", value))
        ):
            bundle[media] = "".join(cast("list[str]", value))


def _of_cells(old: list[Json], new: list[Json], alignment: Alignment) -> Iterator[dict[str, Json]]:
    """At each place of the old list: what comes in before it, then what becomes of it."""
    stays = [(i, j) for i, j in alignment.pairs if j not in alignment.moved]
    at_old = at_new = 0
    for i, j in (*stays, (len(old), len(new))):
        yield from _range(at_old, i - at_old, new[at_new:j])
        if i < len(old) and (inside := _of_objects(old[i], new[j])):
            yield _patched(i, inside)
        at_old, at_new = i + 1, j + 1


def _range(at: int, removed: int, added: Sequence[Json]) -> Iterator[dict[str, Json]]:
    if added:
        yield {"op": "addrange", "key": at, "valuelist": added}
    if removed:
        yield {"op": "removerange", "key": at, "length": removed}


def _patched(key: str | int, operations: Operations) -> dict[str, Json]:
    return {"op": "patch", "key": key, "diff": operations}


def _of_objects(old: dict[str, Json], new: dict[str, Json]) -> Operations:
    operations: Operations = []
    for key in sorted({*old, *new}):
        if key not in new:
            operations.append({"op": "remove", "key": key})
        elif key not in old:
            operations.append({"op": "add", "key": key, "value": new[key]})
        elif not same(old[key], new[key]):
            operations.append(_of_values(key, old[key], new[key]))
    return operations


def _of_values(key: str, old: Json, new: Json) -> dict[str, Json]:
    if isinstance(old, dict) and isinstance(new, dict):
        return _patched(key, _of_objects(cast("dict[str, Json]", old), cast("dict[str, Json]", new)))
    if isinstance(old, list) and isinstance(new, list):
        return _patched(key, _of_lists(cast("list[Json]", old), cast("list[Json]", new)))
    if key == "source" and isinstance(old, str) and isinstance(new, str):
        return _patched(key, _of_texts(old, new))
    return {"op": "replace", "key": key, "value": new}


def _of_lists(old: list[Json], new: list[Json]) -> Operations:
    return _ranges(changes([as_text(each) for each in old], [as_text(each) for each in new]), new)


def _of_texts(old: str, new: str) -> Operations:
    """Whole lines, with what ends them, as nbdime counts them."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return _ranges(changes(before, after), after)


def _ranges(found: list[LineChange], new: Sequence[Json]) -> Operations:
    return [
        operation
        for change in found
        for operation in _range(
            change.old_start, change.old_end - change.old_start, new[change.new_start : change.new_end]
        )
    ]
