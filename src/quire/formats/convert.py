"""From one format to another, keeping what the file that is there already knows.

A `.py` or `.md` has no ids, few outputs and little metadata. When an .ipynb is generated
from it again, what the text cannot say stays as it was. What the text can say is found by
writing the old notebook in its format: where the text still says that, nobody changed it.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec.structs import replace

from ..core.diff.align import align, carry
from ..core.errors import QuireError
from ..core.sheet.equality import same
from ..core.sheet.sheet import Sheet, SheetCell
from ..core.values import Json
from . import registry

_ABSENT = object()
_KERNELSPEC = "kernelspec"
_NATIVE: dict[str, dict[str, Json]] = {
    "python": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "r": {"display_name": "R", "language": "R", "name": "ir"},
    "bash": {"display_name": "Bash", "language": "bash", "name": "bash"},
}
"""The kernel that a language has when nothing names one: what Jupyter and papermill ask an .ipynb for."""


def convert(text: str, path: str, target: str, existing: str | None = None) -> str:
    """Return the notebook in `text`, a file at `path`, as the text of a file at `target`.

    `existing` is what stands at `target` now.
    """
    sheet = registry.read(text, path)
    registry.check_language(sheet, target)
    if registry.format_of(target) == "logbook":
        sheet = without_native_kernel(sheet)
    if not existing and registry.format_of(path) == registry.format_of(target) == "logbook":
        return registry.write(sheet, target, like=text)  # what its author wrote, and how
    if not existing or registry.format_of(target) == "html":
        return registry.write(with_kernel(sheet) if registry.format_of(target) == "ipynb" else sheet, target)
    if registry.format_of(path) != "ipynb":
        old = registry.read(existing, target)
        said = without_native_kernel(old) if registry.format_of(path) == "logbook" else old
        sheet = carried(old, sheet, as_told(said, path))
    return registry.write(sheet, target, like=existing)


def with_kernel(sheet: Sheet) -> Sheet:
    """Name the native kernel of the notebook's language, where no kernel is named: other tools do not guess one."""
    native = _NATIVE.get(sheet.language)
    if native is None or _KERNELSPEC in sheet.metadata:
        return sheet
    return replace(sheet, metadata=sheet.metadata | {_KERNELSPEC: native})


def without_native_kernel(sheet: Sheet) -> Sheet:
    """Leave out the kernel that `with_kernel` names again."""
    spec = sheet.metadata.get(_KERNELSPEC)
    rest = {key: value for key, value in sheet.metadata.items() if key != _KERNELSPEC}
    bare = replace(sheet, metadata=rest)
    return bare if spec is not None and same(_NATIVE.get(bare.language), spec) else sheet


def carried(old: Sheet, new: Sheet, told: Sheet) -> Sheet:
    """What the text does not say of a notebook stays as it was; `told` is what it said of the old one."""
    cells = list(carry(old, new).cells)
    for i, j in align(old, new, by_id=False).pairs:
        cells[j] = _carried_cell(old.cells[i], told.cells[i], cells[j])
    metadata = _kept(told.metadata, old.metadata, new.metadata)
    return replace(new, cells=tuple(cells), metadata=metadata, extra=_kept(told.extra, old.extra, new.extra))


def as_told(old: Sheet, path: str) -> Sheet:
    """The old notebook as a file in the format of `path` would tell it."""
    try:
        told = registry.read(registry.write(old, path), path)
    except QuireError:
        return Sheet(cells=tuple(replace(cell, outputs=[], count=None, attachments={}) for cell in old.cells))
    if len(told.cells) != len(old.cells):
        return Sheet(cells=old.cells, metadata=told.metadata)
    return told


def _carried_cell(old: SheetCell, told: SheetCell, new: SheetCell) -> SheetCell:
    is_same = (old.kind, old.source) == (new.kind, new.source)
    untouched = is_same and same(new.outputs, told.outputs) and new.count == told.count
    return replace(
        new,
        name=old.name if new.name == told.name else new.name,
        tags=old.tags if new.tags == told.tags else new.tags,
        metadata=_kept(told.metadata, old.metadata, new.metadata),
        outputs=old.outputs if untouched else new.outputs,
        count=old.count if untouched else new.count,
        attachments=old.attachments if is_same else new.attachments or _mentioned(old.attachments, new.source),
        extra=new.extra or old.extra,
    )


def _kept(told: dict[str, Json], old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """The old values where the new text says what the old one would; else what it says, or nothing."""
    made: dict[str, Json] = {}
    for key in dict.fromkeys((*old, *new)):
        before, after, was = told.get(key, _ABSENT), new.get(key, _ABSENT), old.get(key, _ABSENT)
        if isinstance(before, dict) and isinstance(after, dict) and isinstance(was, dict):
            parts = cast("tuple[dict[str, Json], ...]", (before, was, after))
            made[key] = _kept(*parts)
        elif _alike(before, after) and was is not _ABSENT:
            made[key] = was
        elif after is not _ABSENT:
            made[key] = after
    return made


def _alike(one: Any, other: Any) -> bool:
    return one is other or (one is not _ABSENT and other is not _ABSENT and same(one, other))


def _mentioned(attachments: dict[str, Json], source: str) -> dict[str, Json]:
    """Those that the source still speaks of, spelled as they are or as in a link."""
    if not attachments:
        return {}
    from urllib.parse import quote

    return {name: value for name, value in attachments.items() if name in source or quote(name) in source}
