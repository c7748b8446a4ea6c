"""A whole notebook, run from top to bottom in a kernel of its own, with a log of its own.

The kernel starts while the run is requested and claimed; what it shows is recorded behind
it. However it ends, the log says how: which cell was running, and which never ran.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from ...core import events as e
from ...core.errors import Conflict, NotFound, Unavailable
from ...core.event_fields import batches
from ...core.events import Draft, Fault, KnownEvent, RunSource, RunStatus
from ...core.ids import CellId, ExecutionId, LogId, RuntimeId
from ...core.results import DeclaredResult, check, recorded
from ...core.sheet.conversion import added, metadata_of
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...formats.terminal_safe import one_line
from ...kernels import requirements
from ...kernels.cell_code import kernel_code
from ...kernels.kernel_client import KernelClient, stop
from ...kernels.kernel_protocol import GRACE_SECONDS, KEEP_SECONDS, Spec, adopt, start
from ...kernels.requirements import KernelPython
from ...outputs.display_events import KernelMessage
from ...outputs.recorder import Recorder, Straight
from ...outputs.secrets import Remover
from ...outputs.widgets import WIDGET_STATE, WidgetStates
from ...workspace.clock import new_id
from ...workspace.protocol import Workspace
from ...workspace.tasks import alongside, cancel_and_wait
from .lease_renewal import held
from .retry import OUTAGE_SECONDS, OutageTooLong, OutageWait, PatientOutlet, pauses
from .run_cell import CellRunner, CellRunOutcome, StopReason
from .run_environment import EnvironmentRecord, InputPath, RevisionReader

ADOPT_SECONDS = 10.0
"""A kernel to go on with answers by then, or a new one is started."""
RUNS = ("code", "sql")
_STARTUP, _PYTHON = "startup", "python"
LEFT_SECONDS = 3600.0
"""How long a kernel lives for `--resume` whose run could not be recorded any more."""
MAY_RAISE = "raises-exception"
"""Jupyter's tag for a cell whose error is no failure."""


LEFT_OUT = "a partial run left it out"
"""Why a cell of a run was skipped that was only of others."""


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, decided in full before it begins (rule 14)."""

    log: LogId
    """Where it is to be recorded: a log that is not there yet."""
    name: str
    source: RunSource
    sheet: Sheet
    """With its parameters put in."""
    spec: Spec
    variables: dict[str, str]
    cwd: Path
    parameters: dict[str, Json] = {}
    metadata: dict[str, Json] = {}
    policy: dict[str, e.Permission] = {}
    """By what else than their rights whoever starts it may: it is recorded with the run."""
    secrets: dict[str, str] = {}
    start_timeout: float = 60
    execution_timeout: float | None = None
    timeout: float | None = None
    only: frozenset[CellId] | None = None
    """The cells to run; None: all of them."""
    stops_on_error: bool = True
    """Whether a cell that raises ends the run. A check looks at the cells after it as well."""
    startup: str = ""
    """What the kernel runs, silently, before the first cell."""
    declared_results: tuple[DeclaredResult, ...] = ()
    inputs: tuple[InputPath, ...] = ()
    """The files that the notebook declares to read."""
    revision: RevisionReader | None = None
    """Finds where the repository of the source stands; None: it is in none."""
    keep: bool = False
    """Whether the kernel lives on when the run is over."""
    grace_seconds: float = GRACE_SECONDS
    """How long the kernel outlives a process that was killed."""
    outage_seconds: float = OUTAGE_SECONDS
    """How long a workspace that is away is waited for."""
    resumes: ResumedRun | None = None
    input_path: str | None = None
    """The place of what is run, without what may be secret in it."""
    output: str | None = None
    """The place of the file that the run leaves."""
    warnings: tuple[str, ...] = ()
    request_save_on_cell_execute: bool = True
    """Whether the output is kept current while cells end."""
    autosave_cell_every: float = 30
    """And so many seconds apart while one cell runs; 0: not then."""


class ResumedRun(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier run, with which this one goes on if its kernel still lives."""

    log: LogId
    seq: int
    kernel: str | None
    """By which `adopt` finds it; None: it never had one."""
    is_busy: bool
    """Whether a cell was running when nobody was left to hear it."""
    carried: tuple[e.OutputsImported, ...] = ()
    """What its cells showed that need not run again."""


