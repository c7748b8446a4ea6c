"""Which outputs are the same."""

from __future__ import annotations

from typing import Any

import pytest

from quire.core.events import BlobRef, Display, Fault, Output, Raised, Stream
from quire.core.ids import ActorId, CellId, ExecutionId
from quire.core.notebook.notebook import Cell, Execution
from quire.runs.reproduce.cell_comparison import compare_executions

ME = ActorId("human:ada")
PNG = "image/png"


def cell(*outputs: Output, state: Any = "ok", fault: Fault | None = None) -> Cell:
    execution = Execution(
        id=ExecutionId("x"),
        cell=CellId("a"),
        source_hash="",
        state=state,
        by=ME,
        at="",
        outputs=[*outputs],
        fault=fault,
    )
    return Cell(id=CellId("a"), added_by=ME, edited_by=ME, changed_seq=1, execution=execution)


def out(text: str) -> Stream:
    return Stream(name="stdout", head=text)


def err(text: str) -> Stream:
    return Stream(name="stderr", head=text)


def shown(**data: Any) -> Display:
    return Display(data={"text/plain": "x", **data})


def blob(letter: str, media: str = PNG) -> Display:
    return Display(data={"text/plain": "<Figure>"}, blobs={media: BlobRef(hash=letter * 64, size=2000, media=media)})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (cell(out("1\n"), err("e"), out("2\n")), cell(err("e"), out("1\n2\n"))),
        (cell(shown(), out("1")), cell(out("1"), shown())),
        (cell(Display(data={"text/plain": "1"}, count=3)), cell(Display(data={"text/plain": "1"}, count=9))),
        (cell(Display(data={"text/plain": "<A at 0x1f>"})), cell(Display(data={"text/plain": "<A at 0x2f>"}))),
        (cell(blob("a")), cell(blob("a"))),
        (
            cell(Raised(ename="E", evalue="at 0x1a", traceback=("one",)), state="error"),
            cell(Raised(ename="E", evalue="at 0x2b", traceback=("two",)), state="error"),
        ),
    ],
)
def test_what_is_said_in_another_order_or_with_other_addresses_is_the_same(a: Cell, b: Cell) -> None:
    assert compare_executions(a, b, {}) == ()


@pytest.mark.parametrize(
    ("a", "b", "parts"),
    [
        (cell(out("1\n2\n")), cell(out("1\n3\n")), [("stdout", 2, "2", "3")]),
        (cell(out("1")), cell(err("1")), [("stdout", 1, "1", ""), ("stderr", 1, "", "1")]),
        (cell(out("1")), cell(), [("stdout", 1, "1", "")]),
        (cell(shown()), cell(shown(), shown()), [("display", 2, None, "x")]),
        (
            cell(shown(**{"text/html": "<b>1</b>"})),
            cell(shown(**{"text/html": "<b>2</b>"})),
            [("display", 1, "<b>1</b>", "<b>2</b>")],
        ),
        (
            cell(shown(**{"application/json": 1})),
            cell(shown(**{"application/json": True})),
            [("display", 1, "1", "true")],
        ),
        (cell(shown()), cell(shown(**{"text/html": "x"})), [("display", 1, None, "x")]),
        (
            cell(blob("a")),
            cell(blob("b")),
            [("display", 1, f"2,000 bytes, sha256 {'a' * 16}…", f"2,000 bytes, sha256 {'b' * 16}…")],
        ),
        (
            cell(state="ok"),
            cell(state="error", fault=Fault(ename="KeyError", evalue="'x'")),
            [("state", None, "ok", "error"), ("error", None, None, "KeyError: 'x'")],
        ),
    ],
)
def test_each_difference_is_named_with_both_sides(a: Cell, b: Cell, parts: list[Any]) -> None:
    assert [(each.part, each.number, each.a, each.b) for each in compare_executions(a, b, {})] == parts
    assert compare_executions(b, a, {}) != ()


def test_a_text_in_a_blob_is_looked_into(a: str = "a" * 64, b: str = "b" * 64) -> None:
    """Of a long text head and tail are inline: the middle may differ in an address, or in what counts."""
    long = [Stream(name="stdout", head="h", omitted=9, tail="t", blob=BlobRef(hash=hash, size=11)) for hash in (a, b)]
    sides = cell(long[0]), cell(long[1])
    assert compare_executions(*sides, {a: "<A at 0x12>", b: "<A at 0x34>"}) == ()
    (found,) = compare_executions(*sides, {a: "1\n2", b: "1\n3"})
    assert (found.number, found.a, found.b) == (2, "2", "3")
    assert compare_executions(*sides, {}) != ()
    pages = cell(blob("a", "text/html")), cell(blob("b", "text/html"))
    assert compare_executions(*pages, {a: "<i id=T_12345_a>", b: "<i id=T_54321_a>"}) == ()
