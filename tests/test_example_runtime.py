"""The runtime of examples/: a process of its own that speaks the runtime protocol, and imports nothing of ours."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.events import Draft, Entry, Stream
from quire.core.ids import ActorId, CellId, ExecutionId, LogId, RuntimeId
from quire.core.notebook.notebook import Execution
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from .http_server import served
from .workspace.cutting_proxy import Relay, relay

EXAMPLE = Path(__file__).parents[1] / "examples" / "sqlite_runtime.py"
LOG = LogId("shop")
ME = ActorId("runtime:shop")
DEADLINE_SECONDS = 120
QUICK = {f"WEBSOCKETS_BACKOFF_{name}_DELAY": "0.1" for name in ("INITIAL", "MIN", "MAX")}
"""So that nobody waits for seconds until a socket is tried again."""
SLOW = (
    "(WITH RECURSIVE m(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM m WHERE j < 100000) SELECT count(j + i > 0) FROM m)"
)
"""What takes SQLite a while, for each row."""
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def counting(most: int) -> str:
    return f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most})"


class Shop:
    """A notebook, and the runtime that serves it."""

    def __init__(self, workspace: LocalWorkspace, line: Relay) -> None:
        self.workspace, self.line = workspace, line
        self.process: Process | None = None
        self._secret = ""

    async def start(self, folder: Path) -> None:
        """Start the runtime, and wait until it says that it is there."""
        self._secret = (
            self._secret or (await self.workspace.create_token(ME, ["read", "serve"], notebooks=[LOG])).secret
        )
        arguments = (str(EXAMPLE), self.line.url, LOG, str(folder / "shop.db"))
        environ = os.environ | QUICK | {"QUIRE_TOKEN": self._secret}
        since = (await self.workspace.read(LOG)).seq
        self.process = await asyncio.create_subprocess_exec(sys.executable, *arguments, env=environ, stderr=PIPE)
        await self.until(lambda entry: isinstance(entry.event, e.RuntimeAttached), since)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> str:
        """End it, and return what it said on stderr."""
        assert self.process is not None
        self.process.send_signal(number)
        async with asyncio.timeout(DEADLINE_SECONDS):
            _, said = await self.process.communicate()
        assert self.process.returncode in (0, -signal.SIGKILL), said.decode()
        self.process = None
        return said.decode()

    async def say(self, *events: e.KnownEvent) -> list[Entry]:
        return await self.workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])

    async def ask(self, source: str, runtime: str | None = "sqlite") -> ExecutionId:
        """Add a cell, and ask for it."""
        cell, execution = CellId(new_id()), ExecutionId(new_id())
        asked = e.ExecutionRequested(execution=execution, cell=cell, source_hash=source_hash(source), runtime=runtime)
        await self.say(e.CellAdded(cell=cell, after=None, kind="sql", source=source), asked)
        return execution

    async def run(self, source: str) -> Execution:
        return await self.ended(await self.ask(source))

    async def ended(self, execution: ExecutionId) -> Execution:
        """Wait for the end of an execution, and return it with all that it showed."""
        await self.until(
            lambda entry: isinstance(entry.event, e.ExecutionFinished) and entry.event.execution == execution
        )
        for cell in (await self.workspace.read(LOG)).cells.values():
            if cell.execution is not None and cell.execution.id == execution:
                return cell.execution
        raise AssertionError(execution)

    async def printing(self, execution: ExecutionId) -> None:
        """Wait until it has printed something."""
        await self.until(lambda entry: isinstance(entry.event, e.StreamAppended) and entry.event.execution == execution)

    async def until(self, is_it: Callable[[Entry], bool], since: int = 0) -> Entry:
        async with asyncio.timeout(DEADLINE_SECONDS):
            async for page in self.workspace.follow(LOG, since):
                for entry in page:
                    if is_it(entry):
                        return entry
        raise AssertionError("A log that is followed does not end.")

    async def events(self, *types: str) -> list[e.AnyEvent]:
        return [entry.event for entry in await self.workspace.entries(LOG, types=types)]


def printed(execution: Execution) -> list[str]:
    """The lines that a cell printed, as far as they are inline."""
    return "".join(each.head + each.tail for each in execution.outputs if isinstance(each, Stream)).splitlines()


@asynccontextmanager
async def a_shop(folder: Path, cuts: Iterable[int] = ()) -> AsyncGenerator[Shop]:
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs())
    async with served(workspace) as server, relay(server.port, cuts) as line:
        shop = Shop(workspace, line)
        await shop.say(e.NotebookCreated(name="shop"))
        await shop.start(folder)
        yield shop
        if shop.process is not None:
            line.target = server.port
            await shop.stop()
    await workspace.close()


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with a_shop(tmp_path) as made:
        yield made


async def test_cells_run_in_order_and_share_one_database(shop: Shop) -> None:
    await shop.run("CREATE TABLE sold (month TEXT, pieces INT);\nINSERT INTO sold VALUES ('10', 40), ('11', 2);")
    found = await shop.run("SELECT * FROM sold;\nSELECT sum(pieces) FROM sold")
    assert (found.state, found.runtime, found.by) == ("ok", ME, shop.workspace.identity.actor)
    assert printed(found) == ["10 | 40", "11 | 2", "42"]
    notebook = await shop.workspace.read(LOG)
    assert (notebook.runtimes[RuntimeId(ME)].name, notebook.runtimes[RuntimeId(ME)].language) == ("sqlite", "sql")
    await shop.stop()
    assert not (await shop.workspace.read(LOG)).runtimes
    assert not await shop.workspace.claims(), "what is over was given back"


async def test_what_is_printed_arrives_in_pieces(shop: Shop) -> None:
    """Rule 7."""
    found = await shop.run(f"{counting(60)} SELECT i, {SLOW} FROM n")
    assert [line.partition(" ")[0] for line in printed(found)] == [str(i) for i in range(1, 61)]
    pieces = [each for each in await shop.events("stream_appended") if isinstance(each, e.StreamAppended)]
    assert len(pieces) > 1
    assert [each.chunk for each in pieces] == list(range(len(pieces)))
    assert [each.offset for each in pieces[1:]] == [each.offset + len(each.text) for each in pieces[:-1]]


async def test_a_long_text_is_a_blob(shop: Shop) -> None:
    """Rule 5."""
    found = await shop.run(f"{counting(50_000)} SELECT i FROM n")
    (stream,) = found.outputs
    assert isinstance(stream, Stream)
    assert stream.blob is not None
    whole = b"".join([chunk async for chunk in shop.workspace.open_blob(stream.blob.hash)]).decode()
    assert whole == "".join(f"{i}\n" for i in range(1, 50001))
    assert whole.endswith(stream.tail)
    assert stream.length == len(whole)


async def test_an_error_is_shown_and_the_next_cell_runs(shop: Shop) -> None:
    found = await shop.run("SELECT x FROM nowhere")
    assert found.state == "error"
    assert found.fault is not None
    assert found.fault == e.Fault(ename="OperationalError", evalue="no such table: nowhere")
    assert found.outputs == [e.Raised(ename=found.fault.ename, evalue=found.fault.evalue)]
    assert printed(await shop.run("SELECT 1")) == ["1"]


async def test_it_is_interrupted_whatever_it_does(shop: Shop) -> None:
    prints = await shop.ask(f"{ENDLESS} SELECT i, {SLOW} FROM n")
    await shop.printing(prints)
    await shop.say(e.InterruptRequested(execution=prints))
    found = await shop.ended(prints)
    assert found.state == "cancelled"
    assert found.interrupted_by == shop.workspace.identity.actor
    assert printed(found)[0].startswith("1 |")
    is_silent = await shop.ask(f"{ENDLESS} SELECT sum(i) FROM n")
    await shop.until(lambda entry: isinstance(entry.event, e.ExecutionStarted) and entry.event.execution == is_silent)
    await shop.say(e.InterruptRequested(execution=is_silent))
    assert (await shop.ended(is_silent)).state == "cancelled"
    assert printed(await shop.run("SELECT 1")) == ["1"]


async def test_a_cell_that_ends_while_the_line_is_away_loses_nothing_and_doubles_nothing(
    shop: Shop, tmp_path: Path
) -> None:
    """Rule 11."""
    there = shop.line.target
    ends = f"CREATE TABLE ran (x);\n{counting(60)} SELECT i, {SLOW} FROM n;\nINSERT INTO ran VALUES (1)"
    counts = await shop.ask(ends)
    await shop.printing(counts)
    shop.line.target = None
    shop.line.cut()
    async with asyncio.timeout(DEADLINE_SECONDS):
        with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
            while not database.execute("SELECT * FROM ran").fetchall():  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
    shop.line.target = there
    found = await shop.ended(counts)
    assert found.state == "ok"
    assert [line.partition(" ")[0] for line in printed(found)] == [str(i) for i in range(1, 61)]
    assert printed(await shop.run("SELECT count(*) FROM ran")) == ["1"]


async def test_answers_that_are_lost_double_nothing(tmp_path: Path) -> None:
    """A connection may end anywhere: also when the server has recorded and not said so."""
    cuts = [700 + 137 * number % 2500 for number in range(25)]
    async with a_shop(tmp_path, cuts) as shop:
        await shop.run("CREATE TABLE ran (x)")
        for number in range(4):
            found = await shop.run(f"INSERT INTO ran VALUES ({number});\nSELECT 'ran {number}'")
            assert (found.state, printed(found)) == ("ok", [f"ran {number}"])
        assert printed(await shop.run("SELECT count(*), count(DISTINCT x) FROM ran")) == ["4 | 4"]
        assert shop.line.connections > 10, "it was cut again and again"


async def test_what_it_lost_it_drops_and_goes_on_with_the_next(shop: Shop) -> None:
    """Rule 10."""
    slept = await shop.ask(f"{ENDLESS} SELECT i, {SLOW} FROM n")
    await shop.printing(slept)
    (held,) = await shop.workspace.claims()
    system = shop.workspace.acting_as(identities.system())
    assert isinstance(held.claim, e.ExecutionClaimed)
    assert held.claim.epoch is not None
    lost = e.ExecutionFinished(execution=slept, epoch=held.claim.epoch, status="lost")
    (end,) = await system.submit(LOG, [Draft(id=new_id(), event=lost)])
    await system.release(LOG, held.claim)
    assert printed(await shop.run("SELECT 1")) == ["1"]
    after = await shop.workspace.entries(LOG, end.seq)
    assert not [entry for entry in after if getattr(entry.event, "execution", "") == slept], (
        "nothing under an old epoch"
    )
    assert slept in await shop.stop()


async def test_started_again_after_a_kill_it_says_what_was_lost(shop: Shop, tmp_path: Path) -> None:
    killed = await shop.ask(f"{ENDLESS} SELECT i, {SLOW} FROM n")
    await shop.printing(killed)
    await shop.stop(signal.SIGKILL)
    await shop.start(tmp_path)
    assert (await shop.ended(killed)).state == "lost"
    assert printed(await shop.run("SELECT 1")) == ["1"]


async def test_it_leaves_alone_what_is_for_others(shop: Shop) -> None:
    anybodys, somebodys = await shop.ask("x = 1", None), await shop.ask("x = 2", "gpu")
    assert printed(await shop.run("SELECT 2")) == ["2"]
    notebook = await shop.workspace.read(LOG)
    for execution in (anybodys, somebodys):
        found = notebook.execution(execution)
        assert found is not None
        assert found.state == "queued"


async def test_it_runs_what_was_seen_or_nothing(shop: Shop) -> None:
    """Rule 9."""
    first = await shop.ask(f"{ENDLESS} SELECT i, {SLOW} FROM n")
    await shop.printing(first)
    await shop.ask("SELECT 'as it was'")
    (cell, *_) = (await shop.workspace.read(LOG)).live_cells
    now = e.SourceEdited(cell=cell.id, text="SELECT 'as it is'", base_hash=source_hash(cell.source))
    await shop.say(now, e.InterruptRequested(execution=first))
    assert printed(await shop.run("SELECT 1")) == ["1"]
    (left,) = [each for each in (await shop.workspace.read(LOG)).live_cells if each.id == cell.id]
    assert left.state == "skipped"
