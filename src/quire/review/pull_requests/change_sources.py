"""What is proposed: changed files, a live notebook, a run that was fixed, or a proposal, each as files of a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ...core.errors import BadInput, NotFound, QuireError, Refused
from ...core.events import CellChange
from ...core.ids import LogId, resolve
from ...core.notebook.logbook_record import LogbookMark, logbook_of
from ...core.notebook.notebook import Notebook, Proposal
from ...core.rules.cell_rules import as_carried_over, completed
from ...core.rules.context import SubmissionContext
from ...core.sheet.conversion import sheet_of
from ...core.sheet.sheet import Sheet
from ...core.values import Json
from ...disk import decode, read_bytes
from ...formats import registry
from ...formats.starter_notebook import slug
from ...git.plumbing.commit_tree import file_at
from ...git.plumbing.git_call import checked
from ...runs.fix.run_fix import as_written, fix_of, fixed
from ...runs.fix.run_source import source_path
from ...runs.locations import is_remote, is_standard
from ...runs.records.run_records import run_of
from ...runs.records.run_snapshot import as_left
from ...workspace.clock import now
from ...workspace.protocol import Workspace
from .notebook_pairs import is_notebook, with_pairs

Kind: TypeAlias = Literal["files", "notebook", "run", "proposal"]
_FOLDER = "notebooks"


class ChangeSource(msgspec.Struct, frozen=True, kw_only=True):
    """What is proposed: the files of a commit, and where they come from."""

    kind: Kind
    files: dict[str, bytes | None]
    """Path in the repository to content; None: the file goes."""
    notebooks: tuple[str, ...]
    """The paths that are run, and shown to people: of a pair the source."""
    edited: tuple[str, ...] = ()
    """Of the files those that somebody edited in the work tree; the others are generated."""
    subject: str
    """What it is about, in a word: the stem of the notebook."""
    why: str = ""
    by: str | None = None
    """Who made the change, where that is on record; else it is who proposes it."""
    on_behalf_of: str | None = None
    parameters: dict[str, Json] = {}
    """With which the fixed run was run."""


async def gather(workspace: Workspace, folder: Path | None, top: Path, names: Sequence[str]) -> ChangeSource:
    """Return what `names` mean: files first, then proposals, then notebooks and runs; without names all notebooks that changed."""
    if not names:
        return _of_files(top, changed_notebooks(top))
    if all(_is_file(top, name) for name in names):
        return _of_files(top, [_in_repository(top, name) for name in names])
    if len(names) > 1:
        odd = next(name for name in names if not _is_file(top, name))
        raise BadInput(f"{odd} is no file of the repository. Name files, or one notebook, run or proposal.")
    return await _of_workspace(workspace, folder, top, names[0])


def _is_file(top: Path, name: str) -> bool:
    """Whether a name is that of a file that is there, or was at HEAD."""
    if Path(name).is_file():
        return True
    try:
        return file_at("HEAD", _in_repository(top, name), top) is not None
    except QuireError:
        return False


def _in_repository(top: Path, name: str) -> str:
    file = Path(name)
    try:
        return (file.parent.resolve() / file.name).relative_to(top.resolve()).as_posix()
    except ValueError:
        raise BadInput(f"{name} is not in the repository. Name a file inside it.") from None


# ---- Files


def of_files(top: Path, *files: Path) -> ChangeSource:
    """Return files of the work tree, with those that are generated from them."""
    return _of_files(top, [_in_repository(top, str(file)) for file in files])


def changed_notebooks(top: Path) -> list[str]:
    """Return the notebooks of the work tree that differ from HEAD: changed, new and removed ones."""
    told = checked("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", at=top)
    paths = [line[3:] for line in told.split("\0") if len(line) > 3]
    return [path for path in paths if not path.startswith("runs/") and "/runs/" not in path and is_notebook(top, path)]


def _of_files(top: Path, paths: Sequence[str]) -> ChangeSource:
    contents = {path: _content(top, path) for path in paths}
    files = with_pairs(top, contents)
    notebooks = tuple(_sources(path for path in files if is_notebook(top, path)))
    named = notebooks or tuple(files)
    subject = Path(named[0]).stem if len(named) == 1 else "notebooks"
    return ChangeSource(kind="files", files=files, notebooks=notebooks, edited=tuple(contents), subject=subject)


def _content(top: Path, path: str) -> bytes | None:
    file = top / path
    if file.is_symlink():
        raise BadInput(f"{path} is a link. Propose the file that it leads to.")
    return read_bytes(file) if file.is_file() else None


def _sources(paths: Iterable[str]) -> Iterator[str]:
    """Of a script and its .ipynb only the script."""
    known = list(dict.fromkeys(paths))
    for path in known:
        script = str(Path(path).with_suffix(".py"))
        if script == path or script not in known:
            yield path


# ---- What the workspace knows


async def _of_workspace(workspace: Workspace, folder: Path | None, top: Path, name: str) -> ChangeSource:
    if (found := await _proposal(workspace, name)) is not None:
        log, proposal = found
        return await _of_proposal(workspace, folder, top, log, proposal)
    try:
        info = await workspace.find(name)
    except NotFound as error:
        told = f"{name} is no file, notebook, run or proposal"
        raise NotFound(f"{told}. ({error}) `quire list` and `git status` show what there is.") from None
    notebook = await workspace.read(info.log)
    mark = logbook_of(notebook)
    if mark is not None and mark.files:
        return _of_logbook(folder, top, info.log, notebook, mark)
    if notebook.run is not None:
        return await _of_run(workspace, folder, top, info.log, notebook)
    return of_notebook(folder, top, notebook)


def of_notebook(folder: Path | None, top: Path, notebook: Notebook, why: str = "") -> ChangeSource:
    """Return a notebook as the files that it is bound to, or would get."""
    return replace(_as_files(top, _path_of(folder, top, notebook), sheet_of(notebook, {})), why=why)


async def _proposal(workspace: Workspace, name: str) -> tuple[LogId, str] | None:
    """The log and the id of a proposal; None: no open one is called so."""
    if len(name) < 4 or not name.isalnum():
        return None
    known: dict[str, LogId] = {}
    for info in await workspace.logs("notebook"):
        read = await workspace.read(info.log)
        known |= {id: info.log for id, each in read.proposals.items() if each.state == "open"}
    try:
        found = resolve(name, known, "proposal")
    except (NotFound, BadInput):
        return None
    return known[found], found


async def _of_proposal(workspace: Workspace, folder: Path | None, top: Path, log: LogId, id: str) -> ChangeSource:
    notebook = await workspace.read(log)
    proposal = next(each for name, each in notebook.proposals.items() if name == id)
    after = _after(notebook, proposal, proposal.changes)
    path = _path_of(folder, top, notebook)
    made = _as_files(top, path, sheet_of(after, {}))
    return replace(made, kind="proposal", why=proposal.why, by=proposal.by, on_behalf_of=proposal.on_behalf_of)


def _after(notebook: Notebook, proposal: Proposal, changes: tuple[CellChange, ...]) -> Notebook:
    """The notebook as it would be after a yes: as the changes apply now."""
    asking = SubmissionContext(actor=proposal.by, at=now(), seq=notebook.seq)
    return completed(notebook, as_carried_over(notebook, changes, proposal.seq), asking)[1].notebook()


async def _of_run(workspace: Workspace, folder: Path | None, top: Path, log: LogId, now: Notebook) -> ChangeSource:
    run = run_of(now)
    if run.is_open:
        raise Refused(f"Run {log} is {run.status}: what was fixed in it can be proposed once it is over.")
    fix = fix_of(await as_left(workspace, log, now), now)
    if fix.is_empty:
        raise BadInput(f"Run {log} is as it ended: no cell of it says anything else. Change one, then propose it.")
    source = run.source
    if source.path is None and source.notebook is not None:
        live = await workspace.read(source.notebook)
        path, before = _path_of(folder, top, live), sheet_of(live, {})
    elif source.path is None or is_standard(source.path) or is_remote(source.path):
        raise BadInput(
            f"Run {log} was of no file in the repository. `quire export {log} FILE` writes the fixed notebook."
        )
    else:
        base = _folder(folder, top)
        path = _in_repository(top, str(base / source_path(base, log, run, source.path)))
        before = registry.read(decode(read_bytes(top / path), path), path)
    cells = fixed(fix, as_written(before), frozenset(), path).cells
    made = _as_files(top, path, replace(before, cells=cells))
    authors = [cell.author for cell in now.live_cells if cell.after_run]
    return replace(
        made,
        kind="run",
        why=f"Fixed in run {log}, which ended as {run.status}.",
        by=authors[0] if authors else None,
        parameters=dict(run.parameters),
    )


def _of_logbook(folder: Path | None, top: Path, log: LogId, now: Notebook, mark: LogbookMark) -> ChangeSource:
    """What a logbook made whose product is files, as it left them, with the run's own file."""
    run, base = run_of(now), _folder(folder, top)
    if not (base / mark.template).is_file():
        base = top  # the store is elsewhere, and the repository has the logbook
    if run.is_open:
        raise Refused(f"Run {log} is {run.status}: what it made can be proposed once it is over.")
    files: dict[str, bytes | None] = {}
    for made in mark.files:
        path = _in_repository(top, str(base / made.path))
        data = _content(top, path)
        if (sha256(data).hexdigest() if data is not None else None) != made.digest:
            told = f"{made.path} is no longer as run {log} left it, and nobody would know whose work is proposed"
            raise Refused(f"{told}. Run the logbook again, or propose the file itself: quire propose {made.path}.")
        files[path] = data
    if mark.export is not None:
        path = _in_repository(top, str(base / mark.export))
        files[path] = _content(top, path)
    subject = Path(mark.template).stem
    why = f"{mark.request}\n\nMade by run {log} of {mark.template}, which ended as {run.status}.".strip()
    notebooks = tuple(_sources(path for path in files if "runs" not in Path(path).parts and is_notebook(top, path)))
    edited = tuple(files)
    return ChangeSource(
        kind="files", files=files, notebooks=notebooks, edited=edited, subject=subject, why=why, by=run.by
    )


def _path_of(folder: Path | None, top: Path, notebook: Notebook) -> str:
    """The file in the repository that a notebook is bound to, or would get."""
    if notebook.binding is None:
        return f"{_FOLDER}/{slug(notebook.name)}.py"
    return _in_repository(top, str(_folder(folder, top) / notebook.binding.path))


def _folder(folder: Path | None, top: Path) -> Path:
    return folder if folder is not None else top


def _as_files(top: Path, path: str, sheet: Sheet) -> ChangeSource:
    """A notebook as the file that it is to be, written like the one that is there."""
    data = _content(top, path)
    if data is None:
        data = file_at("HEAD", path, top)
    text = decode(data, path) if data is not None else None
    registry.check_language(sheet, path)
    written = registry.write(sheet, path, like=text, was=registry.read(text, path) if text else None)
    files = with_pairs(top, {path: written.encode("utf-8", "surrogatepass")})
    return ChangeSource(kind="notebook", files=files, notebooks=(path,), subject=Path(path).stem)
