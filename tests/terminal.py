"""A real pseudo-terminal with `quire` on it, and what a person sees there."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from quire.doors.cli.screen import columns
from quire.outputs.terminal import Terminal

LONGEST_SECONDS = 240.0
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class OnTerminal:
    """A process whose stdin, stdout and stderr are a terminal. It is read only when somebody asks."""

    def __init__(self, *command: str, at: Path, width: int = 80, env: dict[str, str] | None = None) -> None:
        self._fd, child = pty.openpty()
        self._child = child
        self.resize(width)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
        settings = clean | {"TERM": "xterm-256color"} | (env or {})
        self.process = subprocess.Popen(
            command,
            cwd=at,
            stdin=child,
            stdout=child,
            stderr=child,
            env=settings,
            start_new_session=True,
            preexec_fn=_own,
        )
        self.raw = ""
        self._shown = ""
        self._terminal = Terminal()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in (self._fd, self._child):
            with contextlib.suppress(OSError):
                os.close(fd)

    @property
    def screen(self) -> str:
        """What is on it, and what has scrolled off, without colours."""
        return "\n".join(line.rstrip() for line in _COLOUR.sub("", self._shown).split("\n")).rstrip("\n")

    def resize(self, width: int, height: int = 24) -> None:
        """Make the window another size."""
        fcntl.ioctl(self._child, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._fd, keys.encode())

    def until(self, seen: Callable[[str], object]) -> str:
        """Read until the screen is as wanted, and return it."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not seen(self.screen):
            assert time.monotonic() < deadline, f"never seen on:\n{self.screen}"
            assert self._read() or self.process.poll() is None or seen(self.screen), f"it ended with:\n{self.screen}"
        return self.screen

    def end(self) -> int:
        """Read to the end, and return the exit status."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while self._read() or self.process.poll() is None:
            assert time.monotonic() < deadline, f"never ended:\n{self.screen}"
        return self.process.wait()

    def _read(self) -> bool:
        """Take what there is, or wait a moment for it. Say whether there was any."""
        if not select.select([self._fd], [], [], 0.05)[0]:
            return False
        text = self._decoder.decode(os.read(self._fd, 65536))
        self.raw += text
        changed = self._terminal.feed(text)
        if changed is not None:
            self._shown = self._shown[: changed[0]] + changed[1]
        return True


def drawn(raw: str) -> list[list[str]]:
    """Every view that was drawn: its lines without colours, for between the marks wrapping is off."""
    views = re.findall(r"\x1b\[\?7l(.*?)\x1b\[\?7h", raw, re.DOTALL)
    return [re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", view).split("\n") for view in views]


def widest(view: list[str]) -> int:
    """How many columns the widest line of a view takes."""
    return max(map(columns, view))


def _own() -> None:
    """Make the terminal that of the new process, so that its keys send signals."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
