"""A notebook that goes wrong, run by the real `quire`; what is left of it afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

import nbformat

from .owner import check_chains, run_record

QUIRE = str(Path(sys.executable).parent / "quire")
DEADLINE_SECONDS = 120.0


def wait_until(what: Callable[[], bool], why: str) -> None:
    """Look again and again until it is so."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while not what():
        assert time.monotonic() < ends, why
        time.sleep(0.02)


def stand_still(pid: int) -> None:
    """Stop a process, and wait until all its threads have: one may go on for a moment, and take a lock."""
    os.kill(pid, signal.SIGSTOP)

    def stands() -> bool:
        states = [path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat")]
        return all(state in "TZ" for state in states)

    wait_until(stands, f"{pid} does not stop")


@contextlib.contextmanager
def heeded(number: signal.Signals) -> Generator[None]:
    """Let what is started heed a signal, which `nohup` and shells have ignored by what they start."""
    before = signal.getsignal(number)
    if before is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


class Faulty:
    """A folder with a notebook of which one cell goes wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "out.ipynb"
        self._mark = f"FAULTY_{uuid.uuid4().hex}"
        self.environ = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        self.environ[self._mark] = "1"

    def write(self, *sources: str) -> None:
        cells = "\n\n".join(f'# %% name="cell-{number}"\n{source}' for number, source in enumerate(sources, 1))
        (self.folder / "n.py").write_text(cells + "\n")

    def run(self, *flags: str, source: str = "n.py") -> subprocess.CompletedProcess[str]:
        """Run it to the end."""
        return self.quire("run", source, str(self.output), "--json", *flags)

    def quire(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run([QUIRE, *words], cwd=cwd or self.folder, env=self.environ, capture_output=True, text=True)

    @contextlib.contextmanager
    def running(self, *flags: str, begun: str = "begun") -> Generator[subprocess.Popen[str]]:
        """Run it, and go on when a cell has made the file `begun`."""
        words = [QUIRE, "run", "n.py", str(self.output), "--json", *flags]
        pipe = subprocess.PIPE
        client = subprocess.Popen(
            words, cwd=self.folder, env=self.environ, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        try:
            wait_until(lambda: (self.folder / begun).exists() or client.poll() is not None, "the cell did not begin")
            assert client.poll() is None, client.communicate()
            yield client
        finally:
            if client.poll() is None:
                client.kill()
            client.communicate()

    def signalled(self, number: signal.Signals, *flags: str) -> tuple[int, Any, str]:
        """Run it, send a signal to its process group while a cell runs: exit status, outcome, stderr."""
        with heeded(number), self.running(*flags) as client:
            os.killpg(client.pid, number)
            out, err = client.communicate(timeout=DEADLINE_SECONDS)
        return client.returncode, json.loads(out) if out.strip() else None, err

    def has_recorded_text(self) -> bool:
        """Whether the log has something that a cell printed."""
        with contextlib.closing(sqlite3.connect(self.folder / ".quire" / "quire.db")) as db:
            return bool(db.execute("select 1 from events where type = 'stream_appended'").fetchone())

    # ---- What is left

    def book(self) -> Any:
        """The output, which has to be a valid notebook."""
        read: Any = cast("Any", nbformat).read(self.output, as_version=4)
        cast("Any", nbformat).validate(read)
        return read

    def cells(self) -> list[Any]:
        """The cells of the output without papermill's marks of an error."""
        return [cell for cell in self.book().cells if "papermill-error-cell-tag" not in cell.metadata.get("tags", [])]

    def statuses(self) -> list[str]:
        """What papermill's metadata says of each cell that stems from the source."""
        return [cell.metadata.papermill.status for cell in self.cells()]

    def text(self, cell: int) -> str:
        return "".join(output.get("text", "") for output in self.cells()[cell].outputs)

    def states(self, run: str) -> list[str]:
        """What the log says of each cell."""
        return [cell.state for cell in run_record(self.folder, run).cells]

    def kernels(self) -> list[int]:
        """The processes that were started for it and still live, ours and the kernels'."""
        found: list[int] = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self._mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def is_left_alone(self) -> None:
        """No process is left, and the chains of all logs hold."""
        wait_until(lambda: not self.kernels(), f"processes are left: {self.kernels()}")
        check_chains(self.folder)
