"""State is a pure fold of the log (rule 1)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import codec
from quire.core import events as e
from quire.core.events import Entry, Stream
from quire.core.ids import CellId, ExecutionId
from quire.core.notebook.notebook import INLINE_TEXT, Notebook
from quire.core.notebook.reduce import Fold, fold, reduce
from quire.core.notebook.staleness import stale_cells

from ..conftest import examples
from ..random_logs import ADA, RUNTIME, at, attempt, created, entry, logs

pytestmark = pytest.mark.generated


@examples(60)
@given(logs())
def test_reduce_is_total_on_every_accepted_event(log: list[Entry]) -> None:
    """Rule 1: `logs` folds each entry as the rules accept it; here, all is looked at as well."""
    notebook = fold(log)
    assert notebook.seq == len(log)
    assert sorted(notebook.order) == sorted(notebook.cells)
    assert stale_cells(notebook) <= set(notebook.cells)
    for execution, cell in notebook.executions.items():
        found = notebook.execution(execution)
        assert found is not None
        assert found.is_open
        assert found.cell == cell
    for cell in notebook.live_cells:
        assert cell.state in ("never_run", "queued", "running", "skipped", "ok", "cancelled", "lost")


@examples(40)
@given(logs(), st.data())
def test_a_snapshot_plus_the_rest_of_the_log_equals_the_whole_log(log: list[Entry], data: st.DataObject) -> None:
    """Rule 1: snapshots are only a cache."""
    k = data.draw(st.integers(0, len(log)))
    snapshot = codec.unpack(codec.pack(fold(log[:k])))
    assert fold(log[k:], snapshot) == fold(log)


@examples(40)
@given(logs())
def test_one_by_one_is_the_same_as_all_at_once_and_changes_nothing_that_was_handed_out(log: list[Entry]) -> None:
    notebook = Notebook()
    seen: list[tuple[Notebook, bytes]] = []
    for each in log:
        notebook = reduce(notebook, each)
        seen.append((notebook, codec.pack(notebook)))
    assert notebook == fold(log)
    for handed_out, as_it_was in seen:
        assert codec.pack(handed_out) == as_it_was


@examples(40)
@given(logs())
def test_what_a_fold_hands_out_in_between_never_changes(log: list[Entry]) -> None:
    folding = Fold()
    seen: list[tuple[Notebook, bytes]] = []
    for number, each in enumerate(log):
        folding.add(each)
        if number % 3 == 0:
            seen.append((folding.notebook(), codec.pack(folding.now)))
    for handed_out, as_it_was in seen:
        assert codec.pack(handed_out) == as_it_was


@examples(40)
@given(logs())
def test_every_event_survives_being_written_and_read(log: list[Entry]) -> None:
    for each in log:
        assert codec.decode(codec.encode(each.event)) == each.event


@examples(40)
@given(logs())
def test_a_notebook_survives_json(log: list[Entry]) -> None:
    """What a door sends is what a client folds."""
    notebook = fold(log)
    assert msgspec.json.decode(msgspec.json.encode(notebook), type=Notebook) == notebook


def test_an_unknown_event_is_kept_and_skipped() -> None:
    """Rule 15."""
    stored = '{"type":"cell_sung","cell":"a","tune":{"key":"C"}}'
    unknown = codec.decode(stored)
    assert unknown == e.Unknown(type="cell_sung", raw=msgspec.Raw(stored.encode()))
    assert codec.encode(unknown) == stored
    notebook = fold([created(), entry(2, unknown), entry(3, e.NotebookRenamed(name="on"))])
    assert (notebook.skipped, notebook.name, notebook.seq) == (1, "on", 3)


def test_an_old_event_is_brought_up_to_date() -> None:
    """Rule 15: what was written under an old tag reads as today's event."""

    def from_put(old: dict[str, Any]) -> dict[str, Any]:
        return {"type": "cell_added", "cell": old["id"], "after": None, "source": old["text"]}

    assert codec.decode('{"type":"cell_put","id":"a","text":"1"}', {"cell_put": from_put}) == e.CellAdded(
        cell=CellId("a"), after=None, source="1"
    )


