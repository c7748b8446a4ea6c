"""Reading: a notebook or some of its cells, and what a cell showed, page by page."""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..core.errors import BadInput
from ..core.events import Display, Stream
from ..core.ids import ActorId, CellId
from ..core.notebook.cell_lookup import find_cell
from ..core.notebook.comments import open_threads, threads
from ..core.notebook.notebook import Cell, Notebook
from ..core.notebook.staleness import stale_cells
from ..core.values import Json
from ..formats.agent_text import render
from ..formats.agent_text.excerpt import QUARTERS, cost, cut
from ..formats.agent_text.image_size import dimensions
from ..formats.html.escape import size
from ..formats.terminal_safe import one_line
from .answers import page as paging
from .answers.answer import Here, Picture, VerbAnswer
from .answers.execution_answer import cell_facts
from .answers.handles import ResolvedHandle, meant
from .answers.page import MARGIN, BlobSource
from .answers.pictures import MOST_PACKED, RASTER, picture
from .answers.search import SECONDS, SearchPage, search
from .arguments import OutputArguments, ReadArguments
from .find import NotebookSource, reading_of
from .reviews.agent_reviews import overview_lines, read_review, reviews_of

RANGE = ".."
MOST_FACTS = 200
MOST_PICTURES = 2
"""Beside a text: each is worth many words."""


