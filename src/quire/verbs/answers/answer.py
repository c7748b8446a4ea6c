"""Where a verb acts, and what it answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...core.ids import CellId, LogId
from ...core.values import Json
from ...workspace.protocol import Workspace

if TYPE_CHECKING:
    from ...workspace.lanes.agent_presence import AgentPresence
    from ...workspace.lanes.lane_messages import Doing


class Here(msgspec.Struct, frozen=True, kw_only=True):
    """Where a verb acts, and as whom."""

    workspace: Workspace
    folder: Path | None = None
    """The folder whose notebook files may be read, opened and made; None: files are left alone."""
    may_start: bool = False
    """Whether runtimes and runs may be started from here, as processes of this machine."""
    presence: AgentPresence | None = None
    """Where the actor is shown to others; None: nowhere."""

    @property
    def may_read_files(self) -> bool:
        """Whether files may be read from here: not by a token for some notebooks, for others lie about as files.

        Nor by one that only reads or edits: it is for what is in the logs. Who may bind could bind a notebook to any of the
        files, and who runs cells reads files anyway.
        """
        identity = self.workspace.identity
        return self.folder is not None and identity.notebooks is None and bool(identity.scopes & {"bind", "run"})

    async def at(self, log: LogId | None, doing: Doing, cell: CellId | None = None) -> None:
        """Show others where the actor is, and what it does there."""
        if self.presence is not None and log is not None:
            await self.presence.at(log, doing, cell)


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An image, small enough to be looked at."""

    data: bytes
    media: str


class VerbAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a verb says."""

    text: str
    """For an agent or a terminal: compact, within the budget."""
    facts: dict[str, Json] = {}
    """For programs: ids, states, hashes, cursors, results. Not the text again."""
    pictures: tuple[Picture, ...] = ()
