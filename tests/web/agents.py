"""An agent beside the browser: it acts through the real server, with a token that asks first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx

from quire.core.events import Scope
from quire.core.text import source_hash
from quire.workspace.clock import new_id

from ..journeys.owner import new_token
from ..journeys.server import PLAIN
from .app import App, answered

CODEX = "agent:codex"


class Codex:
    """What an agent does in one notebook: all of it waits for somebody's yes."""

    def __init__(
        self,
        app: App,
        log: str,
        *,
        asks: Sequence[Scope] = ("edit", "run"),
        actor: str = CODEX,
        behalf: str | None = None,
    ) -> None:
        self._app, self.log = app, log
        token = new_token(app.folder, actor, "read", "edit", "run", asks=tuple(asks), behalf=behalf)
        self._client = httpx.Client(
            base_url=app.url, headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=PLAIN
        )

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    # ---- What can be asked for

    def cell(self, number: int) -> str:
        """The id of a cell, by its place from 0."""
        now = self._app.read(self.log)
        return [id for id in now["order"] if not now["cells"][id].get("removed")][number]

    def source(self, cell: str) -> str:
        """What a cell says now."""
        return self._app.read(self.log)["cells"][cell].get("source", "")

    def text(self, number: int, text: str) -> dict[str, Any]:
        """A whole new text, as the tools of agents write."""
        cell = self.cell(number)
        return {"type": "source_edited", "cell": cell, "text": text, "base_hash": source_hash(self.source(cell))}

    def run(self, cell: str, source: str) -> dict[str, Any]:
        """A run of a cell as it is after the changes."""
        return {"type": "execution_requested", "execution": new_id(), "cell": cell, "source_hash": source_hash(source)}

    # ---- Asking

    def ask(self, *events: dict[str, Any]) -> str:
        """Send what has to be asked about, and return the id of the proposal that it became."""
        drafts = [{"id": new_id(), "event": event} for event in events]
        done = answered(self._client.post(f"/api/logs/{self.log}/events", json={"drafts": drafts}))
        made = done["entries"][0]["event"]
        assert made["type"] == "proposal_made", made
        return made["proposal"]

    def propose(self, why: str, *changes: dict[str, Any], **more: Any) -> str:
        """Make a proposal with a reason, and return its id."""
        proposal = new_id()
        self._send({"type": "proposal_made", "proposal": proposal, "why": why, "changes": changes, **more})
        return proposal

    def withdraw(self, proposal: str) -> None:
        """Take a proposal back."""
        self._send({"type": "proposal_withdrawn", "proposal": proposal})

    def _send(self, event: dict[str, Any]) -> None:
        answered(self._client.post(f"/api/logs/{self.log}/events", json={"drafts": [{"id": new_id(), "event": event}]}))

    def state(self, proposal: str) -> Any:
        """A proposal as the server has it."""
        return answered(self._client.get(f"/api/notebooks/{self.log}/proposals/{proposal}"))
