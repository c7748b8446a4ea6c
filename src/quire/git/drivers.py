"""What git calls to compare two notebooks for a person, and to merge three."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import BadInput
from ..core.sheet.sheet import Sheet
from ..disk import decode, read_bytes, write_text
from ..formats.registry import read, write
from ..formats.strip import strip
from ..formats.terminal_safe import plain
from .clean_filter import git_rules
from .repository import attempt
from .revisions import FileRevision, merge_versions

if TYPE_CHECKING:
    from ..core.diff.merge import MergeResult
    from .unified_diff import DiffHeader

_NOTHING = Path(os.devnull)
_FILE = "100"
"""How the mode of a file begins; that of a link does not."""


def diff_driver(arguments: list[str]) -> int:
    """Print what changed in a notebook. Git's manual: PATH OLD HEX MODE NEW HEX MODE [NEW-PATH MORE]."""
    match arguments:
        case [_, path]:
            sys.stdout.write(f"* Unmerged path {path}\n")
        case [rules, path, old, _, old_mode, new, _, new_mode, *renamed]:
            name, more = (*renamed, "")[:2] if renamed else (path, "")
            header = _header((path, old_mode), (name, new_mode), more)
            told = _compared(rules, header, Path(old), Path(new))
            sys.stdout.buffer.write(told.encode("utf-8", "surrogateescape"))
        case _:
            raise BadInput(
                f"git called the diff driver with {len(arguments)} arguments. Run `quire git install` again."
            )
    sys.stdout.flush()
    # Anything else would end `git diff` at the first notebook.
    return 0


def _header(old: tuple[str, str], new: tuple[str, str], more: str) -> DiffHeader:
    from .unified_diff import DiffHeader, Side

    # Git writes a dot for the mode of a file that is not there.
    before, after = (Side(name, None if mode == "." else mode) for name, mode in (old, new))
    return DiffHeader(before, after, more)


def _compared(rules: str, header: DiffHeader, old: Path, new: Path) -> str:
    from ..core.diff.diff import diff
    from .unified_diff import text_by_line, unified_text

    colour = _wants_colour()
    if not all(side.mode is None or side.mode.startswith(_FILE) for side in (header.old, header.new)):
        return text_by_line(_text(old), _text(new), header, colour=colour)
    try:
        # What is in the work tree has its outputs; what git recorded has none.
        named = (old, header.old.name), (new, header.new.name)
        before, after = (strip(_read(file, name), git_rules(rules), name) for file, name in named)
        changes = diff(before, after)
    except BadInput as error:
        # Git itself would want to clean them first.
        return f"quire: {plain(str(error))}\n{text_by_line(_text(old), _text(new), header, colour=colour)}"
    return unified_text(changes, before, after, header, colour=colour)


def _read(file: Path, path: str) -> Sheet:
    data = b"" if file == _NOTHING else read_bytes(file)
    return read(decode(data, path), path) if data.strip() else Sheet()


def _text(file: Path) -> str:
    """A file as any text."""
    return "" if file == _NOTHING else read_bytes(file).decode("utf-8", "backslashreplace")


def _wants_colour() -> bool:
    """What git itself would do: its settings, and whether somebody sees it."""
    seen = sys.stdout.isatty() or os.environ.get("GIT_PAGER_IN_USE") == "true"
    asked = attempt("config", "--get-colorbool", "color.diff", str(seen).lower())
    return asked.stdout.strip() == b"true" and not os.environ.get("NO_COLOR")


def merge_driver(arguments: list[str]) -> int:
    """Merge into the second of BASE OURS THEIRS, and exit 1 when somebody has to decide. MARKER and PATH follow."""
    base, ours, theirs, marker, path = arguments
    files = Path(base), Path(ours), Path(theirs)
    try:
        versions = _version(files[0], path), _version(files[1], path), _version(files[2], path)
        merged = merge_versions(*versions, marker=int(marker))
    except BadInput as error:
        _say(str(error))
        _say(f"{path} is merged by line, as any text.")
        return _merge_by_line(files, marker)
    write_text(files[1], write(merged.sheet, path, like=versions[1].text, was=versions[1].sheet))
    return _told(merged, int(marker), path)


def _version(file: Path, path: str) -> FileRevision:
    text = decode(read_bytes(file), path)
    return FileRevision(label=path, path=path, text=text if text.strip() else None)


def _told(merged: MergeResult, marker: int, path: str) -> int:
    """The exit status, and on the way to it what is left to decide."""
    from ..core.diff.merge import MARKER

    if not merged.unresolved:
        return 0
    # Where git merges the bases of a merge first, it asks for longer markers; nobody sees what comes out.
    if marker == MARKER:
        open_ones = {conflict.cell for conflict in merged.unresolved}
        cells = [f"cell {number}" for number, cell in enumerate(merged.sheet.cells, 1) if cell.id in open_ones]
        _say(f"{path}: both sides changed {', '.join(cells)}. Both are in it: choose, save, and `git add` it.")
    return 1


def _say(message: str) -> None:
    sys.stderr.write(f"quire: {plain(message)}\n")


def _merge_by_line(files: tuple[Path, Path, Path], marker: str) -> int:
    """What git does with text: both sides between markers, so that neither is lost."""
    base, ours, theirs = files
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    done = attempt("merge-file", f"--marker-size={marker}", *labels, ours, base, theirs)
    # Past 128 git takes it for a crash and gives up on the whole merge.
    return min(done.returncode, 1)
