"""A log as a list of what people and agents did: acts, grouped into lines, and a summary of what is new.

Steps of an execution (claimed, started, each output) are no acts: what a runtime does is the outcome of a run, which counts as an act
of whoever asked for it. Words are made where it is shown; here are only the parts that they need, so that an answer stays
small however much was written. A new kind of event needs a place in `KINDS` or in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from .. import events as e
from ..codec import type_of
from ..events import AnyEvent, CellChange, Entry
from ..ids import ActorId, CellId, EventId, ExecutionId, ProposalId
from .notebook import ExecutionState

ActivityKind: TypeAlias = Literal["edits", "runs", "proposals", "comments", "files", "kernel"]

PAUSE_SECONDS = 300.0
"""Acts of one actor belong together as long as the pauses between them are shorter."""
LINE_NUMBERS = 1000
"""No line goes past a multiple of this number, so that whoever writes without a pause makes more than one."""
MOST_ACTS = 40
"""How many different acts a line has at most; the rest is counted."""
_TEXT = 200

KINDS: Mapping[str, ActivityKind] = {
    "notebook_created": "edits",
    "notebook_renamed": "edits",
    "notebook_archived": "edits",
    "metadata_set": "edits",
    "payload_redacted": "edits",
    "cell_added": "edits",
    "cell_removed": "edits",
    "cell_moved": "edits",
    "cell_kind_changed": "edits",
    "cell_named": "edits",
    "cell_tagged": "edits",
    "cell_metadata_set": "edits",
    "source_edited": "edits",
    "execution_requested": "runs",
    "scratch_requested": "runs",
    "interrupt_requested": "runs",
    "execution_cancelled": "runs",
    "input_answered": "runs",
    "run_requested": "runs",
    "run_cancel_requested": "runs",
    "run_finished": "runs",
    "proposal_made": "proposals",
    "proposal_accepted": "proposals",
    "proposal_declined": "proposals",
    "proposal_withdrawn": "proposals",
    "proposal_expired": "proposals",
    "comment_added": "comments",
    "comment_edited": "comments",
    "comment_resolved": "comments",
    "review_opened": "comments",
    "cell_reviewed": "comments",
    "review_answered": "comments",
    "file_bound": "files",
    "file_merged": "files",
    "conflict_raised": "files",
    "conflict_resolved": "files",
    "outputs_imported": "files",
    "runtime_attached": "kernel",
    "runtime_detached": "kernel",
    "kernel_started": "kernel",
    "kernel_restarted": "kernel",
    "restart_requested": "kernel",
}
"""The events that are acts, and what a filter calls them."""
ENDINGS = ("execution_finished", "execution_skipped", "execution_cancelled")
STEPS = frozenset(
    (
        "execution_claimed",
        "execution_started",
        "execution_finished",
        "execution_skipped",
        "output_added",
        "stream_appended",
        "display_updated",
        "outputs_cleared",
        "result_recorded",
        "run_claimed",
        "run_started",
        "environment_recorded",
        "run_delivered",
    )
)
"""The events that are steps of an execution or a run."""
_CARRIERS: Mapping[ActivityKind, tuple[str, ...]] = {
    "edits": ("file_merged", "proposal_accepted"),
    "runs": ("proposal_accepted", "execution_started", *ENDINGS),
}
"""Events of other kinds that carry acts of a kind, or say how they ended."""


class Act(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was done, once or several times in a row."""

    type: str
    """The event's tag; a change that a proposal or a file brought has the tag of that change."""
    cell: CellId | None = None
    count: int = 1
    execution: ExecutionId | None = None
    outcome: ExecutionState | None = None
    """How the last of these runs ended; None while it has not, or where it is not known."""
    error: str = ""
    """The name of the error that a run ended with."""
    proposal: ProposalId | None = None
    text: str = ""
    """Why, what was said, a name or a path: the beginning of it."""


class ActivityLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one actor did on behalf of one person without a longer pause, the oldest act first."""

    actor: ActorId
    on_behalf_of: ActorId | None = None
    first: int
    last: int
    """The numbers of its first and its last event."""
    began_at: str
    at: str
    acts: tuple[Act, ...]
    left_out: int = 0
    """How many acts more there are."""


class AttributedAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act with who did it, when, and where in the log."""

    act: Act
    seq: int
    at: str
    actor: ActorId
    on_behalf_of: ActorId | None
    cause: EventId | None


class ExecutionEnding(msgspec.Struct, frozen=True):
    """How an execution ended."""

    state: ExecutionState
    error: str = ""


def types_of(kinds: Collection[ActivityKind] | None = None) -> frozenset[str]:
    """The types of events to read for acts of these kinds, or of all."""
    if kinds is None:
        return frozenset(KINDS) | {"execution_started", *ENDINGS}
    carriers = {name for kind in kinds for name in _CARRIERS.get(kind, ())}
    return frozenset(name for name, kind in KINDS.items() if kind in kinds) | carriers


def ending_of(event: AnyEvent) -> tuple[ExecutionId, ExecutionEnding] | None:
    """Which execution an event ends, and how."""
    match event:
        case e.ExecutionFinished():
            return event.execution, ExecutionEnding(event.status, event.fault.ename[:_TEXT] if event.fault else "")
        case e.ExecutionSkipped():
            return event.execution, ExecutionEnding("skipped")
        case e.ExecutionCancelled():
            return event.execution, ExecutionEnding("cancelled")
        case _:
            return None


# ---- What an entry did


def acts_of(entry: Entry, *, is_run: bool = False) -> Iterator[AttributedAct]:
    """Yield what an entry did. In the log of a run, no request comes before an execution: that it began is the act."""
    if isinstance(entry.event, e.ExecutionCancelled) and entry.actor.startswith("runtime:"):
        return  # only how a run of somebody else ended
    for act in _acts(entry.event, is_run=is_run):
        yield AttributedAct(
            act=act, seq=entry.seq, at=entry.at, actor=entry.by, on_behalf_of=entry.behalf, cause=entry.cause
        )


def _acts(event: AnyEvent, *, is_run: bool) -> Iterator[Act]:
    match event:
        case e.ExecutionStarted():
            if is_run:
                yield Act(type="execution_requested", cell=event.cell, execution=event.execution)
        case e.FileMerged():
            yield Act(type="file_merged", text=event.path[:_TEXT])
            yield from map(_change, event.changes)
        case e.ProposalAccepted():
            yield Act(type="proposal_accepted", proposal=event.proposal)
            yield from map(_change, event.applied or ())
            yield from map(_effect, event.effects or ())
        case _ if type_of(event) in KINDS:
            yield _plain(event)
        case _:
            return


def _change(change: CellChange) -> Act:
    text = change.name or "" if isinstance(change, e.CellNamed) else ""
    return Act(type=type_of(change), cell=change.cell, text=text[:_TEXT])


def _effect(effect: e.RunCell) -> Act:
    kind = "execution_requested" if effect.source is None else "scratch_requested"
    return Act(type=kind, cell=effect.cell, execution=effect.execution)


def _plain(event: AnyEvent) -> Act:
    """The act that an event is by itself: whatever it says of cell, execution and proposal, and a text of it."""
    return Act(
        type=type_of(event),
        cell=getattr(event, "cell", None),
        execution=getattr(event, "execution", None),
        proposal=getattr(event, "proposal", None),
        text=_text(event)[:_TEXT],
    )


