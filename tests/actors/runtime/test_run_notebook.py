"""Whole runs in real kernels: however they end, the log says how."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import pytest

from quire.actors.runtime.run_cell import AGAIN_SECONDS, StopReason
from quire.actors.runtime.run_notebook import RunObserver, RunPlan, run
from quire.core import events as e
from quire.core.errors import Unavailable
from quire.core.events import Draft, RunSource, Stream
from quire.core.ids import CellId, LogId
from quire.core.notebook.notebook import Notebook
from quire.core.results import outcome_of
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.kernels.environments import find
from quire.kernels.kernel_protocol import Spec
from quire.outputs.display_events import KernelMessage
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

PATIENCE = 120


class Place:
    """A workspace, and a runtime in it."""

    def __init__(self, folder: Path) -> None:
        self.owner = LocalWorkspace(MemoryStore(), MemoryBlobs())
        self.runtime = self.owner.acting_as(identities.runtime("here"))
        self.folder = folder

    def plan(self, *sources: str, **more: object) -> RunPlan:
        cells = tuple(SheetCell(id=CellId(f"c{number}"), source=source) for number, source in enumerate(sources))
        spec = find("python", None, cwd=self.folder, environ={})
        made = {
            "log": LogId(new_id()),
            "name": "test",
            "source": RunSource(path="test.py"),
            "sheet": Sheet(cells=cells),
            "spec": spec,
        }
        variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return RunPlan(**(made | {"variables": variables, "cwd": self.folder} | more))  # type: ignore[arg-type]

    async def run(
        self, plan: RunPlan, observer: RunObserver | None = None, *, stopping: StopReason | None = None
    ) -> tuple[LogId, Notebook]:
        await run(self.owner, self.runtime, plan, stopping or StopReason(), observer or RunObserver())
        return plan.log, await self.owner.read(plan.log)


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def states(notebook: Notebook) -> list[str]:
    return [cell.state for cell in notebook.live_cells]


def printed(notebook: Notebook, cell: str) -> str:
    execution = notebook.cells[CellId(cell)].execution
    assert execution is not None
    return "".join(each.head + each.tail for each in execution.outputs if isinstance(each, Stream))


async def test_a_run_that_succeeds(place: Place) -> None:
    log, notebook = await place.run(place.plan("x = 20", "print('hello')\nx + 22"))
    outcome = outcome_of(log, notebook)
    assert (outcome.status, outcome.cells_executed, outcome.failed_cell) == ("success", 2, None)
    assert outcome.interpreter is not None
    assert states(notebook) == ["ok", "ok"]
    assert printed(notebook, "c1") == "hello\n"
    execution = notebook.cells[CellId("c1")].execution
    assert execution is not None and execution.count == 2
    assert execution.reads is not None and set(execution.reads) == {CellId("c0")}


async def test_a_cell_that_raises_ends_the_run_and_the_rest_is_skipped(place: Place) -> None:
    log, notebook = await place.run(place.plan("1", "print('so far')\n1 / 0", "never"))
    outcome = outcome_of(log, notebook)
    assert outcome.status == "error"
    assert outcome.failed_cell is not None
    assert (outcome.failed_cell.index, outcome.failed_cell.id) == (1, "c1")
    assert outcome.failed_cell.ename == "ZeroDivisionError"
    assert states(notebook) == ["ok", "error", "skipped"]
    assert printed(notebook, "c1") == "so far\n"


@pytest.mark.parametrize(("code", "status"), [("0", "success"), ("", "success"), ("1", "error")])
async def test_leaving_with_zero_is_fine_as_papermill_judges_it(place: Place, code: str, status: str) -> None:
    _, notebook = await place.run(place.plan(f"import sys\nsys.exit({code})", "never"))
    assert notebook.run is not None and notebook.run.status == status
    assert states(notebook)[1] == "skipped"


async def test_an_error_that_is_expected_is_no_failure(place: Place) -> None:
    plan = place.plan("raise ValueError('told so')", "print('on')")
    cell = plan.sheet.cells[0]
    tagged = SheetCell(id=cell.id, source=cell.source, tags=("raises-exception",))
    _, notebook = await place.run(place.plan(sheet=Sheet(cells=(tagged, plan.sheet.cells[1]))))
    assert notebook.run is not None and notebook.run.status == "success"
    assert states(notebook) == ["error", "ok"]


async def test_a_kernel_that_is_gone_is_told_as_such(place: Place) -> None:
    # A kernel hands what it flushed to a thread that sends it: it leaves when the log has it.
    wait = "while not os.path.exists('recorded'):\n    time.sleep(0.01)"
    plan = place.plan(f"import os, time\nprint('last words', flush=True)\n{wait}\nos._exit(3)", "never")
    running = asyncio.create_task(place.run(plan))
    async with asyncio.timeout(PATIENCE):
        async for batch in place.owner.follow(plan.log):
            if any(isinstance(entry.event, e.StreamAppended) for entry in batch):
                break
    (place.folder / "recorded").touch()
    log, notebook = await running
    outcome = outcome_of(log, notebook)
    assert outcome.status == "dead_kernel"
    assert outcome.failed_cell is not None and "exit status 3" in outcome.failed_cell.evalue
    assert states(notebook) == ["dead_kernel", "skipped"]
    assert printed(notebook, "c0") == "last words\n"


async def test_a_cell_that_takes_too_long_is_interrupted(place: Place) -> None:
    source = "import time\nprint('waiting', flush=True)\ntime.sleep(600)"
    # Long enough for a busy machine to come as far as to the print.
    log, notebook = await place.run(place.plan(source, "never", execution_timeout=3.0))
    assert outcome_of(log, notebook).status == "timeout"
    assert states(notebook) == ["timeout", "skipped"]
    assert printed(notebook, "c0") == "waiting\n"


async def test_a_cell_that_awaits_is_interrupted_and_its_kernel_lives(place: Place) -> None:
    source = "import asyncio\nprint('waiting', flush=True)\nawait asyncio.sleep(600)"
    log, notebook = await place.run(place.plan(source, execution_timeout=3.0), stopping=StopReason(60.0))
    outcome = outcome_of(log, notebook)
    assert outcome.status == "timeout"
    # A kernel that had been killed would be the fault.
    assert outcome.failed_cell is not None and outcome.failed_cell.ename == "CancelledError"
    assert printed(notebook, "c0") == "waiting\n"


async def test_a_cell_that_will_not_be_interrupted_loses_its_kernel(place: Place) -> None:
    source = "import time\nwhile True:\n    try:\n        time.sleep(600)\n    except KeyboardInterrupt:\n        print('no')"
    log, notebook = await place.run(place.plan(source, execution_timeout=0.5), stopping=StopReason(0.5))
    assert outcome_of(log, notebook).status == "timeout"
    assert states(notebook) == ["timeout"]


async def test_a_cell_that_takes_the_interrupt_at_its_timeout_in_its_stride_has_timed_out(place: Place) -> None:
    source = "import time\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print('well then')"
    log, notebook = await place.run(place.plan(source, execution_timeout=3.0))
    outcome = outcome_of(log, notebook)
    assert outcome.status == "timeout", "also as the last cell, which the kernel calls ok"
    assert outcome.failed_cell is not None and (outcome.failed_cell.id, outcome.failed_cell.ename) == ("c0", "Timeout")
    assert states(notebook) == ["timeout"]
    assert printed(notebook, "c0") == "well then\n"


async def test_whoever_waits_for_a_stubborn_cell_does_nothing_meanwhile(place: Place) -> None:
    """A deadline that has passed must not be waited for again and again."""
    asked = 0

    class Counted(StopReason):
        @property
        def grace_seconds(self) -> float:
            nonlocal asked
            asked += 1
            return 1.0

        @grace_seconds.setter
        def grace_seconds(self, seconds: float) -> None:
            pass

    source = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)"
    plan = place.plan(source, execution_timeout=0.5)
    await run(place.owner, place.runtime, plan, Counted(), RunObserver())
    assert outcome_of(plan.log, await place.owner.read(plan.log)).status == "timeout"
    assert asked < 200, "a look every tick"


async def test_a_kernel_that_does_not_say_how_a_cell_ended_does_not_hold_up_its_run(place: Place) -> None:
    # IPython cannot run a cell without it, and its kernel sends no reply then.
    log, notebook = await place.run(place.plan("get_ipython()._tee = None", "print(1)", "never"))
    outcome = outcome_of(log, notebook)
    assert outcome.failed_cell is not None
    assert (outcome.status, outcome.failed_cell.id, outcome.failed_cell.ename) == ("error", "c1", "NoReply")
    assert states(notebook) == ["ok", "error", "skipped"]


async def test_a_kernel_that_asks_though_nobody_is_there_does_not_wait_for_ever(place: Place) -> None:
    """Rule 14. Jupyter's kernel for R asks whether or not it may, and gives up without a word when interrupted."""
    like_r = """
kernel = get_ipython().kernel
async def give_up(*arguments, **options):
    kernel._allow_stdin = True
    try:
        kernel.raw_input("your name? ")
    except KeyboardInterrupt:
        return {"status": "abort", "execution_count": 2}
kernel.do_execute = give_up
"""
    log, notebook = await place.run(place.plan(like_r, "readline('your name? ')"))
    outcome = outcome_of(log, notebook)
    assert outcome.failed_cell is not None
    assert (outcome.status, outcome.failed_cell.id, outcome.failed_cell.ename) == ("error", "c1", "NoInput")
    assert "'your name?', and nobody is there" in outcome.failed_cell.evalue


