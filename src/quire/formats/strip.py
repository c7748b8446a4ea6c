"""A notebook without what running it left behind, so that git sees what people wrote.

The rules are nbstripout's: what goes, what may stay, and which cells say so themselves. Four
differences, on purpose: ids stay unless asked otherwise, because diff and merge tell cells by
them; of several tags to drop each one counts, not only the last; a key that cannot be removed
is refused, not ignored; and there is no `--mode` and no `--unix-newlines`, since the ending of
a file says its format and its line ends stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from ..core.errors import BadInput
from ..core.ids import CellId
from ..core.sheet.sheet import OURS, Sheet, SheetCell
from ..core.values import Json

DEFAULT_KEYS = (
    "metadata.signature",
    "metadata.widgets",
    "cell.metadata.collapsed",
    "cell.metadata.ExecuteTime",
    "cell.metadata.execution",
    "cell.metadata.heading_collapsed",
    "cell.metadata.hidden",
    "cell.metadata.scrolled",
)
"""The metadata that goes unless it is among `keep_metadata_keys`: the view and the time of a run."""
_KEEP = "keep_output"
_KERNEL = "language_info"
_NEEDED = frozenset({"cell_type", "execution_count", "id", "outputs", "source"})


class Rules(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What goes and what stays."""

    keep_output: bool = False
    """Outputs stay, wherever no cell says otherwise."""
    keep_count: bool = False
    """Execution counts stay."""
    keep_id: bool = True
    """Ids stay. If not, they become 0, 1, 2 and so on, as nbstripout makes them."""
    keep_metadata_keys: tuple[str, ...] = ()
    """Of the default keys and the extra ones, these stay."""
    extra_keys: tuple[str, ...] = ()
    """More keys to remove: `metadata.a.b` of the notebook, `cell.metadata.c` of each cell."""
    drop_empty_cells: bool = False
    """Cells without a visible character go."""
    drop_tagged_cells: tuple[str, ...] = ()
    """Cells with one of these tags go."""
    strip_init_cells: bool = False
    """Initialization cells lose their outputs like any other."""
    keep_output_types: tuple[str, ...] = ()
    """Outputs of these types stay: `error`, `stream:stderr` and the like."""
    drop_output_types: tuple[str, ...] = ()
    """Outputs of these types go, even where outputs stay."""
    max_size: int = 0
    """Outputs with no more characters than this stay."""
    keep_kernel: bool = True
    """What the last kernel said of itself (`language_info`) stays, even where the language is known without it."""


def strip(sheet: Sheet, rules: Rules | None = None, path: str = "The notebook") -> Sheet:
    """Return the notebook as the rules leave it: the very same value when there is nothing to remove."""
    rules = rules or Rules()
    whole, sheet = sheet, _without_resolved(sheet)
    of_notebook, of_cell = _keys(rules)
    metadata = sheet.metadata
    for key in of_notebook:
        metadata = _without(metadata, key)
    if not rules.keep_kernel and f"metadata.{_KERNEL}" not in rules.keep_metadata_keys:
        metadata = _without_kernel(metadata)
    keep = rules.keep_output or bool(sheet.metadata.get(_KEEP))
    cells = tuple(
        _strip_cell(cell, number, keep=keep, keys=of_cell, rules=rules, path=path)
        for number, cell in enumerate(_kept(sheet, rules))
    )
    if metadata is sheet.metadata and len(cells) == len(whole.cells) and all(map(_same, cells, whole.cells)):
        return whole
    return msgspec.structs.replace(sheet, cells=cells, metadata=metadata)


def _without_resolved(sheet: Sheet) -> Sheet:
    """A note about a conflict that somebody has resolved is left over from the merge."""
    if not any(OURS in cell.metadata for cell in sheet.cells):
        return sheet
    # Few notebooks come out of a merge, and every `git status` would load it.
    from ..core.diff.merge import without_resolved

    return without_resolved(sheet)


def _same(one: object, other: object) -> bool:
    return one is other


def _keys(rules: Rules) -> tuple[list[str], list[str]]:
    """The keys to remove from the notebook's metadata, and from each cell."""
    of_notebook: list[str] = []
    of_cell: list[str] = []
    for key in (*DEFAULT_KEYS, *rules.extra_keys):
        where, _, rest = key.partition(".")
        if where not in ("cell", "metadata") or not rest:
            raise BadInput(f"{key!r} names no metadata. Write metadata.NAME, or cell.metadata.NAME.")
        if where == "cell" and rest in _NEEDED:
            raise BadInput(f"{key!r} cannot be removed: a cell without it is no cell. Write cell.metadata.NAME.")
        if key not in rules.keep_metadata_keys:
            (of_cell if where == "cell" else of_notebook).append(rest)
    return of_notebook, of_cell


