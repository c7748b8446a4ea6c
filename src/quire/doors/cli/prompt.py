"""Asking on a terminal, before a run begins, for what a notebook needs and nobody provides."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import click

from ...formats.terminal_safe import one_line, plain


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
