"""What a runtime says goes to disk while the workspace is away, and into the log once it is back: in order, once."""

from __future__ import annotations

import asyncio
import resource
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import cast

import pytest

from quire.actors.runtime.spool import Spool, folder_of, send_left_behind
from quire.actors.runtime.spool_files import SpoolFiles, SpoolInfo, Unit, left_behind
from quire.core import events as e
from quire.core.errors import Conflict, Refused, Unavailable
from quire.core.events import BlobRef, Draft, Stream
from quire.core.ids import WORKSPACE_LOG, ActorId, CellId, ExecutionId, RuntimeId
from quire.core.text import source_hash
from quire.outputs.display_events import EventBatch, ExecutionDisplays, KernelMessage
from quire.outputs.recorder import Recorder
from quire.outputs.secrets import Remover
from quire.outputs.streams import SpoolFile as Tape
from quire.outputs.streams import kept
from quire.workspace.identity import identities
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from ...workspace.server_house import LOG, House, again, draft, house, until

EXECUTION = ExecutionId("01M7GFVPH9EXECUTION0000000")


class Far:
    """A runtime elsewhere that has claimed a cell, and a bad line between."""

    def __init__(self, house: House, runtime: RemoteWorkspace, folder: Path) -> None:
        self.house, self.runtime, self.folder = house, runtime, folder
        self.epoch = 0
        self.told: list[str] = []

    def spool(self) -> Spool:
        return Spool(self.runtime, LOG, self.folder, self.told.append)

    def away(self) -> None:
        self.house.line.target = None
        self.house.line.cut()

    def back(self) -> None:
        self.house.line.target = self.house.server.port

    async def claim(self) -> None:
        await self.house.say(e.CellAdded(cell=CellId("a"), after=None, source="1"))
        await self.house.say(
            e.ExecutionRequested(execution=EXECUTION, cell=CellId("a"), source_hash=source_hash("1"), runtime=None)
        )
        claim = e.ExecutionClaimed(execution=EXECUTION, runtime=self.me)
        (entry,) = await again(lambda: self.runtime.submit(LOG, [draft(claim)]))
        self.epoch = entry.event.epoch

    @property
    def me(self) -> RuntimeId:
        return RuntimeId(self.runtime.identity.actor)

    def started(self) -> e.ExecutionStarted:
        return e.ExecutionStarted(
            execution=EXECUTION, cell=CellId("a"), source_hash=source_hash("1"), epoch=self.epoch, defines=(), uses=()
        )

    def finished(self) -> e.ExecutionFinished:
        return e.ExecutionFinished(execution=EXECUTION, epoch=self.epoch, status="ok")

    def texts(self, first: int, last: int) -> list[e.StreamAppended]:
        """One number to a line, each an event of its own."""
        line = "{:06d}\n".format
        return [
            e.StreamAppended(
                execution=EXECUTION, epoch=self.epoch, chunk=number, name="stdout", offset=7 * number, text=line(number)
            )
            for number in range(first, last)
        ]

    async def printed(self) -> str:
        execution = (await self.house.local.read(LOG)).cells[CellId("a")].execution
        assert execution is not None
        return "".join(each.head + each.tail for each in execution.outputs if isinstance(each, Stream))


@asynccontextmanager
async def far(folder: Path) -> AsyncGenerator[Far]:
    async with house() as made:
        token = await made.local.create_token(ActorId("runtime:gpu"), ("read", "serve"))
        runtime = await RemoteWorkspace.open(made.line.url, token.secret, pauses=())
        try:
            it = Far(made, runtime, folder / "spool")
            await it.claim()
            yield it
        finally:
            await runtime.close()


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Far]:
    async with far(tmp_path) as made:
        yield made


def numbers(last: int) -> str:
    return "".join(f"{number:06d}\n" for number in range(last))


async def test_what_is_said_while_the_workspace_is_away_is_there_once_and_in_order_when_it_is_back(
    runtime: Far,
) -> None:
    """Rule 11."""
    spool = runtime.spool()
    recorder = Recorder(spool.of(EXECUTION, lambda: None), pause_seconds=0)
    recorder.say(runtime.started(), *runtime.texts(0, 10))
    await recorder.settle()
    runtime.away()
    for first in range(10, 1000, 10):
        recorder.say(*runtime.texts(first, first + 10))
        await recorder.settle()
    recorder.say(runtime.finished())
    await recorder.close()
    (folder,) = runtime.folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0 and folder.name == f"gpu-{LOG}"
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    assert len(await runtime.printed()) <= 7 * 20, "the rest is on disk"
    runtime.back()
    await spool.drained()
    await spool.close()
    assert await runtime.printed() == numbers(1000)
    entries = await runtime.house.local.entries(LOG, types=["stream_appended"], limit=5000)
    assert len(entries) == 1000, "nothing was recorded twice"
    assert (await runtime.house.local.read(LOG)).cells[CellId("a")].state == "ok"
    assert list(runtime.folder.iterdir()) == [], "nothing is left behind"
    assert "is back" in runtime.told[-1]


