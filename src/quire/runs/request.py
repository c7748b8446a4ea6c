"""From what somebody wants to a run of which everything is decided (rule 14)."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ..actors.runtime.retry import OUTAGE_SECONDS
from ..actors.runtime.run_environment import InputPath
from ..actors.runtime.run_notebook import RUNS, RunPlan
from ..core.errors import BadInput, NotFound
from ..core.events import RunSource
from ..core.ids import CellId, LogId, nearest
from ..core.notebook.cell_lookup import find_cell
from ..core.params.parameters import BoundParameters, Text, bind, declared
from ..core.results import declared as declared_results
from ..core.sheet.sheet import Sheet
from ..core.values import Json, tag
from ..formats import registry
from ..formats.literals.translate import known_language
from ..formats.papermill import TAG as INJECTED
from ..formats.papermill import parameterized, prepared_only, without_markers
from ..git.repository import find_revision
from ..kernel import startup_source
from ..kernels.environments import find, python_kernel
from ..kernels.kernel_protocol import GRACE_SECONDS, Spec
from ..outputs.secrets import Remover
from ..workspace.clock import new_id
from ..workspace.protocol import Workspace
from .input_files import declared_inputs, find_inputs
from .locations import fill_path, is_remote, is_standard, read_place, shown
from .provision import Prompter, Provisions, check_output, find_chosen, preferred_kernel, provide, with_kernel

ENGINE = "quire"
"""The one engine that is here, for those who name one as papermill lets them."""
INPUT_PATH, OUTPUT_PATH = "PAPERMILL_INPUT_PATH", "PAPERMILL_OUTPUT_PATH"
"""The parameters that papermill puts the two paths into."""
PARAMETERS = frozenset(("parameters", INJECTED))
"""Cells with these tags always run: without them the others would not have their parameters."""
LONGEST_NAME = 200
UNNAMED = "notebook"
"""What a run of a notebook is called that came from no file."""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to be run, and how."""

    source: str | None
    """A place, which may be a template; `-` is standard input. None: the notebook is in `text`."""
    text: str | None = None
    """The notebook as the text of an .ipynb, where it is at hand and in no file."""
    sheet: Sheet | None = None
    """The notebook, where it is at hand; then `source` only says what folder it belongs to."""
    output: str | None = None
    """A place, which may be a template; `-` is standard output."""
    values: dict[str, Any] = {}
    """For the parameters; a `params.Text` is what somebody typed."""
    kernel: str | None = None
    interpreter: str | None = None
    """The Python to run in, where no kernel is named."""
    language: str | None = None
    cwd: Path | None = None
    start_timeout: float = 60
    grace_seconds: float = GRACE_SECONDS
    """How long the kernel outlives a process that was killed."""
    outage_seconds: float = OUTAGE_SECONDS
    """How long a workspace that is away is waited for while it runs."""
    execution_timeout: float | None = None
    timeout: float | None = None
    report_mode: bool = False
    inject_input_path: bool = False
    inject_output_path: bool = False
    request_save_on_cell_execute: bool = True
    autosave_cell_every: float = 30
    engine: str | None = None
    keep: bool = False
    """Whether the kernel lives on when the run is over."""
    start: str | None = None
    """Run from this cell on: its id, name or number."""
    only: frozenset[str] = frozenset()
    """Run the cells that have one of these tags."""
    resume: str | None = None
    """The run to go on with; then the source may be left out."""


