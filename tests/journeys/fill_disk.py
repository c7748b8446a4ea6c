"""Run on a small disk: a server, its runtime and a cell that prints, while the disk is full and when there is room again."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from .faulty_notebook import wait_until
from .live_runtimes import end_runtimes, holders
from .remote_runtime import COUNTING, NUMBERS, ended, execution_of, request, until_printed
from .server import Folder, printed, until


def fill(disk: Path) -> Path:
    """Leave no room for a single byte."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size) == size:
                    pass
    return ballast


def main(disk: Path, beside: Path) -> None:
    folder = Folder(disk)
    # What the cell waits for is on another disk: it can go on while this one is full.
    told = {f'"{name}"': f'"{beside / name}"' for name in ("away", "said", "back")}
    text = COUNTING
    for before, after in told.items():
        text = text.replace(before, after)
    log = folder.notebook("count.py", text)
    server = folder.start("--lease", "1", "--look-every", "0.2")
    token = folder.token("read", "edit", "run")
    try:
        with server.client(token) as client:
            ended(client, log, request(client, log, "first"))
            execution = request(client, log, "count")
            until_printed(client, log, execution, "99\n")
            before = holders(disk)
            ballast = fill(disk)
            (beside / "away").touch()
            (beside / "back").touch()
            until(lambda: client.get("/health").status_code == 503, "nobody is told that the disk is full")
            assert "disk is full" in client.get("/health").text
            refused = client.post("/api/notebooks", json={"name": "new", "cells": []})
            assert refused.status_code == 503 and "disk is full" in refused.text, refused.text
            wait_until((beside / "said").exists, "the cell does not print while its runtime can")
            assert execution_of(client, log, execution)["state"] == "running"
            ballast.unlink()
            found = ended(client, log, execution)
            assert found["state"] == "ok" and printed(found) == NUMBERS, found["state"]
            assert printed(ended(client, log, request(client, log, "next"))) == "42\n"
            until(lambda: client.get("/health").status_code == 200, "it does not say that all is well again")
        assert holders(disk) == before, "by the same process"
        said = (disk / ".quire" / "runtimes" / f"{log}.log").read_text()
        assert "disk is full" in said and "the kernel waits until there is room" in said, said
        assert "the kernel goes on" in said, said
        assert server.end() == 0
        folder.verify()
    finally:
        with contextlib.suppress(OSError):
            (disk / "ballast").unlink()
        folder.close()
        end_runtimes(disk)
    sys.stdout.write("went on\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
