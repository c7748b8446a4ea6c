"""What somebody wants of a logbook: which template, with which values, in whose words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from .template_files import Template


class LogbookRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants of a logbook."""

    template: Template
    root: Path
    """The folder whose `logbooks/` it is."""
    values: dict[str, Any] = {}
    request: str = ""
    """The user's words, whole."""
    sources: dict[str, str] = {}
    """Where values come from that somebody worked out."""
    approve: bool = False
    """Whether each step waits for somebody's yes."""
    kernel: str | None = None
    timeout: float | None = None
    execution_timeout: float | None = None
