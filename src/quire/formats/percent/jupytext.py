"""Everything that only Jupytext reads: percent files of other languages, its Markdown, MyST, R Markdown, Quarto.

The real Jupytext does the work and is imported when the first such file comes by; it comes
with `quire[formats]`. What it adds on its own account, such as filters and blank lines
between cells, stays out of the sheet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple, cast

from ...core.errors import BadInput, QuireError, Unavailable
from ...core.sheet.sheet import Sheet, SheetCell, with_ids
from ...core.values import Json
from ..ipynb.cell_fields import fields_of
from ..ipynb.field_check import FieldError, Fields, cell_from
from ..registry import ending_of
from .cell_blocks import NOT_IN_SCRIPT
from .cell_marker import END
from .cell_writer import plain_ends
from .file_header import carried, jupytext_of

# The endings as Jupytext spells them, where it insists.
_SPELLED = {".rmd": ".Rmd", ".r": ".R"}
_SCRIPTS = (".py", ".R", ".jl", ".sh", ".scala", ".m", ".cs", ".fs", ".ps1", ".js", ".ts")
_DEFAULT = {".md": "markdown", ".Rmd": "rmarkdown", ".qmd": "quarto"}
# What Jupytext puts into a notebook's metadata by itself when it reads one.
_ADDED = ("notebook_metadata_filter", "cell_metadata_filter", "main_language", "text_representation")
# What Jupytext writes into a header without being told.
_WRITTEN = ("jupytext", "kernelspec", "kernel_info", "orphan", "tocdepth")
_RULE = re.compile(r"\W{0,4}---\s*$", re.MULTILINE)
_LAYOUT = ("lines_to_next_cell", "lines_to_end_of_cell_marker")


class _Form(NamedTuple):
    """A format as Jupytext names it."""

    extension: str
    format_name: str


def read(text: str, path: str) -> Sheet:
    """Return the notebook that a file of one of Jupytext's formats holds."""
    with _asking(path, "read"):
        form = _form(text, path)
        cells, metadata = _notebook(text, form)
        own = _own(metadata, _header(text, form), form)
    return Sheet(cells=with_ids(list(_cells(cells, path))), metadata=own)


def write(sheet: Sheet, path: str, like: str | None, was: Sheet | None = None) -> str:
    """Return the notebook as a file of one of Jupytext's formats; `like` is that file as it was."""
    if like is not None and _said(sheet) == _said(was or read(like, path)):
        return like
    with _asking(path, "write"):
        text = _JupytextWriter(sheet, path, like).write()
    text += "\n" * (text != "" and not text.endswith("\n"))
    return text.replace("\n", "\r\n") if like is not None and "\r\n" in like else text


@contextmanager
def _asking(path: str, verb: str) -> Generator[None]:
    """Whatever Jupytext has to say becomes one of our errors, or is left unsaid."""
    import logging
    import warnings

    handler = logging.NullHandler()
    # Without any handler, its first message would set up one that prints.
    logging.getLogger().addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except QuireError:
        raise
    except ImportError as error:
        missing = (error.name or str(error)).partition(".")[0]
        raise Unavailable(f"{path}: only Jupytext can {verb} it, and {missing} is not there. {_INSTALL}") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be {_DONE[verb]}: {_first_line(error)}.") from error
    except Exception as error:
        raise BadInput(f"{path}: Jupytext cannot {verb} it: {_first_line(error)}.") from error
    finally:
        logging.getLogger().removeHandler(handler)


_INSTALL = "Install quire[formats]."
_DONE = {"read": "read", "write": "written"}


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(". ") if lines else type(error).__name__


def _module(name: str = "") -> Any:
    """Jupytext, or a part of it. It comes without types."""
    return import_module(f"jupytext.{name}" if name else "jupytext")


# Reading.


def _form(text: str, path: str) -> _Form:
    """The format of a file: what its header says, or what it looks like."""
    formats = _module("formats")
    extension = _extension(path)
    name: Any = formats.read_format_from_metadata(text, extension)
    if not name:
        name = formats.guess_format(text, extension)[0]
        if extension in _SCRIPTS and name != "spin":
            # Scripts without markers are one cell, as with Python; the others are told by their headers.
            name = "percent"
        elif name == "pandoc":
            # It would start pandoc on what somebody else wrote.
            name = "markdown"
    return _Form(extension, name)