async def test_an_answer_that_was_lost_is_asked_for_again_and_adds_nothing(runtime: Far) -> None:
    spool = runtime.spool()
    recorder = Recorder(spool.of(EXECUTION, lambda: None), pause_seconds=0)
    recorder.say(runtime.started())
    await recorder.settle()
    drafts = [draft(event) for event in runtime.texts(0, 100)]
    await runtime.runtime.submit(LOG, drafts[:30])
    # In another company than the first time: some are recorded, and some are not.
    await spool.of(EXECUTION, lambda: None).submit(drafts[20:])
    await recorder.close()
    await spool.close()
    assert await runtime.printed() == numbers(100)
    assert runtime.told == []


async def test_blobs_wait_on_disk_before_the_events_that_name_them(runtime: Far) -> None:
    spool = runtime.spool()
    recorder = Recorder(spool.of(EXECUTION, lambda: None), pause_seconds=0)
    recorder.say(runtime.started())
    await recorder.settle()
    runtime.away()
    picture = kept(b"\x89PNG" + b"p" * 50_000, "image/png")
    shown = e.OutputAdded(
        execution=EXECUTION, epoch=runtime.epoch, chunk=0, output=e.Display(data={}, blobs={"image/png": picture.ref})
    )
    await recorder.show(EventBatch(events=[shown], blobs={picture.ref.hash: picture}))
    with SpooledTemporaryFile() as file:  # gone before the workspace is back
        showing = ExecutionDisplays(EXECUTION, runtime.epoch, cast("Tape", file), first_chunk=1)
        showing.take(KernelMessage(type="stream", content={"name": "stdout", "text": "long\n" * 100_000}))
        await recorder.show(showing.finish())
    recorder.say(runtime.finished())
    await recorder.close()
    assert len(list(next(runtime.folder.iterdir()).glob("*.blob"))) == 2
    runtime.back()
    await spool.drained()
    await spool.close()
    execution = (await runtime.house.local.read(LOG)).cells[CellId("a")].execution
    assert execution is not None and execution.state == "ok"
    long = execution.outputs[1]
    assert isinstance(long, Stream) and long.blob is not None
    assert await bytes_of(runtime, picture.ref) == b"\x89PNG" + b"p" * 50_000
    assert await bytes_of(runtime, long.blob) == b"long\n" * 100_000


async def test_no_secret_reaches_the_disk(runtime: Far) -> None:
    """Rule 16: also one that arrives in pieces."""
    secret = "very-secret-value"
    spool, remover = runtime.spool(), Remover({"KEY": secret})
    recorder = Recorder(spool.of(EXECUTION, lambda: None), remover, pause_seconds=0)
    recorder.say(runtime.started())
    await recorder.settle()
    runtime.away()
    with SpooledTemporaryFile() as file:
        showing = ExecutionDisplays(EXECUTION, runtime.epoch, cast("Tape", file), remover)
        for piece in ("before very-sec", "ret-val", "ue after\n", f"{secret}\n" * 10_000):
            showing.take(KernelMessage(type="stream", content={"name": "stdout", "text": piece}))
            await recorder.show(showing.flush())
        data = {"text/plain": secret, "text/html": f"<b>{secret}</b>" * 5000}
        showing.take(KernelMessage(type="display_data", content={"data": data, "metadata": {}}))
        await recorder.show(showing.finish())
    await recorder.close()
    (folder,) = runtime.folder.iterdir()
    kept_here = [path.read_bytes() for path in folder.iterdir()]
    assert len(kept_here) > 3 and not any(secret.encode() in each for each in kept_here)
    runtime.back()
    await spool.drained()
    await spool.close()
    assert secret not in await runtime.printed()


async def bytes_of(runtime: Far, ref: BlobRef) -> bytes:
    return b"".join([piece async for piece in runtime.house.local.open_blob(ref.hash)])


async def test_what_is_refused_is_dropped_and_told_and_the_next_execution_is_heard(runtime: Far) -> None:
    """Rule 10: never under another epoch."""
    spool, lost = runtime.spool(), asyncio.Event()
    recorder = Recorder(spool.of(EXECUTION, lost.set), pause_seconds=0)
    recorder.say(runtime.started())
    await recorder.settle()
    runtime.away()
    recorder.say(*runtime.texts(0, 10))
    await recorder.settle()
    system = runtime.house.local.acting_as(identities.system())
    gone = e.ExecutionFinished(execution=EXECUTION, epoch=runtime.epoch, status="lost")
    await system.submit(LOG, [draft(gone)])
    runtime.back()
    await asyncio.wait_for(lost.wait(), 60)
    recorder.say(*runtime.texts(10, 20), runtime.finished())
    await recorder.close()
    await spool.drained()
    assert spool.has_dropped(EXECUTION) and "is dropped" in " ".join(runtime.told)
    assert await runtime.printed() == ""
    other = ExecutionId("another")
    request = e.ExecutionRequested(execution=other, cell=CellId("a"), source_hash=source_hash("1"))
    await runtime.house.say(request)
    outlet = spool.of(other, lambda: None)
    await outlet.submit([draft(e.ExecutionClaimed(execution=other, runtime=runtime.me))])
    await spool.close()
    assert (await runtime.house.local.read(LOG)).execution(other).state == "claimed"  # type: ignore[union-attr]
    assert list(runtime.folder.iterdir()) == []