def _text(event: AnyEvent) -> str:
    match event:
        case e.NotebookCreated() | e.NotebookRenamed() | e.RunRequested() | e.ReviewOpened() | e.CellNamed():
            return event.name or ""
        case e.NotebookArchived():
            return "" if event.archived else "out"
        case e.ProposalMade() | e.ProposalDeclined() | e.PayloadRedacted() | e.KernelRestarted() | e.RuntimeDetached():
            return event.why
        case e.CommentAdded() | e.CommentEdited():
            return event.text
        case e.CommentResolved():
            return "" if event.resolved else "open"
        case e.FileBound():
            return event.path or ""
        case e.RunFinished():
            return event.status
        case e.ReviewAnswered():
            return event.answer
        case e.KernelStarted():
            return event.language or ""
        case _:
            return ""


# ---- Lines


def grouped(acts: Iterable[AttributedAct], endings: Mapping[ExecutionId, ExecutionEnding]) -> list[ActivityLine]:
    """Make lines of acts that come in the order of the log: those of one actor, for one person, with no pause or one cause."""
    lines: list[ActivityLine] = []
    group: list[AttributedAct] = []
    for act in acts:
        if group and not belong_together(group[-1], act):
            lines.append(_line(group, endings))
            group = []
        group.append(act)
    return [*lines, _line(group, endings)] if group else lines


def belong_together(one: AttributedAct, next: AttributedAct) -> bool:
    """Whether two acts, one after the other, are of one line. It is the same from both ends of a log."""
    if (one.actor, one.on_behalf_of) != (next.actor, next.on_behalf_of):
        return False
    if one.seq == next.seq:
        return True
    if one.seq // LINE_NUMBERS != next.seq // LINE_NUMBERS:
        return False
    return (one.cause is not None and one.cause == next.cause) or _seconds(one.at, next.at) < PAUSE_SECONDS


def _seconds(one: str, other: str) -> float:
    try:
        return abs((datetime.fromisoformat(other) - datetime.fromisoformat(one)).total_seconds())
    except (ValueError, TypeError):  # times of an imported log may be anything
        return 0.0


def _line(group: list[AttributedAct], endings: Mapping[ExecutionId, ExecutionEnding]) -> ActivityLine:
    first, last = group[0], group[-1]
    merged: dict[tuple[str, CellId | None, str], Act] = {}
    for attributed in group:
        act = _ended(attributed.act, endings)
        key = (act.type, act.cell, "" if act.cell is not None else act.proposal or act.text)
        before = merged.get(key)
        merged[key] = act if before is None else replace(act, count=before.count + 1)
    acts = tuple(merged.values())
    return ActivityLine(
        actor=last.actor,
        on_behalf_of=last.on_behalf_of,
        first=first.seq,
        last=last.seq,
        began_at=first.at,
        at=last.at,
        acts=acts[:MOST_ACTS],
        left_out=max(0, len(acts) - MOST_ACTS),
    )


def _ended(act: Act, endings: Mapping[ExecutionId, ExecutionEnding]) -> Act:
    if act.type not in _RUNS or act.execution is None or (ending := endings.get(act.execution)) is None:
        return act
    return replace(act, outcome=ending.state, error=ending.error)


_RUNS = ("execution_requested", "scratch_requested")


# ---- What is new


