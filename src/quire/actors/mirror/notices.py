"""What a person is told of one notebook and its file: each thing once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ...core.events import ConflictRaised, Entry


class Voice:
    """Tells somebody."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = ""
        self.left: set[Path] = set()
        """What a person was told of that stands beside the file."""

    def say(self, message: str) -> None:
        """Say something once, not with every look at what has not changed."""
        if message and message != self._told:
            self._tell(message)
        self._told = message

    def say_conflicts(self, entries: Iterable[Entry], path: str) -> None:
        """Say which conflicts were raised, and how they end."""
        for conflict in (entry.event for entry in entries):
            if isinstance(conflict, ConflictRaised):
                told = f"{path} and the log changed cell {conflict.cell} in the same lines. The log's text stands"
                self._tell(
                    f"{told}; conflict {conflict.conflict} keeps both: `quire conflicts show {conflict.conflict}`."
                )

    def say_left(self, file: Path, path: str) -> None:
        """Say that something is nowhere but beside the file."""
        if file not in self.left:
            self.left.add(file)
            self._tell(f"{file} was saved while {path} was written. Compare the two, then remove it.")
