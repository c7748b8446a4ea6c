"""Long texts, a page at a time: from wherever they are, and without more of them in memory than the page."""

from __future__ import annotations

import codecs
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from ...core.errors import BadInput
from ...core.events import BlobRef, Display, Output, Raised, Stream
from ...core.sheet.conversion import Blobs
from ...core.sheet.equality import as_text
from ...core.sheet.sheet import is_json, is_text
from ...core.visible import visible
from ...formats.agent_text.excerpt import QUARTERS, cost
from ...formats.terminal_safe import one_line, plain
from ...workspace.protocol import Workspace
from .handles import ResolvedHandle

TEXT = ("text/plain", "text/markdown", "text/latex")
_PIECE = 256 * 1024
_BEGUN = re.compile(r"\x1b[^A-Za-z]{0,40}\Z")


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of text: at hand, or in a blob, as UTF-8 or as bytes that are shown in base64."""

    text: str = ""
    blob: BlobRef | None = None
    is_base64: bool = False
    length: int | None = None
    """In characters, of a blob where that is known."""
    is_source: bool = False
    """Whether it is what somebody wrote, of which everything is to be seen, or what a cell showed."""


class BlobSource(msgspec.Struct, frozen=True):
    """Where blobs come from: the workspace, or the file that was just read."""

    workspace: Workspace
    blobs: Blobs

    async def bytes(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield a range of a blob."""
        if hash in self.blobs:
            yield self.blobs[hash][0][start:end]
            return
        async for piece in self.workspace.open_blob(hash, start, end):
            yield piece

    async def read(self, hash: str, start: int = 0, end: int | None = None) -> bytes:
        """Return a range of a blob."""
        return b"".join([piece async for piece in self.bytes(hash, start, end)])

    async def whole(self, ref: BlobRef, most: int) -> bytes | None:
        """All of a blob; None if it is larger than that."""
        return await self.read(ref.hash) if ref.size <= most else None


# ---- What a text is made of


def segments(found: ResolvedHandle) -> list[Segment]:
    """All that is meant, as one text: streams go on where the one before ended, all else has lines of its own."""
    if found.source is not None:
        return [Segment(text=found.source, is_source=True)]
    if len(found.outputs) == 1:
        return [_one(found.outputs[0][1], found.media)]
    made: list[Segment] = []
    for number, output in found.outputs:
        if made and not isinstance(output, Stream):
            made.append(Segment(text="\n"))
        made += _among_others(output, found, number)
        if not isinstance(output, Stream):
            made.append(Segment(text="\n"))
    return made


