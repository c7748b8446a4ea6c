"""Events on their way into the log of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import Unavailable
from quire.core.ids import CellId, LogId
from quire.outputs.display_events import EventBatch
from quire.outputs.recorder import Recorder, Straight
from quire.outputs.streams import kept
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.local import LocalWorkspace


async def test_what_was_said_before_a_blob_that_cannot_be_kept_is_recorded(tmp_path: Path) -> None:
    blobs = tmp_path / "blobs"
    workspace = LocalWorkspace(MemoryStore(), FolderBlobs(blobs))
    log = LogId("n")
    recorder = Recorder(Straight(workspace, log))
    shutil.rmtree(blobs, ignore_errors=True)
    blobs.touch()  # there is nowhere to keep it
    picture = kept(b"x" * 100_000, "image/png")
    # No turn of the loop between them: they would go into one commit.
    recorder.say(e.NotebookCreated(name="n"), e.CellAdded(cell=CellId("a"), kind="code", source="1", after=None))
    await recorder.show(EventBatch(events=[], blobs={picture.ref.hash: picture}))
    recorder.say(e.CellAdded(cell=CellId("b"), kind="code", source="2", after=CellId("a")))
    with pytest.raises(Unavailable):
        await recorder.close()
    assert [cell.id for cell in (await workspace.read(log)).live_cells] == ["a"]
    with pytest.raises(Unavailable):
        recorder.say(e.CellAdded(cell=CellId("c"), kind="code", source="3", after=None))
