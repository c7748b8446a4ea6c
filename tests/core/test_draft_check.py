"""Drafts on their way in, in parts that every workspace takes."""

from __future__ import annotations

from quire.core import events as e
from quire.core.event_fields import BATCH_BYTES, batches
from quire.core.events import Draft
from quire.core.ids import EventId


def renamed(number: int, name: str = "x") -> Draft:
    return Draft(id=EventId(f"d{number}"), event=e.NotebookRenamed(name=name))


def test_many_drafts_go_in_parts_and_none_is_lost_or_moved() -> None:
    drafts = [renamed(number) for number in range(23)]
    parts = list(batches(iter(drafts), most=5))
    assert [len(part) for part in parts] == [5, 5, 5, 5, 3]
    assert [draft for part in parts for draft in part] == drafts
    assert list(batches([])) == []


def test_large_drafts_go_in_smaller_parts_than_a_server_refuses() -> None:
    drafts = [renamed(number, "x" * (BATCH_BYTES // 2 + 1)) for number in range(5)]
    assert [len(part) for part in batches(drafts)] == [2, 2, 1]


def test_what_cannot_be_written_is_told_by_whoever_records_it() -> None:
    odd = Draft(id=EventId("d"), event=e.MetadataSet(values={"half": "\ud800"}))
    assert list(batches([odd])) == [[odd]]
