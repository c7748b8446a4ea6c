"""A terminal on which lines scroll by above a few that are redrawn in their place.

The cursor rests at the start of the redrawn lines: what lies below it is erased at each
redraw, so a window that was made narrower, and wrapped what was there, is clean again at the
next one. Nothing is known of the terminal but the sequences that all of them have.

What is asked on a terminal is asked here as well.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import threading
import unicodedata
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TextIO

import click

from ...formats.terminal_safe import one_line, plain

MOST_WAITING = 1_000_000
"""So many bytes wait for a reader that does not read; what comes after them is counted, and dropped."""
_ERASE = "\r\x1b[J"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"


def moves(stream: TextIO) -> bool:
    """Whether this is a terminal on which something can be redrawn."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def coloured(stream: TextIO) -> bool:
    """Whether it is one that may show colours."""
    return moves(stream) and not os.environ.get("NO_COLOR")


class TerminalWriter:
    """Writes from a thread of its own: a terminal that somebody stopped, or a pipe that nobody reads, stops no run."""

    def __init__(self, stream: TextIO) -> None:
        self._fd = stream.fileno()
        self._encoding = stream.encoding
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        # Each is changed by one thread only: what was given, and what is done with.
        self._given = self._done = 0
        self._dropped = 0

    @property
    def idle(self) -> bool:
        """Whether all that was given is written."""
        return self._given == self._done

    def write(self, text: str) -> None:
        """Have it written, now or as soon as somebody reads."""
        if self._given - self._done > MOST_WAITING:
            self._dropped += len(text)
            return
        if self._dropped:
            text = f"\n[… {self._dropped:,} characters were not read in time …]\n{text}"
            self._dropped = 0
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        data = text.encode(self._encoding, "backslashreplace")
        self._given += len(data)
        self._queue.put(data)

    def close(self) -> None:
        """Wait until all is written."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        gone = False
        while (data := self._queue.get()) is not None:
            view = memoryview(data)
            while view and not gone:
                try:
                    view = view[os.write(self._fd, view) :]
                except BlockingIOError:
                    threading.Event().wait(0.02)
                except OSError:
                    gone = True  # whoever looked has left; the work goes on
            self._done += len(data)


class Screen:
    """Lines that stay, and below them lines that are redrawn."""

    def __init__(self, stream: TextIO) -> None:
        self._writer = TerminalWriter(stream)
        self._fd = stream.fileno()
        self._printed: list[str] = []
        self._size = 0
        self._drawn: Sequence[str] = ()
        self._dropped = 0

    @property
    def width(self) -> int:
        """Columns, as many as there are now."""
        try:
            return max(10, os.get_terminal_size(self._fd).columns or 80)
        except OSError:
            return 80

    @property
    def idle(self) -> bool:
        """Whether the terminal has taken all that it was given."""
        return self._writer.idle

    def print(self, line: str) -> None:
        """Have a line scroll by, at the next `draw`."""
        if self._size > MOST_WAITING:
            self._dropped += 1
            return
        self._size += len(line)
        self._printed.append(line)

    def draw(self, lines: Sequence[str]) -> None:
        """Show what was printed since, and these lines below it. Nothing is written when nothing changed."""
        if not self._writer.idle or (not self._printed and list(lines) == list(self._drawn)):
            return
        self._writer.write(self._above() + _NO_WRAP + _block(lines) + _WRAP)
        self._drawn = lines

    def clear(self, text: str = "") -> None:
        """Take the redrawn lines away, and put `text` where they were."""
        self._writer.write(self._above() + "\x1b[J" * bool(self._drawn) + text)
        self._drawn = ()

    def close(self) -> None:
        """Leave the terminal as it was, with what was printed on it."""
        self.clear()
        self._writer.close()

    def _above(self) -> str:
        if self._dropped:
            self._printed.append(f"[… {self._dropped:,} lines were not read in time …]")
        text = "".join(f"{line}\n" for line in self._printed)
        self._printed, self._size, self._dropped = [], 0, 0
        return (_ERASE if self._drawn and text else "\r" * bool(self._drawn)) + text


def _block(lines: Sequence[str]) -> str:
    """The lines, each cleared to its end, and all below; the cursor ends where it began."""
    up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
    return "\x1b[K\n".join(lines) + "\x1b[K\x1b[J" + up + "\r"


def columns(text: str) -> int:
    """How many columns a terminal gives to a text without control characters."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, width: int) -> str:
    """The beginning of a text that fits into so many columns."""
    if columns(text) <= width:
        return text
    taken = 0
    for number, char in enumerate(text):
        taken += _columns(char)
        if taken > width - 1:
            return text[:number] + "…"
    return text


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


async def read_line(prompt: str, say: Callable[[str], None], *, echo: bool) -> str:
    """Ask by `say`, and return what somebody types at the terminal; EOFError when nobody does any more.

    Not by `input` or `getpass` in a thread: that could not be stopped, and with it the process.
    """
    fd, loop = sys.stdin.fileno(), asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()

    def take() -> None:
        if not typed.done():
            try:
                typed.set_result(os.read(fd, 65536))
            except OSError:
                typed.set_result(b"")

    before = termios.tcgetattr(fd)
    if not echo:
        # Before the prompt: who sees it may type at once, and nothing of that is to be shown or lost. And without
        # waiting for what is still to be printed: a terminal that was stopped would hold up the run.
        termios.tcflush(fd, termios.TCIFLUSH)
        termios.tcsetattr(fd, termios.TCSANOW, [*before[:3], before[3] & ~termios.ECHO, *before[4:]])
    loop.add_reader(fd, take)
    line = b""
    try:
        say(prompt)
        line = await typed
    finally:
        loop.remove_reader(fd)
        termios.tcsetattr(fd, termios.TCSANOW, before)
        if not (echo and line.endswith(b"\n")):
            say("\n")  # the terminal did not go to the next line by itself
    if not line:
        raise EOFError
    return line.decode(errors="replace").removesuffix("\n")


class OnTerminal:
    """Asks on stderr, so that stdout has the outcome alone. A secret is typed without being shown."""

    def value(self, name: str, *, is_secret: bool) -> str:
        """Ask for the value of a variable."""
        note = " (secret: not shown, and not kept)" if is_secret else ""
        with _interruptible():
            return click.prompt(
                f"{one_line(name)}{note}", hide_input=is_secret, default="", show_default=False, err=True, type=str
            )

    def agrees(self, why: str, command: str) -> bool:
        """Ask whether to run a command."""
        click.echo(f"{plain(why)}\n  {plain(command)}", err=True)
        with _interruptible():
            return click.confirm("Run that now?", default=False, err=True)


def terminal_prompter() -> OnTerminal | None:
    """Return a prompter if stdin and stderr are terminals, else None: nobody would see the question (rule 14)."""
    # A stream that was closed before we began is None, whatever its type says.
    streams: tuple[Any, ...] = (sys.stdin, sys.stderr)
    return OnTerminal() if all(each is not None and each.isatty() for each in streams) else None


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C end the question at once: an event loop would wait for the answer first."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
