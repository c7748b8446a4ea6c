"""From one format to another, keeping what the file that is there already knows.

A `.py` or `.md` has no ids, no outputs and little metadata. When an .ipynb is generated
from it again, cells that are still the same keep theirs.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..core.align import carry
from ..core.errors import BadInput
from ..core.sheet import Sheet
from . import formats


def convert(text: str, path: str, target: str, existing: str | None = None) -> str:
    """Return the notebook in `text`, a file at `path`, as the text of a file at `target`.

    `existing` is what stands at `target` now.
    """
    sheet = formats.read(text, path)
    _check_language(sheet, target)
    if not existing or formats.format_of(target) == "html":
        return formats.write(sheet, target)
    if formats.format_of(path) != "ipynb":
        sheet = _carried(formats.read(existing, target), sheet)
    return formats.write(sheet, target, like=existing)


def _carried(old: Sheet, new: Sheet) -> Sheet:
    """What the text does not say of a notebook stays as it was."""
    return replace(carry(old, new, outputs=True), metadata=old.metadata | new.metadata, extra=old.extra | new.extra)


def _check_language(sheet: Sheet, target: str) -> None:
    """A percent file is a script: one with the ending of another language would not run."""
    wanted = formats.LANGUAGES.get(formats.ending_of(target))
    if wanted is not None and sheet.language not in wanted:
        fitting = next((ending for ending, names in formats.LANGUAGES.items() if sheet.language in names), ".md")
        raise BadInput(
            f"{target} would be a script in {wanted[0]}, but the notebook is written in {sheet.language}. "
            f"Choose the ending {fitting}."
        )
