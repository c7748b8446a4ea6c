"""How the logs of each kind fold, for those who work on them: state, rules, what lists show, snapshots."""

from __future__ import annotations

from typing import Protocol, TypeVar

from ...core import codec
from ...core import events as e
from ...core.errors import BadInput, NotFound
from ...core.events import Entry, KnownEvent
from ...core.ids import CellId
from ...core.notebook.directory import Directory, fold_directory
from ...core.notebook.notebook import Notebook
from ...core.notebook.reduce import Fold
from ...core.rules.acceptance import SubmissionContext, accept
from ...core.rules.cell_rules import bases
from ...core.rules.directory_rules import accept_in_directory
from ...stores.store import LogKind, LogSummary

V = TypeVar("V")


class LogReducer(Protocol[V]):
    """How a kind of log is folded and what its rules are."""

    kind: LogKind
    seq: int

    def add(self, entry: Entry) -> None:
        """Take the next entry."""
        ...

    def accept(self, event: KnownEvent, asking: SubmissionContext) -> KnownEvent:
        """Return the event as it is to be recorded, or raise."""
        ...

    def value(self) -> V:
        """Hand out the state as it is now."""
        ...

    def about(self) -> LogSummary:
        """What lists show."""
        ...

    def bases(self, event: KnownEvent) -> list[tuple[CellId, int]]:
        """The cells and numbers whose later edits the rules want to know."""
        ...

    def stored(self, value: V) -> bytes | None:
        """The bytes of a snapshot; None where none is kept."""
        ...

    def restored(self, data: bytes) -> V:
        """What `stored` was given."""
        ...


def kind_of(now: Notebook) -> LogKind:
    """Return what a log is, by how it begins."""
    if now.review is not None:
        return "review"
    return "run" if now.run is not None else "notebook"


class NotebookFolding:
    """The log of a notebook, a run or a review."""

    def __init__(self, start: Notebook | None) -> None:
        self._fold = Fold(start)

    @property
    def kind(self) -> LogKind:
        """A run's log begins with its request, a review's with its subject."""
        return kind_of(self._fold.now)

    @property
    def seq(self) -> int:
        """The number of the last entry."""
        return self._fold.now.seq

    def add(self, entry: Entry) -> None:
        """Take the next entry."""
        self._fold.add(entry)

    def accept(self, event: KnownEvent, asking: SubmissionContext) -> KnownEvent:
        """Apply the rules of notebooks and runs."""
        if isinstance(event, e.WorkspaceEvent):
            raise BadInput(f"{codec.type_of(event)} belongs into the workspace log, not into a notebook's.")
        if isinstance(event, e.PayloadRedacted):
            return event  # checked and completed by whoever has the payload at hand
        return accept(self._fold.now, event, asking)

    def value(self) -> Notebook:
        """Hand out the notebook."""
        return self._fold.notebook()

    def about(self) -> LogSummary:
        """Its name, and whether it is put away."""
        return LogSummary(name=self._fold.now.name, archived=self._fold.now.archived)

    def bases(self, event: KnownEvent) -> list[tuple[CellId, int]]:
        """The cells and numbers whose later edits the rules want to know."""
        return [(cell, base) for cell, base in bases(event, self._fold.now) if 0 < base < self.seq]

    def stored(self, value: Notebook) -> bytes | None:
        """The bytes of a snapshot."""
        return codec.pack(value)

    def restored(self, data: bytes) -> Notebook:
        """The notebook of a snapshot."""
        return codec.unpack(data)


class DirectoryFolding:
    """The workspace log."""

    kind: LogKind = "workspace"

    def __init__(self, start: Directory | None) -> None:
        self._now = start or Directory()

    @property
    def seq(self) -> int:
        """The number of the last entry."""
        return self._now.seq

    def add(self, entry: Entry) -> None:
        """Take the next entry."""
        self._now = fold_directory([entry], self._now)

    def accept(self, event: KnownEvent, asking: SubmissionContext) -> KnownEvent:
        """Apply the rules of the workspace log."""
        if isinstance(event, e.PayloadRedacted):
            return event
        if not isinstance(event, e.WorkspaceEvent):
            raise BadInput(f"{codec.type_of(event)} belongs into a notebook's log, not into the workspace's.")
        return accept_in_directory(self._now, event, asking)

    def value(self) -> Directory:
        """Hand out the directory."""
        return self._now

    def about(self) -> LogSummary:
        """There is just one."""
        return LogSummary(name="workspace")

    def bases(self, event: KnownEvent) -> list[tuple[CellId, int]]:
        """No text is edited here."""
        return []

    def stored(self, value: Directory) -> bytes | None:
        """It is small, and always folded whole."""
        return None

    def restored(self, data: bytes) -> Directory:
        """There are no snapshots of it."""
        raise NotFound("The workspace log has no snapshots.")