class RunObserver:
    """Whoever wants to know how far a run is. These do nothing: override some."""

    async def began(self) -> None:
        """The run has a log, and its kernel starts."""

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell starts."""

    def heard(self, message: KernelMessage) -> None:
        """The kernel said something."""

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """A cell has ended."""

    def warn(self, text: str) -> None:
        """Something is otherwise than asked for."""

    @property
    def answers(self) -> bool:
        """Whether somebody is there to answer what a cell asks for."""
        return False

    async def asked(self, prompt: str, *, password: bool) -> str:
        """A cell asks for input: only ever where somebody `answers`."""
        raise NotImplementedError


class RunObservers(RunObserver):
    """Notify several observers, in order."""

    def __init__(self, observers: Sequence[RunObserver]) -> None:
        self._observers = observers

    async def began(self) -> None:
        """The run has a log, and its kernel starts."""
        for each in self._observers:
            await each.began()

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell starts."""
        for each in self._observers:
            each.cell_began(index, cell)

    def heard(self, message: KernelMessage) -> None:
        """The kernel said something."""
        for each in self._observers:
            each.heard(message)

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """A cell has ended."""
        for each in self._observers:
            await each.cell_ended(index, cell, ran)

    def warn(self, text: str) -> None:
        """Something is otherwise than asked for."""
        for each in self._observers:
            each.warn(text)

    @property
    def answers(self) -> bool:
        """Whether somebody is there to answer what a cell asks for."""
        return any(each.answers for each in self._observers)

    async def asked(self, prompt: str, *, password: bool) -> str:
        """A cell asks for input: the first who answers is asked."""
        first = next(each for each in self._observers if each.answers)
        return await first.asked(prompt, password=password)


async def run(
    owner: Workspace,
    runtime: Workspace,
    plan: RunPlan,
    stopping: StopReason,
    observer: RunObserver,
    wait: OutageWait | None = None,
) -> None:
    """Run a notebook to its end, whatever that is; its log tells of it. A workspace that is away is waited for.

    Raises when the log could not be written in time, or when the kernel could not start: the log says so, too.
    """
    wait = wait or OutageWait(plan.outage_seconds, observer.warn)
    plan, client = await _client(plan, observer)
    keep_seconds = KEEP_SECONDS if plan.keep else 0.0
    try:
        await _request(owner, plan, RuntimeId(runtime.identity.actor), wait)
        client.kernel.used_by(plan.log)
        await observer.began()
        async with _claimed(runtime, plan.log, stopping, wait) as epoch:
            await _Run(runtime, plan, epoch, client, stopping, observer, wait).run()
    except OutageTooLong as error:
        if stopping.why == "cancelled" or not client.lives:
            raise
        keep_seconds = keep_seconds or LEFT_SECONDS
        if client.is_running:
            await client.interrupt()
        raise _not_recorded(error, plan.log, keep_seconds) from error
    finally:
        await asyncio.shield(_part(client, keep_seconds))


def _not_recorded(error: OutageTooLong, log: LogId, keep_seconds: float) -> OutageTooLong:
    """What is kept of a run that ends because nobody can record it, and how to go on."""
    kept = f"Run {log} ends. What its cells did before is recorded, and its kernel lives for {keep_seconds / 3600:g} h"
    return OutageTooLong(f"{error} {kept}: `quire run --resume {log}` goes on when the workspace is back.")