def _extension(path: str) -> str:
    ending = ending_of(path)
    return _SPELLED.get(ending, ending)


def _notebook(text: str, form: _Form) -> tuple[list[Fields], dict[str, Json]]:
    """Cells and metadata of the notebook, as plain values."""
    found: Any = _module().reads(text, fmt=form._asdict())
    fields: Any = json.loads(json.dumps(found, default=str))
    return fields["cells"], fields["metadata"]


def _header(text: str, form: _Form) -> dict[str, Json]:
    """What the file itself says under `jupytext`."""
    if form.format_name == "quarto":
        return {}
    return jupytext_of(_module("formats").read_metadata(text, form.extension))


def _own(metadata: dict[str, Json], header: dict[str, Json], form: _Form) -> dict[str, Json]:
    """The metadata of a notebook without what Jupytext added."""
    kept = {key: value for key, value in jupytext_of(metadata).items() if key not in _ADDED or key in header}
    found = jupytext_of(metadata).get("main_language")
    if found not in (None, "python"):
        # All that tells the language, where no kernel is named.
        kept["main_language"] = found
    if "text_representation" not in kept and form.format_name != _default(form.extension):
        kept["text_representation"] = form._asdict()
    rest = {key: value for key, value in metadata.items() if key != "jupytext"}
    return rest | ({"jupytext": kept} if kept else {})


def _default(extension: str) -> str:
    return _DEFAULT.get(extension, "percent")


def _cells(cells: list[Fields], path: str) -> Iterator[SheetCell]:
    for number, fields in enumerate(cells, 1):
        cell = _restored(fields)
        metadata = {key: value for key, value in cell["metadata"].items() if key not in _LAYOUT}
        try:
            yield cell_from({"cell_type": cell["cell_type"], "source": cell["source"], "metadata": metadata}, 5)
        except FieldError as fault:
            raise BadInput(f"{path}: cell {number}: {fault}") from None


# Writing.


def _said(sheet: Sheet) -> str:
    """What makes two notebooks the same text."""
    cells = [_cell_said(cell) for cell in sheet.cells]
    return json.dumps([cells, sheet.metadata], sort_keys=True)


def _cell_said(cell: SheetCell) -> list[Json]:
    return [cell.kind, cell.source, cell.name, cell.tags, cell.metadata]


class _JupytextWriter:
    """Writes a notebook in one format."""

    def __init__(self, sheet: Sheet, path: str, like: str | None) -> None:
        self._path = path
        self._form = _form_of(sheet, path, like)
        self._metadata = _filtered(sheet.metadata, asked=_is_asked(sheet.metadata, self._form, like))
        self._cells = [_fields(cell) for cell in sheet.cells]
        if like is not None:
            _lay_out(self._cells, like, _form(like, path))

    def write(self) -> str:
        """Return the text of the file."""
        text = self._text(self._cells)
        if self._form.extension not in _SCRIPTS or self._holds(text, self._cells):
            return text
        # Rare: some cell does not survive as Jupytext writes it.
        last = len(self._cells)
        return self._text([self._whole(fields, number, last) for number, fields in enumerate(self._cells, 1)])

    def _text(self, cells: list[Fields]) -> str:
        notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": self._metadata, "cells": cells}
        # Copied: Jupytext writes into what it is given.
        node = import_module("nbformat").from_dict(json.loads(json.dumps(notebook)))
        return _module().writes(node, fmt=self._form._asdict())

    def _holds(self, text: str, cells: list[Fields]) -> bool:
        found = [(fields["cell_type"], _restored(fields)["source"]) for fields in _notebook(text, self._form)[0]]
        return found == [(fields["cell_type"], _restored(fields)["source"]) for fields in cells]

    def _whole(self, fields: Fields, number: int, last: int) -> Fields:
        """The cell in the first way in which it is read again as itself."""
        follows = [_FOLLOWS] if number < last else []
        for way in _ways(fields):
            if self._holds(self._text([way, *follows]), [fields, *follows]):
                return way
        raise BadInput(
            f"{self._path}: cell {number} cannot be written in a {self._form.extension} file: it would be read as another. "
            "Write .md or .ipynb."
        )


