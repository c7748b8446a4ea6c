"""Batches of edits: all or nothing, nobody's text lost, and every fault told at once (rules 2 and 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.edits.edit_errors import unified
from quire.core.edits.edit_plan import EditPlan, Past, plan, stale_bases
from quire.core.edits.operations import (
    MOST_BATCH,
    MOST_EDITS,
    MOST_SOURCE,
    Delete,
    Insert,
    Label,
    Move,
    Operation,
    Replace,
)
from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.ids import CellId
from quire.core.notebook.notebook import Cell, Notebook
from quire.core.notebook.reduce import fold
from quire.core.notebook.source_history import Sources
from quire.core.rules.acceptance import SubmissionContext
from quire.core.rules.cell_rules import completed
from quire.core.text import source_hash

from ..random_logs import ADA, AGENT, BOB, at, entry

SOURCES = {"load": "rows = [1, 2]\nprint(rows)", "total": "total = sum(rows)", "note": "# Sales"}


def notebook(metadata: dict[str, Any] | None = None) -> Notebook:
    """Three cells with names; the ids are their names, and four characters more."""
    events: list[e.KnownEvent] = [e.NotebookCreated(name="sales", metadata=metadata or {})]
    after: CellId | None = None
    for name, source in SOURCES.items():
        id = CellId(f"{name}0001")
        kind = "markdown" if name == "note" else "code"
        events.append(e.CellAdded(cell=id, after=after, name=name, source=source, kind=kind))
        after = id
    return fold(entry(number, event) for number, event in enumerate(events, 1))


def new_ids() -> Iterator[CellId]:
    return (CellId(f"new{number}") for number in range(MOST_EDITS))


def planned(
    *operations: dict[str, Any], now: Notebook | None = None, past: Past | None = None, check: bool = True
) -> EditPlan:
    asked = msgspec.convert(operations, tuple[Operation, ...])
    return plan(now or notebook(), asked, new_ids(), past, check=check)


def after(now: Notebook, made: EditPlan) -> Notebook:
    """The notebook once the rules have taken what was planned."""
    return completed(now, made.changes, SubmissionContext(actor=AGENT, at=at(99), seq=now.seq))[1].notebook()


def base(name: str) -> str:
    return source_hash(SOURCES[name])[:8]


def order(now: Notebook) -> list[str]:
    return [cell.name or cell.id for cell in now.live_cells]


def wrong(*operations: dict[str, Any], **more: Any) -> QuireError:
    with pytest.raises(QuireError) as caught:
        planned(*operations, **more)
    return caught.value


# ---- What a batch does


def test_a_batch_replaces_patches_inserts_moves_labels_and_deletes() -> None:
    now = notebook()
    made = planned(
        {"op": "replace", "cell": "load", "base": f"#{base('load')}", "source": "rows = []"},
        {"op": "patch", "cell": "tota", "old": "sum(rows)", "new": "len(rows)"},
        {"op": "insert", "after": "load", "source": "rows.sort()", "name": "sort", "tags": ["slow"]},
        {"op": "tag", "cell": "total0001", "add": ["checked"], "name": "count"},
        {"op": "move", "cell": "total", "after": "top"},
        {"op": "delete", "cell": "note", "base": base("note")},
    )
    then = after(now, made)
    assert order(then) == ["count", "load", "sort"]
    cells = {cell.name: cell for cell in then.live_cells}
    assert (cells["load"].source, cells["count"].source) == ("rows = []", "total = len(rows)")
    assert cells["count"].tags == ("checked",) and cells["sort"].tags == ("slow",)
    assert made.inserted == {3: "new0"} and made.removed == ("note0001",)
    assert made.touched == ("load0001", "total0001", "new0") == made.changed


def test_several_patches_of_a_cell_are_one_edit_against_what_it_says_now() -> None:
    made = planned(
        {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"},
        {"op": "patch", "cell": "load", "old": "[3]", "new": "[4]"},
    )
    (change,) = made.changes
    assert change == e.SourceEdited(
        cell=CellId("load0001"), text="rows = [4]\nprint(rows)", base_hash=source_hash(SOURCES["load"])
    )


def test_what_goes_to_one_place_stands_there_in_the_order_of_the_batch() -> None:
    def insert(name: str, after: str) -> dict[str, Any]:
        return {"op": "insert", "after": after, "source": "", "name": name}

    now = notebook()
    made = planned(
        insert("a", "load"),
        insert("b", "load"),
        insert("a1", "a"),
        insert("t", "top"),
        insert("u", "top"),
        insert("y", "end"),
        {"op": "move", "cell": "total", "after": "end"},
        insert("z", "end"),
        insert("c", "load"),
    )
    assert order(after(now, made)) == ["t", "u", "load", "a", "a1", "b", "c", "note", "y", "total", "z"]


def test_a_number_says_which_cell_only_with_the_hash_of_what_was_read_there() -> None:
    assert planned({"op": "patch", "cell": "1", "old": "1", "new": "7", "base": base("load")}).touched == ("load0001",)
    error = wrong({"op": "patch", "cell": "1", "old": "1", "new": "7"})
    assert isinstance(error, BadInput) and "'load0001'" in str(error) and "base" in str(error)
    assert "'load0001'" in str(wrong({"op": "insert", "after": "1", "source": ""}))
    assert "'load0001'" in str(wrong({"op": "move", "cell": "1", "after": "end"}))


def test_a_batch_that_says_what_is_so_already_changes_nothing() -> None:
    made = planned(
        {"op": "replace", "cell": "load", "base": base("load"), "source": SOURCES["load"]},
        {"op": "tag", "cell": "total", "remove": ["never"]},
    )
    assert made.changes == () and made.changed == () and made.touched == ("load0001", "total0001")


# ---- What speaks against it


def test_a_stale_base_is_refused_with_the_source_and_what_changed() -> None:
    """Rule 8."""
    had = "rows = [1]\nprint(rows)"
    operation = {"op": "replace", "cell": "load", "base": source_hash(had)[:6], "source": "rows = []"}
    past = {(CellId("load0001"), source_hash(had)[:6]): had}
    error = wrong(operation, past=past)
    assert isinstance(error, Refused) and "human:ada" in str(error) and "Nothing was changed" in str(error)
    assert error.details["source"] == SOURCES["load"] and error.details["source_hash"] == source_hash(SOURCES["load"])
    assert error.details["base"] == had and error.details["difference"].splitlines() == [
        "@@ line 1 @@",
        "-rows = [1]",
        "+rows = [1, 2]",
        " print(rows)",
    ]


@pytest.mark.parametrize("op", ["replace", "patch", "delete"])
def test_a_base_that_never_was_is_told_with_the_hash_that_is(op: str) -> None:
    more = {"replace": {"source": ""}, "patch": {"old": "rows", "new": ""}, "delete": {}}[op]
    error = wrong({"op": op, "cell": "load", "base": "abcdef", **more})
    assert isinstance(error, BadInput) and "never" in str(error) and base("load") in str(error)
    assert error.details["source"] == SOURCES["load"]


def test_a_patch_whose_text_is_not_there_once_says_where_it_is_or_what_is_nearest() -> None:
    error = wrong({"op": "patch", "cell": "load", "old": "rows", "new": ""})
    assert isinstance(error, BadInput) and "2 times" in str(error) and error.details["lines"] == [1, 2]
    error = wrong({"op": "patch", "cell": "load", "old": "print(row)", "new": ""})
    assert "line 2" in str(error) and error.details["source"] == SOURCES["load"]
    assert "2 times" in str(wrong({"op": "patch", "cell": "total", "old": "t", "new": ""}))


def test_a_patch_that_an_edit_before_it_made_impossible_is_told_with_the_source_as_it_is() -> None:
    error = wrong(
        {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"},
        {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[4]"},
    )
    assert "Edit 2" in str(error) and "as the edits before this one leave it" in str(error)
    assert error.details["source"] == SOURCES["load"] and error.details["source_hash"].startswith(base("load"))


def test_an_unknown_cell_is_answered_with_the_nearest() -> None:
    error = wrong({"op": "tag", "cell": "lod", "add": ["x"]})
    assert isinstance(error, NotFound) and "load" in error.details["nearest"]


def test_a_cell_that_somebody_removed_is_told_with_what_it_said_and_where() -> None:
    now = notebook()
    entries = [entry(now.seq + 1, e.CellRemoved(cell=CellId("total0001")), BOB)]
    removed = fold(entries, now)
    for name in ("total", "total0001", "tota"):
        error = wrong({"op": "replace", "cell": name, "base": base("total"), "source": ""}, now=removed)
        assert isinstance(error, Refused) and error.details["source"] == SOURCES["total"]
        assert error.details["after"] == "load0001"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"op": "replace", "source": "a"}, {"op": "replace", "source": "b"}, "both replace"),
        ({"op": "patch", "old": "[1", "new": "[5"}, {"op": "replace", "source": "b"}, "undo the patch"),
        ({"op": "delete"}, {"op": "replace", "source": "b"}, "deletes"),
        ({"op": "patch", "old": "[1", "new": "[5"}, {"op": "delete"}, "deletes"),
        ({"op": "delete"}, {"op": "delete"}, "both delete"),
        ({"op": "move", "after": "end"}, {"op": "delete"}, "deletes"),
        ({"op": "tag", "add": ["x"]}, {"op": "delete"}, "deletes"),
        ({"op": "move", "after": "end"}, {"op": "move", "after": "top"}, "both move"),
        ({"op": "tag", "name": "x"}, {"op": "tag", "name": "y"}, "both name"),
        ({"op": "tag", "kind": "sql"}, {"op": "tag", "kind": "raw"}, "kind"),
        ({"op": "tag", "add": ["x"]}, {"op": "tag", "remove": ["x"]}, "both added and removed"),
    ],
)
def test_two_edits_that_contradict_each_other_are_both_named(
    first: dict[str, Any], second: dict[str, Any], said: str
) -> None:
    def whole(operation: dict[str, Any]) -> dict[str, Any]:
        needs_base = operation["op"] in ("replace", "delete")
        return {"cell": "load", **({"base": base("load")} if needs_base else {}), **operation}

    error = wrong({"op": "tag", "cell": "note", "add": ["seen"]}, whole(first), whole(second))
    assert isinstance(error, BadInput) and "2" in str(error) and "3" in str(error) and said in str(error)
    assert 2 in _edits(error) and 3 in _edits(error)


def _edits(error: QuireError) -> list[int]:
    """The edits that an error, or one of its faults, names."""
    found = [error.details, *error.details.get("faults", [])]
    return [number for details in found for number in details.get("edits", ())]


def test_an_anchor_that_the_batch_deletes_and_a_name_that_is_given_twice_are_contradictions() -> None:
    deleting = {"op": "delete", "cell": "load", "base": base("load")}
    error = wrong(deleting, {"op": "insert", "after": "load", "source": ""})
    assert isinstance(error, BadInput) and _edits(error) == [1, 2]
    error = wrong(
        {"op": "insert", "after": "end", "source": "", "name": "x"},
        {"op": "insert", "after": "end", "source": "", "name": "x"},
    )
    assert "both name a cell 'x'" in str(error) and _edits(error) == [1, 2]
    error = wrong({"op": "insert", "after": "end", "source": "", "name": "load"})
    assert "'load0001' is named 'load' already" in str(error)
    # The name is free once the cell that has it goes, or gets another one.
    assert planned(deleting, {"op": "insert", "after": "end", "source": "", "name": "load"}).inserted == {2: "new0"}
    assert (
        planned({"op": "tag", "cell": "load", "name": "was"}, {"op": "tag", "cell": "total", "name": "load"}).changed
        == ()
    )


def test_what_the_batch_makes_is_said_where_it_is_made() -> None:
    inserted = {"op": "insert", "after": "end", "source": "x = 1", "name": "x"}
    error = wrong(inserted, {"op": "patch", "cell": "x", "old": "1", "new": "2"})
    assert isinstance(error, BadInput) and "made by edit 1" in str(error)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    error = wrong(
        {"op": "patch", "cell": "load", "old": "nothing like it", "new": ""},
        {"op": "patch", "cell": "load", "old": "[1, 2]", "new": ""},
        {"op": "tag", "cell": "lod", "add": ["x"]},
        {"op": "insert", "after": "end", "source": "x = = 1"},
        {"op": "insert", "after": "end", "source": "x" * (MOST_SOURCE + 1), "name": "long"},
        {"op": "insert", "after": "long", "source": "fine = 1"},
    )
    assert isinstance(error, BadInput)
    faults = {fault["edit"]: fault["error"] for fault in error.details["faults"]}
    assert faults == {1: "BadInput", 3: "NotFound", 4: "BadInput", 5: "BadInput"}
    assert all(f"Edit {number}: " in str(error) for number in faults)


@pytest.mark.parametrize(
    ("source", "said"),
    [("x" * (MOST_SOURCE + 1), "1,000,000"), ("x = '\0'", "NUL"), ("x = '\ud800'", "surrogate")],
)
def test_what_no_cell_can_hold_is_refused(source: str, said: str) -> None:
    assert said in str(wrong({"op": "insert", "after": "end", "source": source}))
    assert said in str(wrong({"op": "replace", "cell": "load", "base": base("load"), "source": source}))
    assert said in str(wrong({"op": "patch", "cell": "load", "old": "[1, 2]", "new": source}))


def test_a_batch_that_is_too_long_or_empty_is_refused() -> None:
    assert "1 to 200" in str(wrong())
    assert "1 to 200" in str(wrong(*[{"op": "tag", "cell": "load", "add": ["x"]}] * (MOST_EDITS + 1)))
    many = [{"op": "insert", "after": "end", "source": "#" * MOST_SOURCE}] * (MOST_BATCH // MOST_SOURCE + 1)
    assert f"{MOST_BATCH:,}" in str(wrong(*many))


@pytest.mark.parametrize("name", ["", " x", "x" * 201, "a\nb"])
def test_names_and_tags_are_looked_at_before_anything_is_sent(name: str) -> None:
    assert isinstance(wrong({"op": "tag", "cell": "load", "add": [name]}), BadInput)
    if name:
        assert isinstance(wrong({"op": "insert", "after": "end", "source": "", "name": name}), BadInput)
        assert isinstance(wrong({"op": "tag", "cell": "load", "name": name}), BadInput)


def test_python_that_does_not_parse_is_told_with_its_place_unless_it_is_not_to_be_checked() -> None:
    inserted = {"op": "insert", "after": "end", "source": "ok = 1\nif ok\n    x"}
    error = wrong(inserted)
    assert error.details["line"] == 2 and "\n    if ok\n" in str(error) and "check=false" in str(error)
    assert planned(inserted, check=False).changed == ("new0",)
    assert planned({**inserted, "kind": "sql"}).changed == ("new0",)
    assert planned(inserted, now=notebook({"kernelspec": {"language": "R"}})).changed == ("new0",)
    # Only what the batch changes is looked at, as it will be: also a text that becomes code.
    error = wrong(
        {"op": "tag", "cell": "note", "kind": "code"}, {"op": "patch", "cell": "note", "old": "#", "new": "1"}
    )
    assert "'note0001'" in str(error)


@pytest.mark.parametrize("source", ["%matplotlib inline\n!ls\nx?", "%%bash\nif [ 1 ]; then", "await later()"])
def test_what_a_kernel_would_take_is_taken(source: str) -> None:
    assert planned({"op": "insert", "after": "end", "source": source}).changed == ("new0",)


def test_an_edit_that_was_planned_before_somebody_elses_is_refused_by_the_rules() -> None:
    """Rule 8: planning decides nothing."""
    now = notebook()
    made = planned({"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}, now=now)
    theirs = e.SourceEdited(cell=CellId("load0001"), text="rows = None", base_hash=source_hash(SOURCES["load"]))
    (recorded,), _ = completed(now, [theirs], SubmissionContext(actor=BOB, at=at(50), seq=now.seq))
    then = fold([entry(now.seq + 1, recorded, BOB)], now)
    with pytest.raises(Refused) as caught:
        after(then, made)
    assert caught.value.details["source"] == "rows = None"
    gone = planned({"op": "delete", "cell": "load", "base": base("load")}, now=now)
    with pytest.raises(Refused):
        after(then, gone)


# ---- Generated batches

NAMES = ["load", "total", "note", "x", "y"]
CODE = st.sampled_from(["a = 1", "b = a", "a = 1\nb = 2", "", "# é🦊"])


@st.composite
def batches(draw: st.DrawFn) -> list[Operation]:
    """What somebody might send: some of it nonsense."""
    made: list[Operation] = []
    for _ in range(draw(st.integers(1, 6))):
        cell = draw(st.sampled_from(NAMES))
        after = draw(st.sampled_from([*NAMES, "top", "end"]))
        hash = source_hash(SOURCES.get(cell, ""))[: draw(st.integers(6, 64))]
        operations: list[Operation] = [
            Replace(cell=cell, base=hash, source=draw(CODE)),
            Insert(after=after, source=draw(CODE), name=draw(st.sampled_from([None, "x", "y"]))),
            Delete(cell=cell, base=hash),
            Move(cell=cell, after=after),
            Label(cell=cell, add=("t",), name=draw(st.sampled_from([None, "x", ""]))),
        ]
        made.append(draw(st.sampled_from(operations)))
    return made


@pytest.mark.generated
@given(batches())
def test_a_batch_is_taken_by_the_rules_as_planned_or_refused_as_a_whole(operations: list[Operation]) -> None:
    now = notebook()
    try:
        made = plan(now, operations, new_ids())
    except QuireError as error:
        assert "Nothing was changed" in str(error)
        return
    then = after(now, made)
    cells = {cell.id: cell for cell in then.live_cells}
    _check_contents(operations, made, cells)
    _check_order(operations, made, now, [cell.id for cell in then.live_cells])
    names = [cell.name for cell in cells.values() if cell.name]
    assert len(names) == len(set(names))


def _id(made: EditPlan, operations: Sequence[Operation], name: str) -> str:
    inserts = {
        each.name: made.inserted[number] for number, each in enumerate(operations, 1) if isinstance(each, Insert)
    }
    return inserts.get(name) or f"{name}0001"


def _check_contents(operations: list[Operation], made: EditPlan, cells: dict[CellId, Cell]) -> None:
    for number, operation in enumerate(operations, 1):
        match operation:
            case Replace():
                assert cells[CellId(f"{operation.cell}0001")].source == operation.source
            case Delete():
                assert f"{operation.cell}0001" not in cells
            case Insert():
                assert cells[made.inserted[number]].source == operation.source
            case Label():
                assert "t" in cells[CellId(f"{operation.cell}0001")].tags
            case _:
                pass


def _check_order(operations: list[Operation], made: EditPlan, before: Notebook, ids: list[CellId]) -> None:
    """What the batch does not place keeps its order; what it puts after a cell stands behind it, in the batch's order."""
    placed: list[str] = []
    groups: dict[str, list[str]] = {}
    moved = {f"{each.cell}0001" for each in operations if isinstance(each, Move)}
    for number, operation in enumerate(operations, 1):
        if isinstance(operation, Insert | Move):
            id = made.inserted[number] if isinstance(operation, Insert) else f"{operation.cell}0001"
            placed.append(id)
            groups.setdefault(operation.after, []).append(id)
    kept = [cell.id for cell in before.live_cells if cell.id in ids and cell.id not in placed]
    assert [id for id in ids if id in kept] == kept
    for anchor, group in groups.items():
        at_home = anchor in ("top", "end") or _id(made, operations, anchor) not in moved
        if not at_home:
            continue  # what was put after a cell before that went elsewhere stays where it was
        assert [id for id in ids if id in group] == group, (anchor, ids)
        if anchor not in ("top", "end"):
            start = ids.index(CellId(_id(made, operations, anchor)))
            assert all(id in placed for id in ids[start + 1 : ids.index(CellId(group[-1])) + 1])