async def _client(plan: RunPlan, observer: RunObserver) -> tuple[RunPlan, KernelClient]:
    """A new kernel, or the one of the run to go on with; with the plan as it is then."""
    if plan.resumes is not None:
        try:
            return plan, await _adopted(plan.resumes)
        except (NotFound, Conflict, Unavailable) as gone:
            observer.warn(f"Run {plan.resumes.log} is run again from the top: {gone}")
            resumes = msgspec.structs.replace(plan.resumes, carried=())
            plan = msgspec.structs.replace(plan, resumes=resumes)
    return plan, KernelClient(
        await start(plan.spec, cwd=plan.cwd, env=plan.variables, grace_seconds=plan.grace_seconds)
    )


async def _adopted(earlier: ResumedRun) -> KernelClient:
    if earlier.kernel is None:
        raise NotFound(f"Run {earlier.log} had no kernel to go on with.")
    client = KernelClient(await adopt(earlier.kernel, earlier.log))
    try:
        if earlier.is_busy:
            # What it does is lost: nobody heard what it showed meanwhile.
            await client.interrupt()
        await client.ready(ADOPT_SECONDS)
    except BaseException:
        await asyncio.shield(stop(client.kernel, client))
        raise
    return client


async def _part(client: KernelClient, keep_seconds: float) -> None:
    """End the kernel, or let it live on for a while."""
    if keep_seconds and client.lives:
        client.close()
        await client.kernel.leave(keep_seconds)
    else:
        await stop(client.kernel, client)


async def _request(owner: Workspace, plan: RunPlan, runtime: RuntimeId, wait: OutageWait) -> None:
    wanted: dict[str, Json] = {"kernel": plan.spec.name, "language": plan.spec.language, "cwd": str(plan.cwd)}
    if plan.keep:
        wanted["keep"] = True
    source = plan.source
    if plan.resumes is not None:
        source = msgspec.structs.replace(source, notebook=plan.resumes.log, seq=plan.resumes.seq)
    first = e.RunRequested(
        name=plan.name,
        source=source,
        parameters=plan.parameters,
        environment=wanted,
        policy=plan.policy,
        runtime=runtime,
        metadata=metadata_of(plan.sheet),
    )
    events: list[KnownEvent] = [first]
    after: CellId | None = None
    for cell in plan.sheet.cells:
        events.append(added(cell, after))
        after = cell.id
    events += plan.resumes.carried if plan.resumes is not None else ()
    log, remover = plan.log, Remover(plan.secrets)
    drafts = [Draft(id=new_id(), event=remover.clean_event(event)) for event in events]
    for batch in batches(drafts):
        await wait.patiently(partial(owner.submit, log, batch))


@asynccontextmanager
async def _claimed(runtime: Workspace, log: LogId, stopping: StopReason, wait: OutageWait) -> AsyncGenerator[int]:
    """Hold the run, and listen for whoever wants it to stop."""

    async def listen() -> None:
        since, waits = 0, pauses()
        while True:
            try:
                async for page in runtime.follow(log, since):
                    since, waits = page[-1].seq, pauses()
                    if any(isinstance(each.event, e.RunCancelRequested) for each in page):
                        stopping.ask("cancelled")
            except Unavailable:
                await asyncio.sleep(next(waits))

    claim = e.RunClaimed(runtime=RuntimeId(runtime.identity.actor))
    async with held(runtime, log, claim, partial(stopping.ask, "cancelled"), wait=wait) as epoch, alongside(listen()):
        yield epoch


