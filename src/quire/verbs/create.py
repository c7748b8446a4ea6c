"""Making a notebook of the cells that a batch inserts: in the store, or as a file with a notebook bound to it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from ..core.edits.edit_plan import EditPlan, plan
from ..core.errors import NotFound, Refused
from ..core.events import Draft, NotebookCreated
from ..core.ids import LogId, check_name, new_cell_ids
from ..core.notebook.notebook import Notebook
from ..core.rules.acceptance import SubmissionContext
from ..core.rules.cell_rules import completed
from ..core.sheet.conversion import sheet_of
from ..formats import registry
from ..workspace.clock import new_id, now
from ..workspace.identity.identities import check_scope
from .answers.answer import Here
from .arguments import EditArguments
from .run import chosen

BOUND = (".py", ".md", ".ipynb")
"""The endings of a name that say which file a new notebook is to be bound to."""
_NOTHING = EditPlan(changes=(), touched=(), changed=(), removed=(), inserted={})
_LIKE_AN_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{20,26}")


class CreatedNotebook(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook that was made."""

    log: LogId
    path: str | None = None
    """The file that it is bound to."""


def check_may_make(here: Here, name: str) -> None:
    """Refuse to make a notebook where that is not what was meant, or not allowed."""
    if _LIKE_AN_ID.fullmatch(name):
        raise NotFound(
            f"There is no notebook {name}. A new one is made by its name, not by an id. find() lists notebooks."
        )
    identity = here.workspace.identity
    check_scope(identity, "edit")
    if here.folder is not None and registry.ending_of(name) in BOUND:
        check_scope(identity, "bind")
    if identity.notebooks is not None:
        told = f"There is no notebook {name!r}, and the token of {identity.actor} is for some notebooks only"
        raise Refused(f"{told}: it cannot make one. find() lists those that it is for.")
    if "edit" in identity.asks:
        raise Refused(
            f"There is no notebook {name!r}, and {identity.actor} has to ask before it may edit: a new notebook cannot be "
            "proposed. Ask somebody to make it, or edit one that is there (find lists them)."
        )


async def made(here: Here, wanted: EditArguments) -> CreatedNotebook:
    """Make a notebook with the cells of a batch that does nothing but insert; an empty one, if that has no operations."""
    name = wanted.notebook
    check_name(name, "A notebook's name")
    empty = Notebook(seq=1, name=name)
    ids = new_cell_ids(len(wanted.edits), (), os.urandom)
    planned = plan(empty, wanted.edits, iter(ids), check=wanted.check) if wanted.edits else _NOTHING
    asking = SubmissionContext(actor=here.workspace.identity.actor, at=now(), seq=1)
    then = completed(empty, planned.changes, asking)[1].notebook()
    chosen(then, wanted.run, planned.changed)  # what cannot run is told before anything is there
    if here.folder is not None and registry.ending_of(name) in BOUND:
        return await _made_of_file(here, here.folder, name, registry.write(sheet_of(then, {}), name))
    log = LogId(new_id())
    events = (NotebookCreated(name=name), *planned.changes)
    await here.workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])
    return CreatedNotebook(log=log)


async def _made_of_file(here: Here, folder: Path, name: str, text: str) -> CreatedNotebook:
    from ..actors.mirror import path_in
    from ..runs.fix.run_source import new_file

    source = await new_file(here.workspace, folder, path_in(folder, folder / name), text)
    return CreatedNotebook(log=source.log, path=source.path)
