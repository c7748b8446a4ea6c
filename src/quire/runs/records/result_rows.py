"""Results of many notebooks and runs, as rows: what `quire results` prints and `quire.results` returns.

A place is a file, a folder, an address, `-`, or a run of the workspace. What is in a folder
and cannot be read is told, and hides nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from ...core.errors import BadInput, NotFound, QuireError
from ...core.notebook.notebook import Result
from ...core.results import RecordedResult, recorded
from ...core.values import Json
from ...disk import read_text, writing
from ...formats import registry
from ...formats.scraps import results_of
from ...kernel import opened, untag
from ..locations import is_remote, is_standard, read_place, shown
from .run_snapshot import as_left

if TYPE_CHECKING:
    from ...workspace.protocol import Workspace

COLUMNS = ("file", "run", "name", "kind", "value", "media", "size", "cell")
RUN = "run"
"""The key in our own metadata of a notebook that names the run that left it."""
_JSON = "application/json"
_Any = TypeVar("_Any")


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """One result, and where it comes from."""

    file: str | None
    run: str | None
    result: RecordedResult


class GatheredResults(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found."""

    rows: list[ResultRow]
    faults: list[str]
    """What could not be read in a folder, a sentence each."""


class Rows(list[dict[str, Any]]):
    """Results as dicts, and what could not be read."""

    def __init__(self, rows: Iterable[dict[str, Any]] = (), faults: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.faults = list(faults)

    def to_pandas(self) -> Any:
        """Return the rows as a frame of pandas."""
        try:
            pandas = _import("pandas")
        except ImportError:
            raise BadInput("pandas is not installed here. The rows are dicts: they can do without.") from None
        # Objects: beside something that is missing, pandas would make a float of every integer.
        return pandas.DataFrame(list(self), columns=COLUMNS, dtype=object)


def results(
    *places: str | os.PathLike[str],
    name: str | Iterable[str] | None = None,
    load: bool = False,
    at: str | os.PathLike[str] | None = None,
) -> Rows:
    """Return the results of notebooks and runs: files, every .ipynb below folders, ids of runs.

    A row has file, run, name, kind, value, media, size and cell. `name` keeps those of that
    name, or of these. What is kept as bytes has a value only with `load`: frames and arrays
    as such, others as bytes. A file in a folder that cannot be read is a warning, and among
    the `faults` of what is returned. `at` is the workspace of the runs.
    """
    from ..api import wait_for

    names = None if name is None else {name} if isinstance(name, str) else set(name)
    found = wait_for(lambda _: gather([os.fspath(place) for place in places], at=at, names=names, with_bytes=load))
    if found.faults:
        import warnings

        warnings.warn(" ".join(found.faults), stacklevel=2)
    return Rows(map(as_dict, found.rows), found.faults)


# ---- Where they come from


async def gather(
    places: Sequence[str],
    *,
    at: str | os.PathLike[str] | None = None,
    names: Collection[str] | None = None,
    with_bytes: bool = False,
) -> GatheredResults:
    """Return the results at these places, of these names or of all."""
    reader = _ResultReader(at, names, with_bytes=with_bytes)
    try:
        rows = [row for place in places for row in await reader.rows(place)]
    finally:
        await reader.close()
    return GatheredResults(rows=rows, faults=reader.faults)


class _ResultReader:
    """Reads one place after the other. The workspace is opened when the first run is named."""

    def __init__(self, at: str | os.PathLike[str] | None, names: Collection[str] | None, *, with_bytes: bool) -> None:
        self._at, self._names, self._with_bytes = at, names, with_bytes
        self._workspace: Workspace | None = None
        self.faults: list[str] = []

    async def rows(self, place: str) -> list[ResultRow]:
        """Return the results at one place."""
        if is_remote(place):
            return self._of_text(await read_place(place), shown(place))
        if not _is_path(place):
            return [row async for row in self._of_run(place)]
        return self._of_path(Path(place))

    def _of_path(self, path: Path) -> list[ResultRow]:
        if not path.is_dir():
            return self._of_text(read_text(path), str(path))
        rows: list[ResultRow] = []
        for each in _notebooks_below(path, self.faults):
            try:
                rows += self._of_text(read_text(each), str(each))
            except QuireError as error:
                self.faults.append(str(error))
        return rows

    def _of_text(self, text: str, name: str) -> list[ResultRow]:
        if not is_standard(name) and registry.ending_of(name) != ".ipynb":
            told = ".ipynb files do, and runs. Name what it was run into, or the run."
            raise BadInput(f"{name} carries no results: {told}")
        sheet = registry.read(text, "-.ipynb" if is_standard(name) else name)
        run: Any = sheet.ours.get(RUN)
        run = run if isinstance(run, str) else None
        return [ResultRow(file=name, run=run, result=self._slim(each)) for each in self._wanted(results_of(sheet))]

    def _slim(self, result: RecordedResult) -> RecordedResult:
        """Bytes are kept only if somebody wants them: of a thousand frames they would fill the memory."""
        return result if self._with_bytes or result.data is None else replace(result, data=None)

    def _wanted(self, found: Mapping[str, _Any]) -> Iterator[_Any]:
        return (each for name, each in found.items() if self._names is None or name in self._names)

    async def _of_run(self, place: str) -> AsyncIterator[ResultRow]:
        if self._workspace is None:
            from ...connection import connect

            self._workspace = await connect(self._at)
        info = await self._workspace.find(place)
        for each in self._wanted((await as_left(self._workspace, info.log)).results):
            yield ResultRow(file=None, run=info.log, result=await self._of_log(self._workspace, each))

    async def _of_log(self, workspace: Workspace, result: Result) -> RecordedResult:
        found, blob = recorded(result), result.blob
        is_value = found.media == _JSON and found.kind != "file"
        if blob is None or not (self._with_bytes or is_value):
            return found
        try:
            data = await workspace.read_blob(blob.hash)
        except NotFound:
            if self._with_bytes:
                raise
            return found  # it was removed, and what else there is need not go with it
        if is_value:
            with contextlib.suppress(msgspec.DecodeError):
                return replace(found, value=msgspec.json.decode(data), media=None, size=None)
        return self._slim(replace(found, data=data))

    async def close(self) -> None:
        """Let go of the workspace."""
        if self._workspace is not None:
            await self._workspace.close()


def _is_path(place: str) -> bool:
    """Whether a place is a file or a folder, there or not, and no run."""
    return is_standard(place) or Path(place).exists() or "/" in place or registry.ending_of(place) in registry.ENDINGS


def _notebooks_below(folder: Path, faults: list[str]) -> Iterator[Path]:
    """Every .ipynb below a folder, in order; not what is hidden, such as Jupyter's checkpoints."""

    def failed(error: OSError) -> None:
        faults.append(f"{error.filename} cannot be read: {error.strerror or error}.")

    for here, folders, files in os.walk(folder, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            # A pipe of that name would be waited for; a link to nowhere is told by whoever reads it.
            if name.endswith(".ipynb") and not name.startswith(".") and (path.is_file() or not path.exists()):
                yield path


# ---- As what they go on


def as_json(row: ResultRow) -> dict[str, Json]:
    """Return a row with its value tagged. Of a file the value is its name."""
    return _fields(row, None if row.result.value is UNSET else row.result.value)


def as_dict(row: ResultRow) -> dict[str, Any]:
    """Return a row with its value as Python has it."""
    return _fields(row, typed(row.result))


def _fields(row: ResultRow, value: Any) -> dict[str, Any]:
    found = row.result
    value = found.file if value is None and found.file is not None else value
    return dict(
        zip(
            COLUMNS,
            (row.file, row.run, found.name, found.kind, value, found.media, found.size, found.cell),
            strict=True,
        )
    )


def typed(result: RecordedResult) -> Any:
    """Return the value of a result as Python has it; None for bytes that are not at hand."""
    if result.data is not None:
        try:
            return opened(result.name, result.data, result.media)
        except (ImportError, ValueError) as error:
            raise BadInput(str(error)) from None
    return None if result.value is UNSET else untagged(result.value)


def untagged(value: Json) -> Any:
    """Return the value that was tagged, with a `Path` for any path; what cannot be read, as it is."""
    try:
        return untag(value)
    except (ValueError, TypeError, KeyError, OverflowError):
        return value


def write_parquet(rows: Sequence[ResultRow], path: Path) -> None:
    """Write the rows as a Parquet file. A column has one type: values are JSON, and `number` has those that are one."""
    try:
        arrow, parquet = _import("pyarrow"), _import("pyarrow.parquet")
    except ImportError:
        told = "pyarrow is not installed beside Quire, so Parquet cannot be written"
        raise BadInput(f"{told}: run `uv pip install pyarrow`, or take --csv.") from None
    columns: dict[str, list[Any]] = {column: [] for column in (*COLUMNS, "number")}
    for row in rows:
        told = as_json(row)
        has_value = row.result.value is not UNSET or told["value"] is not None
        told |= {"value": json.dumps(told["value"]) if has_value else None, "number": _number(row.result)}
        for column, value in told.items():
            columns[column].append(encodable(value) if isinstance(value, str) else value)
    types = {"size": arrow.int64(), "number": arrow.float64()}
    schema = arrow.schema([(column, types.get(column, arrow.string())) for column in columns])
    with writing(path) as file:
        parquet.write_table(arrow.table(columns, schema=schema), file)


def _import(name: str) -> Any:
    """A library without types, imported when it is needed."""
    from importlib import import_module

    return import_module(name)


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot carry: a file's name may hold bytes that are no text, and a value half a character."""
    return text.encode("utf-8", "replace").decode()


def _number(result: RecordedResult) -> float | None:
    value = None if result.data is not None or result.value is UNSET else untagged(result.value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