class ActorChanges(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What one actor did on behalf of one person: how many cells were added, changed, and so on."""

    actor: ActorId
    on_behalf_of: ActorId | None = None
    file: str | None = None
    """The file that the changes came from."""
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    ran: int = 0
    commented: int = 0
    proposed: int = 0
    """How many proposals they made."""
    at: str
    """When they did the last of it."""


class CellChanges(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What others did to one cell."""

    cell: CellId
    did: tuple[CellDeed, ...]
    """In the order in which it was first done."""
    by: tuple[ActorId, ...]
    at: str


CellDeed: TypeAlias = Literal["added", "changed", "moved", "removed", "ran", "commented"]
_DEEDS: Mapping[str, CellDeed] = {
    "cell_added": "added",
    "source_edited": "changed",
    "cell_kind_changed": "changed",
    "cell_named": "changed",
    "cell_tagged": "changed",
    "cell_moved": "moved",
    "cell_removed": "removed",
    "execution_requested": "ran",
    "comment_added": "commented",
}
NEWS = frozenset((*_DEEDS, "file_merged", "proposal_accepted", "proposal_made"))
"""The types of events that a summary is made of."""


class News(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What others did in a log after a number: by actor, and by cell."""

    actors: tuple[ActorChanges, ...]
    """Who did something, the first one first."""
    cells: tuple[CellChanges, ...]
    """The cells to which something was done, in the order in which that began; also those that are removed."""


_Who: TypeAlias = tuple[ActorId, ActorId | None, str | None]


def news(entries: Iterable[Entry], me: ActorId) -> News:
    """Sum up what others than `me` did, from entries in the order of the log.

    A cell that came and went meanwhile is not told of; one that was added and then edited was added.
    """
    actors: dict[_Who, ActorChanges] = {}
    did: dict[_Who, dict[CellId, set[CellDeed]]] = {}
    cells: dict[CellId, CellChanges] = {}
    for entry in entries:
        if entry.by == me:
            continue
        file = entry.event.path if isinstance(entry.event, e.FileMerged) else None
        who: _Who = (entry.by, entry.behalf, file)
        for attributed in acts_of(entry):
            act = attributed.act
            if act.type == "proposal_made":
                _changes_of(actors, who, entry.at).proposed += 1
            elif act.type == "comment_added" and act.cell is None:
                _changes_of(actors, who, entry.at).commented += 1
            elif (deed := _DEEDS.get(act.type)) is not None and act.cell is not None:
                _changes_of(actors, who, entry.at)
                did.setdefault(who, {}).setdefault(act.cell, set()).add(deed)
                _note(cells, act.cell, deed, entry)
    gone = {id for id, cell in cells.items() if {"added", "removed"} <= set(cell.did) and cell.did[-1] == "removed"}
    for who, by_cell in did.items():
        _count(actors[who], {cell: deeds for cell, deeds in by_cell.items() if cell not in gone})
    return News(
        actors=tuple(each for each in actors.values() if _is_any(each)),
        cells=tuple(cell for id, cell in cells.items() if id not in gone),
    )


def _changes_of(actors: dict[_Who, ActorChanges], who: _Who, at: str) -> ActorChanges:
    actor, behalf, file = who
    changes = actors.setdefault(who, ActorChanges(actor=actor, on_behalf_of=behalf, file=file, at=at))
    changes.at = at
    return changes


def _note(cells: dict[CellId, CellChanges], cell: CellId, deed: CellDeed, entry: Entry) -> None:
    known = cells.get(cell)
    if known is None:
        cells[cell] = CellChanges(cell=cell, did=(deed,), by=(entry.by,), at=entry.at)
        return
    if deed == "added":  # it was brought back
        known.did = tuple(each for each in known.did if each != "removed")
    known.did = (*(each for each in known.did if each != deed), deed) if deed == "removed" else _with(known.did, deed)
    known.by = known.by if entry.by in known.by else (*known.by, entry.by)
    known.at = entry.at


def _with(did: tuple[CellDeed, ...], deed: CellDeed) -> tuple[CellDeed, ...]:
    return did if deed in did else (*did, deed)


def _count(changes: ActorChanges, by_cell: Mapping[CellId, set[CellDeed]]) -> None:
    for deeds in by_cell.values():
        changes.added += "added" in deeds
        changes.removed += "removed" in deeds
        # What somebody adds, they also fill.
        changes.changed += "changed" in deeds and not deeds & {"added", "removed"}
        changes.moved += "moved" in deeds and not deeds & {"added", "changed", "removed"}
        changes.ran += "ran" in deeds
        changes.commented += "commented" in deeds


def _is_any(changes: ActorChanges) -> bool:
    counts = (changes.added, changes.changed, changes.moved, changes.removed, changes.ran, changes.commented)
    return any(counts) or changes.proposed > 0
