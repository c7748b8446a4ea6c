"""Errors as agents read them: the last line, where, whose frames, and what helps."""

from __future__ import annotations

import pytest

from quire.core import events as e
from quire.core.events import Display, Raised
from quire.core.ids import CellId, ExecutionId
from quire.formats.agent_text.output_summary import FRAME
from quire.formats.agent_text.render import render, tokens

from .agent_notebooks import LOG, Book

CELL = "Cell In[{count}], line {line}{where}\n----> {line} {code}\n"
LIBRARY = "File /v/lib/python3.11/site-packages/lib.py:{line}, in deep(x)\n----> {line} raise\n"


def told(book: Book, folder: str | None = None) -> list[str]:
    """The lines of errors, and of what did not run."""
    text = render(LOG, book.notebook, budget=2000, folder=folder)
    assert tokens(text) <= 2000
    return [line for line in text.split("\n") if line.startswith(("! ", "did not run"))]


def hint(book: Book, folder: str | None = None) -> str:
    """The one hint."""
    (line,) = [line for line in told(book, folder) if line.startswith("! hint: ")]
    return line.removeprefix("! hint: ")


def test_the_authors_own_frames_are_told_and_those_of_libraries_counted() -> None:
    book = Book().cell("aaaa1111", "def f(x):\n    return g(x)").ran("aaaa1111", count=1).cell("bbbb1111", "f(1)")
    frames = [
        CELL.format(count=2, line=1, where="", code="f(1)"),
        CELL.format(count=1, line=2, where=", in f(x)", code="return g(x)"),
        "File ~/work/mine.py:4, in g(x)\n----> 4 return lib(x)\n",
        *(LIBRARY.format(line=number) for number in range(4)),
    ]
    book.failed("bbbb1111", "ValueError", "bad\nworse", *frames)
    assert told(book) == [
        "! ValueError: bad worse",
        "! > 1 f(1)",
        "!   aaaa:2 f: return g(x)",
        "!   ~/work/mine.py:4 g: return lib(x)",
        '! [4 library frames left out: output(of="bbbb.0@6")]',
    ]


def test_a_recursion_of_two_hundred_frames_is_a_few_lines() -> None:
    book = Book().cell("aaaa1111", "def f(n):\n    return f(n + 1)\nf(0)")
    deep = CELL.format(count=1, line=2, where=", in f(n)", code="return f(n + 1)")
    book.failed(
        "aaaa1111", "RecursionError", "too deep", CELL.format(count=1, line=3, where="", code="f(0)"), *[deep] * 200
    )
    found = told(book)
    assert found[:4] == ["! RecursionError: too deep", "!   1 def f(n):", "!   2     return f(n + 1)", "! > 3 f(0)"]
    assert found[4:-1] == ["!   aaaa:2 f: return f(n + 1) (×200)"]


def test_of_many_frames_the_first_and_the_last_are_told() -> None:
    book = Book().cell("aaaa1111", "f(0)")
    ways = [f"File ~/mine.py:{number}, in f{number}(n)\n----> {number} f()\n" for number in range(1, 201)]
    found = told(
        book.failed("aaaa1111", "ValueError", "no", CELL.format(count=1, line=1, where="", code="f(0)"), *ways)
    )
    assert [line[4:] for line in found[2:-1]] == [
        *(f"~/mine.py:{number} f{number}: f()" for number in (1, 2, 3)),
        "… 192 frames …",
        *(f"~/mine.py:{number} f{number}: f()" for number in range(196, 201)),
    ]


def test_a_traceback_that_was_joined_and_cut_is_still_read() -> None:
    """A runtime keeps no more than 64 KiB of one: as one text, without its middle."""
    frames = [CELL.format(count=1, line=1, where="", code="f(0)")] + [
        LIBRARY.format(line=number) for number in range(2000)
    ]
    text = "\n".join(frames)
    joined = f"{text[:30_000]}\n[… left out …]\n{text[-30_000:]}\nValueError: deep"
    raised = Raised(ename="ValueError", evalue="deep", traceback=(joined,))
    found = told(Book().cell("aaaa1111", "f(0)").ran("aaaa1111", raised, status="error"))
    assert found[:2] == ["! ValueError: deep", "! > 1 f(0)"] and "library frames left out" in found[-1]


def test_the_line_is_shown_as_it_ran_if_the_source_has_changed_since() -> None:
    frame = "Cell In[1], line 2\n      1 a = 1\n----> 2 a.b\n      3 c = 2\n"
    book = Book().cell("aaaa1111", "a = 1\na.b\nc = 2").failed("aaaa1111", "AttributeError", "no b", frame)
    before = told(book)
    book.add(e.SourceEdited(cell=CellId("aaaa1111"), text="new = 1\nnew = 2\nnew = 3", base_hash="x"))
    assert "! > 2 a.b" in before and told(book) == before


