"""Text that is safe to show: what others wrote must not steer the reader's terminal."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Controls, the marks that make text run backwards, hide or break lines, and halves of surrogate pairs, which no text can hold.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """Return `text` without escape sequences, with other control characters made visible."""
    text = _ANSI.sub("", text.replace("\r\n", "\n"))
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def one_line(text: str, width: int = 60) -> str:
    """Return the first line that says anything, cut to `width`."""
    line = next((line.strip() for line in plain(text).splitlines() if line.strip()), "")
    return line if len(line) <= width else line[: width - 1] + "…"
