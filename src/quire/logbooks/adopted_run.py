"""A run that somebody made by hand, with nothing but files: checked, and recorded.

What is checked is what a run's file promises: its frontmatter is whole, every step of the template is answered, and code
that is not the template's stands beside the template's, with the reason. What is recorded is what the file says, by whoever
adopts it: nobody here has seen it run, so its outputs are shown as imported.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from ..core import events as e
from ..core.errors import BadInput, Conflict, NotFound
from ..core.events import Draft, KnownEvent
from ..core.ids import CellId, LogId
from ..core.notebook.logbook_record import INJECTED, LogbookMark, StepAnswer, StepMark, as_metadata, step_in
from ..core.params.parameters import declared
from ..core.sheet.conversion import added, events_of, metadata_of
from ..core.sheet.sheet import Sheet, SheetCell, derived_ids
from ..core.text import source_hash
from ..core.values import Json, untag
from ..disk import read_text
from ..formats.papermill import parameterized
from ..formats.logbook.run_export import OF_A_RUN, log_of
from ..formats.logbook.run_notes import LogbookNote
from ..formats.logbook.run_reader import RunCode, RunPiece, RunProse, read_run
from ..workspace.clock import new_id
from ..core.event_fields import batches
from ..workspace.protocol import Workspace
from .run_mark import bound_values, find_template_revision
from .template_files import Template, find_template, path_from, read_template
from .template_steps import marked, prose_parts

_NEEDED = ("uuid", "user_request", "executed_at", "template")


class RunFault(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a run's file lacks, or says wrongly."""

    line: int
    message: str


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of one cell of the template."""

    cell: SheetCell
    """The template's, as it was laid out."""
    mark: StepMark
    piece: RunPiece | None = None


class CheckedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run's file that has no fault, taken apart."""

    log: LogId
    template: Template
    mark: LogbookMark
    answers: tuple[_Answer, ...]
    extra: dict[str, tuple[RunCode, ...]]
    """Code that was added, by the cell that it stands behind."""


async def adopt_run(workspace: Workspace, root: Path, file: Path) -> LogId:
    """Check a run's file and record it, under its UUID; refused with everything that is wrong with it."""
    checked = check_run(root, file)
    known = {info.log for info in await workspace.logs()}
    if checked.log in known:
        raise Conflict(f"{path_from(root, file)} is recorded already: `quire logbook show {checked.log}`.")
    events, blobs = _events(checked, file)
    for data, media in blobs.values():
        await workspace.put_blob(data, media)
    for batch in batches([Draft(id=new_id(), event=event) for event in events]):
        await workspace.submit(checked.log, batch)
    return checked.log


def check_run(root: Path, file: Path) -> CheckedRun:
    """Return a run's file taken apart; BadInput with each fault and its line, where it has any."""
    path = path_from(root, file)
    sheet, pieces = read_run(read_text(file), path)
    faults = list(_front_faults(sheet, file))
    if faults:
        raise _told(path, faults)
    template = _template(root, sheet, path)
    check = _Check(template, _laid(template, sheet, path), pieces)
    if check.faults:
        raise _told(path, check.faults)
    return CheckedRun(
        log=LogId(log_of(str(sheet.ours["uuid"])) or ""),
        template=template,
        mark=_mark(template, sheet, path, laid=1 + len(check.answers)),
        answers=tuple(check.answers),
        extra={id: tuple(found) for id, found in check.extra.items()},
    )


def _told(path: str, faults: Sequence[RunFault]) -> BadInput:
    lines = [f"{path}:{fault.line}: {fault.message}" for fault in sorted(faults, key=lambda each: each.line)]
    told = f"{len(faults)} thing{'s' * (len(faults) != 1)} to mend before this run can be adopted"
    return BadInput("\n".join((f"{told}:", *lines)), faults=[msgspec.to_builtins(each) for each in faults])


# ---- Frontmatter


def _front_faults(sheet: Sheet, file: Path) -> Iterator[RunFault]:
    ours = sheet.ours
    for key in _NEEDED:
        if key not in ours:
            yield RunFault(line=1, message=f"The frontmatter has no `{key}`.")
    uuid = str(ours.get("uuid", ""))
    if "uuid" in ours and log_of(uuid) is None:
        yield RunFault(line=1, message=f"`uuid` is no UUID: {uuid[:60]!r}.")
    elif "uuid" in ours and file.stem != uuid:
        yield RunFault(line=1, message=f"The file is to be called {uuid}.md, as its `uuid` says.")
    if "executed_at" in ours and _time(ours["executed_at"]) is None:
        yield RunFault(line=1, message="`executed_at` is a local time with its offset, such as 2026-01-31T09:30:00+01:00.")
    if "user_request" in ours and not isinstance(ours["user_request"], str):
        yield RunFault(line=1, message="`user_request` is the user's words, as text.")


