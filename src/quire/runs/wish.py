"""From what somebody wants to a run of which everything is decided (rule 14)."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ..actors.runtime.environments import find
from ..actors.runtime.kernels import GRACE_SECONDS, Spec
from ..actors.runtime.running import Order
from ..actors.runtime.secrets import Remover
from ..core.errors import BadInput
from ..core.events import RunSource
from ..core.ids import LogId
from ..core.params import Bound, Text, bind, declared
from ..core.results import declared as declared_results
from ..core.sheet import Sheet
from ..core.values import Json, tag
from ..files import formats
from ..files.inject import parameterized
from ..files.papermill import prepared_only, without_markers
from ..files.templates import fill_path
from ..files.translate import known_language
from ..kernel import startup_source
from ..workspace.clock import new_id
from .asking import Asking, Provided, check_output, provide, with_kernel
from .kernel_choice import find_chosen, preferred_kernel
from .places import is_remote, is_standard, read_place, shown

ENGINE = "quire"
"""The one engine that is here, for those who name one as papermill lets them."""
INPUT_PATH, OUTPUT_PATH = "PAPERMILL_INPUT_PATH", "PAPERMILL_OUTPUT_PATH"
"""The parameters that papermill puts the two paths into."""
LONGEST_NAME = 200
UNNAMED = "notebook"
"""What a run of a notebook is called that came from no file."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to be run, and how."""

    source: str | None
    """A place, which may be a template; `-` is standard input. None: the notebook is in `text`."""
    text: str | None = None
    """The notebook as the text of an .ipynb, where it is at hand and in no file."""
    output: str | None = None
    """A place, which may be a template; `-` is standard output."""
    values: dict[str, Any] = {}
    """For the parameters; a `params.Text` is what somebody typed."""
    kernel: str | None = None
    language: str | None = None
    cwd: Path | None = None
    start_timeout: float = 60
    grace_seconds: float = GRACE_SECONDS
    """How long the kernel outlives a process that was killed."""
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


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it will be: nothing is left to decide."""

    order: Order
    output: str | None
    """The place of the file that it leaves."""
    input_path: str | None
    warnings: tuple[str, ...] = ()
    request_save_on_cell_execute: bool = True
    """Whether the output is kept current while cells end."""
    autosave_cell_every: float = 30
    """And so many seconds apart while one cell runs; 0: not then."""


class Filled(msgspec.Struct, frozen=True, kw_only=True):
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


async def prepare(wish: Wish, environ: Mapping[str, str], now: dt.datetime, ask: Asking | None = None) -> Prepared:
    """Decide everything that a run needs; ask for what is missing, or say so."""
    _check(wish)
    source = await _read(wish, now)
    spec = with_kernel(source.name, lambda: _spec(wish, source, environ), environ, ask)
    log = LogId(new_id())
    # A kernel that was named has a language, whatever the notebook says; a notebook that says none is taken for Python.
    is_said = wish.kernel is None and source.sheet.language != "python"
    language = wish.language or (source.sheet.language if is_said else spec.language)
    bound, filled = _filled(wish, source, language, log, now)
    provided = provide(source.name, filled.sheet, spec, source.folder, environ, ask)
    check_output(filled.output, provided.secrets)
    return Prepared(
        order=_order(wish, log, source, filled.sheet, spec, bound, provided),
        output=filled.output,
        input_path=source.shown,
        warnings=(*filled.warnings, *provided.warnings),
        request_save_on_cell_execute=wish.request_save_on_cell_execute,
        autosave_cell_every=wish.autosave_cell_every,
    )


async def prepare_only(wish: Wish, now: dt.datetime) -> Filled:
    """Put the parameters in and decide nothing else: no kernel has to be here."""
    _check(wish)
    source = await _read(wish, now)
    language = wish.language or known_language(source.sheet.language, wish.kernel or "") or source.sheet.language
    _, filled = _filled(wish, source, language, LogId(new_id()), now)
    sheet = prepared_only(filled.sheet, input_path=source.shown, output_path=filled.output)
    return msgspec.structs.replace(filled, sheet=sheet)


async def read_sheet(wish: Wish) -> Sheet:
    """Return the notebook that somebody means, whatever its format."""
    return (await _read(wish, dt.datetime.now().astimezone())).sheet


# ---- What is to be run


def _check(wish: Wish) -> None:
    if wish.engine not in (None, ENGINE):
        raise BadInput(
            f"There is no engine {wish.engine!r} here: {ENGINE} is the only one. Leave it out; or, for a notebook "
            f"that another engine has to run, call papermill with that engine."
        )
    for seconds in (wish.start_timeout, wish.execution_timeout, wish.timeout):
        # Whoever calls from Python may give anything. NaN is neither more nor less than 0.
        if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"{seconds!r} is no time to wait. Give a number of seconds.")
    if wish.cwd is not None and not wish.cwd.is_dir():
        raise BadInput(f"{wish.cwd} is no folder: cells cannot run there. Make it, or name another.")


async def _read(wish: Wish, now: dt.datetime) -> _Source:
    place = wish.source
    if place is not None and wish.text is None and "{" in place and not _is_there(place):
        place = fill_path(place, bind([], wish.values).values, run=new_id(), now=now)
    if wish.text is not None:
        text = wish.text
    elif place is None:
        raise BadInput("There is no notebook to run. Name one.")
    else:
        text = await read_place(place)
    return _Source(place=place, text=text, sheet=without_markers(formats.read(text, _format_name(place, text))))


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


def _spec(wish: Wish, source: _Source, environ: Mapping[str, str]) -> Spec:
    language, metadata = wish.language or source.sheet.language, source.sheet.metadata
    if wish.kernel is not None or wish.language is not None:
        return find(language, wish.kernel, cwd=source.folder, environ=environ, preferred=preferred_kernel(metadata))
    return find_chosen(language, metadata, source.folder, environ)


# ---- Its parameters


def _filled(wish: Wish, source: _Source, language: str, log: LogId, now: dt.datetime) -> tuple[Bound, Filled]:
    try:
        takes = declared(source.sheet)
        bound = bind(takes, wish.values)
        output = fill_path(wish.output, bound.values, run=log, now=now) if wish.output is not None else None
        warnings = bound.warnings
        if paths := _paths(wish, source, output):
            # What was given under these names has the last word, as papermill has it. Nobody is warned of what nobody gave.
            bound = bind(takes, paths | wish.values)
        _check_whole(bound.given)
        _check_sources(source.sheet)
        declared_results(
            source.sheet
        )  # read once more for the order: here a mistake in it is told with the file's name
        sheet = parameterized(source.sheet, bound, language, report_mode=wish.report_mode)
    except BadInput as error:
        raise BadInput(f"{source.name}: {error}", **error.details) from None
    if output is not None and not is_standard(output):
        formats.format_of(shown(output))
        _check_apart(source, output)
    return bound, Filled(sheet=sheet, output=output, warnings=warnings)


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


def _paths(wish: Wish, source: _Source, output: str | None) -> dict[str, Any]:
    wanted = {INPUT_PATH: source.shown if wish.inject_input_path else None}
    wanted |= {OUTPUT_PATH: shown(output) if wish.inject_output_path and output is not None else None}
    return {name: Text(path) for name, path in wanted.items() if path is not None}


# ---- The order


def _order(
    wish: Wish, log: LogId, source: _Source, sheet: Sheet, spec: Spec, bound: Bound, provided: Provided
) -> Order:
    parameters: dict[str, Json] = {name: tag(value) for name, value in bound.given.items()}
    digest = sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
    # Of what the run's file takes from here and not from its log.
    remover = Remover(provided.secrets)
    return Order(
        log=log,
        name=source.stem,
        source=RunSource(path=source.shown, digest=digest),
        sheet=sheet,
        spec=spec,
        variables=provided.env,
        cwd=wish.cwd or Path.cwd(),
        parameters=parameters,
        metadata={name: remover.clean(value) for name, value in sheet.metadata.items()},
        secrets=provided.secrets,
        startup=startup_source() if spec.language == "python" else "",
        declared_results=tuple(declared_results(sheet)),
        keep=wish.keep,
        grace_seconds=wish.grace_seconds,
        start_timeout=wish.start_timeout,
        execution_timeout=wish.execution_timeout,
        timeout=wish.timeout,
    )
