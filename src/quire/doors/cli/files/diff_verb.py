"""`quire diff`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ....core.diff.diff import PARTS, Part, diff, encode
from ....core.errors import BadInput
from ....disk import STANDARD, write_text
from ....formats.terminal_safe import plain
from ....git.revisions import FileRevision, find_versions, read_both
from .. import EXIT_STATUS
from ..options import NUMBER, json_option


@click.command("diff", epilog=EXIT_STATUS)
@click.argument("versions", nargs=-1, required=True, metavar="A B | REV [REV] PATH")
@click.option("--sources", is_flag=True, help="Only what is written: cells, their kinds and texts.")
@click.option("--outputs", is_flag=True, help="Only what the cells showed.")
@click.option("--metadata", is_flag=True, help="Only names, tags, ids and metadata.")
@click.option(
    "-U", "--context", metavar="LINES", type=NUMBER, default=3, show_default=True, help="So many lines around."
)
@click.option("--html", is_flag=True, help="A page with both side by side and their outputs; OUT.html may follow.")
@click.option("--nbdime", is_flag=True, help="The operations as nbdime has them, in JSON.")
@click.option("--review", is_flag=True, help="Open a page on which it is discussed, and print its address.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where --html goes.  [default: stdout]")
@json_option
def diff_verb(
    versions: tuple[str, ...],
    context: int,
    html: bool,
    nbdime: bool,
    review: bool,
    output: Path | None,
    as_json: bool,
    **only: bool,
) -> int:
    """Show how two notebooks differ, cell by cell: two files, or one file at revisions of git.

    \b
      quire diff old.ipynb new.ipynb
      quire diff HEAD sales.ipynb
      quire diff main HEAD sales.py
      quire diff main...HEAD sales.ipynb --html review.html
      quire diff main...HEAD --review

    Formats may differ. With --json, the operations that `quire patch` applies; docs/reference/diff.md lists them.
    --review opens the review of a branch in the web app, with all notebooks that it changes, or of the one that is named:
    there cells and lines are commented on. The same revisions have one review.

    Exit status 0: there is no difference; 1: there is one. With --review: 0.
    """
    if review:
        return _review(versions, output, as_json=as_json, others=html or nbdime or any(only.values()))
    if html + nbdime + as_json > 1:
        raise BadInput("--json, --nbdime and --html each say what is printed. Choose one.")
    if nbdime and any(only.values()):
        raise BadInput("nbdime's operations come whole: leave out --sources, --outputs and --metadata.")
    versions, output = _page_of(versions, output, html=html)
    parts: tuple[Part, ...] = tuple(part for part in PARTS if only[part]) or PARTS
    old, new = find_versions(versions)
    if html:
        return _page(old, new, parts, output or STANDARD)
    if nbdime:
        return _as_nbdime(old, new)
    before, after = read_both(old, new)
    found = diff(before, after).only(*parts)
    if as_json:
        _print(encode(found.operations) + "\n")
    elif found:
        from ....formats.diff_view.diff_text import render_text

        text = render_text(found, before, after, colour=_colour(), context=context, parts=parts)
        _print(f"--- {plain(old.label)}\n+++ {plain(new.label)}\n\n{text}")
    return int(bool(found))


def _review(versions: tuple[str, ...], output: Path | None, *, as_json: bool, others: bool) -> int:
    if others or output is not None:
        raise BadInput("--review opens a page with all of it: leave out what else says what is shown.")
    from .diff_review import review

    review(versions, as_json=as_json)
    return 0


def _print(text: str) -> None:
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        # Whoever read us has seen enough. What is left goes nowhere, or Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _page_of(words: tuple[str, ...], output: Path | None, *, html: bool) -> tuple[tuple[str, ...], Path | None]:
    """What ends in .html cannot be compared, so it is where the page goes."""
    pages = [word for word in words if word.lower().endswith(".html")]
    if not pages or not html:
        if output is not None and not html:
            raise BadInput("--output says where --html goes. To keep text or JSON, redirect stdout.")
        return words, output
    if len(pages) > 1 or output is not None:
        raise BadInput("The page goes to one file. Name it once.")
    return tuple(word for word in words if word not in pages), Path(pages[0])


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _page(old: FileRevision, new: FileRevision, parts: tuple[Part, ...], output: Path) -> int:
    from ....formats.diff_view.diff_html import render_page

    before, after = read_both(old, new)
    found = diff(before, after)
    write_text(output, render_page(found, before, after, (old.label, new.label), parts=parts))
    return int(bool(found.only(*parts)))


def _as_nbdime(old: FileRevision, new: FileRevision) -> int:
    import json

    from ....formats.diff_view.nbdime import notebook_json, to_nbdime

    before, after = old.sheet, new.sheet
    found = diff(before, after)
    sides = [notebook_json(sheet, version.text, version.path) for sheet, version in ((before, old), (after, new))]
    operations = to_nbdime(sides[0], sides[1], found.alignment)
    _print(json.dumps(operations) + "\n")
    return int(bool(operations))
