"""What `quire doctor` finds."""

from __future__ import annotations

from typing import Literal

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    area: str
    state: Literal["ok", "warning", "fault"]
    what: str
    next: str = ""
    """What to do about it; where `what` says so itself, nothing."""


def ok(area: str, what: str) -> Finding:
    """All is well."""
    return Finding(area=area, state="ok", what=what)


def warning(area: str, what: str, next: str = "") -> Finding:
    """It works, and could bite."""
    return Finding(area=area, state="warning", what=what, next=next)


def fault(area: str, what: str, next: str = "") -> Finding:
    """It does not work."""
    return Finding(area=area, state="fault", what=what, next=next)