def test_a_syntax_error_shows_its_line() -> None:
    book = Book().cell("aaaa1111", "x = 1\nx = = 2")
    book.failed(
        "aaaa1111", "SyntaxError", "invalid syntax (1.py, line 2)", "  Cell In[1], line 2\n    x = = 2\n        ^\n"
    )
    assert told(book)[:3] == ["! SyntaxError: invalid syntax (1.py, line 2)", "!   1 x = 1", "! > 2 x = = 2"]


def test_of_other_languages_the_end_of_what_the_kernel_says_is_told() -> None:
    raised = Raised(
        ename="ERROR", evalue="object 'x' not found", traceback=("Error: object 'x' not found", "Traceback:", "1. f(x)")
    )
    book = Book().cell("aaaa1111", "f(x)").ran("aaaa1111", raised, status="error")
    assert told(book)[:3] == ["! ERROR: object 'x' not found", "! Traceback:", "! 1. f(x)"]


@pytest.mark.parametrize("state", ["timeout", "dead_kernel", "lost"])
def test_how_a_cell_ended_is_told_where_nothing_was_raised(state: e.ExecutionStatus) -> None:
    (line,) = told(Book().cell("aaaa1111", "sleep()").ran("aaaa1111", status=state))
    assert line.startswith(f"! {state}: ")


def test_cells_that_did_not_run_are_listed_with_why() -> None:
    book = Book().cell("aaaa1111", "1/0").cell("bbbb1111", "b").cell("cccc1111", "c")
    book.failed("aaaa1111", "ZeroDivisionError", "division by zero")
    for id in ("bbbb1111", "cccc1111"):
        skipped = e.ExecutionSkipped(execution=ExecutionId(f"s{id}"), cell=CellId(id), why="an earlier cell failed")
        book.add(skipped)
    assert "did not run: bbbb, cccc (an earlier cell failed)" in told(book)


# ---- What helps


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("cv2", "opencv-python"),
        ("sklearn.linear_model", "scikit-learn"),
        ("polars", "polars"),
        ("google.protobuf.x", "protobuf"),
    ],
)
def test_a_missing_package_comes_with_how_to_add_it(module: str, package: str) -> None:
    book = Book().cell("aaaa1111", f"import {module}")
    said = hint(book.failed("aaaa1111", "ModuleNotFoundError", f"No module named '{module}'"))
    assert f"uv add {package}" in said and f"%pip install {package}" in said


def named(*, ran: bool | None = None) -> Book:
    book = Book().cell("aaaa1111", "rows = load()", name="load").cell("bbbb1111", "total = sum(rows)")
    if ran:
        book.ran("aaaa1111", defines=["rows"])
    elif ran is False:
        book.failed("aaaa1111", "OSError", "gone")
    return book.failed("bbbb1111", "NameError", "name 'rows' is not defined")


def test_a_missing_name_comes_with_the_cell_that_defines_it_and_how_that_is() -> None:
    assert hint(named()) == 'cell aaaa (load) defines rows: it has not run, run(cells=["aaaa"])'
    assert "ran, but what it defined is not in this kernel" in hint(named(ran=True))
    assert hint(named(ran=False)) == "cell aaaa (load) defines rows: it failed (error), fix it first"


def test_a_name_that_no_cell_defines_comes_with_the_nearest() -> None:
    book = Book().cell("aaaa1111", "total_rows = 1\n%matplotlib inline").cell("bbbb1111", "totl_rows")
    said = hint(book.failed("bbbb1111", "NameError", "name 'totl_rows' is not defined"))
    assert said == "no cell defines totl_rows; nearest: total_rows"


def test_a_missing_file_comes_with_the_folder() -> None:
    book = Book().cell("aaaa1111", "open('x')").failed("aaaa1111", "FileNotFoundError", "No such file: 'x'")
    assert hint(book, folder="/data/sales") == "paths are relative to /data/sales"


def test_a_missing_column_comes_with_those_that_there_are() -> None:
    frame = {"shape": [2, 3], "columns": [["id", "int"], ["city", "str"], ["sold", "int"]], "rows": []}
    book = Book().cell("aaaa1111", "df").ran("aaaa1111", Display(data={FRAME: frame})).cell("bbbb1111", "df['citi']")
    assert hint(book.failed("bbbb1111", "KeyError", "'citi'")) == "the frame in aaaa has the columns city, id, sold"