async def test_what_one_process_could_not_send_is_sent_by_the_next_of_the_same_actor(runtime: Far) -> None:
    spool = runtime.spool()
    recorder = Recorder(spool.of(EXECUTION, lambda: None), pause_seconds=0)
    runtime.away()
    recorder.say(runtime.started(), *runtime.texts(0, 50))
    await recorder.settle()
    recorder.say(*runtime.texts(50, 100), runtime.finished())
    await recorder.close()
    await spool.close()
    (folder,) = runtime.folder.iterdir()
    assert str(folder) in runtime.told[-1]
    with (folder / "00000001.lines").open("ab") as file:
        file.write(b'{"execution":"cut off')
    elsewhere = ("runtime:gpu", "n-of-another-workspace"), ("runtime:other", LOG)
    for actor, log in elsewhere:
        about = SpoolInfo(actor=ActorId(actor), log=type(LOG)(log))
        files = SpoolFiles(folder_of(runtime.folder, about.actor, about.log), about)
        files.add(Unit(execution=EXECUTION, drafts=(Draft(id="x", event=runtime.finished()),)))  # type: ignore[arg-type]
        files.close()
    runtime.back()

    async def here(about: SpoolInfo) -> RemoteWorkspace:
        return runtime.runtime

    mine = [about for about in left_behind(runtime.folder) if about.actor == runtime.me]
    await send_left_behind(runtime.runtime, mine, here, runtime.folder, runtime.told.append)
    assert await runtime.printed() == numbers(100)
    assert (await runtime.house.local.read(LOG)).cells[CellId("a")].state == "ok"
    names = sorted(path.name for path in runtime.folder.iterdir())
    assert names == ["gpu-n-of-another-workspace", f"other-{LOG}"], "what is not ours to send stays where it is"


async def test_a_full_disk_holds_back_whoever_speaks_and_loses_nothing(runtime: Far) -> None:
    spool = runtime.spool()
    recorder = Recorder(spool.of(EXECUTION, lambda: None), pause_seconds=0)
    recorder.say(runtime.started(), *runtime.texts(0, 10))
    await recorder.settle()
    runtime.away()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
        recorder.say(*runtime.texts(10, 1000))
        speaking = asyncio.ensure_future(recorder.settle())
        await until(lambda: any("the kernel waits" in told for told in runtime.told))
        assert not speaking.done()
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        await asyncio.wait_for(speaking, 60)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    recorder.say(runtime.finished())
    await recorder.close()
    runtime.back()
    await spool.drained()
    await spool.close()
    assert await runtime.printed() == numbers(1000)


async def test_a_full_disk_is_no_matter_once_the_workspace_answers(runtime: Far) -> None:
    spool = runtime.spool()
    recorder = Recorder(spool.of(EXECUTION, lambda: None), pause_seconds=0)
    recorder.say(runtime.started())
    await recorder.settle()
    runtime.away()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        recorder.say(*runtime.texts(0, 100))
        speaking = asyncio.ensure_future(recorder.settle())
        await until(lambda: any("the kernel waits" in told for told in runtime.told))
        runtime.back()
        await asyncio.wait_for(speaking, 60)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    await recorder.close()
    await spool.close()
    assert await runtime.printed() == numbers(100)


async def test_one_process_at_a_time_is_a_runtime_in_a_log(runtime: Far, tmp_path: Path) -> None:
    spool = runtime.spool()
    with pytest.raises(Conflict, match="End that one"):
        runtime.spool()
    await spool.close()
    await runtime.spool().close()
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="XDG_STATE_HOME"):
        Spool(runtime.runtime, LOG, tmp_path / "file", runtime.told.append)


async def test_a_token_that_was_revoked_ends_it(runtime: Far) -> None:
    spool, lost = runtime.spool(), asyncio.Event()
    recorder = Recorder(spool.of(EXECUTION, lost.set), pause_seconds=0)
    (token,) = [each for each in await runtime.house.local.tokens() if each.allows.actor == runtime.me]
    await runtime.house.local.submit(WORKSPACE_LOG, [draft(e.TokenRevoked(token=token.token))])
    recorder.say(runtime.started())
    await recorder.close()
    await spool.close()
    assert lost.is_set() and "revoked" in runtime.told[-1]
    with pytest.raises(Refused):
        await runtime.runtime.read(LOG)
