"""Between a notebook and the sheet that a file holds.

`sheet_of` is what every export is written from (rule 12); `events_of` is how a file becomes
a log. Large bytes are blobs on the side of the log and stand inside the outputs on the
side of the file: whoever calls fetches or keeps them.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, cast

import msgspec

from .. import events as e
from ..errors import BadInput
from ..event_fields import blob_refs
from ..events import BlobRef, Display, Output, Raised, Stream
from ..ids import CellId, ExecutionId, LogId
from ..notebook.notebook import INLINE_TEXT, Cell, Notebook
from ..text import source_hash
from ..values import Json, tag, untag
from .equality import same
from .sheet import OURS, Sheet, SheetCell, is_json, is_text

INLINE_BYTES = 1024
"""Bytes beyond this are a blob (rule 5); of text, INLINE_TEXT code points."""
WHOLE_TEXT = 10_000_000
"""Up to so many bytes of text stand in a file whole; beyond that, head and tail."""

_PLAIN = "text/plain"

AFTER_RUN = "after_run"
"""Under `quire` in a cell's metadata, in the export of a run: it was changed once the run was over."""
FILE = "quire.file"
"""Where the metadata of a notebook or cell keeps what only files have: attachments, fields nobody knows."""

Blobs = dict[str, tuple[bytes, str]]
"""Hash to bytes and media type: what has to be kept before the events that name it are submitted."""


# ---- From a notebook to a sheet


def blobs_of(notebook: Notebook) -> Iterator[BlobRef]:
    """The blobs that `sheet_of` wants: all but texts too large to stand in a file."""
    if notebook.run is not None and notebook.run.widgets is not None:
        yield notebook.run.widgets
    for cell in notebook.live_cells:
        yield from blobs_of_cell(cell)


def blobs_of_cell(cell: Cell) -> Iterator[BlobRef]:
    """The blobs that `outputs_of` wants of a cell."""
    for output in cell.execution.outputs if cell.execution is not None else ():
        yield from _wanted(output)


def _wanted(output: Output) -> Iterator[BlobRef]:
    return (ref for ref in blob_refs(output) if ref.media != _PLAIN or ref.size <= WHOLE_TEXT)


def sheet_of(notebook: Notebook, blobs: Mapping[str, bytes], log: LogId | None = None) -> Sheet:
    """Return the notebook as a file has it. Of a blob that is not in `blobs`, the excerpt stands in.

    With `log`, a text that is cut says how to get the rest out of that log.
    """
    requested = notebook.run.metadata if notebook.run is not None else {}
    metadata, ours = _without_ours(requested | notebook.metadata | _widgets(notebook, blobs))
    cells = tuple(_sheet_cell(cell, blobs, log) for cell in notebook.live_cells)
    return Sheet(cells=cells, metadata=metadata, extra=ours.get("extra", {}))


def with_marks(sheet: Sheet, notebook: Notebook) -> Sheet:
    """Return the sheet of a run with a mark on each cell that somebody changed once the run was over."""
    marked = tuple(_marked(cell) if notebook.cells[cell.id].after_run else cell for cell in sheet.cells)
    return msgspec.structs.replace(sheet, cells=marked)


def _marked(cell: SheetCell) -> SheetCell:
    ours: Any = cell.metadata.get(OURS)
    kept = cast("dict[str, Json]", ours) if isinstance(ours, dict) else {}
    return msgspec.structs.replace(cell, metadata=cell.metadata | {OURS: kept | {AFTER_RUN: True}})


def _widgets(notebook: Notebook, blobs: Mapping[str, bytes]) -> dict[str, Json]:
    """What widgets were last, for pages that show them where no kernel runs."""
    ref = notebook.run.widgets if notebook.run is not None else None
    data = blobs.get(ref.hash) if ref is not None else None
    return {"widgets": json.loads(data)} if data is not None else {}


def outputs_of(cell: Cell, blob: Callable[[str], bytes | None], log: LogId | None = None) -> Iterator[Json]:
    """Yield what a cell shows, as `sheet_of` has it; each output's blobs are asked for when its turn comes."""
    rest = f"`quire output {log} {cell.id}` prints all of it" if log is not None else None
    for output in cell.execution.outputs if cell.runs and cell.execution is not None else ():
        found = {ref.hash: data for ref in _wanted(output) if (data := blob(ref.hash)) is not None}
        yield _nbformat_output(output, found, rest)