def _time(said: Json) -> str | None:
    value: Any = untag(said) if isinstance(said, dict) else said
    try:
        found = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.isoformat() if found.utcoffset() is not None else None


def _template(root: Path, sheet: Sheet, path: str) -> Template:
    said: Any = sheet.ours["template"]
    name = cast("dict[str, Any]", said).get("path") if isinstance(said, dict) else said
    if not isinstance(name, str):
        raise BadInput(f"{path}: `template` names the template: its path, or `path:` in an object.")
    try:
        return read_template(root, find_template(root, name))
    except NotFound as error:
        raise BadInput(f"{path}: {error}") from None


def _laid(template: Template, sheet: Sheet, path: str) -> Sheet:
    """The template's cells with the file's values in them."""
    values = {each.name: untag(each.default) for each in declared(sheet) if each.default is not msgspec.UNSET and each.cell is None}
    unknown = [name for name in values if name not in {each.name for each in template.parameters}]
    if unknown:
        raise BadInput(f"{path}: `parameters` has {unknown[0]!r}, which {template.path} does not take.")
    filled = parameterized(template.sheet, bound_values(template, values), template.sheet.language)
    laid = marked(replace(filled, metadata=template.sheet.metadata), by_steps=True)
    return replace(laid, cells=tuple(cell for cell in laid.cells if INJECTED not in cell.tags))


def _mark(template: Template, sheet: Sheet, path: str, *, laid: int) -> LogbookMark:
    ours = sheet.ours
    parameters = {each.name: each.default for each in declared(sheet) if each.default is not msgspec.UNSET}
    actor = ours.get("actor")
    return LogbookMark(
        template=template.path,
        digest=template.digest,
        revision=find_template_revision(template.file),
        request=str(ours["user_request"]),
        executed_at=_time(ours["executed_at"]) or "",
        mode="adopted",
        parameters=parameters,
        laid=laid,
        actor=actor if isinstance(actor, str) else None,
        language=template.sheet.language,
        front={key: value for key, value in ours.items() if key not in OF_A_RUN} | {"adopted_from": path},
    )


# ---- Steps


class _Check:
    """Goes through a template's cells and a file's pieces, side by side."""

    def __init__(self, template: Template, laid: Sheet, pieces: Sequence[RunPiece]) -> None:
        self._template, self._pieces, self._at = template, list(_parted(pieces)), 0
        self.faults: list[RunFault] = []
        self.answers: list[_Answer] = []
        self.extra: dict[str, list[RunCode]] = {}
        number = 0
        for cell in laid.cells:
            mark = step_in(cell.metadata) or StepMark()
            number += mark.kind != "text"
            match mark.kind:
                case "code":
                    self._code(number, cell, mark)
                case "prose":
                    self._prose(number, cell, mark)
                case _:
                    self.answers.append(_Answer(cell=cell, mark=mark))
        self._rest(len(self._pieces))

    def _fault(self, line: int, message: str) -> None:
        self.faults.append(RunFault(line=line, message=message))

    def _line(self) -> int:
        return self._pieces[min(self._at, len(self._pieces) - 1)].line if self._pieces else 1

    def _rest(self, until: int) -> None:
        """What stands between two steps of the template: code there was added, and says so."""
        for piece in self._pieces[self._at : until]:
            if isinstance(piece, RunCode):
                if piece.note("Added") is None:
                    told = "This code is not the template's. Say so before it: `> **Added**: why`, or"
                    self._fault(piece.line, f"{told} `> **Deviates from the template**: why` with the template's code.")
                behind = self.answers[-1].cell.id if self.answers else ""
                self.extra.setdefault(behind, []).append(piece)
        self._at = until

    def _code(self, number: int, cell: SheetCell, mark: StepMark) -> None:
        wanted = _stripped(cell.source)
        for place in range(self._at, len(self._pieces)):
            piece = self._pieces[place]
            if isinstance(piece, RunCode) and piece.template is not None and _stripped(piece.template) == wanted:
                self._rest(place)
                self._at = place + 1
                self._of_code(number, cell, mark, piece)
                return
        first = cell.source.strip().partition("\n")[0][:60]
        told = f"Step {number} is not answered: `{first}`. Its code stands nowhere from here on"
        self._fault(self._line(), f"{told}; a changed step shows the template's code, filled in, in a note.")
        self.answers.append(_Answer(cell=cell, mark=mark))

    def _of_code(self, number: int, cell: SheetCell, mark: StepMark, piece: RunCode) -> None:
        left = piece.note("Skipped", "Left out")
        changed, failed = piece.note("Deviates from the template"), piece.note("Failed")
        if left is not None and not left.text:
            self._fault(left.line, f"Step {number} was skipped, and nothing says why.")
        if changed is not None and not changed.text:
            self._fault(changed.line, f"Step {number} was changed, and nothing says why.")
        if left is None and failed is None and not piece.outputs:
            told = "has no results. Write `Results:` under it, and what it printed in a fence labelled text"
            self._fault(piece.line, f"Step {number} {told} (an empty one, if that was nothing).")
        answer: StepAnswer = "skipped" if left is not None else "failed" if failed is not None else "open"
        why = next((note.text for note in (left, changed, failed) if note is not None and note.text), "")
        self.answers.append(_Answer(cell=cell, mark=replace(mark, answer=answer, why=why), piece=piece))

    def _prose(self, number: int, cell: SheetCell, mark: StepMark) -> None:
        wanted = _words(cell.source)
        for place in range(self._at, len(self._pieces)):
            piece = self._pieces[place]
            if isinstance(piece, RunProse) and _words(piece.text) == wanted:
                self._rest(place)
                self._at = place + 1
                self._of_prose(number, cell, mark, piece)
                return
        self._fault(self._line(), f"Step {number} is not answered: its prose stands nowhere from here on.")
        self.answers.append(_Answer(cell=cell, mark=mark))

    def _of_prose(self, number: int, cell: SheetCell, mark: StepMark, piece: RunProse) -> None:
        note = piece.note("Done", "Skipped", "Left out", "Failed")
        if note is None or not note.text:
            told = "say under it what was done: `> **Done**: what`, with a line `> Evidence: …`; or why it was skipped or failed"
            self._fault(piece.line, f"Step {number} is prose: {told}.")
            note = LogbookNote(kind="Not done")
        answers: dict[str, StepAnswer] = {"Done": "done", "Failed": "failed", "Not done": "open"}
        answer = answers.get(note.kind, "skipped")
        did, why = (note.text, "") if answer == "done" else ("", note.text)
        answered = replace(mark, answer=answer, did=did, why=why, evidence=note.evidence)
        self.answers.append(_Answer(cell=cell, mark=answered, piece=piece))


