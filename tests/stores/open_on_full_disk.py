"""Open a store on a disk that has room for almost nothing: `python -m tests.stores.open_on_full_disk DISK`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from quire.core.errors import Unavailable
from quire.stores.sqlite.sqlite_store import SqliteStore

from ..journeys.fill_disk import fill


async def opened(path: Path) -> None:
    """Open it and close it again: nothing is left beside the file."""
    store = SqliteStore(path)
    await store.logs()
    await store.close()


def main(disk: Path) -> None:
    path = disk / "quire.db"
    asyncio.run(opened(path))
    for left in (0, 4096, 16384):
        ballast = fill(disk)
        os.truncate(ballast, ballast.stat().st_size - left)
        try:
            asyncio.run(opened(path))
        except Unavailable as error:
            assert "the disk is full" in str(error), f"{left}: {error}"
        else:
            raise AssertionError(f"{left} octets are enough")
        ballast.unlink()
    asyncio.run(opened(path))
    sys.stdout.write("went on\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