class _Run:
    """A run that was claimed."""

    def __init__(
        self,
        runtime: Workspace,
        plan: RunPlan,
        epoch: int,
        client: KernelClient,
        stopping: StopReason,
        observer: RunObserver,
        wait: OutageWait,
    ) -> None:
        self._plan, self._epoch, self._client = plan, epoch, client
        self._stopping, self._observer = stopping, observer
        self._runtime, self._wait = runtime, wait
        self._remover = Remover(plan.secrets)
        self._recorder = Recorder(PatientOutlet(Straight(runtime, plan.log), wait), self._remover)
        self._widgets = WidgetStates(self._remover)
        self._cells = CellRunner(
            client,
            self._recorder,
            epoch,
            plan.spec.language,
            remover=self._remover,
            widgets=self._widgets,
            heard=observer.heard,
            asked=observer.asked if observer.answers else None,
        )
        carried = plan.resumes.carried if plan.resumes is not None else ()
        self._carried = frozenset(each.cell for each in carried)
        self._around = EnvironmentRecord(
            runtime, self._recorder, epoch, plan.inputs, plan.revision, plan.spec.interpreter
        )
        self._python: KernelPython | None = None

    async def run(self) -> None:
        """Wait for the kernel, run the cells, and say how it ended."""
        try:
            timer = self._start_timer()
            try:
                status, failed, fault = await self._while_recorded()
            finally:
                if timer is not None:
                    timer.cancel()
            if status == "success" and (missing := await self._missing_results()) is not None:
                status, fault = "error", missing
            if self._stopping.why is None:
                await self._around.finish()
            widgets = await self._kept_widgets()
            self._recorder.say(
                e.RunFinished(epoch=self._epoch, status=status, failed_cell=failed, fault=fault, widgets=widgets)
            )
        finally:
            await self._around.close()
            await self._recorder.close()

    async def _while_recorded(self) -> tuple[RunStatus, CellId | None, Fault | None]:
        """Run until it is over, or nothing of it can be recorded any more: a cell that says nothing is not waited for."""
        working = asyncio.ensure_future(self._start_and_run())
        failing = asyncio.ensure_future(self._recorder.failed())
        try:
            await asyncio.wait({working, failing}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else failing.result()
        finally:
            await cancel_and_wait(working, failing)

    async def _start_and_run(self) -> tuple[RunStatus, CellId | None, Fault | None]:
        starting = asyncio.ensure_future(self._start())
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                self._skip(self._plan.sheet.cells, f"the run was stopped before it: {stopped.result()}")
                return stopped.result(), None, None
            info = starting.result()
        finally:
            await cancel_and_wait(starting, stopped)
        self._recorder.say(e.RunStarted(epoch=self._epoch, environment=info))
        self._around.begin(self._python, self._plan.cwd)
        return await self._run_cells()

    async def _start(self) -> dict[str, Json]:
        try:
            told = await self._client.ready(self._plan.start_timeout)
            await self._prepare_kernel()
        except Unavailable as error:
            self._skip(self._plan.sheet.cells, "the kernel could not start")
            fault = Fault(ename="KernelNotStarted", evalue=str(error))
            self._recorder.say(e.RunFinished(epoch=self._epoch, status="error", fault=fault))
            await self._recorder.settle()
            raise Unavailable(self._remover.clean_text(str(error))) from None
        spec = self._plan.spec
        return {
            "interpreter": spec.interpreter,
            "kernel": spec.name,
            "kernel_id": self._client.kernel.id,
            "kernel_version": f"{told.get('implementation', '')} {told.get('implementation_version', '')}".strip(),
            "language_info": told.get("language_info"),
            **(self._python.facts if self._python is not None else requirements.platform_facts()),
        }

    async def _prepare_kernel(self) -> None:
        # As expressions beside an empty cell: the text of a cell is hashed, slowly, before it runs.
        expressions: dict[str, str] = {}
        if self._plan.startup and not self._carried:
            expressions[_STARTUP] = self._plan.startup
        if self._plan.spec.language == "python":
            expressions[_PYTHON] = requirements.QUESTION
        if not expressions:
            return
        async for message in self._client.execute("", silent=True, expressions=expressions):
            if message.type == "execute_reply":
                self._look_at(message.content.get("user_expressions"))

    def _look_at(self, answers: Json) -> None:
        self._python = requirements.read_answer(answers, _PYTHON)
        match answers:
            case {"startup": {"status": "error", "evalue": said}}:
                self._observer.warn(f"quire.kernel cannot be imported in this kernel: {one_line(str(said), 200)}")
            case _:
                pass

    async def _kept_widgets(self) -> e.BlobRef | None:
        states = self._widgets.as_metadata()
        put = partial(self._runtime.put_blob, msgspec.json.encode(states), WIDGET_STATE)
        return await self._wait.patiently(put) if states else None

    async def _missing_results(self) -> Fault | None:
        """What was declared and is not there, or is something else."""
        if not self._plan.declared_results:
            return None
        await self._recorder.settle()
        results = (await self._wait.patiently(partial(self._runtime.read, self._plan.log))).results
        declared = self._plan.declared_results
        if self._plan.only is not None:
            # A partial run leaves results out; what it does record has to be right.
            declared = tuple(each for each in declared if each.name in results)
        wrong = check(declared, {name: recorded(each) for name, each in results.items()})
        return Fault(ename="ResultError", evalue=" ".join(wrong)) if wrong else None

    def _start_timer(self) -> asyncio.TimerHandle | None:
        seconds = self._plan.timeout
        if seconds is None:
            return None
        return asyncio.get_running_loop().call_later(seconds, self._stopping.ask, "timeout")

    async def _run_cells(self) -> tuple[RunStatus, CellId | None, Fault | None]:
        cells, last = self._plan.sheet.cells, None
        for index, cell in enumerate(cells):
            if cell.kind not in RUNS or cell.id in self._carried:
                continue
            if self._plan.only is not None and cell.id not in self._plan.only:
                self._skip((cell,), LEFT_OUT)
                continue
            if self._stopping.why is not None:
                self._skip(cells[index:], f"the run was stopped before it: {self._stopping.why}")
                return self._stopping.why, cell.id, None
            await self._recorder.keep_up()
            ran, last = await self._run_cell(index, cell), cell.id
            if ran.status == "error" and not self._plan.stops_on_error:
                continue
            if (status := _failure(cell, ran)) is not None:
                self._skip(cells[index + 1 :], f"cell {cell.id} {_words(ran)}")
                return ("success", None, None) if status == "success" else (status, cell.id, ran.fault)
        if self._stopping.why is not None and last is not None:
            # Whoever pressed Ctrl-C must not find a success, though the last cell took it in its stride.
            return self._stopping.why, last, Fault(ename="Interrupted", evalue="It came to an end when interrupted.")
        return "success", None, None

    async def _run_cell(self, index: int, cell: SheetCell) -> CellRunOutcome:
        code = kernel_code(cell.kind, cell.source, cell.name, cell.metadata, self._plan.spec.language)
        # From here on as it is in the log.
        cell = msgspec.structs.replace(cell, source=self._remover.clean_text(cell.source))
        self._observer.cell_began(index, cell)
        execution, seconds = ExecutionId(new_id()), self._plan.execution_timeout
        ran = await self._cells.run(execution, cell.id, cell.source, code, self._stopping, seconds)
        await self._observer.cell_ended(index, cell, ran)
        return ran

    def _skip(self, cells: Sequence[SheetCell], why: str) -> None:
        left = [cell for cell in cells if cell.kind in RUNS]
        self._recorder.say(
            *(e.ExecutionSkipped(execution=ExecutionId(new_id()), cell=cell.id, why=why) for cell in left)
        )


def _failure(cell: SheetCell, ran: CellRunOutcome) -> RunStatus | None:
    """How the run ends with this cell; None: it goes on."""
    match ran.status:
        case "ok":
            return None
        case "error" if _is_exit(ran.fault):
            return "success"
        case "error" if MAY_RAISE in cell.tags:
            return None
        case status:
            return status


def _is_exit(fault: Fault | None) -> bool:
    """Whether a cell left by `sys.exit(0)`: to papermill, and so here, the run ends there and is fine."""
    return fault is not None and fault.ename == "SystemExit" and fault.evalue in ("", "0", "None")


def _words(ran: CellRunOutcome) -> str:
    return {"error": "raised", "timeout": "took too long", "dead_kernel": "lost its kernel"}.get(ran.status, ran.status)