def _sheet_cell(cell: Cell, blobs: Mapping[str, bytes], log: LogId | None) -> SheetCell:
    metadata, ours = _without_ours(cell.metadata)
    shown = cell.execution if cell.runs else None
    return SheetCell(
        id=cell.id,
        kind=cell.kind,
        source=cell.source,
        name=cell.name,
        tags=cell.tags,
        metadata=metadata,
        outputs=list(outputs_of(cell, blobs.get, log)),
        count=shown.count if shown is not None else None,
        attachments=ours.get("attachments", {}),
        extra=ours.get("extra", {}),
    )


def _without_ours(metadata: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Part what `_with_ours` had put into the metadata from it."""
    found: Any = metadata.get(FILE)
    rest = _untagged({name: value for name, value in metadata.items() if name != FILE})
    return rest, _untagged(cast("dict[str, Json]", found)) if isinstance(found, dict) else {}


def _untagged(values: dict[str, Json]) -> dict[str, Json]:
    try:
        return untag(values)
    except BadInput:  # somebody else's object that only looks like a tagged value
        return values


def _nbformat_output(output: Output, blobs: Mapping[str, bytes], rest: str | None) -> Json:
    match output:
        case Stream():
            return {"output_type": "stream", "name": output.name, "text": _stream_text(output, blobs, rest)}
        case Raised():
            traceback = list(output.traceback)
            return {"output_type": "error", "ename": output.ename, "evalue": output.evalue, "traceback": traceback}
        case Display():
            shown = {"data": _media(output, blobs, rest), "metadata": _untagged(output.metadata)}
            if output.count is None:
                return {"output_type": "display_data", **shown}
            # 0: a value whose file did not say its number. Kernels count from 1.
            return {"output_type": "execute_result", "execution_count": output.count or None, **shown}


def _stream_text(stream: Stream, blobs: Mapping[str, bytes], rest: str | None) -> str:
    if stream.blob is not None and stream.blob.hash in blobs:
        return blobs[stream.blob.hash].decode("utf-8", "replace")
    if not stream.omitted:
        return stream.head + stream.tail
    where = f"; {rest or f'the whole is in blob {stream.blob.hash}'}" if stream.blob is not None else ""
    return f"{stream.head}\n[… {stream.omitted:,} characters left out{where} …]\n{stream.tail}"


def _media(output: Display, blobs: Mapping[str, bytes], rest: str | None) -> dict[str, Json]:
    refs = {media: ref for media, ref in output.blobs.items() if ref.hash in blobs}
    whole = {media: _from_blob(ref.media or media, blobs[ref.hash]) for media, ref in refs.items()}
    text, ref = output.data.get(_PLAIN), output.blobs.get(_PLAIN)
    if isinstance(text, str) and ref is not None and ref.hash not in blobs:
        whole[_PLAIN] = f"{text}\n[… cut: {ref.size:,} bytes in all; {rest or f'the whole is in blob {ref.hash}'} …]"
    if rest is not None and (told := _left_out(output, blobs)):
        before = whole.get(_PLAIN, text)
        whole[_PLAIN] = f"{before}\n{told}" if isinstance(before, str) else told
    return output.data | whole


def _left_out(output: Display, blobs: Mapping[str, bytes]) -> str:
    """What stands in for media of which nothing is there."""
    gone = [(media, ref) for media, ref in output.blobs.items() if ref.hash not in blobs and media not in output.data]
    return "\n".join(f"[{media}, {ref.size:,} bytes, is not in this file: blob {ref.hash}]" for media, ref in gone)


def _from_blob(media: str, data: bytes) -> Json:
    if is_json(media):
        return json.loads(data)
    return data.decode("utf-8", "replace") if is_text(media) else base64.b64encode(data).decode()


# ---- From a sheet to events


def events_of(sheet: Sheet, name: str, new_id: Callable[[], str]) -> tuple[list[e.KnownEvent], Blobs]:
    """Return the events that make a notebook of a sheet, and the blobs they name."""
    blobs: Blobs = {}
    events: list[e.KnownEvent] = [e.NotebookCreated(name=name, metadata=metadata_of(sheet))]
    after: CellId | None = None
    for number, cell in enumerate(sheet.cells, 1):
        _check_whole(cell, number)
        events.append(added(cell, after))
        if cell.kind in ("code", "sql") and (cell.outputs or cell.count is not None):
            outputs = tuple(_our_output(output, cell, blobs) for output in cell.outputs)
            hash = source_hash(cell.source)
            execution = ExecutionId(new_id())
            events.append(
                e.OutputsImported(
                    execution=execution, cell=cell.id, source_hash=hash, outputs=outputs, count=cell.count
                )
            )
        after = cell.id
    return events, blobs


def metadata_of(sheet: Sheet) -> dict[str, Json]:
    """The metadata of a notebook that a sheet becomes."""
    return _with_ours(sheet.metadata, {"extra": sheet.extra})


def _check_whole(cell: SheetCell, number: int) -> None:
    try:
        cell.source.encode()
    except UnicodeEncodeError as error:
        told = f"cell {number} ({cell.id}): character {error.start + 1} of its source is half of a surrogate pair"
        raise BadInput(f"{told}, which no text can hold. Remove it in the notebook.") from None


def added(cell: SheetCell, after: CellId | None) -> e.CellAdded:
    """The event that makes this cell."""
    metadata = _with_ours(cell.metadata, {"attachments": cell.attachments, "extra": cell.extra})
    return e.CellAdded(
        cell=cell.id,
        after=after,
        kind=cell.kind,
        source=cell.source,
        name=cell.name,
        tags=cell.tags,
        metadata=metadata,
    )


def _with_ours(metadata: dict[str, Json], values: dict[str, Json]) -> dict[str, Json]:
    """The metadata, with what a notebook has no field for under a key of our own.

    Tagged: a file may hold integers past 2^53 and NaN, which no log carries as they are.
    """
    given = {name: value for name, value in values.items() if value}
    return tag(metadata | {FILE: given} if given else metadata)


def _our_output(output: Json, cell: SheetCell, blobs: Blobs) -> Output:
    match output["output_type"]:
        case "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            return _our_stream(name, output["text"], blobs)
        case "error":
            traceback = tuple(map(str, output.get("traceback", ())))
            return Raised(ename=str(output.get("ename", "")), evalue=str(output.get("evalue", "")), traceback=traceback)
        case "display_data" | "execute_result" as kind:
            count = output.get("execution_count") if kind == "execute_result" else None
            return _our_display(output, count if count is not None or kind == "display_data" else 0, blobs)
        case other:
            raise BadInput(f"Cell {cell.id!r} has an output of type {other!r}, which no notebook can hold.")


def _our_stream(name: e.StreamName, text: str, blobs: Blobs) -> Stream:
    if len(text) <= INLINE_TEXT:
        return Stream(name=name, head=text)
    half = INLINE_TEXT // 2
    blob = _keep(_utf8(text), "text/plain", blobs)
    return Stream(name=name, head=text[:half], omitted=len(text) - 2 * half, tail=text[-half:], blob=blob)


def _our_display(output: Json, count: int | None, blobs: Blobs) -> Display:
    data: dict[str, Json] = {}
    refs: dict[str, BlobRef] = {}
    for media, value in output.get("data", {}).items():
        excerpt, whole = parted(media, value)
        if whole is not None:
            refs[media] = _keep(*whole, blobs)
        if excerpt is not None:
            data[media] = excerpt
    return Display(data=data, blobs=refs, metadata=tag(output.get("metadata", {})), count=count)


def parted(media: str, value: Json, most: int = INLINE_TEXT) -> tuple[Json, tuple[bytes, str] | None]:
    """What stays inline of a medium, and, if that is not all, the whole and how it is to be read.

    `most` is how much text stays.
    """
    if is_json(media) or not isinstance(value, str):
        whole = _json(value)
        is_inline = len(whole) <= most and same(tag(value), value)
        return (value, None) if is_inline else (None, (whole, "application/json"))
    if not is_text(media) and (whole := _from_base64(value)) is not None:
        return (value, None) if len(whole) <= INLINE_BYTES else (None, (whole, media))
    # Also what calls itself an image and is none: text like any other.
    kind = media if is_text(media) else "text/plain"
    return (value, None) if len(value) <= most else (value[:most], (_utf8(value), kind))


def _json(value: Json) -> bytes:
    """By Python's own writer, which keeps NaN, and half a surrogate pair as an escape."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def _from_base64(value: str) -> bytes | None:
    # By msgspec: three times as fast as Python's, and it takes nothing that would be written otherwise.
    for text in (value, "".join(value.split())):
        with contextlib.suppress(msgspec.ValidationError):
            return msgspec.convert(text, bytes)
    return None


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _keep(data: bytes, media: str, blobs: Blobs) -> BlobRef:
    hash = sha256(data).hexdigest()
    blobs[hash] = (data, media)
    return BlobRef(hash=hash, size=len(data), media=media)