class FilledNotebook(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook with its parameters put in, and nothing more."""

    sheet: Sheet
    output: str | None
    warnings: tuple[str, ...]


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, read."""

    place: str | None
    text: str
    sheet: Sheet

    @property
    def name(self) -> str:
        """What messages call it."""
        return "The notebook" if self.place is None else shown(self.place)

    @property
    def shown(self) -> str | None:
        """The place without what may be secret in it."""
        return shown(self.place) if self.place is not None else None

    @property
    def folder(self) -> Path:
        """Where its environment and its `.env` are looked for."""
        is_file = self.place is not None and _is_file(self.place)
        return Path(self.place or "").absolute().parent if is_file else Path.cwd()

    @property
    def stem(self) -> str:
        """What its run is called."""
        name = shown(self.place or "").rstrip("/").rpartition("/")[2]
        if is_standard(name):
            return UNNAMED
        # A file may be called what no list could show.
        seen = "".join(each if each.isprintable() else "?" for each in Path(name).stem)
        return seen[:LONGEST_NAME].strip() or UNNAMED


async def plan_run(
    workspace: Workspace | None,
    request: RunRequest,
    environ: Mapping[str, str],
    now: dt.datetime,
    ask: Prompter | None = None,
) -> RunPlan:
    """Decide everything that a run needs (rule 14), or say what is missing. Only to resume a run takes a workspace."""
    if request.resume is None or workspace is None:
        return _in_part(await prepare(request, environ, now, ask), request.start, request.only)
    from .resume import earlier

    before = await earlier(workspace, request.resume)
    plan = _in_part(await prepare(before.request(request), environ, now, ask), request.start, request.only)
    return before.applied(plan)


async def prepare(
    request: RunRequest, environ: Mapping[str, str], now: dt.datetime, ask: Prompter | None = None
) -> RunPlan:
    """Decide everything that a run needs; ask for what is missing, or say so."""
    _check(request)
    source = await _read(request, now)
    spec = with_kernel(source.name, lambda: _spec(request, source, environ), environ, ask)
    log = LogId(new_id())
    # A kernel that was named has a language, whatever the notebook says; a notebook that says none is taken for Python.
    is_said = request.kernel is None and source.sheet.language != "python"
    language = request.language or (source.sheet.language if is_said else spec.language)
    bound, filled = _filled(request, source, language, log, now)
    provided = provide(source.name, filled.sheet, spec, source.folder, environ, ask)
    check_output(filled.output, provided.secrets)
    plan = _plan(request, log, source, filled, spec, bound, provided)
    return msgspec.structs.replace(plan, inputs=_inputs(source, bound, plan, now))


async def prepare_only(request: RunRequest, now: dt.datetime) -> FilledNotebook:
    """Put the parameters in and decide nothing else: no kernel has to be here."""
    _check(request)
    source = await _read(request, now)
    language = request.language or known_language(source.sheet.language, request.kernel or "") or source.sheet.language
    _, filled = _filled(request, source, language, LogId(new_id()), now)
    sheet = prepared_only(filled.sheet, input_path=source.shown, output_path=filled.output)
    return msgspec.structs.replace(filled, sheet=sheet)


async def read_source(request: RunRequest) -> Sheet:
    """Return the notebook that a request is to run, whatever its format."""
    return (await _read(request, dt.datetime.now().astimezone())).sheet


# ---- What is to be run


def _check(request: RunRequest) -> None:
    if request.engine not in (None, ENGINE):
        raise BadInput(
            f"There is no engine {request.engine!r} here: {ENGINE} is the only one. Leave it out; or, for a notebook "
            f"that another engine has to run, call papermill with that engine."
        )
    for seconds in (request.start_timeout, request.execution_timeout, request.timeout):
        # Whoever calls from Python may give anything. NaN is neither more nor less than 0.
        if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"{seconds!r} is no time to wait. Give a number of seconds.")
    if request.cwd is not None and not request.cwd.is_dir():
        raise BadInput(f"{request.cwd} is no folder: cells cannot run there. Make it, or name another.")


async def _read(request: RunRequest, now: dt.datetime) -> _Source:
    place = request.source
    if request.sheet is not None:
        return _Source(place=place, text="", sheet=request.sheet)
    if place is not None and request.text is None and "{" in place and not _is_there(place):
        place = fill_path(place, bind([], request.values).values, run=new_id(), now=now)
    if request.text is not None:
        text = request.text
    elif place is None:
        raise BadInput("There is no notebook to run. Name one.")
    else:
        text = await read_place(place)
    return _Source(place=place, text=text, sheet=without_markers(registry.read(text, _format_name(place, text))))


def _is_file(place: str) -> bool:
    return not is_standard(place) and not is_remote(place)


def _is_there(place: str) -> bool:
    """Whether a name with braces in it is that of a file, and no template."""
    return _is_file(place) and Path(place).exists()


def _format_name(place: str | None, text: str) -> str:
    """The path that says the format; what comes without a name is looked at."""
    if place is not None and not is_standard(place):
        return shown(place)
    start = text.removeprefix("\ufeff").lstrip()[:3]
    ending = "ipynb" if start.startswith("{") or not start else "md" if start == "---" else "py"
    return f"{place or UNNAMED}.{ending}"


def _spec(request: RunRequest, source: _Source, environ: Mapping[str, str]) -> Spec:
    language, metadata = request.language or source.sheet.language, source.sheet.metadata
    if request.interpreter is not None and request.kernel is None:
        return python_kernel(Path(request.interpreter), environ)
    if request.kernel is not None or request.language is not None:
        return find(language, request.kernel, cwd=source.folder, environ=environ, preferred=preferred_kernel(metadata))
    return find_chosen(language, metadata, source.folder, environ)


# ---- Its parameters


def _filled(
    request: RunRequest, source: _Source, language: str, log: LogId, now: dt.datetime
) -> tuple[BoundParameters, FilledNotebook]:
    try:
        takes = declared(source.sheet)
        bound = bind(takes, request.values)
        output = fill_path(request.output, bound.values, run=log, now=now) if request.output is not None else None
        warnings = bound.warnings
        if paths := _paths(request, source, output):
            # What was given under these names has the last word, as papermill has it. Nobody is warned of what nobody gave.
            bound = bind(takes, paths | request.values)
        _check_whole(bound.given)
        _check_sources(source.sheet)
        declared_results(source.sheet)  # read once more for the plan: here a mistake in it is told with the file's name
        sheet = parameterized(source.sheet, bound, language, report_mode=request.report_mode)
    except BadInput as error:
        raise BadInput(f"{source.name}: {error}", **error.details) from None
    if output is not None and not is_standard(output):
        registry.format_of(shown(output))
        _check_apart(source, output)
    return bound, FilledNotebook(sheet=sheet, output=output, warnings=warnings)


