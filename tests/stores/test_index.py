"""The rows that questions are answered from: the same however the log was cut into parts."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.events import Entry
from quire.core.ids import CellId
from quire.core.notebook import executions
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.stores.index import TABLES, IndexRows, index_log

from ..random_logs import logs
from ..two_cell_log import LOCAL, A, Log, X, Y, Z


@pytest.fixture(autouse=True, scope="module")
def _soon_forgotten() -> Generator[None]:
    """Code without a cell is forgotten with the next, so that short logs show it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executions, "SCRATCHES", 0)
        yield


@given(logs(), st.data())
def test_a_log_in_parts_makes_the_rows_of_the_whole(log: list[Entry], data: st.DataObject) -> None:
    """Rule 1: rows are a cache of what the log folds to; also of what the fold has forgotten since."""
    k = data.draw(st.integers(0, len(log)))
    first = index_log(log[0].log, Notebook(), log[:k])
    parts = first.replaced(index_log(log[0].log, fold(log[:k]), log[k:]))
    whole = IndexRows().replaced(index_log(log[0].log, Notebook(), log))
    for name in TABLES:
        assert sorted(map(repr, parts.table(name))) == sorted(map(repr, whole.table(name)))


def test_what_is_forgotten_is_shown_as_it_was_last() -> None:
    """A display of code without a cell, updated by a cell that runs later."""
    log = Log()
    log.scratch()
    epoch = log.start()
    shown = e.OutputAdded(execution=X, epoch=epoch, chunk=0, output=e.Display(data={"text/plain": "1"}, display_id="d"))
    log.say(shown, e.ExecutionFinished(execution=X, epoch=epoch, status="ok"), by=LOCAL)
    k = len(log.entries)
    log.request(Y, A)
    epoch = log.start(Y)
    update = e.DisplayUpdated(execution=Y, epoch=epoch, chunk=0, display_id="d", data={"text/plain": "2"})
    log.say(update, by=LOCAL)
    log.scratch(CellId("t"), Z)
    id = log.entries[0].log
    rows = index_log(id, Notebook(), log.entries[:k]).replaced(index_log(id, fold(log.entries[:k]), log.entries[k:]))
    assert [row[6] for row in rows.outputs if row[1] == X] == ["2"]
