"""Those who look on while a run goes on: files, Python's log, lines of progress."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from ..actors.runtime.run_cell import CellRunOutcome
from ..actors.runtime.run_notebook import RunObserver
from ..core.errors import BadInput
from ..core.sheet.sheet import SheetCell
from ..core.visible import visible_line
from ..formats.terminal_safe import one_line
from ..outputs.display_events import KernelMessage
from ..outputs.secrets import Remover

LOG = logging.getLogger("quire")
"""Where Python's users find what a run has to say."""


class Writable(Protocol):
    """As much of a file as is needed to write text into it."""

    def write(self, text: str, /) -> object:
        """Take text."""
        ...

    def flush(self) -> object:
        """Pass it on."""
        ...


class Streams(RunObserver):
    """What cells print, as they print it, without secrets (rule 16)."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._remover = Remover(secrets)

    def heard(self, message: KernelMessage) -> None:
        """Pass on the text of a stream."""
        if message.type == "stream":
            name = "stderr" if message.content.get("name") == "stderr" else "stdout"
            self._pass_on(name, self._remover.feed(name, str(message.content.get("text", ""))))

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """Pass on what was held back as the possible beginning of a secret."""
        for name in ("stdout", "stderr"):
            self._pass_on(name, self._remover.flush(name))

    def _pass_on(self, name: str, text: str) -> None:
        if text:
            self.printed(name, text)

    def printed(self, name: str, text: str) -> None:
        """Text of `stdout` or `stderr`: override this."""


class Files(Streams):
    """papermill's `stdout_file` and `stderr_file`. A file that cannot be written does not end a run."""

    def __init__(
        self, secrets: Mapping[str, str], files: Mapping[str, Writable | None], warn: Callable[[str], None]
    ) -> None:
        super().__init__(secrets)
        self._files = {name: file for name, file in files.items() if file is not None}
        self._warn = warn

    def printed(self, name: str, text: str) -> None:
        """Write it, and do not hold it back."""
        file = self._files.get(name)
        if file is None:
            return
        try:
            # Half of a surrogate pair is no text that a file can hold.
            file.write(text.encode("utf-8", "backslashreplace").decode())
            file.flush()
        except (OSError, ValueError) as error:
            del self._files[name]
            self._warn(f"The file for {name} cannot be written any more: {error}. The run goes on.")


def open_file(name: str | os.PathLike[str], closing: contextlib.ExitStack) -> Writable:
    """Open a file for a stream. What it does not take is told when it is written, not again when it is closed."""
    try:
        file = Path(name).open("w", encoding="utf-8")  # noqa: SIM115 - closed by whoever asks for it
    except OSError as error:
        raise BadInput(f"{os.fspath(name)} cannot be written: {error.strerror or error}.") from None

    def close() -> None:
        with contextlib.suppress(OSError):
            file.close()

    closing.callback(close)
    return file


class LoggedOutput(Streams):
    """papermill's `log_output`: what cells print and show, in Python's log."""

    def heard(self, message: KernelMessage) -> None:
        """Also what a cell shows as text."""
        super().heard(message)
        if message.type in ("display_data", "execute_result"):
            data = message.content.get("data")
            text = data.get("text/plain") if isinstance(data, dict) else None  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
            if isinstance(text, str):
                LOG.info("%s", self._remover.clean_text(text))

    def printed(self, name: str, text: str) -> None:
        """At the levels that papermill has for the two."""
        LOG.log(logging.WARNING if name == "stderr" else logging.INFO, "%s", text)


class Lines(RunObserver):
    """papermill's `progress_bar`, as a line for each cell that has ended."""

    def __init__(self, cells: int, file: Writable) -> None:
        self._cells, self._file = cells, file

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """Say how it ended."""
        told = one_line(cell.name) if cell.name else visible_line(cell.source, 48)
        # Whoever closed it does not want to know.
        with contextlib.suppress(OSError, ValueError):
            self._file.write(f"{index + 1:>4}/{self._cells}  {ran.status:<9}  {told}\n")
            self._file.flush()
