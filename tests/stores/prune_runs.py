"""A process that prunes old runs and collects their blobs, to be killed: `python -m tests.stores.prune_runs FOLDER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.stores.blobs_folder import FolderBlobs
from quire.stores.sqlite import SqliteStore
from quire.workspace import access, pruning
from quire.workspace.local import LocalWorkspace
from quire.workspace.references import References


def tell(word: str) -> None:
    """Say how far it is."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(folder: Path) -> None:
    """Prune run by run; after each, collect what nothing refers to, however young."""
    store, blobs = SqliteStore(folder / "quire.db"), FolderBlobs(folder / "blobs")
    workspace = LocalWorkspace(store, blobs, access.owner())
    references = References(store)
    plan = await workspace.plan_prune("30d")
    tell("ready")
    async for step in pruning.prune(store, access.owner(), plan):
        assert step.pruned is not None, step
        tell(step.pruned.log)
        await pruning.collect_blobs(store, blobs, references, grace_seconds=0)
    await workspace.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
