"""Time and randomness, for everything above core: the one place where they come from."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

from ..core.ids import EventId, ulid


def now() -> str:
    """The time to stamp: UTC with microseconds, as text that sorts."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def new_id() -> EventId:
    """A new id for an event, a log, an execution, a proposal …"""
    return EventId(ulid(time.time_ns() // 1_000_000, os.urandom))
