"""Events as text, and what becomes of text that is no event."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import codec
from quire.core.errors import BadInput, Unavailable
from quire.core.event_fields import content, masked
from quire.core.events import CellAdded, Draft, FileMerged, ProposalAccepted, SourceEdited
from quire.core.ids import CellId, EventId, ProposalId
from quire.core.text import Splice

from ..random_logs import logs
from .test_chain import records

DRAFT = '{"id":"a","event":{"type":"cell_added","cell":"c","after":null%s}}'


def test_a_draft_is_read() -> None:
    read = codec.draft_from(json.loads(DRAFT % ',"source":"🦊\\r\\n"'))
    assert read == Draft(id=EventId("a"), event=CellAdded(cell=CellId("c"), after=None, source="🦊\r\n"))


@pytest.mark.parametrize(
    "sent",
    [
        b"[]",
        b"null",
        b'{"id":"a"}',
        b'{"id":"a","event":{}}',
        b'{"id":"a","event":{"type":"cell_sung"}}',
        b'{"id":"a","event":{"type":["cell_added"]}}',
        b'{"event":{"type":"cell_added","cell":"c","after":null}}',
        (DRAFT % ',"colour":"red"').encode(),
        (DRAFT % ',"source":1').encode(),
        (DRAFT % ',"kind":"opera"').encode(),
        b'{"id":"a","event":{"type":"cell_added","cell":"c"}}',
        b'{"id":"a","seq":7,"event":{"type":"cell_added","cell":"c","after":null}}',
        b'{"id":"a","actor":"human:eve","event":{"type":"cell_added","cell":"c","after":null}}',
        b'{"id":"a","event":{"type":"source_edited","cell":"c","base":1,"edit":[[0,1]]}}',
        b'{"id":"a","event":{"type":"source_edited","cell":"c","base":1.5}}',
        b'{"id":"a","event":{"type":"proposal_made","proposal":"p","why":"","changes":[{"type":"cell_removed","cell":"c","x":1}]}}',
    ],
    ids=lambda sent: repr(sent[:60]),
)
def test_what_is_no_draft_is_bad_input_that_says_so(sent: bytes) -> None:
    with pytest.raises(BadInput) as told:
        codec.draft_from(json.loads(sent))
    assert len(str(told.value)) < 1000


def test_a_stored_event_that_cannot_be_read_points_to_verify() -> None:
    (record,) = records(1)
    from msgspec.structs import replace

    for payload in ("{", '{"type":"cell_added"}', "[]", '{"type":7}'):
        with pytest.raises(Unavailable) as told:
            codec.entry(replace(record, payload=payload))
        assert "quire verify" in str(told.value)


@given(logs(20), st.sampled_from(["x", "y=", "🦊"]))
def test_a_mask_keeps_the_length_of_every_text(log: list[codec.Entry], secret: str) -> None:
    for entry in log:
        assert not isinstance(entry.event, codec.Unknown)
        for event in (masked(entry.event), masked(entry.event, secret)):
            assert type(event) is type(entry.event)
            assert [len(text) for text in content(event)] == [len(text) for text in content(entry.event)]


def test_a_mask_reaches_the_piece_of_a_secret_that_a_merge_of_a_file_recorded() -> None:
    """The text says all of it, the difference only the part that was new."""
    edit = SourceEdited(cell=CellId("a"), text="key = hunter2", base_hash="", applied=(Splice(7, 0, "unter2"),))
    accepted = ProposalAccepted(proposal=ProposalId("p"), applied=(edit,))
    for event in (FileMerged(path="a.py", digest="", changes=(edit,)), accepted):
        assert "unter2" not in "".join(content(masked(event, "hunter2")))