TEXTS = st.lists(st.sampled_from(["a", "b", "", "c c", "d"]), max_size=12).map("\n".join)


@pytest.mark.generated
@given(TEXTS, TEXTS)
def test_a_difference_says_all_that_went_and_all_that_came(old: str, new: str) -> None:
    lines = unified(old, new).split("\n") if old != new else []
    went = [line[1:] for line in lines if line.startswith("-")]
    came = [line[1:] for line in lines if line.startswith("+")]
    left, right = old.split("\n"), new.split("\n")
    for line in set(left) | set(right):
        assert left.count(line) - went.count(line) == right.count(line) - came.count(line)


@pytest.mark.generated
@given(st.lists(st.tuples(st.sampled_from(["load0001", "total0001"]), TEXTS), max_size=8))
def test_the_log_tells_every_source_that_a_cell_had(edits: list[tuple[str, str]]) -> None:
    now, entries = notebook(), list[e.Entry]()
    had = {"load0001": [SOURCES["load"]], "total0001": [SOURCES["total"]]}
    entries = [entry(2, e.CellAdded(cell=CellId(id), after=None, source=texts[0])) for id, texts in had.items()]
    for cell, text in edits:
        change = e.SourceEdited(cell=CellId(cell), text=text, base_hash=source_hash(had[cell][-1]))
        (recorded,), folding = completed(now, [change], SubmissionContext(actor=ADA, at=at(9), seq=now.seq))
        now = folding.notebook()
        entries.append(entry(now.seq, recorded))
        had[cell].append(text)
    for cell, texts in had.items():
        assert list(Sources(CellId(cell)).read(entries)) == texts


def test_only_hashes_that_are_not_a_cells_own_are_looked_up() -> None:
    asked = (
        Replace(cell="load", base=base("load"), source=""),
        Replace(cell="total", base="#abcdef", source=""),
        Delete(cell="nowhere", base="abcdef"),
    )
    assert stale_bases(notebook(), asked) == {(CellId("total0001"), "abcdef")}