def _without(mapping: dict[str, Json], key: str) -> dict[str, Json]:
    """Leave out what stands under a key such as `a.b`. A key that has dots itself comes first."""
    if key in mapping:
        return {name: value for name, value in mapping.items() if name != key}
    head, dot, tail = key.partition(".")
    inner: Any = mapping.get(head)
    if not dot or not isinstance(inner, dict):
        return mapping
    less = _without(cast("dict[str, Json]", inner), tail)
    return mapping if less is inner else {**mapping, head: less}


def _without_kernel(metadata: dict[str, Json]) -> dict[str, Json]:
    """Every run writes `language_info` anew. Only a language that nothing else tells is worth keeping, not its version."""
    if _KERNEL not in metadata:
        return metadata
    less = _without(metadata, _KERNEL)
    if Sheet(metadata=less).language == Sheet(metadata=metadata).language:
        return less
    return _without(metadata, f"{_KERNEL}.version")


def _kept(sheet: Sheet, rules: Rules) -> Iterator[SheetCell]:
    for cell in sheet.cells:
        if rules.drop_empty_cells and not cell.source.strip():
            continue
        if any(tag in cell.tags for tag in rules.drop_tagged_cells):
            continue
        yield cell


def _strip_cell(cell: SheetCell, number: int, *, keep: bool, keys: list[str], rules: Rules, path: str) -> SheetCell:
    changes: dict[str, Any] = {}
    # Asked of each cell: one that contradicts itself is found before it has outputs.
    keep = _keeps_output(cell, keep, rules, path)
    if cell.outputs:
        changes["outputs"] = _outputs(cell.outputs, keep=keep, rules=rules)
    if cell.count is not None and not rules.keep_count:
        changes["count"] = None
    if not rules.keep_id:
        changes["id"] = CellId(str(number))
    changes |= _stray(cell, rules)
    for key in keys:
        _remove(cell, key, changes)
    changes = {name: value for name, value in changes.items() if value != getattr(cell, name)}
    return msgspec.structs.replace(cell, **changes) if changes else cell


def _keeps_output(cell: SheetCell, default: bool, rules: Rules, path: str) -> bool:
    """What the cell says itself, by metadata or tag, else what holds for all."""
    if "init_cell" in cell.metadata:
        return bool(cell.metadata["init_cell"]) and not rules.strip_init_cells
    tagged = _KEEP in cell.tags
    if _KEEP not in cell.metadata:
        return tagged or default
    if tagged and not cell.metadata[_KEEP]:
        raise BadInput(
            f"{path}: cell {cell.id}: its metadata says that outputs go ({_KEEP} is false), its tag that they stay."
            " Remove one of the two."
        )
    return bool(cell.metadata[_KEEP])


def _outputs(outputs: list[Json], *, keep: bool, rules: Rules) -> list[Json]:
    if not keep or rules.keep_output_types:
        outputs = [each for each in outputs if _matches(each, rules.keep_output_types) or _size(each) <= rules.max_size]
    if not rules.keep_count:
        outputs = [{**each, "execution_count": None} if each.get("execution_count") else each for each in outputs]
    return [each for each in outputs if not _matches(each, rules.drop_output_types)]


def _matches(output: Json, types: tuple[str, ...]) -> bool:
    """Whether an output is of one of the types, told as `stream` or `stream:stderr`."""
    for each in types:
        kind, colon, name = each.partition(":")
        if output.get("output_type") == kind and (not colon or output.get("name") == name):
            return True
    return False


def _size(value: Json) -> int:
    """How many characters are in it, the way nbstripout counts."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(_size, cast("list[Json]", value)))
    if isinstance(value, dict):
        return sum(map(_size, cast("dict[str, Json]", value).values()))
    return len(str(value))


def _stray(cell: SheetCell, rules: Rules) -> dict[str, Any]:
    """Outputs and counts of a cell that should have none: no reader shows them, so nobody would miss or see them."""
    extra: dict[str, Json] = cell.extra
    if extra.get("outputs") and not rules.keep_output:
        extra = {**extra, "outputs": []}
    if extra.get("execution_count") is not None and not rules.keep_count:
        extra = {**extra, "execution_count": None}
    return {} if extra is cell.extra else {"extra": extra}


def _remove(cell: SheetCell, key: str, changes: dict[str, Any]) -> None:
    """Note what changes in a cell when what stands under the key goes."""
    if key == "attachments":
        changes["attachments"] = {}
    elif key == "metadata":
        changes |= {"metadata": {}, "tags": (), "name": None}
    elif key == "metadata.tags":
        changes["tags"] = ()
    elif key == "metadata.name":
        changes["name"] = None
    else:
        field = "metadata" if key.startswith("metadata.") else "extra"
        changes[field] = _without(changes.get(field, getattr(cell, field)), key.removeprefix("metadata."))
