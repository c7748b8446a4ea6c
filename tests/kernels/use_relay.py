"""A runtime that may be killed at any time: `python -m tests.kernels.use_relay FOLDER LOG ORPHAN_SECONDS [LANGUAGE]`.

It goes on with the kernel that is there for this notebook, or starts one; runs what waits, one after
the other; asks on its standard output, and is answered on its standard input. Says what it does, a line each.
"""

from __future__ import annotations

import asyncio
import os
import sys
from math import inf
from pathlib import Path

from quire.actors.keeper import bury
from quire.actors.runtime.lease_renewal import renewed
from quire.actors.runtime.run_cell import CellRunner, CellRunOutcome, StopReason
from quire.connection import connect_store
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import ExecutionId, LogId, RuntimeId
from quire.core.notebook.notebook import Cell, Execution, Notebook
from quire.kernels import kernel_protocol
from quire.kernels.environments import find
from quire.kernels.kernel_client import KernelClient
from quire.kernels.kernel_protocol import Spec
from quire.kernels.relay.execution_state import DraftIds, Flight, Once, recorded
from quire.outputs.recorder import Recorder, Straight
from quire.outputs.secrets import Remover
from quire.outputs.widgets import WidgetStates
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from .real_kernels import ENV, PATIENCE, python

STOCK = Spec(
    argv=(sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"), language="python", name="stock"
)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def asked(prompt: str, *, password: bool) -> str:
    say("asked", prompt)
    return (await asyncio.to_thread(sys.stdin.readline)).rstrip("\n")


class Runtime:
    """One notebook, one kernel, whatever happens to this process."""

    def __init__(self, workspace: LocalWorkspace, log: LogId, client: KernelClient) -> None:
        self._workspace, self._log, self._client = workspace, log, client
        self._me = RuntimeId(workspace.identity.actor)
        self._remover = Remover({"KEY": "very-secret-value"})

    async def serve(self) -> None:
        """Run what waits, for ever."""
        async for _ in self._workspace.follow(self._log):
            while found := _waits(await self._workspace.read(self._log), self._me):
                await self._run(*found)

    async def _run(self, execution: Execution, cell: Cell) -> None:
        if execution.epoch is not None:
            # It was claimed, and there is no flight: the kernel has never heard of it.
            claim = e.ExecutionClaimed(execution=execution.id, runtime=self._me, epoch=execution.epoch)
            return await self._record(claim, cell, None)
        draft = Draft(id=new_id(), event=e.ExecutionClaimed(execution=execution.id, runtime=self._me))
        (entry,) = await self._workspace.submit(self._log, [draft])
        assert isinstance(entry.event, e.ExecutionClaimed)
        say("claimed", execution.id)
        return await self._record(entry.event, cell, None)

    async def go_on(self, flight: Flight) -> None:
        """Go on with what an earlier process began."""
        started = flight.started
        execution = (await self._workspace.read(self._log)).execution(started.execution)
        claim = e.ExecutionClaimed(execution=started.execution, runtime=self._me, epoch=started.epoch)
        if execution is None or not execution.is_open:
            say("over already")
            recorder = Recorder(Straight(self._workspace, self._log))
            await self._runner(recorder, started.epoch).abandon()
            await recorder.close()
            self._client.forget()
        else:
            await self._record(claim, None, flight)

    async def _record(self, claim: e.ExecutionClaimed, cell: Cell | None, flight: Flight | None) -> None:
        assert claim.epoch is not None
        done = await recorded(self._workspace, self._log, claim.execution)
        ids = DraftIds(self._client.kernel, claim.execution, claim.epoch)
        outlet = Once(Straight(self._workspace, self._log), done)
        recorder = Recorder(outlet, self._remover, pause_seconds=0, ids=ids)
        stopping = StopReason(inf)
        watching = asyncio.ensure_future(self._interrupts(claim.execution, stopping))
        async with renewed(self._workspace, self._log, claim, lambda: None):
            runner = self._runner(recorder, claim.epoch)
            if flight is not None:
                ran = await runner.go_on(flight, stopping)
            else:
                assert cell is not None
                ran = await runner.run(claim.execution, cell.id, cell.source, cell.source, stopping, None)
            await recorder.close()
        watching.cancel()
        self._client.forget()
        self._tell(ran)

    def _runner(self, recorder: Recorder, epoch: int) -> CellRunner:
        widgets = WidgetStates(self._remover)
        return CellRunner(self._client, recorder, epoch, "python", remover=self._remover, widgets=widgets, asked=asked)

    async def _interrupts(self, execution: ExecutionId, stopping: StopReason) -> None:
        async for page in self._workspace.follow(self._log):
            for entry in page:
                if isinstance(entry.event, e.InterruptRequested) and entry.event.execution == execution:
                    stopping.ask("cancelled")

    def _tell(self, ran: CellRunOutcome) -> None:
        say("ran", ran.status, ran.lives)


def _waits(notebook: Notebook, me: RuntimeId) -> tuple[Execution, Cell] | None:
    for id in notebook.executions:
        found = notebook.execution(id)
        if found is not None and (found.state == "queued" or (found.state, found.runtime) == ("claimed", me)):
            return found, notebook.cells[found.cell]
    return None


def _spec(language: str) -> Spec:
    if language == "stock":
        return STOCK
    return python() if language == "python" else find(language, None, cwd=Path("/"), environ=os.environ)


async def main(folder: str, log: LogId, orphan_seconds: float, language: str = "python") -> None:
    found = await kernel_protocol.adopt_served(folder, log)
    if found is not None:
        workspace = await connect_store(folder, identities.runtime(found.actor.removeprefix("runtime:")))
        client = KernelClient(found.kernel, found.flight)
        say("adopted", found.kernel.id, found.kernel.pid)
        runtime = Runtime(workspace, log, client)
        if found.flight is not None:
            await runtime.go_on(found.flight)
    else:
        kernel = await kernel_protocol.start(
            _spec(language), cwd=Path(folder), env=ENV, relayed=True, orphan_seconds=orphan_seconds, grace_seconds=1
        )
        workspace = await connect_store(folder, identities.runtime(f"test-{kernel.id}"))
        # Whoever was here before is gone, and nothing is left of them.
        for id in {each.claim.runtime for each in await workspace.acting_as(identities.system()).claims()}:
            await bury(workspace.acting_as(identities.system()), log, id)
        kernel.serves(folder, log, workspace.identity.actor)
        client = KernelClient(kernel)
        await client.ready(PATIENCE)
        say("started", kernel.id, kernel.pid)
        runtime = Runtime(workspace, log, client)
    await runtime.serve()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], LogId(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:]))
