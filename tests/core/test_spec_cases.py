"""The cases of spec/cases: what a log comes to, the same in every language (rule 1).

spec/README.md says how a case is written; spec/fill.py writes down what a new one comes to.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import msgspec
import pytest
from msgspec.structs import replace

from quire.core import codec
from quire.core import events as e
from quire.core.chain import GENESIS, Flaw, Head, Record, Verifier, digest, link
from quire.core.errors import BadInput
from quire.core.event_fields import filled_fields
from quire.core.events import Entry, Event
from quire.core.ids import ActorId, CellId, CommentId, EventId, LogId
from quire.core.notebook.comments import is_mentioned, mentions, threads
from quire.core.notebook.directory import Directory, fold_directory
from quire.core.notebook.notebook import Comment, Notebook
from quire.core.notebook.reduce import Fold, fold, reduce
from quire.core.notebook.staleness import stale_cells
from quire.core.rules.acceptance import SubmissionContext, accept
from quire.core.rules.cell_rules import bases, edits_of
from quire.core.rules.directory_rules import accept_in_directory
from quire.core.text import Edit, apply, rebase, transform
from quire.core.values import tag, untag
from quire.core.visible import visible

CASES = Path(__file__).parents[2] / "spec" / "cases"
LOG = LogId("case")


# ---- How a case is written


class Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An entry of a log, as a case writes it."""

    seq: int
    id: EventId
    at: str
    actor: ActorId
    event: dict[str, Any]
    key: str | None = None
    cause: EventId | None = None
    on_behalf_of: ActorId | None = None
    imported: bool = False
    redacted: bool = False

    def entry(self) -> Entry:
        """The same as the reducer takes it."""
        return Entry(
            log=LOG,
            seq=self.seq,
            id=self.id,
            at=self.at,
            actor=self.actor,
            event=codec.decode(json.dumps(self.event)),
            key=self.key,
            cause=self.cause,
            on_behalf_of=self.on_behalf_of,
            imported=self.imported,
            redacted=self.redacted,
        )


