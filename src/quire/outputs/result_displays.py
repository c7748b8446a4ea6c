"""Results among the displays of a cell, as a log can hold them.

They are displays like others and stay among the outputs, so that every tool that reads
notebooks finds them. formats/scraps.py reads them; here secrets are removed first, what is
large or bytes becomes a blob (rule 5), and each becomes a `ResultRecorded` beside its display.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..core.errors import BadInput
from ..core.notebook.notebook import INLINE_TEXT
from ..core.results import RecordedResult
from ..core.values import Json
from ..formats.scraps import recorded_in
from ..kernel import BYTES, carries
from .media import fields_in, fits, media_in, metadata_in, valid
from .secrets import Remover
from .streams import Blob, kept


class DisplayedResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result that a display carries: a tagged value, or a blob where that is large or bytes."""

    name: str
    kind: str
    value: Json = None
    """Of a file, whose bytes are the blob, its name."""
    blob: Blob | None = None
    is_shown: bool = False
    """Whether it is only shown: of a value that is recorded under the same name, the picture."""


def results_in(content: dict[str, Json], remover: Remover) -> Iterator[DisplayedResult]:
    """Yield the results of a display. Their names are as the kernel sent them: whoever keeps them checks those."""
    data, metadata = fields_in(content.get("data")), fields_in(content.get("metadata"))
    if not carries(data, metadata):
        return
    try:
        data = fields_in(remover.clean(valid(data)))
        said: dict[str, Json] = {name: metadata_in(metadata.get(name), remover) for name in ("scrapbook", "papermill")}
        for result, is_shown in recorded_in(data, said):
            yield _found(result, is_shown=is_shown, data=data, remover=remover)
    except (RecursionError, ValueError, BadInput):
        return  # nested too deeply, or a number without end: shown as far as that goes, and no more


def _found(result: RecordedResult, *, is_shown: bool, data: dict[str, Json], remover: Remover) -> DisplayedResult:
    value, blob = None, None
    if result.data is not None:
        value, blob = result.file, kept(result.data, result.media or BYTES)
    elif len(text := msgspec.json.encode(result.value)) <= INLINE_TEXT and fits(text):
        value = result.value
    else:
        # Of a large display one of its own blobs: nothing is kept twice.
        shown = list(media_in({"data": data}, remover).blobs.values()) if is_shown else []
        blob = shown[0] if shown else kept(text, "application/json")
    return DisplayedResult(name=result.name, kind=result.kind, value=value, blob=blob, is_shown=is_shown)
