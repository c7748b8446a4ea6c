"""Notebooks as the text of .ipynb files, made up and drawn."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st
from msgspec.structs import replace

from quire.core.sheet.sheet import Sheet

PATH = "sales.ipynb"


def code(source: Any = "x = 1\n", **fields: Any) -> dict[str, Any]:
    """The fields of a code cell; ... leaves one out."""
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return _without_gaps(cell | {"source": source} | fields)


def notebook(*cells: Any, minor: int = 5, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    return _without_gaps(found | fields)


def _without_gaps(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not ...}


def text(*cells: Any, **fields: Any) -> str:
    return json.dumps(notebook(*cells, **fields), indent=1)


def with_cell(sheet: Sheet, index: int, **changes: Any) -> Sheet:
    cells = list(sheet.cells)
    cells[index] = replace(cells[index], **changes)
    return replace(sheet, cells=tuple(cells))


def nbformat() -> Any:
    """The real one. Loaded when needed: it takes its time."""
    import nbformat  # pyright: ignore[reportMissingTypeStubs]

    return nbformat


# Notebooks as people and programs write them.

words = st.text("ab\n#é", max_size=6)
plain = st.text("ab é", max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, -0.0, 1e30]) | plain,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=2),
    max_leaves=4,
)
texts = words | words.map(lambda words: words.splitlines(keepends=True))
metadata = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(st.sampled_from(["parameters", "é", "raises"]), unique=True),
        "name": st.sampled_from(["load", "é"]),
        "collapsed": st.booleans(),
        "quire": st.fixed_dictionaries({}, optional={"kind": st.sampled_from(["sql", "prompt", "chart"]), "p": values}),
        "source": texts,
        "deep": values,
    },
)
bundles = st.fixed_dictionaries(
    {},
    optional={
        "text/plain": texts,
        "image/png": st.just("iVBORw0KGgo="),
        "application/json": values,
        "application/javascript": texts,
    },
)
counts = st.none() | st.integers(0, 9)
outputs = st.one_of(
    st.fixed_dictionaries({"output_type": st.just("stream"), "name": st.just("stdout"), "text": texts}),
    st.fixed_dictionaries({"output_type": st.just("display_data"), "data": bundles, "metadata": metadata}),
    st.fixed_dictionaries(
        {"output_type": st.just("execute_result"), "data": bundles, "metadata": st.just({}), "execution_count": counts}
    ),
    st.fixed_dictionaries(
        {"output_type": st.just("error"), "ename": plain, "evalue": plain, "traceback": st.lists(plain, max_size=2)}
    ),
)


@st.composite
def cells(draw: st.DrawFn, unknown: bool = True) -> dict[str, Any]:
    """One cell of any type, with fields nobody knows when `unknown`."""
    cell_type = draw(st.sampled_from(["code", "code", "markdown", "raw"]))
    source = draw(texts | texts.map(lambda text: ["%%sql\n", *text] if isinstance(text, list) else f"%%sql\n{text}"))
    fields: dict[str, Any] = {"source": source, "cell_type": cell_type, "metadata": draw(metadata)}
    if cell_type == "code":
        fields |= {"outputs": draw(st.lists(outputs, max_size=2)), "execution_count": draw(counts)}
    elif draw(st.booleans()):
        fields["attachments"] = draw(st.dictionaries(st.sampled_from(["é.png", "b"]), bundles, max_size=1))
    if unknown and draw(st.booleans()):
        fields |= {"zoom": draw(values), "attached": draw(values)}
    return fields


class Style(NamedTuple):
    """How a program writes JSON."""

    indent: int | str | None
    separators: tuple[str, str]
    sort_keys: bool
    ensure_ascii: bool
    newline: str
    ending: str

    def dumps(self, value: Any) -> str:
        written = json.dumps(
            value,
            indent=self.indent,
            separators=self.separators,
            sort_keys=self.sort_keys,
            ensure_ascii=self.ensure_ascii,
        )
        return written.replace("\n", self.newline) + self.ending


@st.composite
def styles(draw: st.DrawFn) -> Style:
    indent: Any = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    apart = st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")])
    separators = draw(apart) if indent is None else (",", draw(st.sampled_from([": ", ":", " : "])))
    newline, ending = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
    return Style(indent, separators, draw(st.booleans()), draw(st.booleans()), newline, ending)


@st.composite
def notebooks(draw: st.DrawFn, unknown: bool = True) -> dict[str, Any]:
    """A notebook of any minor version. Its metadata has an é, so that the file shows how it writes one."""
    minor = draw(st.integers(0, 5))
    found = draw(st.lists(cells(unknown), max_size=4))
    if minor == 5:
        found = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(found)]
    fields = notebook(*found, minor=minor, metadata={"title": "é", "deep": draw(values)})
    if unknown and draw(st.booleans()):
        fields["attic"] = draw(values)
    return {key: fields[key] for key in draw(st.permutations(sorted(fields)))}


def validated(written: str) -> dict[str, Any]:
    fields = json.loads(written)
    nbformat().validate(nbformat().from_dict(fields))
    return fields
