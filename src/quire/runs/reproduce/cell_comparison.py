"""Whether two executions of a cell showed the same.

What a cell printed is one text for stdout and one for stderr: how pieces of them come between one another
is left to chance by the kernel. What it displayed is compared in its order, an error by its name and
message. What is another in every run does not count: volatile_text.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Literal, TypeAlias

import msgspec

from ...core.errors import QuireError
from ...core.event_fields import blob_refs
from ...core.events import BlobRef, Display, Output, Raised, Stream, StreamName
from ...core.ids import CellId
from ...core.notebook.notebook import Cell, Notebook
from ...core.sheet.conversion import is_text
from ...core.sheet.equality import same
from ...core.sheet.sheet import is_json
from ...core.values import Json
from ...workspace.protocol import Workspace
from .volatile_text import settled, settled_value

Texts: TypeAlias = Mapping[str, str]
"""Hash to text, of the blobs that hold text and may only look different."""
Part: TypeAlias = Literal["state", "stdout", "stderr", "display", "error"]
MOST_BYTES = 10_000_000
"""Longer texts are compared by their hashes."""
EXCERPT = 200


class Difference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one cell showed otherwise."""

    part: Part
    number: int | None = None
    """Which display, or which line of what was printed; from 1."""
    media: str | None = None
    a: str | None = None
    """As it was, in a line at most; None: it was not there."""
    b: str | None = None


class CellFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of two runs."""

    a_number: int | None
    """Its number from 1; None: only the other run has the cell."""
    b_number: int | None
    cell: CellId
    label: str
    same: bool
    differences: tuple[Difference, ...]


def compare_executions(a: Cell, b: Cell, texts: Texts) -> tuple[Difference, ...]:
    """Return what a cell showed otherwise in `b` than in `a`."""
    return tuple(_differences(a, b, texts))


def _differences(a: Cell, b: Cell, texts: Texts) -> Iterator[Difference]:
    if a.state != b.state:
        yield Difference(part="state", a=a.state, b=b.state)
    old, new = (cell.execution.outputs if cell.execution is not None else [] for cell in (a, b))
    for name in ("stdout", "stderr"):
        yield from _printed(name, old, new, texts)
    yield from _displayed(old, new, texts)
    yield from _raised(a, b, old, new)


# ---- What was printed


def _printed(name: StreamName, old: Iterable[Output], new: Iterable[Output], texts: Texts) -> Iterator[Difference]:
    a, b = (settled(_text_of(name, outputs, texts)) for outputs in (old, new))
    if a == b:
        return
    for number, (before, after) in enumerate(zip_longest(a.split("\n"), b.split("\n")), 1):
        if before != after:
            yield Difference(part=name, number=number, a=_excerpt(before), b=_excerpt(after))
            return


def _text_of(name: StreamName, outputs: Iterable[Output], texts: Texts) -> str:
    return "".join(_whole(each, texts) for each in outputs if isinstance(each, Stream) and each.name == name)


def _whole(stream: Stream, texts: Texts) -> str:
    if not stream.omitted or stream.blob is None:
        return stream.head + stream.tail
    # What could not be read counts by its hash, in the place of what is left out.
    return texts.get(
        stream.blob.hash, f"{stream.head}\n[{stream.omitted} characters, {stream.blob.hash}]\n{stream.tail}"
    )


# ---- What was displayed


def _displayed(old: Iterable[Output], new: Iterable[Output], texts: Texts) -> Iterator[Difference]:
    a, b = ([each for each in outputs if isinstance(each, Display)] for outputs in (old, new))
    for number, (before, after) in enumerate(zip_longest(a, b), 1):
        if before is None or after is None:
            shown = before or after
            media = _main(shown) if shown is not None else None
            sides = [_shown_in(each, media, texts) if each is not None else None for each in (before, after)]
            yield Difference(part="display", number=number, media=media, a=sides[0], b=sides[1])
        elif (media := _other_media(before, after, texts)) is not None:
            sides = [_shown_in(each, media, texts) for each in (before, after)]
            yield Difference(part="display", number=number, media=media, a=sides[0], b=sides[1])


def _other_media(a: Display, b: Display, texts: Texts) -> str | None:
    """The first media type in which two displays differ; the one that people see goes first."""
    names = dict.fromkeys([*a.blobs, *a.data, *b.blobs, *b.data])
    for media in sorted(names, key=lambda media: media != "text/plain"):
        if not same(_content(a, media, texts), _content(b, media, texts)):
            return media
    return None


def _content(display: Display, media: str, texts: Texts) -> Json:
    ref = display.blobs.get(media)
    if ref is None:
        # Absent is not the same as null.
        return [settled_value(display.data[media], media)] if media in display.data else None
    if ref.hash in texts:
        return [settled(texts[ref.hash], media)]
    return {"blob": ref.hash}


def _main(display: Display) -> str | None:
    names = [*display.data, *display.blobs]
    return "text/plain" if "text/plain" in names else next(iter(names), None)


def _shown_in(display: Display, media: str | None, texts: Texts) -> str | None:
    if media is None:
        return ""
    if (ref := display.blobs.get(media)) is not None:
        return _excerpt(texts[ref.hash]) if ref.hash in texts else f"{ref.size:,} bytes, sha256 {ref.hash[:16]}…"
    if media not in display.data:
        return None
    value = display.data[media]
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8", "replace")
    return _excerpt(text) if is_text(media) or is_json(media) else f"{len(text):,} characters"


# ---- What was raised


def _raised(a: Cell, b: Cell, old: Iterable[Output], new: Iterable[Output]) -> Iterator[Difference]:
    before, after = _fault(a, old), _fault(b, new)
    if (settled(before) if before else before) != (settled(after) if after else after):
        yield Difference(part="error", a=_excerpt(before), b=_excerpt(after))


def _fault(cell: Cell, outputs: Iterable[Output]) -> str | None:
    """Not the traceback: it tells of lines in libraries, and where those are installed."""
    shown = next((each for each in outputs if isinstance(each, Raised)), None)
    fault = shown or (cell.execution.fault if cell.execution is not None else None)
    return f"{fault.ename}: {fault.evalue}" if fault is not None else None


def _excerpt(text: str | None) -> str | None:
    if text is None:
        return None
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"


# ---- Texts in blobs


async def texts_of(workspace: Workspace, a: Notebook, b: Notebook) -> Texts:
    """Read the blobs that hold text and are not in both runs: those that are need no second look."""
    old, new = _text_blobs(a), _text_blobs(b)
    texts: dict[str, str] = {}
    for ref in {**old, **new}.values():
        if (ref.hash in old) != (ref.hash in new) and ref.size <= MOST_BYTES:
            try:
                texts[ref.hash] = (await workspace.read_blob(ref.hash)).decode("utf-8", "replace")
            except QuireError:  # gone with a bundle, or pruned: then the hash says it
                continue
    return texts


def _text_blobs(notebook: Notebook) -> dict[str, BlobRef]:
    refs: dict[str, BlobRef] = {}
    for cell in notebook.live_cells:
        for output in cell.execution.outputs if cell.execution is not None else ():
            refs |= {ref.hash: ref for ref in blob_refs(output) if _is_readable(ref.media)}
    return refs


def _is_readable(media: str | None) -> bool:
    return media is None or is_text(media) or is_json(media)
