"""A run whose writer is held until its kernel can go no further: `python -m tests.actors.runtime.hold_writer NOTEBOOK TOTAL WHAT`.

The cell notes in the file `progress` how much it has shown, and in `kernel` its process. WHAT is held: `blobs` or `events`.
Prints the peak memory of this process and of the kernel at that moment, and ends both.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import quire
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.writer import SqliteWriter

STILL_SECONDS = 1.0
"""A kernel that has shown nothing for so long is held back. One that is only slow makes the test easier, never wrong."""


def peak(pid: int) -> int:
    """The most memory that a process ever had, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def read(name: str) -> str:
    """What a cell wrote into a file, if it has."""
    path = Path(name)
    return path.read_text() if path.exists() else ""


def hold(total: str) -> None:
    """Wait until all is shown or nothing more is; then tell, and end."""
    if not read("progress"):
        return
    last, since = "", time.monotonic()
    while last != total and time.monotonic() - since < STILL_SECONDS:
        if (now := read("progress")) != last:
            last, since = now, time.monotonic()
        time.sleep(0.01)
    kernel = int(read("kernel"))
    told = {"client": peak(os.getpid()), "kernel": peak(kernel), "shown": int(last)}
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()
    os.kill(kernel, signal.SIGKILL)
    os._exit(0)


def main(notebook: str, total: str, what: str) -> None:
    """Run, held."""
    held: Any = FolderBlobs if what == "blobs" else SqliteWriter
    name = "_keep" if what == "blobs" else "_commit"
    before = getattr(held, name)

    def waiting(self: Any, *arguments: Any) -> Any:
        hold(total)
        return before(self, *arguments)

    setattr(held, name, waiting)
    quire.run(notebook)


if __name__ == "__main__":
    main(*sys.argv[1:])
