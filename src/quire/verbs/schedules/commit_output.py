"""The output of a scheduled run, committed to a branch by the schedule as its author, or published as a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...core.errors import BadInput
from ...core.ids import LogId
from ...core.notebook.notebook import Notebook
from ...disk import in_thread
from ...git.plumbing.branches import check_branch, commit_of, current_branch, move_branch, restore_index
from ...git.plumbing.commit_tree import commit_files
from ...git.repository import the_repository
from ...workspace.local import LocalWorkspace


async def commit_output(system: LocalWorkspace, folder: Path, name: str, run: LogId, now: Notebook, branch: str) -> str:
    """Commit the file that a run left; return the commit. The work tree is not touched, and nothing is pushed."""
    path = output_of(now)
    return await in_thread(_commit, folder, name, run, path, branch)


async def report_output(system: LocalWorkspace, folder: Path, run: LogId) -> str:
    """Publish the run as `quire report` does; return where."""
    from ...review.reports.publish import ReportOptions, publish

    made = await publish(system, folder, [run], ReportOptions(), lambda message: None)
    return f"{made.where}: {', '.join(made.paths)}"


def output_of(now: Notebook) -> str:
    """Return the path of the file that a scheduled run left, from the workspace's folder on."""
    due = now.run.due if now.run is not None else None
    if due is None or due.output is None:
        raise BadInput("The run left no file.")
    return due.output


def _commit(folder: Path, name: str, run: LogId, path: str, branch: str) -> str:
    top = the_repository(folder).top
    check_branch(branch, top)
    file = folder / path
    inside = file.resolve().relative_to(top.resolve()).as_posix()
    files: Mapping[str, bytes | None] = {inside: file.read_bytes()}
    author = (f"schedule:{name}", "quire@localhost")
    message = f"{name}: {inside}\n\nQuire-Run: {run}\n"
    tip = commit_of(f"refs/heads/{branch}", top)
    parent = tip or commit_of("HEAD", top)
    commit = commit_files(top, parent, files, message, filters=False, author=author)
    if commit != tip:
        move_branch(branch, commit, tip, top)
        if current_branch(top) == branch:
            restore_index([inside], top)
    return commit
