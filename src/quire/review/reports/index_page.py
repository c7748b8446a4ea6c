"""The index of reports: what is published, newest first, as a page, as Markdown, and for ourselves as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias
from urllib.parse import quote

import msgspec

from ...core.errors import BadInput
from ...formats.html.escape import escape
from ...formats.html.page_frame import page
from ..markdown_text import code, table
from .report_entry import ReportEntry

IndexFormat: TypeAlias = Literal["markdown", "html"]
LIST = "reports.json"
"""From which the index is written anew."""
_PATH = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}/[\w-]+\.(?:ipynb|html)")
"""The list lies where others may write: what it names is removed one day, and has to be a report."""
NAMES: dict[IndexFormat, str] = {"markdown": "README.md", "html": "index.html"}
_STYLE = """
.reports { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
.reports table { width: 100%; border-collapse: collapse; }
.reports td, .reports th { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
.reports .wrong { color: var(--wrong); }
"""


def read_list(data: bytes | None, where: str) -> list[ReportEntry]:
    """Read the list of what is published; nothing where there is none yet."""
    if data is None:
        return []
    try:
        entries = msgspec.json.decode(data, type=list[ReportEntry])
        if any(not _PATH.fullmatch(path) for entry in entries for path in (entry.path, entry.page)):
            raise ValueError("it names a file that is no report")
        return entries
    except (msgspec.DecodeError, ValueError) as error:
        told = f"{where} cannot be read ({error}), and so the index cannot be written"
        raise BadInput(f"{told}. Mend it, or publish elsewhere: --branch NAME.") from None


def with_entries(known: Iterable[ReportEntry], new: Iterable[ReportEntry], keep_last: int | None) -> list[ReportEntry]:
    """Return all that is published, newest first; of each notebook the newest `keep_last` where that is said."""
    entries = {entry.id: entry for entry in (*known, *new)}
    ordered = sorted(entries.values(), key=lambda entry: (entry.at, entry.id), reverse=True)
    if keep_last is None:
        return ordered
    kept: list[ReportEntry] = []
    for entry in ordered:
        if sum(each.name == entry.name for each in kept) < keep_last:
            kept.append(entry)
    return kept


def index_files(entries: list[ReportEntry], index: IndexFormat) -> dict[str, bytes]:
    """Return the index, and the list that it is written from."""
    text = _markdown(entries) if index == "markdown" else _html(entries)
    return {NAMES[index]: text.encode(), LIST: msgspec.json.format(msgspec.json.encode(entries)) + b"\n"}


def _markdown(entries: list[ReportEntry]) -> str:
    rows = [
        (
            entry.at.replace("T", " "),
            f"[{code(entry.name)}]({quote(entry.path)}) ([page]({quote(entry.page)}))",
            entry.status if entry.status == "success" else f"**{code(entry.status)}**",
            ", ".join(code(f"{name} = {value}") for name, value in entry.parameters.items()),
            ", ".join(code(f"{name} = {value}") for name, value in entry.results.items()),
        )
        for entry in entries
    ]
    return "\n".join(["# Reports", "", *table(("when", "notebook", "status", "parameters", "results"), rows), ""])


def _html(entries: list[ReportEntry]) -> str:
    rows = "\n".join(_row(entry) for entry in entries)
    head = "".join(f"<th>{name}</th>" for name in ("when", "notebook", "status", "parameters", "results"))
    body = f'<main class="reports"><h1>Reports</h1><table><tr>{head}</tr>\n{rows}</table></main>'
    return page("Reports", body, _STYLE)


def _row(entry: ReportEntry) -> str:
    link = f'<a href="{escape(quote(entry.page))}">{escape(entry.name)}</a> (<a href="{escape(quote(entry.path))}">.ipynb</a>)'
    style = "" if entry.status == "success" else ' class="wrong"'
    values = (
        "; ".join(f"{name} = {value}" for name, value in each.items()) for each in (entry.parameters, entry.results)
    )
    cells = "".join(f"<td>{escape(text)}</td>" for text in values)
    return f"<tr><td>{escape(entry.at.replace('T', ' '))}</td><td>{link}</td><td{style}>{escape(entry.status)}</td>{cells}</tr>"