def _parted(pieces: Sequence[RunPiece]) -> Iterator[RunPiece]:
    """Pieces, prose by its headings; the notes belong to the last part."""
    for piece in pieces:
        if isinstance(piece, RunCode):
            yield piece
            continue
        parts = prose_parts(piece.text)
        yield from (RunProse(text=part.text, line=piece.line) for part in parts[:-1])
        yield from (replace(piece, text=part.text) for part in parts[-1:])


def _stripped(source: str) -> str:
    """Code without spaces at line ends, and blank lines around it."""
    return "\n".join(line.rstrip() for line in source.strip("\n").split("\n"))


def _words(text: str) -> str:
    """Prose however it is wrapped."""
    return " ".join(text.split())


# ---- The record


def _events(checked: CheckedRun, file: Path) -> tuple[list[KnownEvent], dict[str, tuple[bytes, str]]]:
    name = f"{checked.template.name} {checked.mark.executed_at}"
    laid = [answer.cell for answer in checked.answers]
    metadata = metadata_of(checked.template.sheet) | as_metadata(checked.mark)
    events: list[KnownEvent] = [e.NotebookCreated(name=name, metadata=metadata)]
    after: CellId | None = None
    for cell in laid:
        events.append(added(cell, after))
        after = cell.id
    shown: list[SheetCell] = []
    for answer in checked.answers:
        events += _answered(answer)
        if isinstance(answer.piece, RunCode) and answer.piece.outputs:
            shown.append(replace(answer.cell, source=answer.piece.source, outputs=answer.piece.outputs))
    for behind, pieces in checked.extra.items():
        cells = list(_extra_cells(behind, pieces, [cell.id for cell in laid]))
        place = CellId(behind) if behind else None
        for cell in cells:
            events.append(added(cell, place))
            place = cell.id
        shown += [cell for cell in cells if cell.outputs]
    imported, blobs = events_of(Sheet(cells=tuple(shown)), file.stem, new_id)
    return [*events, *(event for event in imported if isinstance(event, e.OutputsImported))], blobs


def _answered(answer: _Answer) -> Iterator[KnownEvent]:
    piece, cell = answer.piece, answer.cell
    if isinstance(piece, RunCode) and _stripped(piece.source) != _stripped(cell.source):
        yield e.SourceEdited(cell=cell.id, text=piece.source, base_hash=source_hash(cell.source))
    if answer.mark != step_in(cell.metadata):
        yield e.CellMetadataSet(cell=cell.id, values=as_metadata(answer.mark))


def _extra_cells(behind: str, pieces: Sequence[RunCode], taken: Sequence[str]) -> Iterator[SheetCell]:
    ids = derived_ids((("code", f"{behind}\0{piece.source}") for piece in pieces), taken)
    for id, piece in zip(ids, pieces, strict=True):
        note = piece.note("Added")
        mark = StepMark(kind="code", why=note.text if note is not None else "")
        yield SheetCell(id=id, source=piece.source, metadata=as_metadata(mark), outputs=piece.outputs)
