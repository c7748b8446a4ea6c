"""A diff for people and for nbdime: as text, as a page, as operations."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, cast

import msgspec
import nbdime  # pyright: ignore[reportMissingTypeStubs]
import nbformat
import pytest

from quire.core.diff.diff import Part, diff
from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats import registry
from quire.formats.diff_view.diff_html import render_page
from quire.formats.diff_view.diff_text import render_text
from quire.formats.diff_view.nbdime import notebook_json, to_nbdime

from ..core.sheets import code, display, sheet_of, stream
from ..corpus import IPYNB, for_each, text_of

LOAD = "import pandas as pd\n\ndf = pd.read_csv('sales.csv')\ndf = df.dropna()\nprint(len(df))"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OLD = sheet_of(
    SheetCell(id=CellId("intro"), kind="markdown", source="# Sales"),
    code("top = 5", "set", tags=("parameters",)),
    code(LOAD, "load", name="load_data", outputs=[stream("120\n")], count=1),
    code("df.plot()", "plot", outputs=[display({"image/png": PIXEL, "text/plain": "<Figure>"})]),
    code("del df", "old"),
    metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
)


def with_fields(sheet: Sheet, **changed: dict[str, Any]) -> Sheet:
    cells = (msgspec.structs.replace(cell, **changed.get(cell.id, {})) for cell in sheet.cells)
    return msgspec.structs.replace(sheet, cells=tuple(cells))


def text(old: Sheet, new: Sheet, **options: Any) -> str:
    return render_text(diff(old, new), old, new, **options)


def page(old: Sheet, new: Sheet, **options: Any) -> str:
    return render_page(diff(old, new), old, new, ("old.ipynb", "new.ipynb"), **options)


# ---- Text


def test_each_changed_cell_has_a_header_its_lines_and_its_outputs() -> None:
    new = with_fields(
        OLD,
        set={"tags": ("parameters", "keep")},
        load={"source": LOAD.replace("csv", "parquet"), "outputs": [stream("121\n")], "count": 7},
        plot={"outputs": [display({"image/png": PIXEL[:-8] + "AAAAAA==", "text/plain": "<Figure>"})]},
    )
    new = Sheet(
        cells=(new.cells[3], *new.cells[:3], code("print('done')", "new")),
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3.11"}},
    )
    assert (
        re.sub(r", [0-9a-f]{8}\]", ", …]", text(OLD, new, context=1))
        == """\
notebook
  - metadata.kernelspec.display_name: "Python 3"
  + metadata.kernelspec.display_name: "Python 3.11"

cell 1 · code · moved from 4
    df.plot()
  output
    <Figure>
  - [image/png, 70 bytes, …]
  + [image/png, 70 bytes, …]

cell 3 · code [parameters, keep]
    top = 5
  - tags: parameters
  + tags: parameters, keep

cell 4 · code · load_data · count 1 → 7
    import pandas as pd

  - df = pd.read_csv('sales.csv')
  + df = pd.read_parquet('sales.parquet')
    df = df.dropna()
    print(len(df))
  output
  - 120
  + 121

old cell 5 · code · removed
  - del df

cell 5 · code · added
  + print('done')
