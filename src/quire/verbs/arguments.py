"""What a verb can be asked for. The JSON schemas that agents see are made from these.

Every call names its notebook: there is no current one. Docstrings and descriptions here are
paid for in tokens by every agent, each time: keep them short, and let the example speak.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..core.edits.operations import CellName, Operation, Operations
from ..core.values import Json

MOST_SECONDS = 25.0
"""No answer takes longer: the work goes on, and a cursor says where to go on reading."""

Budget: TypeAlias = Annotated[int, Meta(ge=100, le=50_000, description="Tokens to spend on the answer.")]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=MOST_SECONDS, description="Wait so long for the end.")]
NotebookName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500, description="Name, id or path.")]
Cursor: TypeAlias = Annotated[int, Meta(ge=0, description="Only what changed after this cursor.")]


class VerbArguments(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The arguments of a verb."""


class FindArguments(VerbArguments, frozen=True, kw_only=True):
    """Find notebooks, runs and cells."""

    query: str = ""
    kind: Literal["all", "notebook", "run", "cell", "file"] = "all"
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


View: TypeAlias = Annotated[Literal["outline", "source", "full"], Meta(description="Default: outline; of cells, full.")]


class ReadArguments(VerbArguments, frozen=True, kw_only=True):
    """Read a notebook or run."""

    notebook: NotebookName
    view: View | None = None
    cells: tuple[CellName, ...] = ()
    since: Cursor | None = None
    budget: Budget = 3000


class OutputArguments(VerbArguments, frozen=True, kw_only=True):
    """Read what a cell showed, page by page; or search in it; or look at an image."""

    notebook: NotebookName
    of: Annotated[str, Meta(min_length=1, max_length=300, description="A handle CELL.N@SEQ from an answer, or a cell.")]
    at: Annotated[int, Meta(description="Character to begin at; negative: from the end.")] = 0
    find: Annotated[str, Meta(description="Regular expression: matching lines instead of a page.")] | None = None
    budget: Budget = 2000


Cells: TypeAlias = Literal["changed", "stale", "all"] | tuple[CellName, ...]
"""`changed`: what this edit touched (of `run`: what never ran as it is now); `stale`: those, and all that stands on them."""


Why: TypeAlias = Annotated[str, Meta(max_length=2000, description="For the person, where you have to ask.")]


class EditArguments(VerbArguments, frozen=True, kw_only=True):
    """Change cells, all or nothing; a notebook that is not there is made."""

    notebook: NotebookName
    edits: Operations
    run: Cells = ()
    why: Why = ""
    seconds: Seconds = 20
    check: Annotated[bool, Meta(description="Refuse Python that does not parse.")] = True
    budget: Budget = 2000


class RunArguments(VerbArguments, frozen=True, kw_only=True):
    """Run cells in the living kernel; with `parameters` or `fresh`, the whole notebook in a new one, as a run."""

    notebook: NotebookName
    cells: Cells = "stale"
    parameters: dict[str, Json] | None = None
    fresh: bool = False
    request: Annotated[str, Meta(description="Begin a logbook's template: the user's words, whole.")] | None = None
    sources: Annotated[dict[str, str], Meta(description="Of parameters you worked out: from where.")] = {}
    approve: Annotated[bool, Meta(description="Each step waits for a person.")] = False
    why: Why = ""
    seconds: Seconds = 20
    budget: Budget = 2000


class WaitArguments(VerbArguments, frozen=True, kw_only=True):
    """Wait for what runs or was proposed or for a comment, and read what changed since a cursor."""

    notebook: NotebookName
    since: Cursor | None = None
    proposal: Annotated[str, Meta(description="Wait for the answer to this one; #N: to a pull request.")] | None = None
    comment: Annotated[bool, Meta(description="Wait until a comment addresses you.")] = False
    seconds: Seconds = 20
    budget: Budget = 2000


class ExecuteArguments(VerbArguments, frozen=True, kw_only=True):
    """Run code in the notebook's kernel without a cell. It is on record."""

    notebook: NotebookName
    code: Annotated[str, Meta(min_length=1)]
    seconds: Seconds = 20
    budget: Budget = 2000


Action: TypeAlias = Literal[
    "interrupt", "restart", "cancel", "comment", "resolve", "answer", "withdraw", "archive", "unarchive"
]
CellMeant: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200, description="Only this; comment: about it.")]


class ControlArguments(VerbArguments, frozen=True, kw_only=True):
    """Stop, restart, comment, answer."""

    notebook: NotebookName
    action: Action
    cell: CellMeant | None = None
    id: Annotated[str, Meta(description="Of the comment (comment: reply to it), proposal or execution.")] | None = None
    text: Annotated[str, Meta(description="Of a comment (@name addresses somebody), or answer to input().")] | None = (
        None
    )


class ProposeArguments(VerbArguments, frozen=True, kw_only=True):
    """Ask a person for changes and runs; or, of a run that was fixed, for the fix in its source."""

    notebook: NotebookName
    why: Annotated[str, Meta(min_length=1, max_length=2000)]
    edits: tuple[Operation, ...] = ()
    run: Cells = ()
    check: bool = True
    pull_request: bool = False
