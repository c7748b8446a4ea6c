"""A folder with a workspace, on which verbs are called in this process."""

from __future__ import annotations

import json
from typing import Any

from ...command import run
from ...journeys.server import Folder


class QuickFolder(Folder):
    """A folder whose verbs take no process of their own; servers still are processes."""

    def quire(self, *words: str, status: int | None = 0, **more: str) -> Any:
        """Call a verb in the folder; what it prints, read if it is JSON."""
        done = run(*words, at=self.path, env=self.environ | more)
        assert status is None or done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout) if "--json" in words and done.stdout else done
