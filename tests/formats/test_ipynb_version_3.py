"""Notebooks of nbformat 3: brought up to date, and left as they are until something changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from quire.formats.ipynb.format import read, write

from ..conftest import examples
from .ipynb_texts import PATH, Style, nbformat, notebooks, styles, with_cell

V3: dict[str, Any] = {
    "metadata": {"name": "old", "signature": "sha256:1", "kernel": "k"},
    "nbformat": 3,
    "nbformat_minor": 0,
    "orig_nbformat": 2,
    "worksheets": [
        {
            "metadata": {},
            "cells": [
                {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Two\n", "lines"]},
                {"cell_type": "heading", "metadata": {}, "source": "One"},
                {"cell_type": "markdown", "metadata": {"trusted": True}, "source": ["no", "line ends"]},
                {"cell_type": "raw", "source": "raw"},
                {"cell_type": "html", "metadata": {}, "source": "<b>"},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["a = 1\n", "a"],
                    "language": "python",
                    "metadata": {},
                    "prompt_number": 7,
                    "outputs": [
                        {
                            "output_type": "pyout",
                            "prompt_number": 7,
                            "metadata": {"png": {"width": 1}},
                            "text": ["1\n", "2"],
                            "png": "iVBO",
                            "html": ["<b>", "</b>"],
                            "json": '{"a": [1]}',
                        },
                        {"output_type": "display_data", "metadata": {}, "svg": ["<svg>\n", "</svg>"], "latex": "$x$"},
                        {"output_type": "display_data", "javascript": ["a"], "jpeg": "x", "application/x": "y"},
                        {"output_type": "stream", "stream": "stderr", "text": ["oops\n"]},
                        {"output_type": "stream", "text": "out"},
                        {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["\u001b[0;31m"]},
                    ],
                },
            ],
        },
        {"cells": [{"cell_type": "code", "input": [], "language": "python", "metadata": {"k": 1}, "outputs": []}]},
    ],
}


def test_nbformat_3_is_brought_up_to_date_as_nbformat_does_it() -> None:
    before = json.dumps(V3)
    theirs = json.loads(nbformat().writes(nbformat().reads(before, as_version=4)))
    ours = json.loads(write(read(before, PATH), PATH, None))
    for number, cell in enumerate(theirs["cells"]):
        cell["id"] = ours["cells"][number]["id"]
    assert ours == theirs
    nbformat().validate(nbformat().from_dict(ours))


@pytest.mark.generated
@examples(40)
@given(notebooks(unknown=False), styles())
def test_what_nbformat_writes_as_3_reads_as_nbformat_reads_it(fields: dict[str, Any], style: Style) -> None:
    node = nbformat().reads(json.dumps(fields), as_version=4)
    for cell in node.cells:
        # Only version 4 knows outputs of these types, and names nobody gave to metadata then.
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.output_type in ("stream", "error")]
    before = style.dumps(nbformat().convert(node, 3))
    theirs = json.loads(nbformat().writes(nbformat().reads(before, as_version=4)))
    sheet = read(before, PATH)
    ours = json.loads(write(sheet, PATH, None))
    assert [cell | {"id": ""} for cell in ours["cells"]] == [cell | {"id": ""} for cell in theirs["cells"]]
    assert write(sheet, PATH, before) == before


def test_nbformat_3_stays_as_it_is_until_something_changes() -> None:
    before = json.dumps(V3, indent=2) + "\n"
    sheet = read(before, PATH)
    assert write(sheet, PATH, before) == before
    after = write(with_cell(sheet, 0, source="## New"), PATH, before)
    assert after.startswith('{\n  "cells": [') and after.endswith("}\n")
    assert json.loads(after)["nbformat"] == 4
    assert read(after, PATH).cells[0].source == "## New"