async def test_a_cell_that_is_given_up_without_a_word_was_running_all_the_same(place: Place) -> None:
    like_r = """
import time
async def give_up(*arguments, **options):
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        return {"status": "abort", "execution_count": 2}
get_ipython().kernel.do_execute = give_up
"""
    log, notebook = await place.run(place.plan(like_r, "Sys.sleep(600)", execution_timeout=3.0))
    outcome = outcome_of(log, notebook)
    assert outcome.failed_cell is not None
    assert (outcome.status, outcome.failed_cell.id, outcome.failed_cell.ename) == ("timeout", "c1", "Aborted")


async def test_a_run_that_is_stopped_in_its_last_cell_is_no_success_though_that_ended_well(place: Place) -> None:
    """Of `quire run train.py && deploy`, Ctrl-C must not start the second half."""
    stopping = StopReason()

    class Presses(RunObserver):
        def heard(self, message: KernelMessage) -> None:
            if message.type == "stream":
                stopping.signal()

    source = "import time\nprint('training')\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    pass"
    plan = place.plan(source)
    await run(place.owner, place.runtime, plan, stopping, Presses())
    notebook = await place.owner.read(plan.log)
    outcome = outcome_of(plan.log, notebook)
    assert outcome.failed_cell is not None and (outcome.status, outcome.failed_cell.id) == ("cancelled", "c0")
    assert states(notebook) == ["ok"], "as its kernel has it"


