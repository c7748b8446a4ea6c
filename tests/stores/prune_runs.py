"""A process that prunes old runs and collects their blobs, to be killed: `python -m tests.stores.prune_runs FOLDER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace import prune_runs
from quire.workspace.identity import identities
from quire.workspace.identity.blob_access import References
from quire.workspace.local import LocalWorkspace


def tell(word: str) -> None:
    """Say how far it is."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(folder: Path) -> None:
    """Prune run by run; after each, collect what nothing refers to, however young."""
    store, blobs = SqliteStore(folder / "quire.db"), FolderBlobs(folder / "blobs")
    workspace = LocalWorkspace(store, blobs, identities.owner())
    references = References(store)
    plan = await workspace.plan_prune("30d")
    tell("ready")
    async for step in prune_runs.prune(store, identities.owner(), plan):
        assert step.pruned is not None, step
        tell(step.pruned.log)
        await prune_runs.collect_blobs(store, blobs, references, grace_seconds=0)
    await workspace.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
