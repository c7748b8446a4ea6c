"""What a cell showed, the whole of it: also what is in a blob, piece by piece."""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator

import msgspec

from ...core.events import BlobRef, Display, Output, Raised, Stream
from ...core.sheet.equality import as_text
from ...core.sheet.sheet import is_text
from ...formats.output_text import size_of
from ...formats.value_text import value_text
from ...kernel import found_in
from ...workspace.protocol import Workspace

_TEXT = ("text/plain", "text/markdown", "text/latex")
"""Of a display the first of these is printed; the others are named."""


async def text_pieces(workspace: Workspace, output: Output) -> AsyncIterator[str]:
    """Yield an output as text: what was printed or raised, and of a display its text, or its results, and a line for each other medium."""
    match output:
        case Stream():
            async for piece in _stream(workspace, output):
                yield piece
        case Raised():
            yield "\n".join(output.traceback) or f"{output.ename}: {output.evalue}"
        case Display():
            media = [*output.data, *(each for each in output.blobs if each not in output.data)]
            main = next((each for each in _TEXT if each in media), None)
            if main is not None:
                async for piece in _medium(workspace, output, main):
                    yield piece
            results = _results(output) if main is None else []
            named = results or [_named(output, each) for each in media if each != main]
            yield "".join(f"\n{line}" for line in named) if main is not None else "\n".join(named)


async def json_pieces(workspace: Workspace, output: Output) -> AsyncIterator[str]:
    """Yield an output as the text of a JSON object: texts whole, other large things as blobs."""
    match output:
        case Stream():
            yield f'{{"kind":"stream","name":"{output.name}","text":"'
            async for piece in _stream(workspace, output):
                yield _escaped(piece)
            yield '"}'
        case Raised():
            yield _json(output)
        case Display():
            whole = [media for media in output.blobs if is_text(media)]
            refs = {media: ref for media, ref in output.blobs.items() if media not in whole}
            parts = [f"{_json(media)}:{_json(value)}" for media, value in output.data.items() if media not in whole]
            yield f'{{"kind":"display","blobs":{_json(refs)},"data":{{{",".join(parts)}'
            for media in whole:
                yield f'{"," if parts else ""}{_json(media)}:"'
                parts.append(media)
                async for piece in _medium(workspace, output, media):
                    yield _escaped(piece)
                yield '"'
            yield "}}"


async def _stream(workspace: Workspace, stream: Stream) -> AsyncIterator[str]:
    if stream.blob is not None:
        async for piece in _blob(workspace, stream.blob):
            yield piece
        return
    yield stream.head
    if stream.omitted:
        yield f"\n[… {stream.omitted:,} characters are not kept yet …]\n"
    yield stream.tail


async def _medium(workspace: Workspace, display: Display, media: str) -> AsyncIterator[str]:
    if media in display.blobs:
        async for piece in _blob(workspace, display.blobs[media]):
            yield piece
    else:
        value = display.data[media]
        yield value if isinstance(value, str) else as_text(value)


async def _blob(workspace: Workspace, ref: BlobRef) -> AsyncIterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    async for chunk in workspace.open_blob(ref.hash):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _results(display: Display) -> list[str]:
    """A line for each result that a display carries, where that is a value."""
    found = found_in(display.data, display.metadata)
    values = [each for each in found if not each.is_shown and each.data is None and each.file is None]
    return [f"{each.name} = {value_text(each.value)}" for each in values]


def _named(display: Display, media: str) -> str:
    ref = display.blobs.get(media)
    if ref is not None:
        return f"[{media}, {ref.size:,} bytes, blob {ref.hash}]"
    value = display.data[media]
    return f"[{media}, {size_of(media, value if isinstance(value, str) else as_text(value))}]"


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
