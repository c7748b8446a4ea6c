"""What git calls to compare two notebooks for a person, and to merge three."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import BadInput
from ..core.sheet import Sheet
from ..disk import decode, read_bytes, write_text
from ..files.formats import read, write
from ..files.plain import plain
from ..files.strip import strip
from .filter import git_rules
from .repository import attempt
from .revisions import Version, merge_versions

if TYPE_CHECKING:
    from ..core.merge import Merged

_NOTHING = Path(os.devnull)
_MOST_LINES = 20_000


def diff_driver(arguments: list[str]) -> int:
    """Print what changed in a notebook. Git's manual: PATH OLD HEX MODE NEW HEX MODE [NEW-PATH MORE]."""
    match arguments:
        case [_, path]:
            sys.stdout.write(f"* Unmerged path {path}\n")
        case [rules, path, old, _, _, new, _, _, *renamed]:
            told = _compared(rules, (path, Path(old)), ((renamed or [path])[0], Path(new)))
            sys.stdout.buffer.write(told.encode("utf-8", "surrogateescape"))
        case _:
            raise BadInput(
                f"git called the diff driver with {len(arguments)} arguments. Run `quire git install` again."
            )
    sys.stdout.flush()
    # Anything else would end `git diff` at the first notebook.
    return 0


def _compared(rules: str, old: tuple[str, Path], new: tuple[str, Path]) -> str:
    from ..core.diff import diff
    from .unified import Side, unified_text

    colour = _wants_colour()
    try:
        # What is in the work tree has its outputs; what git recorded has none.
        before, after = (strip(_read(file, path), git_rules(rules), path) for path, file in (old, new))
        changes = diff(before, after)
    except BadInput as error:
        return f"quire: {plain(str(error))}\n{_by_line(old[1], new[1])}"
    sides = [Side(None if file == _NOTHING else path, sheet) for (path, file), sheet in ((old, before), (new, after))]
    return unified_text(changes, *sides, colour=colour)


def _read(file: Path, path: str) -> Sheet:
    data = b"" if file == _NOTHING else read_bytes(file)
    return read(decode(data, path), path) if data.strip() else Sheet()


def _by_line(old: Path, new: Path) -> str:
    """The files as any text, where one of them is no notebook. Git itself would want to clean them first."""
    from difflib import unified_diff

    texts = [("" if file == _NOTHING else read_bytes(file).decode("utf-8", "backslashreplace")) for file in (old, new)]
    before, after = (text.splitlines() for text in texts)
    if max(len(before), len(after)) > _MOST_LINES:
        return "The files differ, and are too long to be compared by line.\n"
    return "".join(f"{plain(line)}\n" for line in unified_diff(before, after, "a", "b", lineterm=""))


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
    write_text(files[1], write(merged.sheet, path, like=versions[1].text))
    return _told(merged, int(marker), path)


def _version(file: Path, path: str) -> Version:
    text = decode(read_bytes(file), path)
    return Version(label=path, path=path, text=text if text.strip() else None)


def _told(merged: Merged, marker: int, path: str) -> int:
    """The exit status, and on the way to it what is left to decide."""
    from ..core.merge import MARKER

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
