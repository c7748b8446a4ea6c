"""Undo all edits of one actor since a moment, and keep everybody else's.

`plan_undo` reads a span of a log, from the notebook `before` it on, and returns the changes that take back what the actor
did there. Nothing of it is a new kind of event: text goes by an edit, a cell comes back under its id, a name gets the
value that it had. The rules, for each part of a cell:

- text: what the actor inserted goes, what the actor removed comes back, and what others typed stays (text_origins.py)
- a cell that the actor added goes, unless others typed in it; one that the actor removed comes back
- kind, name, each tag, each key of the metadata, and the place: set back only while the actor's value is the last one

A change by an accepted proposal is that of whoever proposed it; what came from a file is the mirror's. What was executed
cannot be taken back, nor can what others did on top of it: `dependents` lists that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from .. import events as e
from ..ids import MIRROR, ActorId, CellId, ProposalId
from ..notebook.notebook import Cell, Notebook
from ..rules.cell_rules import changes_in as text_changes_in
from ..text import source_hash
from .text_origins import TextOrigins

CELL_CHANGES = (
    "cell_added",
    "cell_removed",
    "cell_moved",
    "cell_kind_changed",
    "cell_named",
    "cell_tagged",
    "cell_metadata_set",
    "source_edited",
    "file_merged",
    "proposal_accepted",
)
"""The types of the events that change cells: where one of them was recorded since, a plan has to be made again."""
READ_TYPES = (*CELL_CHANGES, "proposal_made", "execution_requested", "scratch_requested", "comment_added")
"""The types of the entries that a plan is made from; others may be left out."""

UndonePart: TypeAlias = Literal["text", "added", "removed", "place", "kind", "name", "tags", "metadata"]
Dependence: TypeAlias = Literal["text", "cell", "ran", "placed", "changed", "commented"]


class UndoneChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is taken back. `added`: the cell goes; `removed`: it comes back."""

    cell: CellId
    part: UndonePart
    removes: int = 0
    """Code points of text that go."""
    restores: int = 0
    """Code points of text that come back."""
    stays: bool = False
    """Whether the actor added the cell, which stays for what others typed in it."""


class DependentEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody else did that depends on what is taken back. It stays as it is.

    `text`: wrote inside the actor's text; `cell`: wrote in a cell that the actor added; `ran`: ran what the actor wrote;
    `placed`: put a cell after one that the actor added or moved; `changed`, `commented`: of a cell that the actor added.
    """

    by: ActorId
    cell: CellId
    what: Dependence
    seq: int
    """Of the last such event."""
    at: str
    count: int = 1


class UndoPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What takes back the edits of an actor after `since`, made against the log at `seq`."""

    actor: ActorId
    since: int
    seq: int
    changes: tuple[e.CellChange, ...] = ()
    undone: tuple[UndoneChange, ...] = ()
    dependents: tuple[DependentEdit, ...] = ()
    executions: int = 0
    """How often the actor, or anybody what the actor wrote, was run in the span: that cannot be undone."""


def plan_undo(before: Notebook, entries: Iterable[e.Entry], now: Notebook, actor: ActorId) -> UndoPlan:
    """Plan the undo of what `actor` did in `entries`, which led from `before` to `now`."""
    span = _Span(before, actor)
    for entry in entries:
        span.read(entry)
    return _Planner(span, before.seq, now).plan()


def author_of(entry: e.Entry, proposers: dict[ProposalId, ActorId]) -> ActorId:
    """Return whose change an entry is: of an accepted proposal, whoever made it; of a file, the mirror."""
    match entry.event:
        case e.ProposalAccepted():
            return proposers.get(entry.event.proposal, entry.by)
        case e.FileMerged():
            return MIRROR
        case _:
            return entry.by


# ---- Reading the span


class _Value:
    """The last value of a part of a cell, and the last one that is not the actor's; None: there was none."""

    __slots__ = ("by_actor", "now", "other")

    def __init__(self, now: Any = None) -> None:
        self.now = self.other = now
        self.by_actor = False

    def set(self, value: Any, *, by_actor: bool) -> None:
        if by_actor and value == self.now:
            return
        self.now, self.by_actor = value, by_actor
        if not by_actor:
            self.other = value

    @property
    def undone(self) -> Any:
        return self.other if self.by_actor else self.now


