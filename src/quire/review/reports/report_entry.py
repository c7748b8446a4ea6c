"""One executed notebook as a report: its pages, and what the index says of it."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec

from ...core.errors import BadInput
from ...core.ids import LogId
from ...core.sheet.conversion import blobs_of, sheet_of
from ...core.sheet.sheet import Sheet
from ...disk import decode, read_bytes
from ...formats import registry
from ...formats.papermill import executed
from ...formats.scraps import results_of
from ...formats.starter_notebook import slug
from ...formats.value_text import value_text
from ...runs.records.run_records import run_of
from ...runs.records.run_snapshot import as_left
from ...workspace.clock import now
from ...workspace.protocol import Workspace
from ..redactor import Redactor

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
_MOST_RESULTS = 12


class ReportEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What the index says of a report."""

    id: str
    """The run, or what tells this file from others."""
    name: str
    status: str
    at: str
    path: str
    """Of the executed notebook, from the index."""
    page: str
    """Of the same as a page."""
    parameters: dict[str, str] = {}
    results: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """An entry with its files."""

    entry: ReportEntry
    files: dict[str, bytes]


async def report_of(workspace: Workspace, name: str, redactor: Redactor) -> Report:
    """Read an executed notebook: a file, or a run by its id or name."""
    file = Path(name)
    if file.is_file():  # noqa: ASYNC240  a disk that hangs keeps only this command waiting
        return _of_file(file, redactor)
    info = await workspace.find(name)
    notebook = await as_left(workspace, info.log)
    run = run_of(notebook)
    if run.is_open:
        raise BadInput(f"Run {info.log} is {run.status}: it can be published once it is over. quire wait {info.log}")
    blobs = {ref.hash: await workspace.read_blob(ref.hash) for ref in blobs_of(notebook)}
    source = Path(run.source.path).name if run.source.path is not None else None
    sheet = executed(
        sheet_of(notebook, blobs, info.log), notebook, input_path=source, output_path=None, log=LogId(info.log)
    )
    return _report(sheet, notebook.name, info.log, run.status, run.finished_at or now(), redactor)


def _of_file(file: Path, redactor: Redactor) -> Report:
    text = decode(read_bytes(file), str(file))
    sheet = registry.read(text, str(file))
    ran: dict[str, Any] = _fields(sheet.metadata.get("papermill"))
    if not any(cell.outputs or cell.count is not None for cell in sheet.cells):
        raise BadInput(f"{file} was not executed: no cell of it shows anything. Run it first: quire run {file} OUTPUT.")
    run = sheet.ours.get("run")
    id = (
        run
        if isinstance(run, str) and run.isalnum()
        else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    )
    failed = ran.get("exception") or any(_raised(cell.outputs) for cell in sheet.cells)
    ended: Any = ran.get("end_time")
    at = ended if isinstance(ended, str) and _TIME.match(ended) else now()
    return _report(sheet, file.stem, id, "error" if failed else "success", at, redactor)


def _report(sheet: Sheet, name: str, id: str, status: str, at: str, redactor: Redactor) -> Report:
    stem = f"{at[:10]}/{slug(name)}-{id[-12:].lower()}"
    book, page = f"{stem}.ipynb", f"{stem}.html"
    text = redactor.clean(registry.write(_without_paths(sheet), book))
    clean = registry.read(text, book)
    entry = ReportEntry(
        id=id,
        name=redactor.clean(name),
        status=status,
        at=at[:19],
        path=book,
        page=page,
        parameters=_parameters(clean),
        results=_results(clean),
    )
    html = redactor.clean(registry.write(clean, page))
    return Report(entry=entry, files={book: _bytes(text), page: _bytes(html)})


def _without_paths(sheet: Sheet) -> Sheet:
    """The interpreter is a file of this machine, and nobody else's business."""
    ours = {name: value for name, value in sheet.ours.items() if name != "interpreter"}
    return msgspec.structs.replace(sheet, metadata=sheet.metadata | {"quire": ours}) if sheet.ours else sheet


def _parameters(sheet: Sheet) -> dict[str, str]:
    given = _fields(_fields(sheet.metadata.get("papermill")).get("parameters"))
    return {name: value_text(value, 3)[:80] for name, value in list(given.items())[:_MOST_RESULTS]}


def _results(sheet: Sheet) -> dict[str, str]:
    found = list(results_of(sheet).items())[:_MOST_RESULTS]
    return {name: value_text(result.value, 3)[:80] for name, result in found if result.value is not None}


def _raised(outputs: list[Any]) -> bool:
    return any(_fields(output).get("output_type") == "error" for output in outputs)


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
