"""What a client can attach by its address: notebooks, cells and runs as agents read them, and blobs as they are."""

from __future__ import annotations

import re
from base64 import b64encode
from urllib.parse import quote, unquote

import mcp_types as t

from ...core.errors import BadInput, NotFound
from ...verbs import read as reading
from ...verbs.answers.answer import Here
from ...verbs.arguments import ReadArguments
from ...workspace.protocol import LogInfo

BUDGET = 20_000
"""Tokens: somebody chose to attach it."""
BLOB_BYTES = 10_000_000
PAGE = 200
RUNS = 50
"""Of runs, those that were begun last."""
TEXT = "text/plain"

_TEMPLATES = (
    ("quire://notebooks/{notebook}", "notebook", "A notebook, by its id or name.", TEXT),
    ("quire://notebooks/{notebook}/cells/{cell}", "cell", "A cell with what it showed.", TEXT),
    ("quire://runs/{run}", "run", "A run, by its id or the beginning of it.", TEXT),
    ("quire://blobs/{hash}", "blob", "Large bytes, by their SHA-256.", None),
)
_SHAPES = [
    (name, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/?#]+)", re.escape(shape)))) for shape, name, _, _ in _TEMPLATES
]


def templates() -> list[t.ResourceTemplate]:
    """The addresses that there are."""
    return [
        t.ResourceTemplate(uri_template=shape, name=name, description=told, mime_type=media)
        for shape, name, told, media in _TEMPLATES
    ]


async def listed(here: Here, cursor: str | None) -> t.ListResourcesResult:
    """Notebooks, and the last runs; a page of them."""
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise BadInput(f"{cursor[:100]!r} is no cursor of this list. Begin without one.")
    runs = (await here.workspace.logs("run"))[:RUNS]
    found = [*(await here.workspace.logs("notebook")), *runs]
    begin = int(cursor or 0)
    more = str(begin + PAGE) if len(found) > begin + PAGE else None
    return t.ListResourcesResult(resources=[_resource(each) for each in found[begin : begin + PAGE]], next_cursor=more)


def _resource(info: LogInfo) -> t.Resource:
    folder = "runs" if info.kind == "run" else "notebooks"
    uri = f"quire://{folder}/{quote(info.log, safe='')}"
    return t.Resource(uri=uri, name=info.name, description=f"{info.kind} of {info.created_by}", mime_type=TEXT)


async def read(here: Here, uri: str) -> t.ReadResourceResult:
    """What is at an address."""
    name, parts = _parsed(uri)
    if name == "blob":
        return t.ReadResourceResult(contents=[await _blob(here, uri, parts["hash"])])
    text = await _text(here, parts.get("run") or parts["notebook"], parts.get("cell"))
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=uri, mime_type=TEXT, text=text)])


def _parsed(uri: str) -> tuple[str, dict[str, str]]:
    for name, shape in _SHAPES:
        if (found := shape.fullmatch(uri)) is not None:
            return name, {part: unquote(value) for part, value in found.groupdict().items()}
    known = ", ".join(shape for shape, *_ in _TEMPLATES)
    raise NotFound(f"There is nothing at {uri[:200]!r}. Known: {known}.")


async def _text(here: Here, notebook: str, cell: str | None) -> str:
    cells = (cell,) if cell is not None else ()
    return (await reading.read(here, ReadArguments(notebook=notebook, cells=cells, view="full", budget=BUDGET))).text


async def _blob(here: Here, uri: str, hash: str) -> t.BlobResourceContents:
    found = bytearray()
    async for chunk in here.workspace.open_blob(hash, 0, BLOB_BYTES + 1):
        found += chunk
    if len(found) > BLOB_BYTES:
        told = f"Blob {hash[:12]}… is larger than the {BLOB_BYTES:,} bytes that come this way."
        raise BadInput(f"{told} Page through it: the tool output, with the handle of what a cell showed.")
    return t.BlobResourceContents(uri=uri, mime_type="application/octet-stream", blob=b64encode(found).decode())