class _Track:
    """A cell on its way through the span, seen from the actor."""

    def __init__(self, cell: Cell | None) -> None:
        self.is_new = cell is None
        self.text = TextOrigins(cell.source if cell is not None else "")
        self.live = _Value(cell is not None and not cell.removed)
        self.kind = _Value(cell and cell.kind)
        self.name = _Value((cell.name,) if cell is not None else None)
        self.tags = {tag: _Value(True) for tag in cell.tags} if cell is not None else {}
        self.tag_order = cell.tags if cell is not None else ()
        """As others left it."""
        self.metadata = {key: _Value((value,)) for key, value in cell.metadata.items()} if cell is not None else {}
        self.moved_by_actor = False
        self.others_wrote = False
        """Whether somebody else typed in it since the actor added it."""

    @property
    def is_actors(self) -> bool:
        """Whether the actor added it, or brought it back."""
        return self.live.by_actor and bool(self.live.now)

    def set_tags(self, tags: tuple[str, ...], *, by_actor: bool) -> None:
        for tag in (*self.tags, *tags):
            self.tags.setdefault(tag, _Value(False)).set(tag in tags, by_actor=by_actor)
        if not by_actor:
            self.tag_order = tags

    def set_metadata(self, values: dict[str, Any], removed: Iterable[str], *, by_actor: bool) -> None:
        for key in removed:
            self.metadata.setdefault(key, _Value()).set(None, by_actor=by_actor)
        for key in values.keys() - set(removed):
            self.metadata.setdefault(key, _Value()).set((values[key],), by_actor=by_actor)

    def undone_tags(self) -> tuple[str, ...]:
        kept = {tag for tag, value in self.tags.items() if value.undone}
        ordered = (*self.tag_order, *self.tags)
        return tuple(tag for tag in dict.fromkeys(ordered) if tag in kept)


class _Span:
    """What happened to the cells, change by change."""

    def __init__(self, before: Notebook, actor: ActorId) -> None:
        self.actor = actor
        self.cells: dict[CellId, _Track] = {}
        self.order = [cell for cell in before.order if not before.cells[cell].scratch]
        """As it would be had the actor moved nothing."""
        self.dependents: dict[tuple[ActorId, CellId, Dependence], DependentEdit] = {}
        self.anchors: dict[CellId, CellId] = {}
        """After which cell of the actor's somebody else put a cell."""
        self.executions = 0
        self._before = before
        self._proposers = {id: proposal.by for id, proposal in before.proposals.items()}

    def track(self, cell: CellId) -> _Track:
        if cell not in self.cells:
            self.cells[cell] = _Track(self._before.cells.get(cell))
        return self.cells[cell]

    def read(self, entry: e.Entry) -> None:
        author = author_of(entry, self._proposers)
        match event := entry.event:
            case e.ProposalMade():
                self._proposers[event.proposal] = entry.by
            case e.ExecutionRequested():
                self._run(entry, author, event.cell)
            case e.ScratchRequested():
                self.executions += author == self.actor
            case e.CommentAdded(cell=str(cell)) if author != self.actor and self.track(cell).is_actors:
                self._depend(entry, author, cell, "commented")
            case e.FileMerged() | e.ProposalAccepted():
                for change in text_changes_in(event):
                    self._change(entry, author, change)
                for effect in event.effects or () if isinstance(event, e.ProposalAccepted) else ():
                    self._run(entry, author, effect.cell)
            case _ if isinstance(event, e.CellChange):
                self._change(entry, author, event)
            case _:
                pass

    def _run(self, entry: e.Entry, author: ActorId, cell: CellId) -> None:
        wrote = cell in self.cells and (self.cells[cell].is_actors or self.cells[cell].text.is_changed)
        if author == self.actor or wrote:
            self.executions += 1
        if author != self.actor and wrote:
            self._depend(entry, author, cell, "ran")

    def _depend(self, entry: e.Entry, author: ActorId, cell: CellId, what: Dependence) -> None:
        last = self.dependents.get((author, cell, what))
        count = last.count + 1 if last is not None else 1
        made = DependentEdit(by=author, cell=cell, what=what, seq=entry.seq, at=entry.at, count=count)
        self.dependents[author, cell, what] = made

    def _change(self, entry: e.Entry, author: ActorId, change: e.CellChange) -> None:
        track, by_actor = self.track(change.cell), author == self.actor
        if not by_actor and track.is_actors and not isinstance(change, e.SourceEdited | e.CellMoved | e.CellRemoved):
            self._depend(entry, author, change.cell, "changed")
        match change:
            case e.SourceEdited():
                self._edit(entry, author, change, track)
            case e.CellAdded():
                self._add(entry, author, change, track)
            case e.CellRemoved():
                track.live.set(False, by_actor=by_actor)
            case e.CellMoved():
                self._move(entry, author, change.cell, change.after, skip=by_actor and not track.is_new)
                track.moved_by_actor = by_actor
            case e.CellKindChanged():
                track.kind.set(change.kind, by_actor=by_actor)
            case e.CellNamed():
                track.name.set((change.name,), by_actor=by_actor)
            case e.CellTagged():
                track.set_tags(change.tags, by_actor=by_actor)
            case e.CellMetadataSet():
                track.set_metadata(change.values, change.removed, by_actor=by_actor)

    def _edit(self, entry: e.Entry, author: ActorId, change: e.SourceEdited, track: _Track) -> None:
        by_actor = author == self.actor
        edit = change.edit if change.applied is None else change.applied
        touched = track.text.edit(edit, by_actor=by_actor, text=change.text)
        if by_actor or not any(splice.insert for splice in edit):
            return
        if track.is_actors:
            track.others_wrote = True
        if touched or track.is_actors:
            self._depend(entry, author, change.cell, "text" if touched else "cell")

    def _add(self, entry: e.Entry, author: ActorId, change: e.CellAdded, track: _Track) -> None:
        by_actor, is_back = author == self.actor, change.cell in self.order
        track.text.edit((), by_actor=by_actor, text=change.source)
        track.live.set(True, by_actor=by_actor)
        track.kind.set(change.kind, by_actor=by_actor)
        track.name.set((change.name,), by_actor=by_actor)
        track.set_tags(change.tags, by_actor=by_actor)
        track.set_metadata(change.metadata, track.metadata.keys() - change.metadata.keys(), by_actor=by_actor)
        track.others_wrote = False
        self._move(entry, author, change.cell, change.after, skip=by_actor and is_back and not track.is_new)
        track.moved_by_actor = by_actor and is_back
        if not by_actor:
            track.is_new = False

    def _move(self, entry: e.Entry, author: ActorId, cell: CellId, after: CellId | None, *, skip: bool) -> None:
        if not skip and after != cell:
            if cell in self.order:
                self.order.remove(cell)
            self.order.insert(0 if after is None else self.order.index(after) + 1, cell)
        if author != self.actor:
            self.anchors.pop(cell, None)
            if after is not None and (self.track(after).is_actors or self.track(after).moved_by_actor):
                self.anchors[cell] = after
                self._depend(entry, author, cell, "placed")