def running() -> tuple[list[Entry], Fold]:
    """A notebook with one cell that runs."""
    log = [created()]
    folding = Fold()
    folding.add(log[0])
    cell, execution = CellId("a"), ExecutionId("x")
    hash_of_empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for actor, event in (
        (ADA, e.CellAdded(cell=cell, after=None)),
        (ADA, e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash_of_empty)),
        (RUNTIME, e.ExecutionClaimed(execution=execution, runtime=e.RuntimeId(RUNTIME))),
    ):
        assert attempt(log, folding, actor, event) is not None
    found = folding.now.execution(execution)
    assert found is not None
    assert found.epoch is not None
    start = e.ExecutionStarted(execution=execution, cell=cell, source_hash=hash_of_empty, epoch=found.epoch)
    assert attempt(log, folding, RUNTIME, start) is not None
    return log, folding


def printed(folding: Fold, chunk: int, offset: int, text: str, blob: e.BlobRef | None = None) -> e.StreamAppended:
    found = folding.now.execution(ExecutionId("x"))
    assert found is not None
    return e.StreamAppended(
        execution=ExecutionId("x"),
        epoch=found.epoch or 0,
        chunk=chunk,
        name="stdout",
        offset=offset,
        text=text,
        blob=blob,
    )


def stream(folding: Fold) -> Stream:
    execution = folding.now.cells[CellId("a")].execution
    assert execution is not None
    (output,) = execution.outputs
    assert isinstance(output, Stream)
    return output


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40_000)), max_size=12))
def test_a_long_stream_keeps_head_and_tail_and_counts_the_rest(parts: list[tuple[int, int]]) -> None:
    """Rule 5: the fold of any appends is the head and the tail of the plain text, the whole is a blob."""
    log, folding = running()
    text = ""
    for chunk, (back, length) in enumerate(parts):
        piece = chr(ord("a") + chunk) * length
        offset = max(0, len(text) - back)
        text = text[:offset] + piece
        whole = e.BlobRef(hash="0" * 64, size=len(text)) if len(text) > INLINE_TEXT else None
        assert attempt(log, folding, RUNTIME, printed(folding, chunk, offset, piece, whole)) is not None
    if not parts:
        return
    kept = stream(folding)
    assert kept.length == len(text)
    assert len(kept.head) + len(kept.tail) <= INLINE_TEXT
    assert text.startswith(kept.head)
    assert text.endswith(kept.tail)
    assert bool(kept.omitted) == bool(kept.tail)


def test_what_is_too_long_to_stay_inline_needs_a_blob() -> None:
    """Rule 5."""
    log, folding = running()
    assert attempt(log, folding, RUNTIME, printed(folding, 0, 0, "x" * (INLINE_TEXT + 1))) is None
    blob = e.BlobRef(hash="0" * 64, size=INLINE_TEXT + 1)
    assert attempt(log, folding, RUNTIME, printed(folding, 0, INLINE_TEXT, "x", blob)) is not None
    assert attempt(log, folding, RUNTIME, printed(folding, 1, 0, "done")) is not None
    assert stream(folding) == Stream(name="stdout", head="done"), "the blob went with the text"


def test_a_gap_is_only_taken_with_a_blob_that_holds_it() -> None:
    log, folding = running()
    assert attempt(log, folding, RUNTIME, printed(folding, 0, 0, "head")) is not None
    assert attempt(log, folding, RUNTIME, printed(folding, 1, 1000, "tail")) is None
    blob = e.BlobRef(hash="0" * 64, size=1004)
    assert attempt(log, folding, RUNTIME, printed(folding, 1, 1000, "tail", blob)) is not None
    assert stream(folding) == Stream(name="stdout", head="head", omitted=996, tail="tail", blob=blob)


def test_a_chunk_sent_again_adds_nothing() -> None:
    """Rule 7."""
    log, folding = running()
    for _ in range(3):
        assert attempt(log, folding, RUNTIME, printed(folding, 0, 0, "once")) is not None
    assert stream(folding).head == "once"


def test_folding_adds_no_copy_of_the_notebook_per_event() -> None:
    """A fold hands out the same containers it built, until somebody holds on to them."""
    log, folding = running()
    before = folding.now.cells
    attempt(log, folding, RUNTIME, printed(folding, 0, 0, "x"))
    assert folding.now.cells is before
    held = folding.notebook()
    attempt(log, folding, RUNTIME, printed(folding, 1, 1, "y"))
    assert folding.now.cells is not held.cells
    assert at(1) < (folding.now.updated_at or "")
