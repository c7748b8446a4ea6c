"""Plain functions for agent frameworks: make, edit and execute notebook files, by plain values.

They take and return what JSON can say, and raise one of the six errors; a cell that fails is a
status, no error. `agent_functions` has the schemas that models are shown. A file that is bound to
a notebook is edited by way of that notebook, so that others who work in it see who did what.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict, cast

import msgspec

from ..actors.mirror import mirror_once, path_in
from ..connection import FOLDER, connect, connect_store, find_folder, new_folder
from ..core.edits.operations import Replace, check_source
from ..core.errors import BadInput
from ..core.ids import LogId
from ..core.notebook.notebook import Cell
from ..core.sheet.sheet import SheetCell
from ..core.text import source_hash
from ..core.values import Json
from ..disk import check_writable
from ..formats import registry
from ..formats.convert import with_kernel
from ..formats.starter_notebook import drafted, slug, title_of
from ..runs.api import run, wait_for
from ..runs.notebook_inspection import as_json
from ..workspace.local import LocalWorkspace
from .answers.answer import Here
from .arguments import EditArguments
from .create import BOUND
from .edit import edit
from .unbound_files import checked_base, edit_file, place_of, read_sheet, write_beside, write_new

MOST_TASK = 20_000
"""Characters of a task: more is not a task, but what it is about."""
_MOST_PATH = 4096
_MOST_BRANCH = 200


class AgentFunction(TypedDict):
    """A function for an agent: what a model is shown of it, and what is called."""

    name: str
    description: str
    parameters: dict[str, Json]
    """A JSON schema: of OpenAI's tools `parameters`, of Anthropic's `input_schema`."""
    function: Callable[..., dict[str, Any]]


class _Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell is to say."""

    cell: str | int
    source: str
    base: str | None


