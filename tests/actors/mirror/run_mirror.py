"""A mirror as a process, which may end itself at a given moment, as SIGKILL would: FOLDER [MOMENT]."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quire.actors.mirror import atomic_swap, mirror, to_file
from quire.core.events import ConflictRaised, FileMerged
from quire.workspace.identity.identities import Identity
from quire.workspace.local import LocalWorkspace

from .mirror_desk import BRISK, open_workspace

MOMENTS = ("beside", "exchanged", "written", "merged", "recorded")
"""A new file stands beside the old one; both changed places; that is done; the log has the file's; the log knows ours."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ending(call: Callable[..., Any], *, before: bool = False) -> Callable[..., Any]:
    """The same, and that is the end."""

    def called(*given: Any) -> Any:
        if before:
            die()
        call(*given)
        die()

    return called


class Ending(LocalWorkspace):
    """A workspace whose process ends once a merge was recorded: one with changes, or one without."""

    moment = ""

    def acting_as(self, identity: Identity) -> LocalWorkspace:
        """The mirror records as itself, and ends all the same."""
        other = super().acting_as(identity)
        other.__class__ = Ending
        return other

    async def submit(self, log: Any, drafts: Any, **more: Any) -> Any:
        entries = await super().submit(log, drafts, **more)
        brought = any(isinstance(each.event, FileMerged) and each.event.changes for each in entries) or any(
            isinstance(each.event, ConflictRaised) for each in entries
        )
        if self.moment == ("merged" if brought else "recorded"):
            die()
        return entries


def prepare(moment: str) -> None:
    if moment == "beside":
        setattr(atomic_swap, "_put_over", ending(getattr(atomic_swap, "_put_over"), before=True))  # noqa: B009, B010
    elif moment == "exchanged":
        setattr(atomic_swap, "_exchange", ending(getattr(atomic_swap, "_exchange")))  # noqa: B009, B010
    elif moment == "written":
        to_file.put = ending(to_file.put)
    Ending.moment = moment


def ready() -> None:
    os.write(1, b"ready\n")


def tell(message: str) -> None:
    os.write(1, f"told: {message}\n".encode())


async def main(folder: Path, moment: str) -> None:
    prepare(moment)
    workspace = open_workspace(folder)
    workspace.__class__ = Ending
    await mirror(workspace, folder, tell=tell, ready=ready, pace=BRISK)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