def _check_apart(source: _Source, output: str) -> None:
    """Refuse to write over what is run: the source of a run is never changed."""
    with contextlib.suppress(OSError):  # one of the two is not there, or is no file: told elsewhere
        if source.place is not None and Path(output).samefile(source.place):
            told = f"{output} is the notebook that is run, and a run never changes its source."
            raise BadInput(f"{told} Name another OUTPUT.")


def _check_whole(values: Mapping[str, Any]) -> None:
    """Refuse by name what no log can hold: half of a surrogate pair is no text."""
    for name, value in values.items():
        try:
            msgspec.json.encode((name, tag(value)))
        except UnicodeEncodeError:
            told = f"parameter {name!r} holds half a character (a lone surrogate), which no record can keep"
            raise BadInput(f"{told}. Pass it as bytes.", parameter=name) from None


def _check_sources(sheet: Sheet) -> None:
    for number, cell in enumerate(sheet.cells, 1):
        try:
            cell.source.encode()
        except UnicodeEncodeError:
            told = f"cell {number} ({cell.id}) holds half a character (a lone surrogate), which no record can keep"
            raise BadInput(f"{told}. Write it as an escape.", cell=cell.id) from None


def _paths(request: RunRequest, source: _Source, output: str | None) -> dict[str, Any]:
    wanted = {INPUT_PATH: source.shown if request.inject_input_path else None}
    wanted |= {OUTPUT_PATH: shown(output) if request.inject_output_path and output is not None else None}
    return {name: Text(path) for name, path in wanted.items() if path is not None}


def _inputs(source: _Source, bound: BoundParameters, plan: RunPlan, now: dt.datetime) -> tuple[InputPath, ...]:
    try:
        return find_inputs(declared_inputs(source.sheet), bound.values, plan.cwd, plan.log, now)
    except BadInput as error:
        raise BadInput(f"{source.name}: {error}", **error.details) from None


# ---- The plan


def _plan(
    request: RunRequest,
    log: LogId,
    source: _Source,
    filled: FilledNotebook,
    spec: Spec,
    bound: BoundParameters,
    provided: Provisions,
) -> RunPlan:
    sheet = filled.sheet
    parameters: dict[str, Json] = {name: tag(value) for name, value in bound.given.items()}
    digest = sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
    # Of what the run's file takes from here and not from its log.
    remover = Remover(provided.secrets)
    return RunPlan(
        log=log,
        name=source.stem,
        source=RunSource(path=source.shown, digest=digest),
        sheet=sheet,
        spec=spec,
        variables=provided.env,
        cwd=request.cwd or Path.cwd(),
        parameters=parameters,
        metadata={name: remover.clean(value) for name, value in sheet.metadata.items()},
        secrets=provided.secrets,
        startup=startup_source() if spec.language == "python" else "",
        declared_results=tuple(declared_results(sheet)),
        revision=partial(find_revision, source.folder),
        keep=request.keep,
        grace_seconds=request.grace_seconds,
        outage_seconds=request.outage_seconds,
        start_timeout=request.start_timeout,
        execution_timeout=request.execution_timeout,
        timeout=request.timeout,
        input_path=source.shown,
        output=filled.output,
        warnings=(*filled.warnings, *provided.warnings),
        request_save_on_cell_execute=request.request_save_on_cell_execute,
        autosave_cell_every=request.autosave_cell_every,
    )


# ---- A part of it


def _in_part(plan: RunPlan, start: str | None, tags: frozenset[str]) -> RunPlan:
    """Return the run of the cells from `start` on, and of those only that have one of the tags."""
    if start is None and not tags:
        return plan
    return msgspec.structs.replace(plan, only=_chosen(plan.sheet, start, tags))


def _chosen(sheet: Sheet, start: str | None, tags: frozenset[str]) -> frozenset[CellId]:
    first = find_cell(sheet.cells, start) if start is not None else 0
    wanted = [
        cell.id for cell in sheet.cells[first:] if cell.kind in RUNS and (not tags or not tags.isdisjoint(cell.tags))
    ]
    if not wanted:
        raise NotFound(f"No cell that runs has the tag {' or '.join(sorted(tags))}.{_known(sheet, tags)}")
    always = [cell.id for cell in sheet.cells if not PARAMETERS.isdisjoint(cell.tags)]
    return frozenset((*always, *wanted))


def _known(sheet: Sheet, tags: frozenset[str]) -> str:
    known = sorted({tag for cell in sheet.cells for tag in cell.tags})
    close = [each for tag in sorted(tags) for each in nearest(tag, known)] or known
    return f" Tags here: {', '.join(close[:10])}." if close else " No cell has a tag."
