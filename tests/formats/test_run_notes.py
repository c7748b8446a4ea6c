"""Notes of a logbook's run: written, read, and taken away before it is run again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.formats.logbook.run_notes import NOTES, RECORD, LogbookNote, NoteKind, read_notes, without_notes, write_note

TEXT = (
    st.text("ab `>#*:.\n", max_size=30)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: not text.startswith(("`", "#", ">", "*")) and "```" not in text and not text.endswith(":"))
)


@given(
    st.sampled_from(NOTES),
    TEXT,
    TEXT,
    st.none() | st.text("ab`\n ", max_size=20).filter(lambda code: code == code.strip("\n")),
)
def test_a_note_that_was_written_is_read_as_it_was(kind: NoteKind, text: str, evidence: str, code: str | None) -> None:
    note = LogbookNote(kind=kind, text=text, evidence=evidence, code=code)
    (found,) = read_notes(write_note(note))
    said = found.text.removesuffix(".") if kind == NOTES[0] and code is not None else found.text
    assert (found.kind, said, found.evidence) == (
        kind,
        text.removesuffix(".") if said != found.text else text,
        evidence,
    )
    assert found.code == code


def test_who_did_it_and_of_which_parameter_are_part_of_a_note() -> None:
    assert read_notes("> **Done** by agent:codex: Looked at it.\n>\n> Evidence: 3 rows\n")[0] == LogbookNote(
        kind="Done", text="Looked at it.", evidence="3 rows", by="agent:codex", line=1, end=4
    )
    (source,) = read_notes("> **Source** of `top`: the title of the issue")
    assert (source.name, source.text) == ("top", "the title of the issue")


def test_a_quotation_that_is_no_note_is_prose() -> None:
    assert read_notes("> To be or not to be\n> **Bold** words") == []


def test_notes_and_the_record_are_not_run_again_and_other_prose_is_kept() -> None:
    text = f"Before.\n\n> **Skipped**: no time\n>\n> ```python\n> x\n> ```\n\n> Said by somebody.\n\nAfter.\n\n{RECORD}\n\n---\n"
    assert without_notes(text) == "Before.\n\n> Said by somebody.\n\nAfter."


@pytest.mark.parametrize("text", ["one\ntwo", "```\nx\n```", "\x1b[31mred"])
def test_nothing_in_a_note_gets_out_of_its_quotation(text: str) -> None:
    written = write_note(LogbookNote(kind="Skipped", text=text, evidence=text, code=text))
    assert all(line.startswith(">") for line in written.split("\n"))
    assert "\x1b" not in written.partition("```")[0]
