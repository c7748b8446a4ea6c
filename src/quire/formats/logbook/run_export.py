"""The Markdown file that a logbook's run leaves: code as it ran, results under each step, and what became otherwise.

It reads well in any viewer: no fence has an attribute, no cell is there that nobody wrote, and the frontmatter is light.
It is a logbook, too, and can be run again.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from ...core.ids import CellId
from ...core.notebook.logbook_record import INJECTED, LogbookMark, LogbookStep, LogbookTally
from ...core.params.parameters import TAG as PARAMETERS
from ...core.sheet.sheet import OURS, Sheet, SheetCell
from ...core.values import Json
from ..value_text import value_text
from .output_section import carried
from .reader import language_of
from .run_notes import RECORD, LogbookNote, without_notes, write_note

OF_A_RUN = ("parameters", "uuid", "user_request", "executed_at", "template", "actor")
"""The keys of a run's frontmatter, in this order; behind them stand those of the template."""
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class RunCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cell of a logbook's run, with all that is known of the step that it is."""

    cell: SheetCell
    step: LogbookStep | None = None
    template: str | None = None
    """What the template has there, with the values in it; None: it has no such cell."""
    by: str = ""
    """Who answered a prose step."""
    attempts: tuple[str, ...] = ()
    """What its code raised before it ended as it did."""
    pictures: tuple[str, ...] = ()
    """Files with the pictures that it shows, as the run's file links to them."""


class LogbookRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that a run's file is written from."""

    log: str
    mark: LogbookMark
    actor: str
    status: str
    tally: LogbookTally
    cells: tuple[RunCell, ...]
    results: dict[str, Json] = {}


def uuid_of(log: str) -> str:
    """Return the id of a log as a UUID: the same 128 bits."""
    number = 0
    for char in log:
        number = number * 32 + _CROCKFORD.index(char)
    return str(uuids.UUID(int=number & (1 << 128) - 1))


def log_of(text: str) -> str | None:
    """Return the id of the log that a UUID stands for; None where it is no UUID."""
    try:
        number = uuids.UUID(text).int
    except ValueError:
        return None
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def run_sheet(run: LogbookRun) -> Sheet:
    """Return the run as a logbook: `registry.write` makes the file's text of it."""
    main = language_of(run.mark.language)
    texts = [
        *_sources_of_values(run.mark),
        *_body(run, main),
        SheetCell(id=CellId(""), kind="markdown", source=_record(run)),
    ]
    cells = _joined(texts)
    metadata: dict[str, Json] = {OURS: _front(run)}
    if main != "python":
        metadata["language_info"] = {"name": main}
    return Sheet(
        cells=tuple(replace(cell, id=CellId(f"c{index}")) for index, cell in enumerate(cells)), metadata=metadata
    )


def again(sheet: Sheet) -> Sheet:
    """Return what a run begins from: of a run's own file, all but what that run said of itself."""
    if not is_run(sheet):
        return sheet
    kept: list[SheetCell] = []
    for cell in sheet.cells:
        if cell.kind == "markdown":
            ends = RECORD in cell.source
            cell = replace(cell, source=without_notes(cell.source))
            kept += [cell] if cell.source else []
            if ends:
                break
        else:
            kept.append(replace(cell, outputs=[]))
    ours = {key: value for key, value in sheet.ours.items() if key not in OF_A_RUN or key == "parameters"}
    return replace(sheet, cells=tuple(kept), metadata=sheet.metadata | {OURS: ours})


def is_run(sheet: Sheet) -> bool:
    """Whether a logbook is the file of a run, and no template."""
    return "uuid" in sheet.ours and "template" in sheet.ours


# ---- Frontmatter


def _front(run: LogbookRun) -> dict[str, Json]:
    mark = run.mark
    template: dict[str, Json] = {"path": mark.template}
    template |= {"revision": mark.revision} if mark.revision else {}
    template |= {"sha256": mark.digest}
    values: tuple[Json, ...] = (
        {name: _declared(value) for name, value in mark.parameters.items()},
        uuid_of(run.log),
        mark.request,
        mark.executed_at,
        template,
        mark.actor or run.actor,
    )
    front = dict(zip(OF_A_RUN, values, strict=True))
    if not mark.parameters:
        del front["parameters"]
    return front | {key: value for key, value in mark.front.items() if key not in OF_A_RUN}


def _declared(value: Json) -> Json:
    """A value as a declaration has it: an object would be read as a declaration itself."""
    if isinstance(value, dict):
        fields = cast("dict[str, Json]", value)
        is_tagged = len(fields) == 1 and next(iter(fields)).startswith("$")
        return fields if is_tagged else {"default": fields}
    return {"default": value} if value == "..." else value


def _sources_of_values(mark: LogbookMark) -> Iterator[SheetCell]:
    for name, source in mark.sources.items():
        yield _note(LogbookNote(kind="Source", name=name, text=source))


# ---- Cells


def _body(run: LogbookRun, main: str) -> Iterator[SheetCell]:
    given = next((each.cell.source for each in run.cells if INJECTED in each.cell.tags), "")
    for each in run.cells:
        if INJECTED in each.cell.tags:
            continue
        if PARAMETERS in each.cell.tags and given:
            # The values stand where papermill would put a cell of its own.
            values = given.partition("\n")[2] if given.startswith("#") else given
            each = replace(each, cell=replace(each.cell, source=f"{each.cell.source.rstrip()}\n\n{values.strip()}"))
        yield from _step(each, main)


