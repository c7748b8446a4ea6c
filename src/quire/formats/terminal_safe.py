"""What cells print, and names, without anything that would steer the reader's terminal.

Escape sequences go: in output they are colours and cursor movements. A source is shown by `quire.core.visible` instead,
which takes nothing away.
"""

from __future__ import annotations

import re

from ..core.visible import first_line, harmless

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

NO_REASON = "no reason given"
"""Stands where a proposal has no reason."""


def plain(text: str) -> str:
    """Return output without escape sequences, and with other control characters made visible."""
    return harmless(_ANSI.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, width: int = 60) -> str:
    """Return the first line that has text, without escape sequences, cut to `width`."""
    return first_line(plain(text), width)


def reason_line(why: str, width: int = 60) -> str:
    """Return the reason of a proposal in one line. What a token with `asks` submits becomes a proposal without one."""
    return one_line(why, width) or NO_REASON
