"""The files that a run makes, changes or removes, where a logbook's product is code: with their hashes, and what changed.

A template says which with `product`: patterns from the workspace's folder on, such as `src/**/*.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, cast

from ..core.errors import BadInput
from ..core.notebook.logbook_record import ProductFile
from ..core.sheet.sheet import Sheet
from ..formats.terminal_safe import plain

PRODUCT = "product"
MOST_FILES = 2000
MOST_BYTES = 20_000_000
MOST_DIFF = 20_000
"""Characters of one file's difference; what is longer is only counted."""
MOST_DIFFS = 200_000

Snapshot = dict[str, bytes]


def product_patterns(sheet: Sheet) -> tuple[str, ...]:
    """Return the patterns of files that a template says are its product."""
    said: Any = sheet.ours.get(PRODUCT)
    if said is None:
        return ()
    patterns = [said] if isinstance(said, str) else said
    if not isinstance(patterns, list) or not all(
        isinstance(each, str) and each for each in cast("list[Any]", patterns)
    ):
        raise BadInput(f"`{PRODUCT}` in the frontmatter is a list of patterns, such as `[src/**/*.py]`.")
    for pattern in cast("list[str]", patterns):
        path = PurePosixPath(pattern)
        if path.is_absolute() or ".." in path.parts:
            raise BadInput(f"`{PRODUCT}`: {pattern!r} leads out of the workspace's folder. Write it from there on.")
    return tuple(cast("list[str]", patterns))


def take_snapshot(root: Path, patterns: tuple[str, ...]) -> Snapshot:
    """Return what is in the files that match; hidden ones, and what lies in hidden folders, are left alone."""
    found: Snapshot = {}
    size = 0
    for path, file in sorted(_files(root, patterns)):
        size += file.stat().st_size
        if len(found) >= MOST_FILES or size > MOST_BYTES:
            raise BadInput(
                f"`{PRODUCT}` matches more than {MOST_FILES:,} files or {MOST_BYTES // 1_000_000} MB. Name fewer."
            )
        found[path] = file.read_bytes()
    return found


def _files(root: Path, patterns: tuple[str, ...]) -> set[tuple[str, Path]]:
    found: set[tuple[str, Path]] = set()
    for pattern in patterns:
        for file in root.glob(pattern):
            path = file.relative_to(root)
            if file.is_file() and not file.is_symlink() and not any(part.startswith(".") for part in path.parts):
                found.add((path.as_posix(), file))
    return found


def changed_files(before: Snapshot, after: Snapshot) -> tuple[ProductFile, ...]:
    """Return the files that are not as they were."""
    left = MOST_DIFFS
    made: list[ProductFile] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        diff = _diff(path, old, new)
        if len(diff) > min(left, MOST_DIFF):
            diff = f"{diff.count(chr(10)):,} lines of differences are left out."
        left -= len(diff)
        made.append(
            ProductFile(
                path=path,
                change="made" if old is None else "removed" if new is None else "changed",
                digest=sha256(new).hexdigest() if new is not None else None,
                size=len(new) if new is not None else 0,
                diff=diff,
            )
        )
    return tuple(made)


def _diff(path: str, old: bytes | None, new: bytes | None) -> str:
    try:
        texts = [side.decode() if side is not None else "" for side in (old, new)]
    except UnicodeDecodeError:
        return ""
    return "".join(_lines(path, *texts))


def _lines(path: str, old: str, new: str) -> Iterator[str]:
    for line in unified_diff(plain(old).splitlines(), plain(new).splitlines(), f"a/{path}", f"b/{path}", lineterm=""):
        yield f"{line}\n"