def _step(each: RunCell, main: str) -> Iterator[SheetCell]:
    cell, step = each.cell, each.step
    bare = replace(
        cell, name=None, tags=(), metadata=_language_only(cell), outputs=_results(cell), attachments={}, extra={}
    )
    if step is None:
        yield bare
        return
    language = _language(cell, main)
    if cell.kind in ("code", "sql") and (step.left_out or (step.state == "skipped" and step.by_choice)):
        # As a quotation it is not run again. What was only never reached is.
        kind = "Left out" if step.left_out else "Skipped"
        yield from (
            _note(LogbookNote(kind="Failed before", text=fault)) for fault in (*each.attempts, step.fault) if fault
        )
        yield _note(LogbookNote(kind=kind, text=step.why, code=cell.source, language=language))
        return
    yield from (_note(LogbookNote(kind="Failed before", text=fault)) for fault in each.attempts)
    if step.deviated:
        code = each.template if cell.kind in ("code", "sql", "markdown") else None
        written = "markdown" if cell.kind == "markdown" else language
        yield _note(LogbookNote(kind="Deviates from the template", text=step.why, code=code, language=written))
    if step.added:
        yield _note(LogbookNote(kind="Added", text=step.why))
    yield bare
    yield from (SheetCell(id=CellId(""), kind="markdown", source=f"![]({path})") for path in each.pictures)
    yield from map(_note, _answers(each, step))


def _answers(each: RunCell, step: LogbookStep) -> Iterator[LogbookNote]:
    match step.state:
        case "failed":
            told = "; ".join(filter(None, (step.fault, step.why if not step.deviated else "")))
            yield LogbookNote(kind="Failed", text=told, evidence=step.evidence, by=each.by)
        case "skipped":
            yield LogbookNote(kind="Left out" if step.left_out else "Skipped", text=step.why, by=each.by)
        case "done" if step.kind == "prose" or step.did:
            yield LogbookNote(kind="Done", text=step.did, evidence=step.evidence, by=each.by)
        case "open" | "running":
            yield LogbookNote(kind="Not done")
        case _:
            return


def _note(note: LogbookNote) -> SheetCell:
    return SheetCell(id=CellId(""), kind="markdown", source=write_note(note))


def _language_only(cell: SheetCell) -> dict[str, Json]:
    ours: Any = cell.metadata.get(OURS)
    own: Any = cast("dict[str, Json]", ours).get("language") if isinstance(ours, dict) else None
    return {OURS: {"language": own}} if isinstance(own, str) and cell.kind == "code" else {}


def _language(cell: SheetCell, main: str) -> str:
    if cell.kind == "sql":
        return "sql"
    found: Any = _language_only(cell).get(OURS)
    return cast("dict[str, str]", found)["language"] if found else main


def _results(cell: SheetCell) -> list[Json]:
    """What a cell showed as plain text, so that no fence needs an attribute."""
    if cell.kind not in ("code", "sql"):
        return []
    texts: list[str] = []
    was_stream = False
    for output in cast("list[dict[str, Any]]", carried(cell.outputs)):
        text, is_stream = _text(output), output["output_type"] == "stream"
        if is_stream and was_stream and texts:
            texts[-1] += text  # something that is no text stood between them
        elif text:
            texts.append(text)
        was_stream = is_stream
    ended = (text if text.endswith("\n") else f"{text}\n" for text in texts)
    return [{"output_type": "stream", "name": "stdout", "text": text} for text in ended]


def _text(output: dict[str, Any]) -> str:
    match output["output_type"]:
        case "stream":
            return output["text"]
        case "error":
            return "\n".join(output["traceback"]) or f"{output['ename']}: {output['evalue']}"
        case _:
            return output["data"]["text/plain"]


def _joined(cells: Sequence[SheetCell]) -> list[SheetCell]:
    """Join prose that follows prose: apart, each would need a mark."""
    made: list[SheetCell] = []
    for cell in cells:
        if cell.kind == "markdown" and made and made[-1].kind == "markdown":
            made[-1] = replace(made[-1], source=f"{made[-1].source}\n\n{cell.source}")
        elif cell.kind != "markdown" or cell.source:
            made.append(cell)
    return made


# ---- The record at its end


def _record(run: LogbookRun) -> str:
    tally = run.tally
    counts = {"deviated": tally.deviated, "skipped": tally.skipped, "failed": tally.failed, "to do": tally.open}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    steps = f"{tally.steps} step{'s' * (tally.steps != 1)}"
    lines = [RECORD, "", "---", "", f"**{run.status}**: {steps}{f', {told}' if told else ''}. Run `{run.log}`."]
    if run.results:
        lines += ["", "| result | value |", "|---|---|"]
        lines += [f"| `{_cell(name)}` | {_cell(value_text(value))} |" for name, value in run.results.items()]
    if run.mark.files:
        lines += ["", "| file | | SHA-256 |", "|---|---|---|"]
        lines += [f"| `{_cell(file.path)}` | {file.change} | {file.digest or ''} |" for file in run.mark.files]
        for file in run.mark.files:
            lines += ["", f"`{file.path}`:", "", *_diff(file.diff)] if file.diff else []
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text that stays in its column of a table."""
    return text.replace("\n", " ").replace("|", "\\|")


def _diff(text: str) -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}diff", *text.rstrip("\n").split("\n"), fence]