# ---- Making the plan


class _Planner:
    """Turns what a span left of the actor's into changes of the notebook as it is."""

    def __init__(self, span: _Span, since: int, now: Notebook) -> None:
        self._span = span
        self._since = since
        self._now = now
        self._order = [cell for cell in now.order if not now.cells[cell].scratch]
        self._changes: list[e.CellChange] = []
        self._undone: list[UndoneChange] = []

    def plan(self) -> UndoPlan:
        goes = [cell for cell in self._order if self._goes(cell)]
        stays = [cell for cell in self._order if cell in self._span.cells and cell not in set(goes)]
        for cell in stays:
            track = self._span.cells[cell]
            if self._is_live(cell, track):
                self._take_back_text(cell, track)
                if not self._now.cells[cell].removed:
                    self._take_back_fields(cell, track)
        self._take_back_places(set(goes))
        for cell in goes:
            self._changes.append(e.CellRemoved(cell=cell, base_hash=source_hash(self._now.cells[cell].source)))
            self._undone.append(UndoneChange(cell=cell, part="added", removes=len(self._now.cells[cell].source)))
        return UndoPlan(
            actor=self._span.actor,
            since=self._since,
            seq=self._now.seq,
            changes=tuple(self._changes),
            undone=tuple(self._undone),
            dependents=self._dependents(),
            executions=self._span.executions if self._changes else 0,
        )

    def _goes(self, cell: CellId) -> bool:
        track = self._span.cells.get(cell)
        if track is None or not track.is_actors or track.live.undone:
            return False
        return not (track.others_wrote and track.text.undone)

    def _is_live(self, cell: CellId, track: _Track) -> bool:
        """Whether it is there after the undo, of those that do not go."""
        return not self._now.cells[cell].removed or track.live.undone

    def _take_back_text(self, cell: CellId, track: _Track) -> None:
        edit = track.text.undo()
        if not edit:
            return
        self._changes.append(e.SourceEdited(cell=cell, base=self._now.seq, edit=edit))
        self._undone.append(
            UndoneChange(
                cell=cell,
                part="text",
                removes=sum(splice.remove for splice in edit),
                restores=sum(len(splice.insert) for splice in edit),
                stays=track.is_actors and not track.live.undone,
            )
        )

    def _take_back_fields(self, cell: CellId, track: _Track) -> None:
        now = self._now.cells[cell]
        if track.kind.undone not in (None, now.kind):
            self._take_back(e.CellKindChanged(cell=cell, kind=track.kind.undone), "kind")
        if track.name.undone not in (None, (now.name,)):
            self._take_back(e.CellNamed(cell=cell, name=track.name.undone[0]), "name")
        if track.is_new:
            return  # its tags and metadata were the actor's from the beginning, and it stays for its text
        if set(tags := track.undone_tags()) != set(now.tags):
            self._take_back(e.CellTagged(cell=cell, tags=tags), "tags")
        actors = {key: value.other for key, value in track.metadata.items() if value.by_actor}
        values = {key: other[0] for key, other in actors.items() if other is not None}
        removed = tuple(key for key, other in actors.items() if other is None and key in now.metadata)
        if removed or any(key not in now.metadata or now.metadata[key] != value for key, value in values.items()):
            self._take_back(e.CellMetadataSet(cell=cell, values=values, removed=removed), "metadata")

    def _take_back(self, change: e.CellChange, part: UndonePart) -> None:
        self._changes.append(change)
        self._undone.append(UndoneChange(cell=change.cell, part=part))

    # ---- Places

    def _take_back_places(self, goes: set[CellId]) -> None:
        """Bring back what was removed and move back what was moved, from top to bottom."""
        tracks = self._span.cells
        moved = {cell for cell in self._order if cell in tracks and self._is_moved(cell, tracks[cell])}
        back = {cell for cell in self._order if cell in tracks and self._comes_back(cell, tracks[cell])}
        wanted = {cell for cell in moved if cell not in goes and self._is_live(cell, tracks[cell])}
        for cell in self._span.order:
            if cell in wanted:
                after = self._anchor(cell, goes | (moved - wanted))
            elif cell in back:
                after = self._predecessor(cell)
            else:
                continue
            if cell in back:
                self._place(self._brought_back(cell, after))
                self._undone.append(UndoneChange(cell=cell, part="removed", restores=len(tracks[cell].text.undone)))
            elif after != self._predecessor(cell):
                self._place(e.CellMoved(cell=cell, after=after))
                self._undone.append(UndoneChange(cell=cell, part="place"))

    def _is_moved(self, cell: CellId, track: _Track) -> bool:
        return track.moved_by_actor and not track.is_new

    def _comes_back(self, cell: CellId, track: _Track) -> bool:
        return self._now.cells[cell].removed and bool(track.live.undone)

    def _anchor(self, cell: CellId, but: set[CellId]) -> CellId | None:
        """The cell after which another stood had the actor moved nothing."""
        order = self._span.order
        return next((each for each in reversed(order[: order.index(cell)]) if each not in but), None)

    def _predecessor(self, cell: CellId) -> CellId | None:
        place = self._order.index(cell)
        return self._order[place - 1] if place else None

    def _brought_back(self, cell: CellId, after: CellId | None) -> e.CellAdded:
        now, track = self._now.cells[cell], self._span.cells[cell]
        kept = {key: value.undone for key, value in track.metadata.items()}
        return e.CellAdded(
            cell=cell,
            after=after,
            kind=track.kind.undone or now.kind,
            source=track.text.undone,
            name=track.name.undone[0] if track.name.undone is not None else now.name,
            tags=track.undone_tags(),
            metadata={key: value[0] for key, value in kept.items() if value is not None},
        )

    def _place(self, change: e.CellAdded | e.CellMoved) -> None:
        self._changes.append(change)
        self._order.remove(change.cell)
        self._order.insert(0 if change.after is None else self._order.index(change.after) + 1, change.cell)

    def _dependents(self) -> tuple[DependentEdit, ...]:
        """What others did on top of what is taken back, the latest first."""
        changed = {undone.cell for undone in self._undone}
        anchors = self._span.anchors
        found = [
            edit
            for edit in self._span.dependents.values()
            if (edit.what == "placed" and anchors.get(edit.cell) in changed)
            or (edit.what != "placed" and edit.cell in changed)
        ]
        return tuple(sorted(found, key=lambda edit: edit.seq, reverse=True))
