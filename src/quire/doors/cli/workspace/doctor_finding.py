"""What `quire doctor` finds."""

from __future__ import annotations

from typing import Literal

import msgspec


class DoctorFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    area: str
    state: Literal["ok", "warning", "fault"]
    what: str
    next: str = ""
    """What to do about it; where `what` says so itself, nothing."""


def ok(area: str, what: str) -> DoctorFinding:
    """All is well."""
    return DoctorFinding(area=area, state="ok", what=what)


def warning(area: str, what: str, next: str = "") -> DoctorFinding:
    """It works, and could bite."""
    return DoctorFinding(area=area, state="warning", what=what, next=next)


def fault(area: str, what: str, next: str = "") -> DoctorFinding:
    """It does not work."""
    return DoctorFinding(area=area, state="fault", what=what, next=next)