async def test_a_second_signal_leaves_no_grace(place: Place) -> None:
    stopping = StopReason(600)
    source = (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('here', flush=True)\ntime.sleep(600)"
    )

    class Impatient(RunObserver):
        def heard(self, message: KernelMessage) -> None:
            if message.type == "stream":
                stopping.signal()
                stopping.signal()
                assert stopping.grace_seconds == 600, "one press may arrive twice"
                asyncio.get_running_loop().call_later(AGAIN_SECONDS, stopping.signal)

    plan = place.plan(source)
    await run(place.owner, place.runtime, plan, stopping, Impatient())
    assert states(await place.owner.read(plan.log)) == ["cancelled"]


async def test_somebody_else_cancels(place: Place) -> None:
    plan = place.plan("import time\ntime.sleep(600)", "never")

    class Cancelling(RunObserver):
        cancelling: asyncio.Future[None]

        def cell_began(self, index: int, cell: SheetCell) -> None:
            self.cancelling = asyncio.ensure_future(self.cancel())

        async def cancel(self) -> None:
            await place.owner.submit(plan.log, [Draft(id=new_id(), event=e.RunCancelRequested(why="enough"))])

    log, notebook = await place.run(plan, Cancelling())
    outcome = outcome_of(log, notebook)
    assert outcome.status == "cancelled"
    assert states(notebook) == ["cancelled", "skipped"]
    assert notebook.run is not None and notebook.run.cancelled_by == place.owner.identity.actor


