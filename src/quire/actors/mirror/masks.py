"""What was masked in the log, and still stands in the file, is no change of the file's: it does not come back."""

from __future__ import annotations

from typing import Any, cast

from msgspec.structs import replace

from ...core.shape import MASK
from ...core.sheet import Sheet, SheetCell


def with_masks(base: Sheet, full: Sheet) -> Sheet:
    """Return what a file says, masked where `base`, the version that it was made from, is; itself if that is nowhere."""
    before = {cell.id: cell for cell in base.cells}
    cells = tuple(_masked(cell, before.get(cell.id)) for cell in full.cells)
    return full if cells == full.cells else replace(full, cells=cells)


def _masked(cell: SheetCell, before: SheetCell | None) -> SheetCell:
    if before is None:
        return cell
    source = before.source if _is_behind(before.source, cell.source) else cell.source
    outputs = before.outputs if _is_behind(before.outputs, cell.outputs) else cell.outputs
    same = source is cell.source and outputs is cell.outputs
    return cell if same else replace(cell, source=source, outputs=outputs)


def _is_behind(masked: Any, said: Any) -> bool:
    """Whether this is what a mask hides: the same where nothing is masked, and something is."""
    return masked != said and _fits(masked, said)


def _fits(masked: Any, said: Any) -> bool:
    match masked, said:
        case str(), str():
            return len(masked) == len(said) and all(one in (MASK, two) for one, two in zip(masked, said, strict=True))
        case list(), list():
            ours, theirs = cast("list[Any]", masked), cast("list[Any]", said)
            return len(ours) == len(theirs) and all(map(_fits, ours, theirs))
        case dict(), dict():
            one, two = cast("dict[str, Any]", masked), cast("dict[str, Any]", said)
            return one.keys() == two.keys() and all(_fits(one[key], two[key]) for key in one)
        case _:
            return bool(masked == said)