"""
    )


def test_equal_notebooks_give_no_text() -> None:
    assert text(OLD, OLD) == ""
    assert text(Sheet(), Sheet()) == ""


def test_the_words_that_differ_stand_out_in_colour_only() -> None:
    new = with_fields(OLD, load={"source": LOAD.replace("read_csv", "read_parquet")})
    assert "\x1b" not in text(OLD, new)
    assert "\x1b[31m- df = pd.\x1b[7mread_csv\x1b[27m('sales.csv')\x1b[0m" in text(OLD, new, colour=True)


@pytest.mark.parametrize(
    ("part", "there", "absent"),
    [("sources", "+ top = 6", "121"), ("outputs", "+ 121", "top = 6"), ("metadata", "+ tags: t", "121")],
)
def test_a_part_is_shown_alone(part: Part, there: str, absent: str) -> None:
    new = with_fields(OLD, set={"source": "top = 6"}, load={"outputs": [stream("121\n")]}, intro={"tags": ("t",)})
    shown = text(OLD, new, parts=(part,))
    assert there in shown
    assert absent not in shown
    assert ("121" in page(OLD, new, parts=(part,))) is (part == "outputs")


def test_what_others_wrote_cannot_steer_the_terminal() -> None:
    nasty = "\x1b]0;owned\x07\x1b[2J\u202e\r"
    new = sheet_of(
        code(f"x{nasty}", "a", name=nasty, tags=(nasty,), metadata={nasty: nasty}, outputs=[stream(nasty)]),
        code(f"y\n{nasty}", "b", outputs=[display({nasty: nasty})]),
        metadata={nasty: nasty},
    )
    old = sheet_of(code("x", "a", outputs=[stream("1")]), metadata={"k": nasty})
    for shown in (text(old, new), text(new, old)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_long_outputs_and_long_lines_are_cut_around_what_differs() -> None:
    old = sheet_of(code("x" * 5000 + "y" + "z" * 5000, "a", outputs=[stream("1\n" * 50_000)]))
    new = with_fields(old, a={"source": "x" * 5000 + "w" + "z" * 5000, "outputs": [stream("2\n" * 50_000)]})
    shown = text(old, new)
    assert max(map(len, shown.splitlines())) < 500
    assert len(shown.splitlines()) < 60
    assert "xyz" in shown
    assert "xwz" in shown
    assert "more lines" in shown


def test_only_line_ends_that_differ_are_shown() -> None:
    crlf, lf = (sheet_of(code(source, "a")) for source in ("a\r\nb\r\nc", "a\nb\nc"))
    assert "␍" not in text(crlf, with_fields(crlf, a={"source": "a\r\nB\r\nc"}))
    assert "  - a␍" in text(crlf, lf)


def test_ids_alone_are_told_in_one_line() -> None:
    new = msgspec.structs.replace(
        OLD, cells=tuple(msgspec.structs.replace(cell, id=CellId(f"{cell.id}-2")) for cell in OLD.cells)
    )
    assert text(OLD, new) == "Only the ids of 5 cells changed.\n"


# ---- The page


class Elements(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for found, attributes in self.found if found == tag]


def test_the_page_shows_outputs_side_by_side_and_runs_no_script_of_theirs() -> None:
    attack = "</pre></iframe><script>alert(1)</script><img src=x onerror=alert(1)>"
    old = sheet_of(code(attack, "a", name=attack, tags=(attack,), outputs=[stream(attack)], metadata={attack: attack}))
    new = sheet_of(
        code("x", "a", outputs=[display({"text/html": attack}), display({"image/svg+xml": f"<svg>{attack}</svg>"})]),
        code(
            "y",
            "b",
            outputs=[display({"image/png": f'{PIXEL}"><script>'}), display({"application/javascript": attack})],
        ),
        code(
            "z",
            "c",
            outputs=[display({"image/png": PIXEL}), display({attack: attack}), display({"text/plain": attack})],
        ),
        metadata={attack: attack},
    )
    found = Elements(page(old, new))
    assert found.all("script") == []
    assert not any(name.startswith("on") for _, attributes in found.found for name in attributes)
    (frame,) = found.all("iframe")
    assert frame["sandbox"] == ""
    assert "<script>alert(1)" in frame["srcdoc"], "it is there, and cannot run"
    assert "default-src 'none'" in frame["srcdoc"].partition("<script>")[0]
    assert all(picture["src"].startswith("data:image/") for picture in found.all("img"))
    assert f"data:image/png;base64,{PIXEL}" in {picture["src"] for picture in found.all("img")}
    assert all("://" not in value for _, attributes in found.found for value in attributes.values())


def test_the_page_marks_words_folds_what_is_far_and_tells_what_moved() -> None:
    lines = [f"line_{number} = {number}" for number in range(60)]
    old = sheet_of(code("\n".join(lines), "a"), code("b", "b"), code("c", "c"))
    lines[30] = "line_30 = 'thirty'"
    new = Sheet(cells=(old.cells[2], code("\n".join(lines), "a"), old.cells[1]))
    shown = page(old, new)
    assert "line_30 = <mark>&#x27;thirty&#x27;</mark>" in shown
    assert "⋯ 27 lines" in shown
    assert "moved from 3" in shown
    assert "1 cell unchanged" in shown
    assert '<td class="number">31</td>' in shown
    assert "prefers-color-scheme: dark" in shown


def test_half_a_surrogate_pair_gives_a_page_that_can_be_written() -> None:
    page(OLD, with_fields(OLD, set={"source": "'\ud800'"})).encode()


# ---- nbdime


def as_node(fields: dict[str, Any]) -> Any:
    return cast("Any", nbformat).from_dict(fields)


def patched(old: dict[str, Any], operations: list[dict[str, Any]]) -> Any:
    real = cast("Any", nbdime)
    return real.patch(as_node(old), real.diff_utils.to_diffentry_dicts(operations))


def check_with_nbdime(old: tuple[Sheet, str, str], new: tuple[Sheet, str, str]) -> None:
    before, after = (notebook_json(*each) for each in (old, new))
    operations = to_nbdime(before, after, diff(old[0], new[0]).alignment)
    assert patched(before, operations) == as_node(after)


def test_nbdime_itself_turns_the_old_notebook_into_the_new_one() -> None:
    new = with_fields(
        OLD,
        set={"source": "top = 5\r\nbottom = 1\n", "tags": ()},
        load={"source": "", "outputs": [stream("1\n"), stream("2\n")], "count": None},
        plot={"kind": "markdown", "outputs": [], "attachments": {"a.png": {"image/png": PIXEL}}},
        intro={"source": "# Sales\n\nof October"},
    )
    new = Sheet(cells=(new.cells[3], code("new", "n"), *new.cells[:3]), metadata={"k": [1, {"l": True}]})
    for one, other in ((OLD, new), (new, OLD), (OLD, Sheet()), (Sheet(), OLD), (OLD, OLD)):
        sides = [(sheet, registry.write(sheet, "a.ipynb"), "a.ipynb") for sheet in (one, other)]
        check_with_nbdime(sides[0], sides[1])


@for_each([path for path in IPYNB if path.stat().st_size < 200_000])
def test_nbdime_takes_the_operations_between_any_two_notebooks(path: Any) -> None:
    said = text_of(path)
    one = (registry.read(said, str(path)), said, str(path))
    other = (OLD, registry.write(OLD, "old.ipynb"), "old.ipynb")
    check_with_nbdime(one, other)
    check_with_nbdime(other, one)
