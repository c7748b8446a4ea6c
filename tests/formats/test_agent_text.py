"""A notebook as agents read it: what matters most first, never more than the budget, and a way to all that is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.events import Display, Output, Raised, Stream
from quire.core.ids import CellId, CommentId, ProposalId
from quire.core.notebook.notebook import Notebook
from quire.core.text import source_hash
from quire.core.values import Json
from quire.formats.agent_text.output_summary import FRAME
from quire.formats.agent_text.render import VIEWS, View, render, render_cells, short_ids, tokens
from quire.formats.agent_text.render_context import Handle, handle, parse_handle

from .agent_notebooks import LOG, Book


def read(book: Book, budget: int | None = 3000, view: View = "outline", **more: object) -> str:
    """The text, which is within its budget."""
    text = render(LOG, book.notebook, view=view, budget=budget, **more)  # type: ignore[arg-type]
    assert budget is None or tokens(text) <= budget
    return text


def small() -> Book:
    book = Book().cell("intro111", "# Sales\nof a year", kind="markdown").cell("load2222", "rows = [1]", name="rows")
    book.cell("total333", "import math\ntotal = sum(rows)\ntotal").ran(
        "load2222", Stream(name="stdout", head="1 row\n")
    )
    frame = "Cell In[2], line 2\n      1 import math\n----> 2 total = sum(rows)\n      3 total\n"
    return book.failed("total333", "NameError", "name 'rows' is not defined", frame)


def test_tokens_are_estimated_by_characters() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "ä", "äbcd", "日本")] == [0, 1, 1, 2, 1, 2, 2]


def test_an_outline_has_a_title_and_a_line_for_each_cell_and_errors_in_full() -> None:
    hashes = [source_hash(cell.source)[:8] for cell in small().notebook.live_cells]
    assert read(small()).split("\n") == [
        "sales [01M7GFVPH9…] cursor 10 · 3 cells · 1 error · no kernel",
        f"intr markdown #{hashes[0]} · # Sales",
        f"load rows ok 2.00s #{hashes[1]} · rows = [1]",
        f"tota error 2.00s #{hashes[2]}",
        "! NameError: name 'rows' is not defined",
        "!   1 import math",
        "! > 2 total = sum(rows)",
        "!   3 total",
        '! hint: cell load (rows) defines rows: it ran, but what it defined is not in this kernel, run(cells=["load"])',
        '! [traceback: output(of="tota.0@8")]',
        "",
    ]


def test_views_add_what_is_written_and_what_came_out() -> None:
    source, full = read(small(), view="source"), read(small(), view="full")
    assert "\n  rows = [1]\n" in source and "> 1 row" not in source
    assert "\n  rows = [1]\n> 1 row\n" in full


def test_chosen_cells_are_shown_alone() -> None:
    text = read(small(), view="full", cells=[CellId("load2222")])
    assert "load rows ok" in text and "intr" not in text and "NameError" not in text
    assert "sales [" in text and "1 error" in text, "the title tells of the others"


def test_the_smallest_budget_gives_the_title_and_the_last_line_of_the_first_error() -> None:
    lines = read(small(), 100).split("\n")
    assert lines[0].startswith("sales [01M7GFVPH9…] cursor 10")
    assert "! NameError: name 'rows' is not defined" in lines
    assert lines[1].startswith("tota error")


@pytest.mark.parametrize("budget", [100, 200, 1000])
def test_a_long_name_and_a_long_message_do_not_push_the_error_out(budget: int) -> None:
    book = Book("名" * 200).cell("aaaa1111", "x" * 5000, name="ü" * 180)
    book.failed("aaaa1111", "日本Error", "長" * 20_000)
    lines = read(book, budget).split("\n")
    assert lines[0].startswith("名") and "[01M7GFVPH9…]" in lines[0]
    assert any(line.startswith("! 日本Error: 長") for line in lines)


def test_without_a_budget_nothing_is_left_out_and_people_count() -> None:
    book = Book()
    for number in range(400):
        book.cell(f"c{number:03}xxxx", f"x = {number}\n" * 40)
    text = read(book, None, "source", numbered=True)
    assert text.count("\n     x = 399") == 40 and "left out" not in text
    assert "\n400  c399xxxx never_run #" in text


# ---- Names of cells


def test_a_short_id_names_one_cell_and_nothing_else() -> None:
    book = Book().cell("abcd1111").cell("abcd2222").cell("wxyz1111").cell("load9999").cell("qqqq1111", name="load")
    book.cell("1234aaaa").cell("mine7777", name="mine").cell("ab")
    named = short_ids(book.notebook)
    assert named == {
        "abcd1111": "abcd1111",
        "abcd2222": "abcd2222",
        "wxyz1111": "wxyz",
        "load9999": "load9999",
        "qqqq1111": "qqqq",
        "1234aaaa": "1234aaaa",
        "mine7777": "mine",
        "ab": "ab",
    }
    assert "\nmine never_run" in read(book), "a name that is the id is said once"


@given(
    st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True),
    st.none() | st.integers(0, 10**9),
    st.none() | st.integers(0, 10**6),
    st.none() | st.sampled_from(["text/html", "application/vnd.x+json", "image/svg+xml"]),
)
def test_a_handle_is_read_as_it_was_written(cell: str, seq: int | None, number: int | None, media: str | None) -> None:
    written = handle(cell, seq, number, media)
    assert parse_handle(written) == Handle(cell=cell, seq=seq, number=number, media=media)
    if number is not None:
        assert parse_handle(handle(cell, seq, number, last=number + 2)) == Handle(
            cell=cell, seq=seq, number=number, last=number + 2
        )


# ---- Many cells


def crowd(count: int) -> Book:
    book = Book()
    for number in range(count):
        book.cell(f"c{number:04}xx", f"value_{number} = compute({number})  # what it is for, in some words")
    return book


def test_cells_that_say_nothing_new_fold_where_not_all_have_room() -> None:
    book = crowd(120)
    for number in range(120):
        if number != 60:
            book.ran(f"c{number:04}xx")
    book.failed("c0060xx", "ValueError", "no")
    text = read(book, 500)
    assert "! ValueError: no" in text and "c0060xx error" in text
    folded = re.findall(r'^… (\d+) cells, all ok: read\(cells=\["(\w+)\.\.(\w+)"\]\)$', text, re.MULTILINE)
    assert folded == [("60", "c0000xx", "c0059xx"), ("59", "c0061xx", "c0119xx")]
    assert "… " not in read(book, 5000)


def test_names_and_headings_are_the_last_to_be_folded() -> None:
    book = Book()
    for number in range(90):
        book.cell(
            f"c{number:04}xx",
            f"## Part {number}\ntext" if number % 30 == 0 else "x = 1",
            kind="markdown" if number % 30 == 0 else "code",
        )
    text = read(book, 300)
    assert re.findall(r"## Part (\d+)", text) == ["0", "30", "60"] and "… 29 cells, all never_run" in text


def test_two_thousand_cells_and_five_hundred_errors_stay_within_a_budget() -> None:
    book = crowd(2000)
    for number in range(0, 2000, 4):
        book.failed(f"c{number:04}xx", "ValueError", f"no {number}", "Cell In[1], line 1\n----> 1 compute()\n")
    notebook = book.notebook
    for budget in (100, 400, 3000, 50_000):
        for view in VIEWS:
            text = render(LOG, notebook, view=view, budget=budget)
            assert tokens(text) <= budget and "! ValueError: no 0\n" in text and "c0000xx error" in text
            assert "500 error" in text.split("\n")[0]


def test_many_outputs_of_one_cell_have_their_middle_behind_one_handle() -> None:
    shown = [Display(data={"text/plain": f"picture {number}"}) for number in range(300)]
    text = read(Book().cell("aaaa1111", "f()").ran("aaaa1111", *shown), 2000, "full")
    assert "> picture 0\n" in text and "> picture 299\n" in text
    assert '> [… 280 outputs left out: output(of="aaaa.5-284@3")]' in text


# ---- Beside the cells


def test_what_waits_for_somebody_is_told_and_counted() -> None:
    book = small().add(e.ProposalMade(proposal=ProposalId("p1"), why="fix the total\nplease"))
    for number in range(7):
        book.add(e.CommentAdded(comment=CommentId(f"k{number}"), text=f"look {number}", cell=CellId("load2222")))
    text = read(book)
    assert "\nproposal p1 by human:ada: fix the total\n" in text
    assert "\ncomment k3 by human:ada on load: look 3\n" in text
    assert "\n… 3 more proposals, conflicts and comments are open\n" in text


def test_only_given_cells_are_told_of_after_a_run() -> None:
    notebook = small().notebook
    text = render_cells(notebook, [CellId("load2222"), CellId("total333")], 2000)
    assert text.startswith("load rows ok") and "> 1 row" in text and "! NameError" in text and "intr" not in text
    assert "> 1 row" not in render_cells(notebook, [CellId("load2222")], 2000, with_outputs=False)
    assert render_cells(notebook, [], 100) == "" and render_cells(notebook, [CellId("nobody")], 100) == ""


# ---- Any notebook, any budget

_TEXT = st.text("ab \n1.é日\x1b[m\r\u202e", max_size=80) | st.sampled_from(
    ["x\n" * 500, "warn 1\nwarn 2\n" * 90, "y" * 3000]
)
_VALUES = st.recursive(
    st.integers() | _TEXT, lambda each: st.lists(each, max_size=4) | st.dictionaries(_TEXT, each, max_size=3)
)


def plain(text: str) -> Output:
    return Display(data={"text/plain": text})


def html(text: str) -> Output:
    return Display(data={"text/html": f"<b>{text}</b><table><tr><td>{text}"})


def value(value: Json) -> Output:
    return Display(data={"application/json": value, "text/plain": "<JSON object>"})


def picture(size: int) -> Output:
    return Display(blobs={"image/png": e.BlobRef(hash="a" * 64, size=size, media="image/png")})


_STREAMS = st.builds(
    Stream, name=st.sampled_from(["stdout", "stderr"]), head=_TEXT, omitted=st.integers(0, 10**7), tail=_TEXT
)
_FAULTS = st.builds(Raised, ename=_TEXT, evalue=_TEXT, traceback=st.lists(_TEXT, max_size=3).map(tuple))
_OUTPUTS = st.one_of(
    _STREAMS, _TEXT.map(plain), _TEXT.map(html), _VALUES.map(value), st.integers(0, 10**9).map(picture), _FAULTS
)


@st.composite
def books(draw: st.DrawFn) -> Notebook:
    book = Book(draw(st.text("né日", min_size=1, max_size=30)))
    ids = draw(st.lists(st.from_regex(r"[ab]{1,6}", fullmatch=True), unique=True, max_size=12))
    for id in ids:
        book.cell(
            id,
            draw(_TEXT),
            kind=draw(st.sampled_from(["code", "markdown", "sql"])),
            name=draw(st.none() | st.just(f"n{id}")),
        )
    cells = book.notebook.cells
    for id in ids:
        if cells[CellId(id)].runs and draw(st.booleans()):
            outputs: list[Output] = draw(st.lists(_OUTPUTS, max_size=3))
            book.showed(id, *outputs)
    return book.notebook


@given(books(), st.integers(100, 1500), st.sampled_from(VIEWS))
def test_no_text_costs_more_than_its_budget_and_the_first_error_is_always_in_it(
    notebook: Notebook, budget: int, view: View
) -> None:
    text = render(LOG, notebook, view=view, budget=budget)
    assert tokens(text) <= budget
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), "nothing steers a terminal"
    failed = [cell.id for cell in notebook.live_cells if cell.runs and cell.state == "error"]
    if failed:
        short = short_ids(notebook)[failed[0]]
        lines = text.split("\n")
        place = next(number for number, line in enumerate(lines) if line.startswith(f"{short} "))
        assert any(line.startswith("! ") for line in lines[place:])
    for least in (1, 20, 60):
        assert tokens(render_cells(notebook, list(notebook.cells), least)) <= least


# ---- The example of the reference


def test_the_example_in_the_reference_is_real() -> None:
    frame = {
        "shape": [1000000, 12],
        "columns": [["id", "int64"], ["city", "str"]],
        "rows": [["1", "Basel"], ["2", "Ulm"]],
    }
    figure = Display(
        data={"text/plain": "<Figure size 640x480>"}, blobs={"image/png": e.BlobRef(hash="a" * 64, size=23456)}
    )
    epochs = Stream(name="stdout", head="".join(f"epoch {number}: loss 0.{number:04}\n" for number in range(900)))
    book = Book().cell("intro111", "# Sales\nof a year", kind="markdown")
    book.cell("load2222", "rows = read('sales.csv')\nrows", name="load")
    book.ran("load2222", Display(data={FRAME: frame, "text/html": "<table>"}), defines=["rows"])
    book.cell("trai3333", "train(rows)").ran("trai3333", epochs, figure)
    book.cell("tota4444", "import math\ntotal = sum(sold)\ntotal")
    book.failed(
        "tota4444", "NameError", "name 'sold' is not defined", "Cell In[3], line 2\n----> 2 total = sum(sold)\n"
    )
    page = Path(__file__).parents[2] / "docs" / "reference" / "agent-text.md"
    assert f"```text\n{read(book, view='full')}```" in page.read_text()