class Case(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What every case says about itself."""

    name: str
    about: str
    rules: list[int]
    fault: str | None = None
    """What the reducer gets wrong today: the case is right, and waits for it."""


class LogCase(Case, kw_only=True, forbid_unknown_fields=True):
    """A log in."""

    log: list[Line]
    accepted_by_rules: bool = True
    reason: str = ""

    def entries(self) -> list[Entry]:
        """The log."""
        return [line.entry() for line in self.log]


class NotebookCase(LogCase, kw_only=True, forbid_unknown_fields=True, tag="notebook"):
    """A notebook out."""

    notebook: dict[str, Any]
    stale: list[str]
    states: dict[str, str] = {}


class DirectoryCase(LogCase, kw_only=True, forbid_unknown_fields=True, tag="directory"):
    """A directory out: the log is the workspace's."""

    directory: dict[str, Any]


class TextCase(Case, kw_only=True, forbid_unknown_fields=True, tag="text"):
    """Two edits of one text."""

    text: str
    later: Edit
    earlier: Edit
    later_after: Edit
    earlier_after: Edit
    result: str


class RebaseCase(Case, kw_only=True, forbid_unknown_fields=True, tag="rebase"):
    """A sender's edits, one on top of the other, over the edits that came first."""

    text: str
    later: list[Edit]
    earlier: list[Edit]
    later_after: list[Edit]
    result: str


class ValuesCase(Case, kw_only=True, forbid_unknown_fields=True, tag="values"):
    """Tagged values, each with what Python makes of it; and what nobody can make anything of."""

    values: list[tuple[Any, str]]
    refused: list[Any]


class ChainCase(Case, kw_only=True, forbid_unknown_fields=True, tag="chain"):
    """Records with their digests and hashes, and what the verifier says to them."""

    records: list[dict[str, Any]]
    flaw: dict[str, Any] | None = None

    def sealed(self) -> list[Record]:
        """The records as a store keeps them."""
        return [msgspec.convert(record, Record) for record in self.records]


class VisibleCase(Case, kw_only=True, forbid_unknown_fields=True, tag="visible"):
    """Sources, each with how it is shown."""

    texts: list[tuple[str, str]]


class MentionsCase(Case, kw_only=True, forbid_unknown_fields=True, tag="mentions"):
    """Texts of comments, each with the names in it; and whom they address."""

    texts: list[tuple[str, list[str]]]
    addressed: list[tuple[str, ActorId, bool]]


class ThreadShown(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A conversation, as a case writes it."""

    id: CommentId
    cell: CellId | None
    open: bool
    comments: list[CommentId]
    awaits: list[ActorId]


class ThreadsCase(Case, kw_only=True, forbid_unknown_fields=True, tag="threads"):
    """Comments, and the conversations that they are."""

    comments: dict[CommentId, Comment]
    threads: list[ThreadShown]


AnyCase: TypeAlias = (
    NotebookCase
    | DirectoryCase
    | TextCase
    | RebaseCase
    | ValuesCase
    | ChainCase
    | VisibleCase
    | MentionsCase
    | ThreadsCase
)
C = TypeVar("C", bound=Case)


def expanded(value: Any) -> Any:
    """The value with each {"$repeat": [text, count]} written out."""
    if isinstance(value, list):
        return [expanded(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if set(fields) == {"$repeat"}:
        text, count = fields["$repeat"]
        return text * count
    return {name: expanded(each) for name, each in fields.items()}


def read(path: Path) -> AnyCase:
    """Read a case, strictly: a field too many is a mistake."""
    return msgspec.convert(expanded(json.loads(path.read_text())), AnyCase)


ALL = {path.stem: read(path) for path in sorted(CASES.glob("*.json"))}


def of_kind(kind: type[C], *, faults: bool = True) -> list[Any]:
    """The cases of a kind, as parameters of a test."""
    return [
        pytest.param(case, id=name, marks=[pytest.mark.xfail(reason=case.fault)] if case.fault and faults else [])
        for name, case in ALL.items()
        if isinstance(case, kind)
    ]


def as_json(value: Any) -> Any:
    """What a door would send."""
    return json.loads(msgspec.json.encode(value))


# ---- Logs


@pytest.mark.parametrize("case", of_kind(NotebookCase))
def test_a_log_comes_to_its_notebook(case: NotebookCase) -> None:
    """Rule 1."""
    notebook = fold(case.entries())
    assert as_json(notebook) == case.notebook
    assert sorted(stale_cells(notebook)) == case.stale
    assert case.states.items() <= {cell.id: cell.state for cell in notebook.cells.values()}.items()


@pytest.mark.parametrize("case", of_kind(NotebookCase, faults=False))
def test_it_does_so_from_every_snapshot_and_one_by_one(case: NotebookCase) -> None:
    """Rule 1: snapshots are a cache."""
    entries = case.entries()
    whole = fold(entries)
    step = Notebook()
    for number, each in enumerate(entries):
        assert fold(entries[number:], codec.unpack(codec.pack(step))) == whole
        step = reduce(step, each)
    assert step == whole


@pytest.mark.parametrize("case", of_kind(DirectoryCase))
def test_a_workspace_log_comes_to_its_directory(case: DirectoryCase) -> None:
    """Rule 1."""
    assert fold_directory(case.entries()) == msgspec.convert(case.directory, Directory)


@pytest.mark.parametrize("case", of_kind(LogCase, faults=False))
def test_the_entries_are_written_as_a_log_stores_them(case: LogCase) -> None:
    """So that a misspelt field of an event does not pass for an event without it."""
    for line in case.log:
        assert json.loads(codec.encode(codec.decode(json.dumps(line.event)))) == line.event
    assert [line.seq for line in case.log] == list(range(1, len(case.log) + 1))
    assert [line.at for line in case.log] == sorted(line.at for line in case.log)
    assert len({line.id for line in case.log}) == len(case.log)


@pytest.mark.parametrize("case", of_kind(NotebookCase, faults=False))
def test_the_rules_accept_what_is_in_the_logs(case: NotebookCase) -> None:
    """Each event passes the rules as a draft, and they fill in what the case says they did."""
    if not case.accepted_by_rules:
        assert case.reason, "a log that the rules would refuse says why it is a case all the same"
        return
    entries = case.entries()
    folding = Fold()
    for entry in entries:
        # What came from elsewhere was accepted there; what is not known here cannot be judged.
        if not entry.imported and not isinstance(entry.event, e.Unknown | e.PayloadRedacted | e.WorkspaceEvent):
            assert accept(folding.now, bare(entry.event), asking(entries, entry, folding.now)) == entry.event
        folding.add(entry)


@pytest.mark.parametrize("case", of_kind(DirectoryCase))
def test_the_rules_accept_what_is_in_the_workspace_logs(case: DirectoryCase) -> None:
    if not case.accepted_by_rules:
        assert case.reason, "a log that the rules would refuse says why it is a case all the same"
        return
    now = Directory()
    for entry in case.entries():
        if isinstance(entry.event, e.WorkspaceEvent):
            parent = entry.event.parent if isinstance(entry.event, e.TokenCreated) else None
            asking = SubmissionContext(actor=entry.actor, token=parent, at=entry.at, seq=now.seq)
            assert accept_in_directory(now, bare(entry.event), asking) == entry.event
        now = fold_directory([entry], now)


E = TypeVar("E", bound=Event)


def bare(event: E) -> E:
    """The event as its sender sent it: without what the workspace fills."""
    bared: dict[str, Any] = dict.fromkeys(filled_fields(type(event)))
    if isinstance(event, e.FileMerged):
        bared["changes"] = tuple(bare(change) for change in event.changes)
    return replace(event, **bared)


def asking(entries: list[Entry], entry: Entry, now: Notebook) -> SubmissionContext:
    """What the workspace knew when the event came in."""
    claimed = entry.event.epoch if isinstance(entry.event, e.ExecutionClaimed | e.RunClaimed) else None
    known = SubmissionContext(actor=entry.actor, at=entry.at, seq=now.seq, epoch=claimed)
    if not isinstance(entry.event, e.Unknown):
        for cell, base in bases(bare(entry.event), now):
            since = entries[base : entry.seq - 1]
            known.earlier[cell, base] = [edit for each in since for edit in edits_of(each, cell)]
    return known


# ---- Text, values, chains


@pytest.mark.parametrize("case", of_kind(TextCase))
def test_two_edits_of_one_text_meet(case: TextCase) -> None:
    """Rule 8."""
    assert transform(case.later, case.earlier) == (case.later_after, case.earlier_after)
    assert apply(apply(case.text, case.earlier), case.later_after) == case.result
    assert apply(apply(case.text, case.later), case.earlier_after) == case.result


@pytest.mark.parametrize("case", of_kind(RebaseCase))
def test_edits_are_rebased_one_on_top_of_the_other(case: RebaseCase) -> None:
    """Rule 8: what a sender's next edit meets are the earlier ones, moved over this one."""
    earlier, rebased = case.earlier, list[Edit]()
    for edit in case.later:
        moved, earlier = rebase(edit, earlier)
        rebased.append(moved)
    assert rebased == case.later_after
    assert applied(case.text, [*case.earlier, *rebased]) == case.result
    assert applied(case.text, [*case.later, *earlier]) == case.result


def applied(text: str, edits: Iterable[Edit]) -> str:
    for edit in edits:
        text = apply(text, edit)
    return text


@pytest.mark.parametrize("case", of_kind(ValuesCase))
def test_values_survive_as_json(case: ValuesCase) -> None:
    for tagged, shown in case.values:
        assert repr(untag(tagged)) == shown
        assert json.dumps(tag(untag(tagged))) == json.dumps(tagged)
    for tagged in case.refused:
        with pytest.raises(BadInput):
            untag(tagged)


@pytest.mark.parametrize("case", of_kind(ChainCase))
def test_hashes_are_made_of_these_very_bytes(case: ChainCase) -> None:
    """Rule 4."""
    previous = GENESIS
    for record in case.sealed():
        assert link(record, previous) == record.hash
        assert record.redacted or case.flaw or digest(record.payload) == record.digest
        previous = record.hash
    assert verdict(case) == case.flaw


@pytest.mark.parametrize("case", of_kind(VisibleCase))
def test_a_source_is_shown_with_what_is_invisible_in_it(case: VisibleCase) -> None:
    """Rule 9."""
    assert [visible(source) for source, _ in case.texts] == [shown for _, shown in case.texts]
    assert len({shown for _, shown in case.texts}) == len({source for source, _ in case.texts})


@pytest.mark.parametrize("case", of_kind(MentionsCase))
def test_a_comment_addresses_whom_it_names(case: MentionsCase) -> None:
    """docs/spec.md, Comments."""
    for text, names in case.texts:
        assert [text[each.start : each.end] for each in mentions(text)] == names, text
    for text, actor, addressed in case.addressed:
        assert is_mentioned(text, actor) == addressed, (text, actor)


@pytest.mark.parametrize("case", of_kind(ThreadsCase))
def test_comments_are_conversations_that_await_somebody(case: ThreadsCase) -> None:
    """docs/spec.md, Comments."""
    actors = [ActorId(name) for name in ("agent:codex", "human:ada", "human:bob", "human:eve")]
    assert case.threads == [
        ThreadShown(
            id=thread.id,
            cell=thread.cell,
            open=thread.is_open,
            comments=list(thread.comments),
            awaits=[actor for actor in actors if thread.awaits(actor)],
        )
        for thread in threads(case.comments)
    ]


def verdict(case: ChainCase) -> dict[str, Any] | None:
    """What `quire verify` would say, but for the words."""
    records = case.sealed()
    last = records[-1]
    verifier = Verifier(last.log, Head(last.seq, last.hash, last.at))
    for record in records:
        verifier.add(record)
    flaw: Flaw | None = verifier.finish()
    return None if flaw is None else {"seq": flaw.seq, "kind": flaw.kind}


# ---- All of them together


def test_every_event_occurs_in_a_case() -> None:
    """CONTRIBUTING.md: a new event brings its case."""
    seen = {line.event["type"] for case in ALL.values() if isinstance(case, LogCase) for line in case.log}
    assert codec.event_types().keys() - seen == set()
    assert seen - codec.event_types().keys(), "one has an event of a newer Quire"


def test_a_case_is_called_as_its_file_and_cites_rules_that_exist() -> None:
    for name, case in ALL.items():
        assert case.name == name
        assert case.about.endswith(".")
        assert set(case.rules) <= set(range(1, 17))
    # The others are about processes, files and doors, which no fold can show.
    assert {rule for case in ALL.values() for rule in case.rules} >= {1, 2, 4, 5, 6, 7, 8, 9, 10, 13, 15}


def test_the_cases_have_text_on_which_careless_code_breaks() -> None:
    texts = list(strings([path.read_text() and json.loads(path.read_text()) for path in CASES.glob("*.json")]))
    assert any("\r\n" in text for text in texts)
    assert any(ord(char) > 0xFFFF for text in texts for char in text), "two units in UTF-16"
    assert any(unicodedata.combining(char) for text in texts for char in text)
    assert any("\u200d" in text for text in texts), "emoji joined to one"
    assert any("__proto__" in text for text in texts), "a name that JavaScript objects have already"
    assert "" in texts


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from strings(each)
    elif isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            yield name
            yield from strings(each)
