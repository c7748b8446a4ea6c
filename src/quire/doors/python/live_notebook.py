"""Notebooks and cells as people hold them in Python.

A notebook is as it was last read: each method reads it again when it is done, `refresh` does nothing else, and `follow`
goes along with what others do. So an edit is made against the text that its author saw, and refused if that has changed,
with the difference.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from ...core.edits.operations import Delete, Insert, Kind, Label, Move, Replace
from ...core.errors import Refused
from ...core.events import Entry
from ...core.ids import ActorId, CellId, LogId
from ...core.notebook.cell_lookup import find_cell
from ...core.notebook.comments import CommentThread, threads
from ...core.notebook.notebook import Cell
from ...core.notebook.staleness import stale_cells
from ...core.text import source_hash
from ...core.values import Json
from ...verbs.arguments import Cells
from .cell_outcome import ExecutionOutcome
from .notebook_client import NotebookClient
from .sync_wrapper import AsyncFace, BlockingFace, IteratorMethod, Method

C = TypeVar("C", bound="AnyCell")
Place: TypeAlias = Literal["top", "end"]


class AnyCell:
    """A cell of a notebook, as that was last read."""

    def __init__(self, client: NotebookClient, id: CellId) -> None:
        self._client, self._id = client, id

    @property
    def id(self) -> CellId:
        """Its id."""
        return self._id

    @property
    def _state(self) -> Cell:
        return self._client.now.cells[self.id]

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        return self._state.name

    @property
    def kind(self) -> str:
        """`code`, `markdown`, `sql` or `raw`."""
        return self._state.kind

    @property
    def source(self) -> str:
        """Its text."""
        return self._state.source

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return self._state.tags

    @property
    def author(self) -> ActorId:
        """Who changed its text last."""
        return self._state.edited_by

    @property
    def state(self) -> str:
        """`never_run`, `queued`, `running`, `ok`, or how else it ended; `removed` when it is gone."""
        return "removed" if self._state.removed else self._state.state

    @property
    def is_stale(self) -> bool:
        """Whether it, or something that it uses, was changed since it ran."""
        return self.id in stale_cells(self._client.now)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<{type(self).__name__}{name} [{self.id}] {self.kind}, {self.state}: {self.source[:60]!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyCell) and (other._client.log, other.id) == (self._client.log, self.id)

    def __hash__(self) -> int:
        return hash((self._client.log, self.id))

    @Method
    async def edit(self, source: str) -> str | None:
        """Give the cell another text; refused if somebody changed it since it was read.

        Return the id of the proposal that was made instead, where the actor has to ask.
        """
        return (await self._client.change(Replace(cell=self.id, base=source_hash(self.source), source=source))).proposal

    @Method
    async def rename(self, name: str) -> str | None:
        """Give the cell another name."""
        return (await self._client.change(Label(cell=self.id, name=name))).proposal

    @Method
    async def tag(self, *add: str, remove: Sequence[str] = ()) -> str | None:
        """Add and remove tags."""
        return (await self._client.change(Label(cell=self.id, add=add, remove=tuple(remove)))).proposal

    @Method
    async def move(self, after: str | AnyCell | Place) -> str | None:
        """Move the cell behind another one, or to the `top` or the `end`."""
        return (await self._client.change(Move(cell=self.id, after=_named(after)))).proposal

    @Method
    async def remove(self) -> str | None:
        """Take the cell out; refused if somebody changed it since it was read."""
        return (await self._client.change(Delete(cell=self.id, base=source_hash(self.source)))).proposal

    @Method
    async def run(self, *, check: bool = False, timeout_seconds: float | None = None) -> ExecutionOutcome:
        """Run the cell in the notebook's kernel and return what became of it.

        A runtime is started where none serves the notebook. After `timeout_seconds` it is waited for no longer, and goes
        on. With `check`, RunFailed unless it ended well.
        """
        return await self._client.run((self.id,), check=check, timeout_seconds=timeout_seconds)

    @Method
    async def outputs(self) -> list[Json]:
        """Return what the cell shows, as nbformat has it."""
        return await self._client.outputs(self.id)

    @Method
    async def comment(self, text: str) -> str:
        """Say something about the cell; `@name` addresses somebody. Return the comment's id."""
        return await self._client.comment(text, cell=self.id)