def _one(output: Output, media: str | None) -> Segment:
    match output:
        case Stream():
            if output.blob is not None:
                return Segment(blob=output.blob, length=output.length)
            gap = f"\n[… {output.omitted:,} characters are not kept yet …]\n" if output.omitted else ""
            return Segment(text=output.head + gap + output.tail)
        case Raised():
            return Segment(text="\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
        case Display():
            return medium(output, media or main_medium(output))


def _among_others(output: Output, found: ResolvedHandle, number: int) -> list[Segment]:
    """An output between others: of a display its text, and a line for what is none."""
    if not isinstance(output, Display):
        return [_one(output, None)]
    media = main_medium(output)
    texts = [medium(output, media)] if is_text(media) or is_json(media) else []
    others = [each for each in (*output.data, *output.blobs) if not (is_text(each) or is_json(each))]
    named = [f'[{one_line(each, 100)}: output(of="{found.of_output(number)}")]' for each in dict.fromkeys(others)]
    return [*texts, Segment(text="\n" * bool(texts) + "\n".join(named))] if named else texts


def main_medium(display: Display) -> str:
    """The medium that is read where none is named: text before all else."""
    there = [*display.data, *(each for each in display.blobs if each not in display.data)]
    readable = [each for each in there if is_text(each) or is_json(each)]
    return next((each for each in TEXT if each in there), (readable or there or [""])[0])


def medium(display: Display, media: str) -> Segment:
    """One medium of a display as text; BadInput if it has none of that type."""
    there = dict.fromkeys((*display.data, *display.blobs))
    if media not in there:
        raise BadInput(f"It has no {media!r}: it has {', '.join(there) or 'nothing'}. Name one of these after a colon.")
    ref = display.blobs.get(media)
    if ref is not None:
        kind = ref.media or media
        return Segment(blob=ref, is_base64=not (is_text(kind) or is_json(kind)))
    value = display.data[media]
    return Segment(text=value if isinstance(value, str) else as_text(value, ascii=False))


# ---- Its characters


async def length_of(source: BlobSource, segment: Segment) -> int:
    """How many characters a segment has; counted, where nobody knows."""
    if segment.blob is None:
        return len(segment.text)
    if segment.is_base64:
        return -(-segment.blob.size // 3) * 4
    if segment.length is not None:
        return segment.length
    return sum([len(text) async for text in texts(source, segment.blob)])


async def characters(source: BlobSource, segment: Segment, length: int, start: int, end: int) -> str:
    """A range of a segment that has so many characters."""
    if segment.blob is None:
        return segment.text[start:end]
    if segment.is_base64:
        return await _base64(source, segment.blob, start, end)
    if length == segment.blob.size:
        # Each character is a byte: the range is at hand.
        return (await source.read(segment.blob.hash, start, end)).decode("utf-8", "replace")
    return await _scanned(source, segment.blob, start, end)


async def _base64(source: BlobSource, ref: BlobRef, start: int, end: int) -> str:
    first = start // 4
    until = -(-end // 4) * 3
    data = await source.read(ref.hash, first * 3, min(until, ref.size))
    return b64encode(data).decode()[start - first * 4 : end - first * 4]


async def _scanned(source: BlobSource, ref: BlobRef, start: int, end: int) -> str:
    found, at = "", 0
    async for text in texts(source, ref):
        found += text[max(start - at, 0) : max(end - at, 0)]
        at += len(text)
        if at >= end:
            break
    return found


async def texts(source: BlobSource, ref: BlobRef) -> AsyncIterator[str]:
    """Yield a blob as text, piece by piece."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    async for piece in source.bytes(ref.hash):
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


async def pieces(source: BlobSource, parts: Sequence[Segment]) -> AsyncIterator[str]:
    """Yield all of the segments, in pieces."""
    for segment in parts:
        if segment.blob is None:
            yield segment.text
        elif segment.is_base64:
            total = await length_of(source, segment)
            for at in range(0, total, _PIECE):
                yield await characters(source, segment, total, at, at + _PIECE)
        else:
            async for text in texts(source, segment.blob):
                yield text


# ---- Pages


class TextSlice(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a text."""

    text: str
    start: int
    end: int
    length: int


async def page(source: BlobSource, parts: Sequence[Segment], at: int, most: int) -> TextSlice:
    """The page that begins at a character (negative: from the end), for no more than that, in quarters of a token."""
    lengths = [await length_of(source, segment) for segment in parts]
    total = sum(lengths)
    start = max(total + at, 0) if at < 0 else at
    if start > total:
        raise BadInput(f"There is no character {start:,}: it has {total:,}. `at=-4000` gives the end.")
    found, before = "", 0
    for segment, length in zip(parts, lengths, strict=True):
        first, last = max(start - before, 0), min(start + most - before, length)
        if first < last:
            found += await characters(source, segment, length, first, last)
        before += length
    show = shown_as(parts)
    kept = _affordable(found, most, show, is_end=start + len(found) >= total)
    return TextSlice(text=show(kept), start=start, end=start + len(kept), length=total)


def shown_as(parts: Sequence[Segment]) -> Callable[[str], str]:
    """How characters of these are made safe to show: of a source nothing is taken away."""
    return visible if any(segment.is_source for segment in parts) else plain


def _affordable(text: str, most: int, show: Callable[[str], str], *, is_end: bool) -> str:
    """The longest beginning that can be paid for once it is made harmless, up to the end of a line where one is near."""
    low, high = min(1, len(text)), len(text)
    if cost(show(text)) <= most:
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(show(text[:middle])) <= most else (low, middle - 1)
    if low == len(text) and is_end:
        return text
    kept = text[:low]
    # Half of an escape sequence could not be told from text.
    kept = _BEGUN.sub("", kept) or kept
    line = kept.rfind("\n") + 1
    return kept[:line] if line > len(kept) // 2 else kept


def told(page: TextSlice) -> str:
    """Where a page is, and how to go on."""
    where = f"characters {page.start:,}-{page.end:,} of {page.length:,}"
    return f"[{where}; next: at={page.end}]" if page.end < page.length else f"[{where}]"


MARGIN = 40 * QUARTERS
"""What the line above a page may cost."""
