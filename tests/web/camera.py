"""Pictures of pages, light, dark and narrow, and what the pages complained about meanwhile."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from playwright.sync_api import ConsoleMessage, Page

from .axe import serious

Look = Literal["light", "dark", "narrow"]

WIDE, NARROW, HEIGHT = 1280, 400, 900
# What Chromium itself writes when a request is answered with a fault or not at all: the page shows those.
_OF_THE_NETWORK = re.compile(r"^Failed to load resource|^WebSocket connection to .* failed")


class Camera:
    """Takes pictures of one page into a folder."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.complaints: list[str] = []
        self.faults: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        # A frame's policy is meant to forbid things; what it says is shown under the output.
        if message.type == "error" and "/frame" not in message.location.get("url", ""):
            self.complaints.append(message.text)

    def take(
        self, name: str, *looks: Look, is_offline: bool = False, ready: Callable[[Look], object] = lambda _: None
    ) -> None:
        """Take a picture in light, and in other looks, of a page without complaints on which nothing is cut off.

        `ready` waits until the page has the look.
        """
        for look in ("light", *looks):
            self.page.emulate_media(color_scheme="dark" if look == "dark" else "light")
            self.page.set_viewport_size({"width": NARROW if look == "narrow" else WIDE, "height": HEIGHT})
            ready(look)
            self._shoot(name if look == "light" else f"{name}-{look}")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        told = [each for each in self.complaints if not (is_offline and _OF_THE_NETWORK.match(each))]
        self.complaints.clear()
        assert not told, f"{name}: {told}"

    def study(self, name: str) -> None:
        """Take a picture in every look, and note in `faults` what axe finds in each and what the page complains about."""
        looks: tuple[tuple[Literal["light", "dark"], int, str | None], ...] = (
            ("light", WIDE, name),
            ("dark", WIDE, f"{name}-dark"),
            ("dark", NARROW, None),
            ("light", NARROW, f"{name}-narrow"),
        )
        for scheme, width, look in looks:
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            self.faults += [f"{name}, {scheme}, {width}: {fault}" for fault in serious(self.page)]
            if look is not None:
                self._shoot(look)
        self.page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        self.faults += [f"{name}: {complaint}" for complaint in self.complaints]
        self.complaints.clear()

    def _shoot(self, name: str) -> None:
        self.page.mouse.move(0, HEIGHT - 1)
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= (self.page.viewport_size or {}).get("width", 0), f"{name} is wider than the window"
        self.page.screenshot(path=self.folder / f"{name}.png", animations="disabled")


def pictures_folder(otherwise: Path) -> Path:
    """Where pictures go: QUIRE_SCREENSHOTS says it."""
    return Path(os.environ.get("QUIRE_SCREENSHOTS") or otherwise)