class AnyNotebook(Generic[C]):
    """A notebook as it was last read."""

    _cell: type[C]

    def __init__(self, client: NotebookClient) -> None:
        self._client = client

    # ---- As it was last read

    @property
    def id(self) -> LogId:
        """The id of its log."""
        return self._client.log

    @property
    def name(self) -> str:
        """Its name."""
        return self._client.now.name

    @property
    def seq(self) -> int:
        """The number of the event up to which it was read."""
        return self._client.now.seq

    @property
    def cells(self) -> tuple[C, ...]:
        """Its cells, from top to bottom."""
        return tuple(self._cell(self._client, cell.id) for cell in self._client.now.live_cells)

    @property
    def comments(self) -> list[CommentThread]:
        """What was said about it, by thread."""
        return threads(self._client.now.comments)

    def __getitem__(self, cell: str | int) -> C:
        """Return a cell: by its name, its id or the beginning of that; or by its place, from 0."""
        if isinstance(cell, int):
            return self.cells[cell]
        return self.cells[find_cell(list(self._client.now.live_cells), cell)]

    def __contains__(self, cell: object) -> bool:
        return any(cell in (each, each.id, each.name) for each in self.cells)

    def __iter__(self) -> Iterator[C]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        count = len(self.cells)
        return f"<{type(self).__name__} {self.name!r} [{self.id}] {count} cell{'s' * (count != 1)}, at {self.seq}>"

    def __str__(self) -> str:
        """The notebook with its sources, as `quire show --view source` prints it."""
        return self._client.text()

    # ---- What is done to it

    @Method
    async def refresh(self) -> None:
        """Read the notebook again."""
        await self._client.refresh()

    @Method
    async def add_cell(
        self,
        source: str = "",
        *,
        name: str | None = None,
        kind: Kind = "code",
        after: str | AnyCell | Place = "end",
        tags: Sequence[str] = (),
    ) -> C:
        """Add a cell at the end, or after another one, and return it."""
        made = Insert(after=_named(after), source=source, kind=kind, name=name, tags=tuple(tags))
        done = await self._client.change(made)
        if done.proposal is not None:
            told = f"The cell is proposed as {done.proposal}, and is there once somebody says yes"
            raise Refused(f"{told}: `quire proposals show {done.proposal}`.", proposal=done.proposal)
        return self._cell(self._client, done.inserted[0])

    @Method
    async def run(
        self,
        cells: str | AnyCell | Sequence[str | AnyCell] = "stale",
        *,
        check: bool = False,
        timeout_seconds: float | None = None,
    ) -> ExecutionOutcome:
        """Run cells in the notebook's kernel, from top to bottom, until one does not end well.

        `stale` are those that changed, failed or never ran, and all that stands on them; `all` are all; or name one or some.
        Otherwise it is as `run` of a cell.
        """
        return await self._client.run(_wanted(cells), check=check, timeout_seconds=timeout_seconds)

    @Method
    async def execute(
        self, code: str, *, check: bool = False, timeout_seconds: float | None = None
    ) -> ExecutionOutcome:
        """Run code in the notebook's kernel that is in no cell of it. It is on record."""
        return await self._client.execute(code, check=check, timeout_seconds=timeout_seconds)

    @Method
    async def outputs(self, cell: str | int) -> list[Json]:
        """Return what a cell shows, as nbformat has it."""
        return await self._client.outputs(self[cell].id)

    @Method
    async def comment(self, text: str, cell: str | None = None) -> str:
        """Say something about the notebook or a cell; `@name` addresses somebody. Return the comment's id."""
        return await self._client.comment(text, cell=cell)

    @Method
    async def interrupt(self) -> None:
        """Interrupt what runs."""
        await self._client.control("interrupt")

    @Method
    async def restart(self) -> None:
        """Start the kernel anew: what cells defined is gone."""
        await self._client.control("restart")

    @IteratorMethod
    async def follow(self, since: int | None = None) -> AsyncGenerator[Entry]:
        """Yield what happens to the notebook, event by event, for as long as somebody asks; it is read again on the way.

        It begins with what is new since the notebook was read, or after a number.
        """
        async for entry in self._client.follow(since):
            yield entry


class AsyncCell(AnyCell, AsyncFace):
    """A cell whose methods are awaited."""


class LiveCell(AnyCell, BlockingFace):
    """A cell of a notebook."""


class AsyncNotebook(AnyNotebook[AsyncCell], AsyncFace):
    """A notebook whose methods are awaited."""

    _cell = AsyncCell


class LiveNotebook(AnyNotebook[LiveCell], BlockingFace):
    """A live notebook."""

    _cell = LiveCell


def _named(cell: str | AnyCell) -> str:
    return cell if isinstance(cell, str) else cell.id


def _wanted(cells: str | AnyCell | Sequence[str | AnyCell]) -> Cells:
    match cells:
        case "stale":
            return "stale"
        case "all":
            return "all"
        case str() | AnyCell():
            return (_named(cells),)
        case _:
            return tuple(_named(cell) for cell in cells)
