"""Films of stories: what pages show, frame by frame, under a line that says what happens.

Frames come from Chromium's screencast, ffmpeg makes a film of them. Without QUIRE_DEMOS, which `make demo` sets, nothing is
filmed, nobody waits for a viewer, and a story is a test like any other.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from base64 import b64decode
from collections.abc import Generator
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Error, Page

FOLDER = Path(os.environ["QUIRE_DEMOS"]) if os.environ.get("QUIRE_DEMOS") else None
WIDTH, HEIGHT = 1080, 760
"""Of one window."""
LINE, TEXT = 56, 22
"""The height of the line below the windows, and of its letters."""
RATE = 12
"""Frames a second: enough for text that is typed."""
INK, PAPER, GAP = (245, 245, 245), (28, 30, 34), (90, 94, 102)


class Camera:
    """What one window shows, from when it is pointed at it."""

    def __init__(self, page: Page, start: float) -> None:
        self.frames: list[tuple[float, bytes]] = []
        self._start = start
        self._session: Any = page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._keep)
        self._session.send(
            "Page.startScreencast", {"format": "jpeg", "quality": 92, "maxWidth": WIDTH, "maxHeight": HEIGHT}
        )

    def _keep(self, told: dict[str, Any]) -> None:
        self.frames.append((time.monotonic() - self._start, b64decode(told["data"])))
        with contextlib.suppress(Error):  # the window may be closed by now
            self._session.send("Page.screencastFrameAck", {"sessionId": told["sessionId"]})

    def at(self, moment: float) -> bytes | None:
        """The last frame before a moment; None before the first."""
        before = [data for when, data in self.frames if when <= moment]
        return before[-1] if before else None


class Film:
    """A film of one or two windows side by side. Windows may close, and others may be opened in their place."""

    def __init__(self, name: str, windows: int = 1) -> None:
        self.name, self._windows = name, windows
        self._start = time.monotonic()
        self._shots: list[list[Camera]] = [[] for _ in range(windows)]
        self._lines: list[tuple[float, str]] = []

    def show(self, page: Page, window: int = 0) -> None:
        """Film this page in a window from now on."""
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        if FOLDER is not None:
            self._shots[window].append(Camera(page, self._start))

    def tell(self, page: Page, text: str, seconds: float = 2) -> None:
        """Say what happens next, and leave a viewer the time to read it."""
        self._lines.append((time.monotonic() - self._start, text))
        self.rest(page, seconds)

    def rest(self, page: Page, seconds: float = 1) -> None:
        """Leave a viewer the time to look. A test has no viewer."""
        if FOLDER is not None:
            page.wait_for_timeout(seconds * 1000)

    def take(self, page: Page, picture: str) -> None:
        """Keep a picture of a page."""
        if FOLDER is not None:
            page.screenshot(path=FOLDER / f"{picture}.png", animations="disabled")

    # ---- The film itself

    def write(self) -> None:
        """Make the film of what was shown."""
        if FOLDER is None:
            return
        ffmpeg = shutil.which("ffmpeg")
        assert ffmpeg is not None, "`make demo` installs ffmpeg"
        width = WIDTH * self._windows + (self._windows - 1) * 2
        size = f"{width}x{HEIGHT + LINE}"
        command = [
            ffmpeg,
            "-y",
            "-loglevel",
            "error",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            size,
            "-r",
            str(RATE),
        ]
        command += ["-i", "-", "-c:v", "libvpx-vp9", "-crf", "42", "-b:v", "0", "-row-mt", "1", "-g", str(RATE * 10)]
        command += ["-vf", f"scale={min(width, 1440)}:-2", str(FOLDER / f"{self.name}.webm")]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            for frame in self._drawn(width):
                process.stdin.write(frame)
        assert process.returncode == 0

    def _drawn(self, width: int) -> Generator[bytes]:
        end = max((when for shots in self._shots for each in shots for when, _ in each.frames), default=0) + 1.5
        font = ImageFont.load_default(TEXT)
        for number in range(int(end * RATE)):
            moment = number / RATE
            canvas = Image.new("RGB", (width, HEIGHT + LINE), GAP)
            for place, shots in enumerate(self._shots):
                self._put(canvas, place * (WIDTH + 2), [each.at(moment) for each in shots])
            draw = ImageDraw.Draw(canvas)
            draw.rectangle((0, HEIGHT, width, HEIGHT + LINE), fill=PAPER)
            said = [text for when, text in self._lines if when <= moment]
            draw.text((20, HEIGHT + LINE // 2), said[-1] if said else "", fill=INK, font=font, anchor="lm")
            yield canvas.tobytes()

    @staticmethod
    def _put(canvas: Image.Image, left: int, frames: list[bytes | None]) -> None:
        shown = [each for each in frames if each is not None]
        if shown:
            with Image.open(BytesIO(shown[-1])) as frame:
                canvas.paste(frame.convert("RGB").crop((0, 0, WIDTH, HEIGHT)), (left, 0))


@contextlib.contextmanager
def film(name: str, windows: int = 1) -> Generator[Film]:
    """Film a story to its end. One that fails leaves no film."""
    made = Film(name, windows)
    yield made
    made.write()
