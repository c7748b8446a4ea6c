"""Results among the displays of a cell: scrapbook's, papermill's older records, and our own.

They are displays like others and stay among the outputs, so that every tool that reads
notebooks finds them. Here they are recognised, and become `ResultRecorded` beside that.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

import msgspec

from ...core.errors import BadInput
from ...core.notebook import INLINE_TEXT
from ...core.values import Json, tag, untag
from .media import fields_in, fits, media_in, metadata_in, valid
from .secrets import Remover
from .streams import Blob, kept

OURS = "application/vnd.quire.result+json"
_RECORD = "application/papermill.record+json"
_SCRAP, _SCRAP_END = "application/scrapbook.scrap.", "+json"
_PARQUET, _BYTES = "application/vnd.apache.parquet", "application/octet-stream"

_LONGEST_KIND = 100


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A result that a display carries: a tagged value, or a blob where that is large or bytes."""

    name: str
    kind: str
    value: Json = None
    blob: Blob | None = None
    is_shown: bool = False
    """Whether it is only shown: of a value that is recorded under the same name, the picture."""


def results_in(content: dict[str, Json], remover: Remover) -> Iterator[Found]:
    """Yield the results of a display. Ours is exact, so what else says the same is passed over."""
    data, metadata = fields_in(content.get("data")), fields_in(content.get("metadata"))
    if not ("scrapbook" in metadata or "papermill" in metadata or any(map(_carries, data))):
        return
    try:
        data = fields_in(remover.clean(valid(data)))
        scrapbook, papermill = (metadata_in(metadata.get(name), remover) for name in ("scrapbook", "papermill"))
        yield from _found(data, scrapbook, papermill, remover)
    except (RecursionError, ValueError, BadInput):
        return  # nested too deeply, or a number without end: shown as far as that goes, and no more


def _carries(media: str) -> bool:
    return media in (OURS, _RECORD) or _is_scrap(media)


def _is_scrap(media: str) -> bool:
    return media.startswith(_SCRAP) and media.endswith(_SCRAP_END)


def _found(
    data: dict[str, Json], scrapbook: dict[str, Json], papermill: dict[str, Json], remover: Remover
) -> Iterator[Found]:
    if OURS in data:
        yield from _ours(fields_in(data[OURS]))
        return
    for media, payload in data.items():
        if _is_scrap(media):
            yield from _scrap(media[len(_SCRAP) : -len(_SCRAP_END)][:_LONGEST_KIND], payload, scrapbook)
        elif media == _RECORD:
            yield from (_valued(name, "json", tag(value)) for name, value in fields_in(payload).items())
    shown = scrapbook if scrapbook.get("display") is True else papermill
    if isinstance(name := shown.get("name"), str) and not scrapbook.get("data"):
        yield _shown(name, data, remover)


def _ours(payload: dict[str, Json]) -> Iterator[Found]:
    name, kind, data = payload.get("name"), payload.get("kind", "json"), payload.get("data")
    if not isinstance(name, str) or not isinstance(kind, str) or len(kind) > _LONGEST_KIND:
        return
    media = payload.get("media")
    if isinstance(data, str) and (raw := _from_base64(data)) is not None:
        yield Found(name=name, kind=kind, blob=kept(raw, media if isinstance(media, str) else _BYTES))
    else:
        yield _valued(name, kind, _checked(payload.get("value")))


def _scrap(kind: str, payload: Json, scrapbook: dict[str, Json]) -> Iterator[Found]:
    fields = fields_in(payload)
    name = fields.get("name", scrapbook.get("name"))
    value = fields.get("data", payload)
    if not isinstance(name, str):
        return
    if kind == "pandas" and isinstance(value, str) and (raw := _from_base64(value)) is not None:
        yield Found(name=name, kind=kind, blob=kept(raw, _PARQUET))
    else:
        yield _valued(name, kind, tag(value))


def _valued(name: str, kind: str, value: Json) -> Found:
    text = msgspec.json.encode(value)
    if len(text) <= INLINE_TEXT and fits(text):
        return Found(name=name, kind=kind, value=value)
    return Found(name=name, kind=kind, blob=kept(text, "application/json"))


def _shown(name: str, data: dict[str, Json], remover: Remover) -> Found:
    """Of a large display the first blob, which is one of its own: nothing is kept twice."""
    blobs = list(media_in({"data": data}, remover).blobs.values())
    if blobs:
        return Found(name=name, kind="display", blob=blobs[0], is_shown=True)
    return msgspec.structs.replace(_valued(name, "display", tag(data)), is_shown=True)


def _checked(value: Json) -> Json:
    """A value that says it is tagged; one that cannot be read is a value of its own."""
    try:
        untag(value)
    except BadInput:
        return tag(value)
    return value


def _from_base64(value: str) -> bytes | None:
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