async def test_a_kernel_that_cannot_start_leaves_a_run_that_says_so(place: Place) -> None:
    spec = find("python", None, cwd=place.folder, environ={})
    broken = type(spec)(argv=("/bin/false",), language="python", name="broken")
    with pytest.raises(Unavailable, match="cannot start"):
        await place.run(place.plan("1", spec=broken))
    (info,) = await place.owner.logs("run")
    notebook = await place.owner.read(info.log)
    outcome = outcome_of(info.log, notebook)
    assert (outcome.status, outcome.failed_cell, outcome.cells_executed) == ("error", None, 0)


@pytest.mark.parametrize(
    ("does", "status", "seconds"), [("os._exit(7)", "error", 120.0), ("time.sleep(600)", "timeout", 2.0)]
)
async def test_a_kernel_that_answers_and_is_of_no_use_then_leaves_a_run_that_says_so(
    place: Place, does: str, status: str, seconds: float
) -> None:
    """What is run in it before the first cell is a part of its start."""
    useless = f"""
import os, time
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
class Useless(IPythonKernel):
    async def do_execute(self, *arguments, **options):
        {does}
IPKernelApp.launch_instance(kernel_class=Useless)
"""
    argv = (sys.executable, "-c", useless, "-f", "{connection_file}")
    plan = place.plan("1", spec=Spec(argv=argv, language="python", name="useless"), startup="1", timeout=seconds)
    with pytest.raises(Unavailable, match="exit status 7") if status == "error" else contextlib.nullcontext():
        await place.run(plan)
    notebook = await place.owner.read(plan.log)
    outcome = outcome_of(plan.log, notebook)
    assert (outcome.status, outcome.failed_cell, outcome.cells_executed) == (status, None, 0)
    assert states(notebook) == ["skipped"]


async def test_a_secret_is_in_nothing_that_is_kept(place: Place) -> None:
    """Rule 16: also when it is printed in pieces."""
    source = (
        "import sys\nfor letter in 'tok-123456':\n    sys.stdout.write(letter)\n    sys.stdout.flush()\n'tok-123456'"
    )
    log, notebook = await place.run(place.plan(source, secrets={"API_KEY": "tok-123456"}))
    assert "[secret API_KEY]" in printed(notebook, "c0")
    entries = await place.owner.entries(log)
    told = [entry for entry in entries if not isinstance(entry.event, e.CellAdded)]
    assert not any("tok-123456" in repr(entry.event) for entry in told)


async def test_every_flushed_line_is_there_and_in_order(place: Place) -> None:
    source = "for number in range(4_000):\n    print(f'{number:030}', flush=True)"
    _, notebook = await place.run(place.plan(source, "print('and one more')"))
    execution = notebook.cells[CellId("c0")].execution
    assert execution is not None
    (stream,) = execution.outputs
    assert isinstance(stream, Stream) and stream.blob is not None
    whole = b"".join([chunk async for chunk in place.owner.open_blob(stream.blob.hash)])
    assert whole.decode() == "".join(f"{number:030}\n" for number in range(4_000))
    assert printed(notebook, "c1") == "and one more\n"
