"""A notebook as one page of HTML that needs nothing else.

Sources are highlighted, Markdown is rendered, outputs are there: in light and dark, on
paper and on a phone. Whatever the notebook holds, no script of it runs and nothing is
fetched. A page is for reading: it cannot be read back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NoReturn, cast

from ...core.errors import BadInput
from ...core.ids import CommentId
from ...core.notebook.notebook import Comment
from ...core.sheet.sheet import Sheet, SheetCell
from . import markdown
from .comment_blocks import PageComments
from .escape import cut, escape, escape_code
from .highlight import highlight
from .markdown import Heading, Headings
from .output_blocks import render_output
from .page_frame import page

_HIDE_CELL = frozenset(("hide-cell", "hide_cell", "remove-cell", "remove_cell"))
_HIDE_SOURCE = _HIDE_CELL | {"hide-input", "hide_input", "remove-input", "remove_input"}
_HIDE_OUTPUTS = _HIDE_CELL | {"hide-output", "hide_output", "remove-output", "remove_output"}
_FEWEST_HEADINGS = 3
"""Fewer need no table of contents."""
_LABELS = {"sql": "SQL", "prompt": "Prompt", "raw": "Raw"}


def read(text: str, path: str) -> NoReturn:
    """Refuse: a page does not hold the notebook."""
    raise BadInput(f"{path} is a page for reading and cannot be read back. Name the notebook that it was made from.")


def write(
    sheet: Sheet,
    path: str,
    like: str | None = None,
    was: Sheet | None = None,
    *,
    imported: Collection[str] = (),
    comments: Mapping[CommentId, Comment] | None = None,
) -> str:
    """Return the notebook as a page. What was there does not matter: a page is written anew.

    Outputs of the cells in `imported` are shown as such: a file brought them along, and nobody ran them.
    `comments` stand after the cells that they are about.
    """
    level, heading = _first_heading(sheet) or (1, "")
    title = _said_title(sheet) or heading or _stem(path)
    # The first heading is the page's, or stands below it.
    headings = Headings(lower=1 - level if title == heading else 1)
    talk = PageComments(comments or {}, {cell.id for cell in sheet.cells})
    cells = [
        part
        for number, cell in enumerate(sheet.cells, 1)
        for part in (
            _cell(cell, number, sheet.language, headings, is_imported=cell.id in imported),
            talk.below(cell.id),
        )
    ]
    shown = "\n".join(part for part in (*cells, talk.others()) if part)
    contents = _contents(headings if headings.lower > 0 else headings[1:])
    body = [
        f'<a class="skip" href="#notebook">To the notebook</a>\n<div class="page{" with-contents" * bool(contents)}">'
    ]
    body += [contents] if contents else []
    body += [f"<header><h1>{escape(title)}</h1></header>"] if headings.lower > 0 else []
    body += [f'<main id="notebook">\n{shown}\n</main>', "<footer>Made with Quire</footer>", "</div>"]
    return page(title, "\n".join(body))


# ---- Title and contents


def _said_title(sheet: Sheet) -> str | None:
    """The title that the notebook's metadata says."""
    for found in (sheet.metadata.get("title"), sheet.ours.get("title")):
        if isinstance(found, str) and found.strip():
            return found.strip()
    return None


def _first_heading(sheet: Sheet) -> tuple[int, str] | None:
    """The first heading, when the notebook begins with one."""
    for cell in sheet.cells:
        if cell.kind == "markdown" and cell.source.strip():
            return markdown.first_heading(cell.source)
    return None


def _stem(path: str) -> str:
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name or "Notebook"


def _contents(headings: list[Heading]) -> str:
    if len(headings) < _FEWEST_HEADINGS:
        return ""
    top = min(heading.level for heading in headings)
    entries = "\n".join(
        f'<li class="l{heading.level - top + 1}"><a href="#{escape(heading.anchor)}">{escape(heading.text)}</a></li>'
        for heading in headings
        if heading.level - top < 3
    )
    return f'<nav aria-label="Contents">\n<ol>\n{entries}\n</ol>\n</nav>'


# ---- Cells


def _cell(cell: SheetCell, number: int, language: str, headings: Headings, *, is_imported: bool) -> str:
    anchor = f"cell-{re.sub(r'[^A-Za-z0-9_-]', '-', cell.id)}"
    if cell.kind == "markdown":
        prose = markdown.render(cell.source, cell.attachments, headings)
        return (
            f'<section class="cell markdown" id="{anchor}">\n<div class="prose" dir="auto">\n{prose}</div>\n</section>'
        )
    name = f"Cell {number}" + (f", {cell.name}" if cell.name else "")
    outputs = _outputs(cell, name, is_imported=is_imported)
    inner = "\n".join(part for part in (_label(cell), _source(cell, language), outputs) if part)
    return f'<section class="cell {cell.kind}" id="{anchor}" role="group" aria-label="{escape(name)}">\n{inner}\n</section>'


def _label(cell: SheetCell) -> str:
    """The kind where it is not plain, the name and the tags."""
    said = [_LABELS[cell.kind]] if cell.kind in _LABELS else []
    said += [f"<b>{escape(cell.name)}</b>"] if cell.name else []
    said += [escape(tag) for tag in cell.tags if tag not in _HIDE_SOURCE | _HIDE_OUTPUTS]
    return f'<div class="label">{"".join(f"<span>{each}</span>" for each in said)}</div>' if said else ""


def _source(cell: SheetCell, language: str) -> str:
    if not cell.source.strip(" \t\n"):
        return ""
    source = cell.source.strip("\n")
    if cell.kind in ("raw", "prompt"):
        head, omitted, tail = cut(source)
        code = escape_code(head) + (f'<span class="cut">{omitted}</span>' if omitted else "") + escape_code(tail)
    else:
        code = f"<code>{highlight(source, 'sql' if cell.kind == 'sql' else language)}</code>"
    count = f'<span class="count">[{cell.count}]</span>' if cell.count is not None else ""
    shown = f'<div class="source {cell.kind}">{count}<pre>{code}</pre></div>'
    return (
        f"<details>\n<summary>Source</summary>\n{shown}\n</details>"
        if _hides(cell, _HIDE_SOURCE, "source_hidden")
        else shown
    )


def _outputs(cell: SheetCell, name: str, *, is_imported: bool) -> str:
    shown = [
        html for output in cell.outputs if (html := render_output(output, f"Output of {name[0].lower()}{name[1:]}"))
    ]
    if not shown:
        return ""
    if is_imported:
        shown.insert(0, '<p class="note">Imported: a file brought this output along.</p>')
    outputs = '<div class="outputs">\n{}\n</div>'.format("\n".join(shown))
    if _hides(cell, _HIDE_OUTPUTS, "outputs_hidden"):
        return f"<details>\n<summary>Output</summary>\n{outputs}\n</details>"
    return outputs


def _hides(cell: SheetCell, tags: frozenset[str], setting: str) -> bool:
    """Whether the author folded it away: by a tag, or as Jupyter notes it."""
    jupyter: Any = cell.metadata.get("jupyter")
    said = cast("dict[str, Any]", jupyter).get(setting) is True if isinstance(jupyter, dict) else False
    return (
        said
        or not tags.isdisjoint(cell.tags)
        or (setting == "source_hidden" and cell.metadata.get("hide_input") is True)
    )