def notebook_create(task_description: str, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Write a new notebook for a task, ready to be filled in: title, narrative, parameters, steps, results.

    Without `path` it is named by the task, in `notebooks/` where there is such a folder. Nothing is ever replaced.
    """
    task = _text(task_description, "task_description")
    if not task.strip() or len(task) > MOST_TASK:
        raise BadInput(f"task_description is 1 to {MOST_TASK:,} characters that say what the notebook is for.")
    check_source(task)
    sheet = drafted(task)
    if path is None:
        folder = Path("notebooks") if Path("notebooks").is_dir() else Path()
        check_writable(folder / "notebook.py")
        written = write_beside(folder, slug(title_of(task)), registry.write(sheet, "new.py"))
    else:
        written = _path(path)
        if registry.ending_of(str(written)) not in BOUND:
            raise BadInput(f"{written}: a notebook ends in {', '.join(BOUND)}. Name it so.")
        is_ipynb = registry.format_of(str(written)) == "ipynb"
        write_new(written, registry.write(with_kernel(sheet) if is_ipynb else sheet, str(written)))
    return {"path": str(written), "cells": [_told(cell) for cell in read_sheet(written).cells]}


def notebook_edit(
    path: str | os.PathLike[str], cell: str | int, new_source: str, base_hash: str | None = None
) -> dict[str, Any]:
    """Give a cell of a notebook file another source.

    `cell` is a name, an id or its beginning, or an index from 0, which needs `base_hash`: the hash, or its
    beginning, of the source that was read. With it, a cell that says something else by now is refused, with its text.
    """
    file, source = _path(path), _text(new_source, "new_source")
    if isinstance(cell, bool) or not isinstance(cell, str | int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"cell is a name, an id or an index, not {type(cell).__name__}.")
    base = checked_base(_text(base_hash, "base_hash") if base_hash is not None else None)
    wanted = _Edit(cell=cell, source=source, base=base)
    where = _workspace_of(file)
    found = wait_for(lambda _: _edited_live(file, where, wanted)) if where is not None else None
    return found or {"path": str(file), "cell": _told(edit_file(file, cell, source, base))}


def notebook_execute(
    path: str | os.PathLike[str], parameters: dict[str, Any] | None = None, timeout: float | None = None
) -> dict[str, Any]:
    """Run a notebook file from top to bottom in a new kernel, keep the record, and return the outcome.

    `timeout` is in seconds, for all of it. A cell that fails is a status, never an exception.
    """
    if parameters is not None and not _is_named(parameters):
        raise BadInput('parameters is an object, name to value, such as {"month": "2026-10"}.')
    if timeout is not None and not _is_seconds(timeout):
        raise BadInput(f"timeout is a number of seconds above 0, not {timeout!r}.")
    return as_json(run(_path(path), None, parameters, timeout=timeout, progress_bar=False, check=False))


def notebook_commit(path: str | os.PathLike[str], message: str, branch: str | None = None) -> dict[str, Any]:
    """Commit a notebook file and its generated .ipynb, and push them: to `branch`, or the current one; never the default one."""
    from ..review.pull_requests.commit_notebook import commit_notebook

    made = commit_notebook(_path(path), _text(message, "message"), _branch(branch) if branch is not None else None)
    return msgspec.to_builtins(made)


def notebook_pr(branch: str, title: str, description: str = "") -> dict[str, Any]:
    """Open the pull request of a branch, or update it: its notebooks are run before and after, with results side by side."""
    from ..review.pull_requests.propose_change import ProposeOptions, propose_branch

    options = ProposeOptions(title=_text(title, "title"), body=_text(description, "description") or None)
    name = _branch(branch)

    async def proposed() -> dict[str, Any]:
        workspace = await connect(None)
        try:
            return msgspec.to_builtins(await propose_branch(workspace, Path.cwd(), name, options, lambda line: None))
        finally:
            await workspace.close()

    return wait_for(lambda _: proposed())


# ---- What is given


def _branch(value: object) -> str:
    text = _text(value, "branch")
    if not text or len(text) > _MOST_BRANCH:
        raise BadInput("branch is the name of a branch, such as agent/fix-threshold.")
    return text


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{what} is text, not {type(value).__name__}.")
    return value


def _path(value: object) -> Path:
    text: object = os.fspath(cast("os.PathLike[str]", value)) if isinstance(value, str | os.PathLike) else None
    if isinstance(text, str) and 0 < len(text) <= _MOST_PATH and "\0" not in text:
        return Path(text)
    raise BadInput(f"path is the path of a notebook file, such as notebooks/sales.py, not {text!r:.80}.")


def _is_named(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in cast("dict[object, object]", value))


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def _told(cell: SheetCell | Cell) -> dict[str, Json]:
    return {"id": cell.id, "name": cell.name, "kind": cell.kind, "hash": source_hash(cell.source)}


# ---- A file that a notebook is bound to


def _workspace_of(file: Path) -> tuple[str, Path] | None:
    """Where the notebook would be that a file is bound to, and the folder that its path is relative to."""
    where = os.environ.get("QUIRE_URL", "")
    if not file.is_file() or where.partition("://")[0] in ("http", "https"):
        return None
    if "://" in where:
        here = Path.cwd()
        return where, (find_folder(here) or new_folder(here)).parent.resolve()
    found = Path(where).absolute() / FOLDER if where else find_folder(file.resolve().parent)
    return (str(found.parent), found.parent.resolve()) if found is not None and found.is_dir() else None


async def _edited_live(file: Path, where: tuple[str, Path], edit: _Edit) -> dict[str, Any] | None:
    """Edit the notebook that a file is bound to, and the file with it; None where it is bound to none."""
    url, folder = where
    try:
        path = path_in(folder, file)
    except BadInput:  # it lies elsewhere, or where no notebook is bound to
        return None
    workspace = await connect_store(url)
    try:
        log = await workspace.bound_to(path)
        return None if log is None else await _edited_in(workspace, folder, log, edit) | {"path": str(file)}
    finally:
        await workspace.close()


async def _edited_in(workspace: LocalWorkspace, folder: Path, log: LogId, wanted: _Edit) -> dict[str, Any]:
    may_mirror = not workspace.identity.asks
    if may_mirror:
        await mirror_once(workspace, folder, log)
    cells = list((await workspace.read(log)).live_cells)
    found = cells[place_of(cells, wanted.cell, wanted.base)]
    base = wanted.base or source_hash(found.source)
    replaced = Replace(cell=found.id, base=base, source=wanted.source)
    answer = await edit(Here(workspace=workspace), EditArguments(notebook=log, edits=(replaced,)))
    if may_mirror:
        await mirror_once(workspace, folder, log)
    if "proposal" in answer.facts:
        return {"notebook": log, "proposal": answer.facts["proposal"], "cell": _told(found)}
    return {"notebook": log, "cell": _told((await workspace.read(log)).cells[found.id])}


# ---- For models


def agent_functions() -> list[AgentFunction]:
    """Return the functions with what a model is shown of them: name, description and the JSON schema of the arguments."""
    return [
        {"name": function.__name__, "description": said, "parameters": _schema(arguments), "function": function}
        for function, said, arguments in _FUNCTIONS
    ]


def _schema(arguments: dict[str, Json]) -> dict[str, Json]:
    properties = {name.rstrip("?"): schema for name, schema in arguments.items()}
    required: list[Json] = [name for name in arguments if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_PATH: Json = {"type": "string", "description": "Of the notebook file: .py, .md or .ipynb."}
# An argument whose name ends in ? may be left out.
_FUNCTIONS: tuple[tuple[Callable[..., dict[str, Any]], str, dict[str, Json]], ...] = (
    (
        notebook_create,
        "Write a new notebook for a task: title, narrative, a cell for parameters, a cell per step (the list items of the "
        "task), results. Returns its path and its cells with names and hashes; fill them in with notebook_edit. "
        'Example: {"task_description": "Rank cities by sales.\\n- load sales.csv\\n- rank cities"}',
        {
            "task_description": {"type": "string", "description": "What the notebook is for, in Markdown."},
            "path?": {"type": "string", "description": "Where, ending in .py. Left out: named by the task."},
        },
    ),
    (
        notebook_edit,
        "Replace the source of one cell of a notebook. Refused, with the present source, if base_hash is given and the cell "
        "says something else by now; refused if it is Python that does not parse. Returns the cell's new hash. "
        'Example: {"path": "notebooks/sales.py", "cell": "step-1", "new_source": "rows = load()", "base_hash": "a1b2c3d4"}',
        {
            "path": _PATH,
            "cell": {
                "anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}],
                "description": "Name or id; or an index from 0, which needs base_hash.",
            },
            "new_source": {"type": "string"},
            "base_hash?": {
                "type": "string",
                "pattern": "^#?[0-9a-f]{6,64}$",
                "description": "Hash (or its beginning) of the source that you read.",
            },
        },
    ),
    (
        notebook_execute,
        "Run a whole notebook in a new kernel and return the outcome: status (success, or error, timeout, …), run, "
        "scraps (its results), failed_cell with source and traceback. "
        'Example: {"path": "notebooks/sales.py", "parameters": {"month": "2026-10"}, "timeout": 300}',
        {
            "path": _PATH,
            "parameters?": {"type": "object", "description": "Name to value."},
            "timeout?": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds for all of it."},
        },
    ),
    (
        notebook_commit,
        "Commit a notebook and the .ipynb generated from it, and push them to a branch: the given one, which is made if it is "
        "not there, or the current one, never the default one. Returns branch and commit. "
        'Example: {"path": "notebooks/sales.py", "message": "fix(sales): count each row once", "branch": "agent/sales"}',
        {
            "path": _PATH,
            "message": {"type": "string", "description": "A conventional commit: what changes, and why."},
            "branch?": {"type": "string", "description": "Left out: the current branch."},
        },
    ),
    (
        notebook_pr,
        "Open the pull request of a branch, or update the one that is open: its notebooks are run before and after, and results "
        "stand side by side. A person merges. Returns url, status (success or failure), checks and results. "
        'Example: {"branch": "agent/sales", "title": "Count each row once", "description": "Rows were merged twice."}',
        {
            "branch": {"type": "string"},
            "title": {"type": "string"},
            "description?": {"type": "string", "description": "Why, in Markdown. End it with `Refs #N` for an issue."},
        },
    ),
)
