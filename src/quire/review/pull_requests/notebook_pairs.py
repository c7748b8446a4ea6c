"""A script and the .ipynb beside it say the same in a commit: the one that changed decides, the other is generated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from ...core.errors import BadInput, Conflict
from ...core.sheet.sheet import Sheet
from ...disk import decode, read_bytes, write_text
from ...formats.convert import convert
from ...formats.registry import read, write
from ...formats.strip import Rules, strip
from ...git.plumbing.commit_tree import file_at
from ...git.plumbing.git_call import call, checked

FOLDER = "notebooks"
_MARKER = re.compile(rb"^# ?%%", re.MULTILINE)
_MOST_VERSIONS = 100
_FRONT = b"---\n"
_RULES = Rules(keep_kernel=False)
Cells = list[tuple[str, str]]


def is_notebook(top: Path, path: str) -> bool:
    """Whether a file of the repository is a notebook, or was one at HEAD where it is gone."""
    ending = PurePosixPath(path).suffix
    if ending == ".ipynb":
        return True
    if ending not in (".py", ".md"):
        return False
    file = top / path
    data = file.read_bytes() if file.is_file() and not file.is_symlink() else file_at("HEAD", path, top) or b""
    return looks_like_notebook(path, data)


def looks_like_notebook(path: str, data: bytes) -> bool:
    """Whether the content of a script, or of a Markdown file, is a notebook."""
    if path.endswith(".md"):
        return data.startswith(_FRONT) and b"\nparameters:" in data
    return path.endswith(".py") and _MARKER.search(data) is not None


def with_pairs(top: Path, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Return the files of a commit with the .ipynb of each script, the script of each .ipynb that has one; no outputs."""
    made = dict(files)
    for path, data in files.items():
        pure = PurePosixPath(path)
        if pure.suffix not in (".py", ".ipynb"):
            continue
        other = str(pure.with_suffix(".ipynb" if pure.suffix == ".py" else ".py"))
        if other in files and pure.suffix == ".ipynb":
            continue  # generated below, from the script
        if pure.suffix == ".ipynb" and data is not None:
            made[path] = _stripped(top, path, data)
        if other in files:
            _check_pair(top, path, files)
            made[other] = _generated(top, path, data, other)
        elif _has_pair(top, path, other, data):
            made[other] = _generated(top, path, data, other)
    return made


def _has_pair(top: Path, path: str, other: str, data: bytes | None) -> bool:
    """Whether a file is one of two: the other is there, or the file is a script among notebooks."""
    if (top / other).is_symlink():
        return False
    if file_at("HEAD", other, top) is not None:
        return True
    is_script = path.endswith(".py") and data is not None and _MARKER.search(data) is not None
    if not is_script:
        return False
    # One that git is told to ignore is nobody's to commit.
    ignored = call("check-ignore", "--quiet", "--", other, at=top).returncode == 0
    return not ignored and (PurePosixPath(path).parts[0] == FOLDER or (top / other).is_file())


def _generated(top: Path, path: str, data: bytes | None, other: str) -> bytes | None:
    if data is None:
        return None
    existing = _existing(top, other)
    text = convert(decode(data, path), path, other, existing)
    if not other.endswith(".ipynb"):
        return text.encode("utf-8", "surrogatepass")
    return _stripped(top, other, text.encode("utf-8", "surrogatepass"))


def _existing(top: Path, path: str) -> str | None:
    recorded = file_at("HEAD", path, top)
    if recorded is not None:
        return decode(recorded, path)
    file = top / path
    return decode(read_bytes(file), path) if file.is_file() and not file.is_symlink() else None


def _stripped(top: Path, path: str, data: bytes) -> bytes:
    """An .ipynb without outputs, unless the repository keeps them in this one."""
    text = decode(data, path)
    recorded = file_at("HEAD", path, top)
    if recorded is not None and any(cell.outputs for cell in _sheet(recorded, path).cells):
        return data
    sheet = read(text, path)
    bare = strip(sheet, _RULES, path)
    bare = bare if "papermill" not in bare.metadata else _without_papermill(bare)
    return data if bare is sheet else write(bare, path, like=text, was=sheet).encode("utf-8", "surrogatepass")


def _without_papermill(sheet: Sheet) -> Sheet:
    """What a run left in the metadata names paths of the machine that it ran on."""
    from msgspec.structs import replace

    return replace(sheet, metadata={key: value for key, value in sheet.metadata.items() if key != "papermill"})


def _sheet(data: bytes, path: str) -> Sheet:
    try:
        return read(decode(data, path), path)
    except BadInput:
        return Sheet()


def _check_pair(top: Path, script: str, files: Mapping[str, bytes | None]) -> None:
    """Refuse a script and an .ipynb that were both edited, and do not say the same."""
    book = str(PurePosixPath(script).with_suffix(".ipynb"))
    ours, theirs = files[script], files[book]
    if ours is None or theirs is None:
        return
    said = _as_script(theirs, book, script)
    if not any(known == said for known in _known(top, script, book, ours)):
        raise Conflict(
            f"{script} and {book} were both edited and do not say the same. Keep one: `quire convert {script} {book}` "
            f"or `quire convert {book} {script}`, then propose again."
        )


def _known(top: Path, script: str, book: str, ours: bytes) -> Iterator[Cells]:
    """What the .ipynb may say without edits of its own: what the script says, or said in any branch, or what HEAD has."""
    yield _cells(ours, script)
    recorded = file_at("HEAD", book, top)
    if recorded is not None:
        yield _as_script(recorded, book, script)
    commits = checked("rev-list", f"--max-count={_MOST_VERSIONS}", "HEAD", "--branches", "--", script, at=top).split()
    for commit in commits:
        data = file_at(commit, script, top)
        if data is not None:
            yield _cells(data, script)


def _as_script(data: bytes, book: str, script: str) -> Cells:
    # By way of the script: what a script cannot say is no difference.
    return _cells(write(_sheet(data, book), script).encode("utf-8", "surrogatepass"), script)


def _cells(data: bytes, path: str) -> Cells:
    return [(cell.kind, cell.source) for cell in _sheet(data, path).cells]


def write_generated(top: Path, files: Mapping[str, bytes | None], edited: Collection[str]) -> list[str]:
    """Have the work tree say what a commit says, of what was generated for it; outputs that are there stay. Return the paths."""
    written: list[str] = []
    for path, data in files.items():
        script, target = str(PurePosixPath(path).with_suffix(".py")), top / path
        is_generated = script in edited if path.endswith(".ipynb") else path not in edited
        if not is_generated or data is None or target.is_symlink():
            continue
        existing = decode(read_bytes(target), path) if target.is_file() else None
        source = files.get(script) if path.endswith(".ipynb") else None
        text = convert(decode(source, script), script, path, existing) if source is not None else decode(data, path)
        if text != existing:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_text(target, text)
            written.append(path)
    return written
