"""A workspace in which people and an agent work together, and the page of one of them: prepared once for many screens."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect

from quire.workspace.clock import new_id

from ..doors.mcp.agents import Agent, over_http
from ..journeys.owner import new_token
from .agents import Codex
from .app import EVERYTHING, App, answered
from .camera import Camera, pictures_folder

ADA, GRACE, CODEX = "human:ada", "human:grace", "agent:codex"
FORECAST = (
    ("markdown", "# Forecast\n\nWhat sells next month, from the orders of the last two years."),
    "import random\n\nrandom.seed(1)\norders = [random.gauss(100, 15) for _ in range(24)]",
    "months = 12\nlevel = sum(orders[-months:]) / months",
    "growth = level / (sum(orders[:months]) / months) - 1\nprint(f'growth: {growth:.1%}')",
    "forecast = level * (1 + growth)\nforecast",
)
MOST_TABS = 80
"""More than any page has to go through."""
NAMES = ("", "orders", "level", "growth", "forecast")


@dataclass
class Desk:
    """A workspace in which ada works with grace and an agent, codex; and the page that ada has open."""

    app: App
    page: Page
    camera: Camera
    agent: Agent
    tokens: dict[str, str]

    def record(self, log: str, *events: dict[str, Any], actor: str = ADA) -> None:
        """Record events in a log."""
        if actor not in self.tokens:
            behalf = ADA if actor == CODEX else None
            self.tokens[actor] = new_token(self.app.folder, actor, "read", "edit", "run", behalf=behalf)
        headers = {"Authorization": f"Bearer {self.tokens[actor]}"}
        with httpx.Client(base_url=self.app.url, headers=headers, timeout=60) as client:
            drafts = [{"id": new_id(), "event": event} for event in events]
            answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))

    def forecast(self, name: str = "Forecast") -> str:
        """Make a notebook with names of cells, and return its log."""
        log = self.app.notebook(name, *FORECAST)
        cells = self.app.read(log)["order"]
        named = zip(cells[1:], NAMES[1:], strict=True)
        self.record(log, *({"type": "cell_named", "cell": cell, "name": each} for cell, each in named))
        return log

    def replaced(self, log: str, number: int, old: str, new: str) -> dict[str, Any]:
        """Return the event that writes a text in the place of another in a cell."""
        now = self.app.read(log)
        cell = now["order"][number]
        at = now["cells"][cell]["source"].index(old)
        return {"type": "source_edited", "cell": cell, "base": now["seq"], "edit": [[at, len(old), new]]}

    def codex(self, log: str) -> Codex:
        """Codex in a notebook, for ada; it asks first."""
        return Codex(self.app, log, behalf=ADA)

    def panel(self, name: str) -> Locator:
        """Open a panel by its button, and return it."""
        self.page.locator("nav[aria-label=Panels]").get_by_role("button", name=name).click()
        made = self.page.locator("[data-rail-panel]")
        expect(made).to_be_visible()
        return made

    def close_panel(self) -> None:
        """Close the panel that is open, so that the next notebook opens without it."""
        self.page.locator("[data-rail-panel]").get_by_role("button", name="Close").click()

    def press(self, target: Locator, key: str = "Enter", page: Page | None = None) -> None:
        """Go to something with Tab alone, and press a key there."""
        keyboard = (page or self.page).keyboard
        expect(target).to_be_visible()
        for _ in range(MOST_TABS):
            if target.evaluate("(it) => it === document.activeElement"):
                return keyboard.press(key)
            keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {target}.")

    def hide_secrets(self) -> None:
        """Pictures are kept: a secret is in none."""
        self.page.get_by_role("dialog").locator("pre").evaluate_all(
            "(all) => { for (const it of all) it.textContent = it.textContent.replaceAll(/quire_[\\w-]+/g, 'quire_3t…') }"
        )


@contextmanager
def opened_desk(app: App, otherwise: Path) -> Generator[Desk]:
    """Sign ada in, in a browser of her own, and connect the agent. Pictures go to a folder, unless QUIRE_SCREENSHOTS says where."""
    context = app.context(ADA, *EVERYTHING)
    page = context.new_page()
    camera = Camera(page, pictures_folder(otherwise).resolve())
    token = new_token(app.folder, CODEX, "read", "edit", "run", behalf=ADA)
    with over_http(app.url, token) as agent:
        yield Desk(app, page, camera, agent, {CODEX: token})
    context.close()
