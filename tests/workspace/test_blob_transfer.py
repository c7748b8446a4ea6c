"""Large things and lanes on their way over a bad line."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from hashlib import sha256

from quire.core import events as e
from quire.core.text import source_hash
from quire.workspace.protocol import Workspace
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from .cutting_proxy import relay
from .server_house import LOG, PATIENCE, again, house, seen


async def chunks(count: int, size: int) -> AsyncIterator[bytes]:
    for number in range(count):
        yield bytes([number % 251]) * size


async def test_a_blob_that_is_cut_off_goes_on_where_it_was() -> None:
    async with house() as made:
        ref = await made.remote.put_blob(chunks(50, 100_000), "image/png")
        whole = b"".join([chunk async for chunk in chunks(50, 100_000)])
        assert (ref.size, ref.hash) == (len(whole), sha256(whole).hexdigest())
        async with relay(made.server.port, [500_000, 1_200_000, 300_000, 2_000_000]) as bad:
            remote = await again(lambda: RemoteWorkspace.open(bad.url, made.token.secret))
            assert b"".join([chunk async for chunk in remote.open_blob(ref.hash)]) == whole
            assert bad.connections > 3
            for start, end in (
                (0, 10),
                (4_999_990, None),
                (100, 200),
                (4_999_999, 9_999_999),
                (5_000_000, None),
                (7, 7),
            ):
                got = b"".join([chunk async for chunk in remote.open_blob(ref.hash, start, end)])
                assert got == whole[start:end]
            await remote.close()


async def test_a_bundle_that_was_cut_off_is_never_half_a_file() -> None:
    async with house() as made:
        ref = await made.local.put_blob(bytes(range(256)) * 4000)
        await made.say(e.CellAdded(cell=e.CellId("a"), after=None, source="x"))
        await made.say(showing(ref))
        expected = io.BytesIO()
        carried = await made.local.export_bundle(LOG, expected)
        async with relay(made.server.port, [300, 700, 1500]) as bad:
            remote = await again(lambda: RemoteWorkspace.open(bad.url, made.token.secret))
            file = io.BytesIO()
            assert await again(lambda: remote.export_bundle(LOG, file)) == carried
            assert file.getvalue() == expected.getvalue()
            await remote.close()


def showing(ref: e.BlobRef) -> e.OutputsImported:
    return e.OutputsImported(
        execution=e.ExecutionId("o1"),
        cell=e.CellId("a"),
        source_hash=source_hash("x"),
        outputs=(e.Display(blobs={"image/png": ref}),),
    )


async def test_a_long_log_is_read_in_pages() -> None:
    async with house() as made:
        for number in range(3):
            await made.say(e.MetadataSet(values={f"k{number}": "x" * 5_000_000}))
        for _ in range(3):
            await made.say(*(e.NotebookRenamed(name=f"n{number}") for number in range(1000)))
        entries = await made.remote.entries(LOG, limit=5000)
        assert [entry.seq for entry in entries] == list(range(1, 3005))
        assert entries == await made.local.entries(LOG, limit=5000)
        assert [entry.seq for entry in await made.remote.entries(LOG, 1, 4, types=["metadata_set"], limit=2)] == [2, 3]


async def test_who_takes_nothing_holds_nobody_up_and_gets_it_all_at_last() -> None:
    count, size = 40, 1_000_000
    async with house() as made:
        slow = made.remote.follow(LOG)
        taken = [entry.seq for entry in await anext(slow)]
        for number in range(count):
            await made.say(e.MetadataSet(values={"x": f"{number}" + "x" * size}))
        assert await seen(made.remote.follow(LOG), count + 1) == list(range(1, count + 2))
        assert made.line.passed < 1.6 * count * size, "the one who took nothing was not sent it all"
        while taken[-1] < count + 1:
            taken += [entry.seq for entry in await asyncio.wait_for(anext(slow), PATIENCE)]
        assert taken == list(range(1, count + 2))


# ---- Lanes


async def test_lanes_lead_both_ways_and_over_a_cut() -> None:
    async with house() as made:
        heard: list[object] = []

        async def listen(workspace: Workspace) -> None:
            async for message in workspace.lanes.listen(f"{LOG}/presence"):
                heard.append(message)

        async def said(workspace: Workspace, message: str) -> None:
            async with asyncio.timeout(PATIENCE):
                while message not in heard:
                    workspace.lanes.say(f"{LOG}/presence", message)
                    await asyncio.sleep(0.02)

        listening = asyncio.create_task(listen(made.remote))
        await said(made.local, "from the server's own process")
        await said(made.remote, "from afar")
        made.line.cut()
        await said(made.local, "after the cut")
        listening.cancel()
        listening = asyncio.create_task(listen(made.local))
        heard.clear()
        await said(made.remote, "to the server's own process")
        listening.cancel()
