"""How a step of a logbook is answered: what may be said of which step, and what it then says of itself."""

from __future__ import annotations

from msgspec.structs import replace

from ..errors import BadInput
from ..notebook.logbook_record import INJECTED, StepAnswer, StepMark, step_of
from ..notebook.notebook import Cell

MOST_TEXT = 20_000
"""Characters of what is said of one step. More is data, and belongs into a file beside the run."""


def answered_mark(cell: Cell, answer: StepAnswer | None, why: str = "", did: str = "", evidence: str = "") -> StepMark:
    """Return the mark of a step with its answer; what is not given stays as it was."""
    mark = step_of(cell) or StepMark(kind="code" if cell.runs else "text")
    _check(cell, mark, answer, why or mark.why, did or evidence or mark.did or mark.evidence)
    for name, text in (("why", why), ("did", did), ("evidence", evidence)):
        if len(text) > MOST_TEXT:
            raise BadInput(
                f"`{name}` has {len(text):,} characters, and {MOST_TEXT:,} are the most. Put data into a file."
            )
    return replace(
        mark,
        answer=answer or mark.answer,
        why=why or mark.why,
        did=did or mark.did,
        evidence=evidence or mark.evidence,
    )


def _check(cell: Cell, mark: StepMark, answer: StepAnswer | None, why: str, did: str) -> None:
    if INJECTED in cell.tags or (mark.kind == "text" and mark.hash):
        raise BadInput(f"Cell {cell.id!r} is no step: it asks for nothing.", cell=cell.id)
    if answer == "done" and mark.kind == "code":
        raise BadInput(
            f"Step {cell.id!r} is code: it is done when it has run. Run it; say `why` if it was changed.", cell=cell.id
        )
    if answer == "done" and not did:
        raise BadInput(
            f"Step {cell.id!r} is prose: say with `did` what was done, and with `evidence` what shows it.", cell=cell.id
        )
    if answer in ("skipped", "failed") and not why:
        raise BadInput(f"Step {cell.id!r} is to count as {answer}: say `why`.", cell=cell.id)
    if answer is None and not (why or did):
        raise BadInput(f"Nothing is said of step {cell.id!r}: give `answer`, `why`, `did` or `evidence`.", cell=cell.id)
