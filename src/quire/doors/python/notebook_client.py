"""A notebook as it was last read, and what is done to it by way of the verbs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine
from typing import Any, cast

import msgspec

from ...core.edits.operations import Operation
from ...core.events import Entry
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Notebook
from ...core.values import Json
from ...formats.agent_text import render
from ...verbs.answers.answer import Here
from ...verbs.arguments import Action, Cells, ControlArguments, EditArguments, ExecuteArguments, RunArguments
from ...verbs.control import control
from ...verbs.edit import edit
from ...verbs.execution_wait import ended
from ...verbs.run import RequestedExecutions, request, request_code
from .cell_outcome import ExecutionOutcome, outcome_of, shown_by
from .runtime_starter import LOG, RuntimeStarter


class NotebookChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an edit."""

    proposal: str | None = None
    """The id of the proposal that was made instead, where the actor has to ask."""
    inserted: tuple[CellId, ...] = ()


class NotebookClient:
    """A notebook as it was last read. Its coroutines end with reading it again."""

    def __init__(self, here: Here, starter: RuntimeStarter, log: LogId, now: Notebook) -> None:
        self._here, self._starter = here, starter
        self.log, self.now = log, now

    async def refresh(self) -> None:
        """Read the notebook again."""
        self.now = await self._here.workspace.read(self.log)

    def text(self) -> str:
        """Return the notebook as it was read as text, with its sources."""
        return render.render(self.log, self.now, view="source")

    async def change(self, *operations: Operation) -> NotebookChange:
        """Do operations on cells, all or none."""
        # Whoever types in a browser may leave Python that does not parse, too.
        wanted = EditArguments(notebook=self.log, edits=operations, check=False)
        facts = (await edit(self._here, wanted)).facts
        await self.refresh()
        inserted = cast("list[CellId]", facts.get("inserted", []))
        return NotebookChange(proposal=cast("str | None", facts.get("proposal")), inserted=tuple(inserted))

    async def control(self, action: Action, cell: str | None = None, text: str | None = None) -> dict[str, Json]:
        """Do one of the actions of the verb `control`."""
        facts = (
            await control(self._here, ControlArguments(notebook=self.log, action=action, cell=cell, text=text))
        ).facts
        await self.refresh()
        return facts

    async def comment(self, text: str, cell: str | None = None) -> str:
        """Say something about the notebook or a cell; return the comment's id."""
        return str((await self.control("comment", cell, text))["comment"])

    async def outputs(self, cell: CellId) -> list[Json]:
        """Return what a cell shows now."""
        await self.refresh()
        return await shown_by(self._here.workspace, self.now.cells[cell])

    async def run(self, cells: Cells, *, check: bool, timeout_seconds: float | None) -> ExecutionOutcome:
        """Run cells, and wait for their end."""
        return await self._run(
            request(self._here, RunArguments(notebook=self.log, cells=cells)), check, timeout_seconds
        )

    async def execute(self, code: str, *, check: bool, timeout_seconds: float | None) -> ExecutionOutcome:
        """Run code that is in no cell, and wait for its end."""
        return await self._run(
            request_code(self._here, ExecuteArguments(notebook=self.log, code=code)), check, timeout_seconds
        )

    async def _run(
        self, requesting: Coroutine[Any, Any, RequestedExecutions], check: bool, timeout_seconds: float | None
    ) -> ExecutionOutcome:
        here = msgspec.structs.replace(self._here, may_start=await self._starter.begin())
        made = await requesting
        if made.proposal is not None:
            outcome = ExecutionOutcome(cells=(), proposal=made.proposal.proposal)
        else:
            found = await ended(here, self.log, made.executions, made.before.seq, timeout_seconds, _log_progress)
            outcome = await outcome_of(here.workspace, found)
        await self.refresh()
        if check:
            outcome.check()
        return outcome

    async def follow(self, since: int | None) -> AsyncGenerator[Entry]:
        """Yield what happens after what was read, or after a number, and read the notebook again on the way."""
        start = self.now.seq if since is None else since
        async for page in self._here.workspace.follow(self.log, start):
            if page[-1].seq > self.now.seq:
                await self.refresh()
            for entry in page:
                yield entry


async def _log_progress(message: str, part: float | None) -> None:
    LOG.info("%s", message)