class NotebookText(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook as text."""

    reading: NotebookSource
    text: str
    cells: list[CellId] | None = None
    """Those that were chosen, or that changed; None: all."""


async def read(here: Here, wanted: ReadArguments) -> VerbAnswer:
    """Return a notebook, a run or a file as text: all of it, some cells, or what changed since a number."""
    reading = await reading_of(here, wanted.notebook)
    if reading.log is not None and reading.notebook.review is not None:
        return await read_review(here, reading.log, reading.notebook, wanted)
    reviews = await reviews_of(here, reading.log, reading.notebook) if reading.log is not None else []
    shown = await _text(here, reading, wanted.view, wanted.cells, wanted.since, wanted.budget, overview_lines(reviews))
    await here.at(shown.reading.log, "reading", next(iter(shown.cells or ()), None))
    facts = _facts(shown.reading, shown.cells)
    return VerbAnswer(
        text=shown.text, facts=facts | comment_facts(shown.reading.notebook, here.workspace.identity.actor)
    )


async def text_of(
    here: Here,
    name: str,
    view: render.View | None = None,
    cells: Sequence[str] = (),
    since: int | None = None,
    budget: int | None = None,
) -> NotebookText:
    """The same, also without a budget; with what was read."""
    return await _text(here, await reading_of(here, name), view, cells, since, budget)


async def _text(
    here: Here,
    reading: NotebookSource,
    view: render.View | None,
    cells: Sequence[str],
    since: int | None,
    budget: int | None,
    reviews: Sequence[str] = (),
) -> NotebookText:
    notebook = reading.notebook
    chosen = _chosen(notebook, cells) if cells else None
    changed, notes = await _since(here, reading, since) if since is not None else (None, [])
    if chosen is not None and changed is not None:
        chosen = [cell for cell in chosen if cell in changed]
    text = render.render(
        reading.log,
        notebook,
        view=view or ("outline" if chosen is None and changed is None else "full"),
        budget=budget,
        cells=chosen,
        changed=changed,
        folder=_folder(here, notebook),
        notes=[*reviews, *notes],
        reader=here.workspace.identity.actor,
    )
    return NotebookText(reading=reading, text=text, cells=chosen if chosen is not None else changed)


def _facts(reading: NotebookSource, shown: Sequence[CellId] | None) -> dict[str, Json]:
    notebook = reading.notebook
    facts: dict[str, Json] = {"notebook": reading.log, "name": notebook.name, "cursor": notebook.seq}
    facts |= {"run": notebook.run.status} if notebook.run is not None else {}
    return facts | {"cells": cell_facts(notebook, shown[:MOST_FACTS])} if shown is not None else facts


def comment_facts(notebook: Notebook, reader: ActorId) -> dict[str, Json]:
    """The open threads of comments, for programs: those that await the reader first."""
    found = open_threads(notebook.comments, reader)[:MOST_FACTS]
    listed: list[Json] = [
        {"id": each.id, "cell": each.cell, "by": each.first.by, "awaits_you": each.awaits(reader)} for each in found
    ]
    return {"comments": listed} if listed else {}


def _chosen(notebook: Notebook, names: Sequence[str]) -> list[CellId]:
    """The cells that are named: by id, name or number, or from one to another (`a..b`)."""
    live = list(notebook.live_cells)
    found: dict[CellId, None] = {}
    for name in names:
        first, dots, last = name.partition(RANGE)
        if dots and first and last and not any(cell.name == name for cell in live):
            start, end = sorted((find_cell(live, first), find_cell(live, last)))
            found |= {cell.id: None for cell in live[start : end + 1]}
        else:
            found[live[find_cell(live, name)].id] = None
    return list(found)


async def _since(here: Here, reading: NotebookSource, since: int) -> tuple[list[CellId], list[str]]:
    """The cells that are not as they were at a number, and what to say of it."""
    notebook = reading.notebook
    if since > notebook.seq:
        raise BadInput(f"{since} is past the end: the notebook is at {notebook.seq}. Use the cursor of an answer.")
    if reading.log is None:
        raise BadInput("A file has no past. Leave `since` out, or open it: edit or run does.")
    before = await here.workspace.read(reading.log, since) if since else Notebook()
    stale_then, stale_now = stale_cells(before), stale_cells(notebook)
    live = list(notebook.live_cells)
    discussed = _discussed(before, notebook)
    changed = [
        cell.id
        for cell in live
        if _differs(before, cell) or (cell.id in stale_now) != (cell.id in stale_then) or cell.id in discussed
    ]
    gone = [cell.id for cell in before.live_cells if cell.id not in notebook.cells or notebook.cells[cell.id].removed]
    told = (
        f"since {since}: {len(changed)} of {len(live)} cells changed" if changed else f"no cell changed since {since}"
    )
    told += f"; comments on {len(discussed)}" if discussed else ""
    return changed, [f"{told}; removed: {', '.join(gone[:20])}" if gone else told]


def _discussed(before: Notebook, now: Notebook) -> set[CellId]:
    """The cells about which somebody said something, or whose thread was resolved or opened again."""
    return {
        thread.cell
        for thread in threads(now.comments)
        if thread.cell is not None and any(before.comments.get(id) != said for id, said in thread.comments.items())
    }


def _differs(before: Notebook, cell: Cell) -> bool:
    return before.cells.get(cell.id) != cell


def _folder(here: Here, notebook: Notebook) -> str | None:
    """Where the kernel of a notebook works, as far as that is known here."""
    if here.folder is None:
        return None
    beside = here.folder / Path(notebook.binding.path).parent if notebook.binding is not None else here.folder
    return str(beside)


# ---- What a cell showed


async def output(here: Here, wanted: OutputArguments) -> VerbAnswer:
    """Return a page of what a cell showed, the lines in it that match, or a picture."""
    reading = await reading_of(here, wanted.notebook)
    found = await meant(here, reading, wanted.of)
    await here.at(reading.log, "reading", found.cell.id)
    source = BlobSource(here.workspace, reading.blobs)
    if not found.outputs and found.source is None:
        return VerbAnswer(text=_nothing(found), facts=_where(reading, found))
    if wanted.find is not None:
        return await _matches(source, reading, found, wanted, wanted.find)
    pictures = pictures_in(found) if not wanted.at else []
    if len(found.outputs) == 1 and pictures:
        return await _looked_at(source, reading, found, pictures[0], wanted.budget)
    page = await paging.page(source, paging.segments(found), wanted.at, wanted.budget * QUARTERS - MARGIN)
    line = f"{_headed(found)} {_kinds(found)}{paging.told(page)}"
    if cost(line) >= MARGIN:  # what there is beside can be left out, where to go on cannot
        line = f"{_headed(found)} {paging.told(page)}"
    facts = _where(reading, found) | {"start": page.start, "end": page.end, "length": page.length}
    seen = [made for each in pictures[-MOST_PICTURES:] if (made := await _small(source, each)) is not None]
    return VerbAnswer(text=f"{line}\n{page.text}", facts=facts, pictures=tuple(seen))


def _where(reading: NotebookSource, found: ResolvedHandle) -> dict[str, Json]:
    return {"notebook": reading.log, "cell": found.cell.id, "handle": found.called, "state": found.cell.state} | (
        {"imported": True} if found.is_imported else {}
    )


def _headed(found: ResolvedHandle) -> str:
    """The handle, and whether a file brought the outputs along."""
    return f"{found.called} imported" if found.is_imported else found.called


def _nothing(found: ResolvedHandle) -> str:
    then = "run it first" if found.cell.state == "never_run" else "there is nothing to read"
    return f"{found.called} showed nothing: it is {found.cell.state}; {then}."


def _kinds(found: ResolvedHandle) -> str:
    """What a page is of: the stream, or the medium and what else there is."""
    if found.is_open:
        return "(still running) "
    if len(found.outputs) != 1:
        return ""
    shown = found.outputs[0][1]
    if not isinstance(shown, Display):
        return f"{shown.name} " if isinstance(shown, Stream) else ""
    media = found.media or paging.main_medium(shown)
    others = [one_line(each, 60) for each in dict.fromkeys((*shown.data, *shown.blobs)) if each != media]
    also = f" (also {', '.join(others[:5])}: output(of=HANDLE:MEDIA))" if others and found.media is None else ""
    return f"{one_line(media, 60)}{also} "


async def _matches(
    source: BlobSource, reading: NotebookSource, found: ResolvedHandle, wanted: OutputArguments, pattern: str
) -> VerbAnswer:
    if wanted.at < 0:
        raise BadInput("A search goes on from a character: `at` is 0 or more. Leave it out to search from the start.")
    parts = paging.segments(found)
    searched = await search(pattern, paging.pieces(source, parts), wanted.at)
    show = paging.shown_as(parts)
    left = wanted.budget * QUARTERS - MARGIN
    lines: list[str] = []
    for each in searched.matches:
        line = f"at={each.at}: {'…' * each.is_cut_before}{show(each.line).strip()}{'…' * each.is_cut_behind}"
        if cost(line) + 1 > left:
            break
        left -= cost(line) + 1
        lines.append(line)
    told = cut(f"{_headed(found)} {_summed(searched, len(lines))}", MARGIN - 1)
    count = searched.summary.count if searched.summary is not None else len(searched.matches)
    facts = _where(reading, found) | {"matches": [each.at for each in searched.matches], "count": count}
    return VerbAnswer(text="\n".join([told, *lines]), facts=facts)


def _summed(searched: SearchPage, shown: int) -> str:
    """How a search went, and how to go on."""
    matches, summary = searched.matches, searched.summary
    if summary is None:
        return f"[stopped: it took longer than {SECONDS:.0f} s; {shown} matching lines until then. Look for something simpler]"
    how = "; no regular expression, so looked for as it is" if summary.literal else ""
    next = matches[shown].at if shown < len(matches) else summary.next
    more = f"; next: at={next}" if next is not None else ""
    return f"[{shown:,} of {summary.count:,} matching lines{how}{more}]"


# ---- Pictures


def pictures_in(found: ResolvedHandle) -> list[tuple[Display, str]]:
    """The displays that show a picture, with its medium, if that or none is wanted."""
    shown = [output for _, output in found.outputs if isinstance(output, Display)]
    pairs = [(each, _raster(each)) for each in shown]
    return [(each, media) for each, media in pairs if media is not None and found.media in (None, media)]


def _raster(display: Display) -> str | None:
    return next((each for each in RASTER if each in display.data or each in display.blobs), None)


async def image_bytes(source: BlobSource, display: Display, media: str) -> bytes:
    """A picture as it was shown."""
    ref = display.blobs.get(media)
    if ref is not None:
        data = await source.whole(ref, MOST_PACKED)
        if data is None:
            raise BadInput(f"The {media} has {ref.size:,} bytes, which is too much to look at.")
        return data
    try:
        return b64decode(str(display.data[media]))
    except ValueError:
        raise BadInput(f"The {media} is no base64, so nothing can be shown of it.") from None


async def _looked_at(
    source: BlobSource, reading: NotebookSource, found: ResolvedHandle, shown: tuple[Display, str], budget: int
) -> VerbAnswer:
    data = await image_bytes(source, *shown)
    made = await asyncio.to_thread(picture, data, shown[1])
    was, now = dimensions(data), dimensions(made.data)
    scaled = f", scaled down to {now[0]}×{now[1]}" if now is not None and was is not None and now != was else ""
    wide = f" {was[0]}×{was[1]}" if was is not None else ""
    others = [each for each in dict.fromkeys((*shown[0].data, *shown[0].blobs)) if each != shown[1]]
    also = f"; also {', '.join(one_line(each, 60) for each in others[:5])}: output(of=HANDLE:MEDIA)" if others else ""
    text = cut(f"{_headed(found)} [{shown[1]}{wide} {size(len(data))}{scaled}{also}]", budget * QUARTERS)
    return VerbAnswer(
        text=text, facts=_where(reading, found) | {"media": shown[1], "size": len(data)}, pictures=(made,)
    )


async def _small(source: BlobSource, shown: tuple[Display, str]) -> Picture | None:
    """A picture beside text; the text says that it is there, if it cannot be looked at."""
    with contextlib.suppress(BadInput):
        return await asyncio.to_thread(picture, await image_bytes(source, *shown), shown[1])
    return None
