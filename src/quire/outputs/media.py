"""Displays and errors as a log can hold them, whatever a kernel sent.

Kernels in the wild leave out fields, send numbers for text and half of a surrogate pair.
Nothing here raises for that: what can be shown is, and the rest is left out. What is large
becomes a blob (rule 5); so does JSON with integers or depths that a log does not take, for
in a blob it stays exact.
"""

from __future__ import annotations

from math import isfinite
from typing import cast

import msgspec

from ..core import codec
from ..core.errors import BadInput
from ..core.events import BlobRef, Fault
from ..core.notebook.notebook import INLINE_TEXT
from ..core.sheet.conversion import parted
from ..core.sheet.sheet import is_json, is_text
from ..core.values import Json
from .secrets import Remover
from .streams import Blob, kept

MOST_MEDIA = 40
"""A display has a handful of media types; what comes after so many is left out, or no event could hold it."""
_LONGEST_NAME = 1000
_DEEPEST = 50
_SAFE_INTEGER = 2**53


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """What a kernel shows: media types inline and as blobs, and what belongs to them."""

    data: dict[str, Json]
    blobs: dict[str, Blob]
    """By media type."""
    metadata: dict[str, Json]

    @property
    def inline_size(self) -> int:
        """Roughly how much stays inline."""
        return sum(
            len(each) if isinstance(each, str) else len(msgspec.json.encode(each)) for each in self.data.values()
        )

    @property
    def refs(self) -> dict[str, BlobRef]:
        """The blobs as an event names them."""
        return {media: blob.ref for media, blob in self.blobs.items()}


def text_in(value: Json) -> str:
    """Return text that was meant as such: also a list of lines, or a number. It is valid Unicode."""
    if isinstance(value, list):
        value = "".join(line for line in cast("list[Json]", value) if isinstance(line, str))
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) <= _SAFE_INTEGER):
        value = str(value)
    return whole_characters(value) if isinstance(value, str) else ""


def whole_characters(text: str) -> str:
    """Join halves of surrogate pairs, and put U+FFFD in the place of those that are alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def fields_in(value: Json) -> dict[str, Json]:
    """Return an object, or an empty one."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def fault_in(content: dict[str, Json], remover: Remover) -> Fault:
    """Return the error that a kernel tells, colours included. One that is too long to keep is cut in its middle."""
    lines: Json = content.get("traceback")
    given = cast("list[Json]", lines if isinstance(lines, list) else [lines])
    # Cleaned before it is cut: half a secret would not be found.
    traceback = [remover.clean_text(text) for text in map(text_in, given) if text]
    if sum(map(len, traceback)) > INLINE_TEXT:
        traceback = [shortened("\n".join(traceback), INLINE_TEXT)]
    return Fault(
        ename=shortened(remover.clean_text(text_in(content.get("ename"))), _LONGEST_NAME),
        evalue=shortened(remover.clean_text(text_in(content.get("evalue"))), INLINE_TEXT // 4),
        traceback=tuple(traceback),
    )


def shortened(text: str, most: int) -> str:
    """Return head and tail of a long text, with a word between them."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def media_in(content: dict[str, Json], remover: Remover, most: int = INLINE_TEXT) -> Media:
    """Return what a display, a result or an update shows; `most` characters of each text stay inline."""
    data: dict[str, Json] = {}
    blobs: dict[str, Blob] = {}
    for name, value in list(fields_in(content.get("data")).items())[:MOST_MEDIA]:
        media = remover.clean_text(text_in(name))[:_LONGEST_NAME]
        excerpt, blob = _placed(media, value, remover, most)
        if excerpt is not None:
            data[media] = excerpt
        if blob is not None:
            blobs[media] = blob
    return Media(data=data, blobs=blobs, metadata=metadata_in(content.get("metadata"), remover))


def _placed(media: str, value: Json, remover: Remover, most: int) -> tuple[Json, Blob | None]:
    """What stays inline of a medium, and the blob if that is not all."""
    try:
        value = _mended(media, value, remover)
        excerpt, whole = parted(media, value, most)
        if whole is None and not isinstance(value, str) and not fits(text := msgspec.json.encode(value)):
            excerpt, whole = None, (text, "application/json")
    except (RecursionError, ValueError):
        return f"[{media} cannot be kept: it is nested too deeply, or holds a number without end]", None
    return excerpt, kept(*whole) if whole is not None else None


def _mended(media: str, value: Json, remover: Remover) -> Json:
    if not isinstance(value, str) and (is_json(media) or not isinstance(value, list)):
        return remover.clean(valid(value))
    text = text_in(value)
    if is_text(media) or is_json(media) or "\n" not in text:
        return remover.clean_text(text)
    # Base64 may come in lines, and a secret then across two of them.
    joined = "".join(text.split())
    cleaned = remover.clean_text(joined)
    return remover.clean_text(text) if cleaned == joined else cleaned


def metadata_in(value: Json, remover: Remover) -> dict[str, Json]:
    """Return metadata as far as it stays inline. It has no blobs, so what a log does not take is changed or left out."""
    metadata: dict[str, Json] = {}
    room = INLINE_TEXT
    for name, each in fields_in(value).items():
        name, each = remover.clean_text(text_in(name)), remover.clean(_simple(each, _DEEPEST))
        room -= len(name) + len(msgspec.json.encode(each))
        if room >= 0:
            metadata[name] = each
    return metadata


def valid(value: Json) -> Json:
    """Return JSON that is some: its texts are valid Unicode, and NaN and the infinities are null, as browsers have it."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_with_whole_characters(value))
    return msgspec.json.decode(text)


def _with_whole_characters(value: Json) -> Json:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [_with_whole_characters(each) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {whole_characters(name): _with_whole_characters(each) for name, each in fields_in(value).items()}
    return value


def _simple(value: Json, depth: int) -> Json:
    """JSON that any log takes: integers as a browser reads them, nothing nested too deeply."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        return float(value) if abs(value) < 2**1023 else None
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list | dict) and not depth:
        return None
    if isinstance(value, list):
        return [_simple(each, depth - 1) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {whole_characters(name): _simple(each, depth - 1) for name, each in fields_in(value).items()}
    return value


def fits(text: bytes) -> bool:
    """Whether a log takes this JSON, some levels down in an event."""
    try:
        codec.check_json(f"{'[' * 10}{text.decode()}{']' * 10}", "A display")
    except BadInput:
        return False
    return True