# A cell that closes what the one before it left open.
_FOLLOWS: Fields = {"cell_type": "markdown", "metadata": {}, "source": f"{'`' * 99}\n{'~' * 99}"}
_START = "quire.start"
_ODD = re.compile(r"^.*(?:%%|```|~~~)", re.MULTILINE)


def _fields(cell: SheetCell) -> Fields:
    fields = fields_of(cell, with_id=False)
    fields.pop("attachments", None)
    fields["source"] = plain_ends(fields["source"])
    return fields | ({"outputs": [], "execution_count": None} if fields["cell_type"] == "code" else {})


def _ways(fields: Fields) -> Iterator[Fields]:
    """A cell as it is; with one of its ends said in its metadata; in comments."""
    yield fields
    source, metadata = fields["source"], fields["metadata"]
    odd = _ODD.search(source)
    for at in (len(source.rstrip()), odd.start() if odd and fields["cell_type"] != "code" else len(source)):
        # The line end belongs to what is cut off.
        at -= 0 < at < len(source) and source[at - 1] == "\n"
        if at < len(source):
            yield fields | {"source": source[:at], "metadata": metadata | {END: source[at:]}}
    first, line_end, rest = source.partition("\n")
    if first.startswith("%%"):
        # Jupytext knows no sections of MATLAB's, only magics.
        yield fields | {"source": rest, "metadata": metadata | {_START: first + line_end}}
    if fields["cell_type"] == "code" and "active" not in metadata:
        yield fields | {"metadata": metadata | {"active": NOT_IN_SCRIPT}}
    # At last all of it: Jupytext finds an empty cell there.
    yield fields | {"source": "", "metadata": metadata | {END: source}}


def _restored(fields: Fields) -> Fields:
    """A cell without what a script needed to carry it."""
    metadata = dict(fields["metadata"])
    source: str = fields["source"]
    start, end = metadata.get(_START), metadata.get(END)
    if isinstance(start, str) and start.startswith("%%"):
        del metadata[_START]
        source = start + source
    if isinstance(end, str):
        del metadata[END]
        source += end
    if metadata.get("active") == NOT_IN_SCRIPT:
        del metadata["active"]
    return fields | {"metadata": metadata, "source": source}


def _form_of(sheet: Sheet, path: str, like: str | None) -> _Form:
    extension = _extension(path)
    found = _representation(sheet.metadata)
    if found.get("extension") == extension and isinstance(name := found.get("format_name"), str):
        return _Form(extension, name)
    return _form(like, path) if like is not None else _Form(extension, _default(extension))


def _representation(metadata: dict[str, Json]) -> dict[str, Json]:
    found: Any = jupytext_of(metadata).get("text_representation")
    return cast("dict[str, Json]", found) if isinstance(found, dict) else {}


def _lay_out(cells: list[Fields], like: str, form: _Form) -> None:
    """Give the cells that did not change the blank lines that stood behind them."""
    known: dict[tuple[str, str], list[dict[str, Json]]] = {}
    for old in _notebook(like, form)[0]:
        layout = {key: old["metadata"][key] for key in _LAYOUT if key in old["metadata"]}
        known.setdefault((old["cell_type"], _restored(old)["source"]), []).append(layout)
    for fields in cells:
        if found := known.get((fields["cell_type"], fields["source"])):
            fields["metadata"] = fields["metadata"] | found.pop(0)


def _is_asked(metadata: dict[str, Json], form: _Form, like: str | None) -> bool:
    """Whether the author wants a header: there is one, Jupytext wrote one before, or nothing else tells the format."""
    if like is not None and form.extension in _SCRIPTS:
        return _RULE.match(like) is not None
    found = _representation(metadata)
    return form.extension == ".md" or (found.get("extension") == form.extension and "format_version" in found)


def _filtered(metadata: dict[str, Json], *, asked: bool) -> dict[str, Json]:
    """The metadata, with the filter that keeps out of the header what no author asked for."""
    own = jupytext_of(metadata)
    if "notebook_metadata_filter" in own:
        return metadata
    said = carried(metadata, asked=asked)
    names = [key for key in said if key not in _WRITTEN]
    if not said and not asked:
        names = ["-all"]
    elif not asked and not set(own) - set(_ADDED):
        names.append("-jupytext")
    return metadata | {"jupytext": own | {"notebook_metadata_filter": ",".join(names)}} if names else metadata
