"""Executed notebooks go where people read them: a branch of reports, `runs/` on the current branch, or object storage."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ...connection import remote_file, shown_address
from ...core.errors import BadInput, NotFound
from ...disk import MOST_BYTES, check_writable, in_thread, write_text
from ...git.plumbing.branches import check_not_default, commit_of, current_branch, move_branch, restore_index
from ...git.plumbing.commit_tree import commit_files, file_at
from ...git.plumbing.remote import Remote, default_branch, find_remote
from ...git.repository import find_repository, the_repository
from ...workspace.protocol import Workspace
from ..forges.find_forge import push_credentials
from ..redactor import Redactor
from .index_page import LIST, IndexFormat, index_files, read_list, with_entries
from .report_branch import BRANCH, push_files
from .report_entry import Report, ReportEntry, report_of

HERE = "here"
FOLDER = "runs"
Tell = Callable[[str], None]


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where reports go, and for how long."""

    commit: str = BRANCH
    """The branch; `here`: `runs/` on the branch that is checked out."""
    to: str | None = None
    """An address in object storage; then nothing is committed."""
    index: IndexFormat | None = None
    """What kind of index. None: Markdown on a branch, which forges show, and a page elsewhere."""
    keep_last: int | None = None
    """Only so many of each notebook stay; None: all, for ever."""
    remote: str | None = None
    push: bool = True


class PublishedReports(msgspec.Struct, frozen=True, kw_only=True):
    """What was published."""

    where: str
    """BRANCH at a remote, a folder, or an address."""
    commit: str | None
    paths: list[str]
    removed: list[str] = []
    pushed: bool = False


async def publish(
    workspace: Workspace, at: Path, names: Sequence[str], options: ReportOptions, tell: Tell
) -> PublishedReports:
    """Publish executed notebooks (files or runs), with an index of all that is published there."""
    repository = find_repository(at)
    redactor = Redactor(repository.top if repository is not None else at, os.environ)
    reports = [await report_of(workspace, name, redactor) for name in names]
    if options.to is not None:
        return await in_thread(_to_storage, options.to, reports, options)
    top = the_repository(at).top
    if options.commit == HERE:
        return _here(top, reports, options)
    return await in_thread(_to_branch, top, reports, options, tell)


# ---- A branch that is never checked out


def _to_branch(top: Path, reports: list[Report], options: ReportOptions, tell: Tell) -> PublishedReports:
    remote = _remote(top, options)
    if options.commit == current_branch(top):
        raise BadInput(f"{options.commit} is checked out here. Name another branch, or pass --commit here.")
    if remote is not None:
        check_not_default(options.commit, default_branch(remote, top))
    removed: list[str] = []

    def files(parent: str | None) -> Mapping[str, bytes | None]:
        known = read_list(file_at(parent, LIST, top) if parent is not None else None, f"{LIST} on {options.commit}")
        made, gone = _files(known, reports, options, "markdown")
        removed[:] = gone
        there = [path for path in gone if parent is not None and file_at(parent, path, top) is not None]
        return {**made, **dict.fromkeys(there)}

    names = ", ".join(report.entry.name for report in reports)
    credentials = push_credentials(remote, top, os.environ) if remote is not None else None
    commit = push_files(top, remote, options.commit, files, f"report: {names}\n", credentials)
    where = f"{options.commit} at {remote.shown}" if remote is not None else options.commit
    tell(f"Published {len(reports)} on {where}")
    return PublishedReports(
        where=where, commit=commit, paths=_paths(reports), removed=removed, pushed=remote is not None
    )


def _remote(top: Path, options: ReportOptions) -> Remote | None:
    if not options.push:
        return None
    try:
        return find_remote(top, options.remote)
    except BadInput:
        if options.remote is not None:
            raise
        return None


def _files(
    known: list[ReportEntry], reports: list[Report], options: ReportOptions, usual: IndexFormat
) -> tuple[dict[str, bytes], list[str]]:
    """The files to write, and the paths of those that go."""
    entries = with_entries(known, [report.entry for report in reports], options.keep_last)
    stays = {path for entry in entries for path in (entry.path, entry.page)}
    made = {path: data for report in reports for path, data in report.files.items() if path in stays}
    gone = [path for entry in known for path in (entry.path, entry.page) if path not in stays]
    return {**made, **index_files(entries, options.index or usual)}, gone


def _paths(reports: list[Report]) -> list[str]:
    return [report.entry.path for report in reports]


# ---- The work tree


def _here(top: Path, reports: list[Report], options: ReportOptions) -> PublishedReports:
    """Write to `runs/` and commit it on the branch that is checked out; that is pushed with everything else."""
    branch, head = current_branch(top), commit_of("HEAD", top)
    if branch is None or head is None:
        raise BadInput("HEAD is detached, so there is no branch to commit to. Switch to one: git switch BRANCH.")
    folder = top / FOLDER
    known = read_list((folder / LIST).read_bytes() if (folder / LIST).is_file() else None, f"{FOLDER}/{LIST}")
    made, gone = _files(known, reports, options, "markdown")
    for path, data in made.items():
        check_writable(folder / path)
        write_text(folder / path, data.decode("utf-8", "surrogatepass"))
    for path in gone:
        (folder / path).unlink(missing_ok=True)
    names = ", ".join(report.entry.name for report in reports)
    files: dict[str, bytes | None] = {f"{FOLDER}/{path}": data for path, data in made.items()}
    files |= {f"{FOLDER}/{path}": None for path in gone if file_at(head, f"{FOLDER}/{path}", top) is not None}
    commit = commit_files(top, head, files, f"report: {names}\n", filters=False)
    if commit != head:
        move_branch(branch, commit, head, top)
        restore_index(list(files), top)
    paths = [f"{FOLDER}/{path}" for path in _paths(reports)]
    return PublishedReports(where=f"{FOLDER}/ on {branch}", commit=commit, paths=paths, removed=gone)


# ---- Object storage


def _to_storage(to: str, reports: list[Report], options: ReportOptions) -> PublishedReports:
    base = to.rstrip("/")
    if "://" not in base:
        raise BadInput(f"{to!r} is no address in object storage. Write s3://bucket/prefix; or leave --to out.")
    try:
        data = remote_file(f"{base}/{LIST}", os.environ).read(MOST_BYTES)
    except NotFound:
        data = None
    made, gone = _files(read_list(data, f"{shown_address(base)}/{LIST}"), reports, options, "html")
    # The list comes last: what it names is there by then.
    for path in sorted(made, key=lambda path: path == LIST):
        remote_file(f"{base}/{path}", os.environ).write(io.BytesIO(made[path]))
    return PublishedReports(where=shown_address(base), commit=None, paths=_paths(reports), removed=gone, pushed=True)
