"""Time zones by name, as the system or the package tzdata has them."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from ...core.errors import BadInput
from ...core.ids import nearest


def find_zone(name: str) -> tzinfo:
    """Return the zone of a name such as Europe/Zurich, or say that there is none and which come close."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        close = nearest(name, available_timezones())
        hint = (
            f" Did you mean {', '.join(close)}?" if close else " Names are such as Europe/Zurich and America/New_York."
        )
        raise BadInput(f"There is no time zone {name[:80]!r} on this machine.{hint}") from None
