"""The web app as people use it: built, served by a real `quire serve`, and looked at with Chromium."""

from __future__ import annotations

import fcntl
import json
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import httpx
from playwright.sync_api import Browser, BrowserContext, BrowserType, ConsoleMessage, Page, expect, sync_playwright

from quire.core.events import Scope

from ..chromium import chromium_path
from ..journeys.live_runtimes import end_runtimes
from ..journeys.owner import owned
from ..journeys.server import Folder, Server
from .node import NODE, WEB

PATIENCE = 60_000
"""Milliseconds that a test waits for something on a page."""
APP_FILES = WEB.parent / "src" / "quire" / "doors" / "http" / "app_files"
EVERYTHING: tuple[Scope, ...] = ("read", "edit", "run", "bind", "approve", "admin")

CellGiven: TypeAlias = "str | tuple[str, str]"
"""The source of a code cell, or a kind and a source."""


def build_app() -> Path:
    """Build the app if its sources are newer, as `make web` does. Only one of all processes builds at a time."""
    lock = WEB / "node_modules" / ".build.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        manifest = APP_FILES / "manifest.json"
        if not manifest.exists() or manifest.stat().st_mtime < _changed():
            subprocess.run([NODE, WEB / "tools" / "build_app.ts"], check=True, timeout=300)
            manifest.touch()
    return APP_FILES


def _changed() -> float:
    sources = [file for file in (WEB / "src").rglob("*") if not file.name.endswith(".test.ts")]
    sources += [*WEB.glob("*.html"), WEB / "vite.config.ts", WEB / "tools" / "build_app.ts"]
    return max(file.stat().st_mtime for file in sources)


class App:
    """A server with the app, on a folder of its own."""

    def __init__(
        self, folder: Path, browser: Browser, *flags: str, environ: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.folder = folder
        self.browser = browser
        self._flags = flags
        self._home = Folder(folder)
        self._home.environ |= environ
        self._tokens: dict[str, str] = {}
        self._server: Server
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        """Where it is, without a slash at the end."""
        return self._server.url

    @property
    def printed(self) -> str:
        """What the server wrote to stderr."""
        return self._home.printed

    # ---- The server

    def start(self) -> None:
        """Start the server, at the same address as before."""
        self._server = self._home.start("--port", str(self._port), *self._flags)
        self._port = self._server.port

    def stop(self) -> None:
        """End the server; `start` starts it again."""
        self._server.end()

    def close(self) -> None:
        """End the server, and the runtimes that it started."""
        self._home.close()
        end_runtimes(self.folder)

    # ---- What there is on it

    def token(self, actor: str = "human:ada", *scopes: Scope) -> str:
        """Make a token; without scopes, one that allows everything but serving."""
        return self._home.token(*(scopes or EVERYTHING), actor=actor)

    @contextmanager
    def client(self, actor: str = "human:ada", *scopes: Scope) -> Generator[httpx.Client]:
        """Talk to the API as an actor: with one token for all calls without scopes, since most tests make many of them."""
        secret = self.token(actor, *scopes) if scopes else self._tokens.get(actor) or self.token(actor)
        if not scopes:
            self._tokens[actor] = secret
        with self._server.client(secret) as made:
            yield made

    def notebook(self, name: str, *cells: CellGiven, actor: str = "human:ada") -> str:
        """Make a notebook over HTTP, and return its log."""
        pairs = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
        wanted = {"name": name, "cells": [{"kind": kind, "source": source} for kind, source in pairs]}
        with self.client(actor) as client:
            return answered(client.post("/api/notebooks", json=wanted))["log"]

    def read(self, log: str) -> Any:
        """Return a notebook as the server has it now."""
        with self.client() as client:
            return answered(client.get(f"/api/notebooks/{log}"))

    def sources(self, log: str) -> list[str]:
        """Return the sources of its cells, in order."""
        now = self.read(log)
        return [now["cells"][cell].get("source", "") for cell in now["order"]]

    # ---- Browsers

    def context(
        self, actor: str | None = None, *scopes: Scope, browser: Browser | None = None, **options: Any
    ) -> BrowserContext:
        """Open a browser profile that is signed in, as the owner of the folder unless an actor is given.

        Without service workers, which would answer for what a test takes away; `service_workers="allow"` has them.
        """
        given: dict[str, Any] = {"service_workers": "block", **options}
        made = (browser or self.browser).new_context(base_url=self.url, **given)
        made.set_default_timeout(PATIENCE)
        self.sign_in(made, actor, *scopes)
        return made

    def sign_in(self, context: BrowserContext, actor: str | None = None, *scopes: Scope) -> str:
        """Sign a profile in, and return the id of the browser's token."""
        if actor is None:
            secret = owned(self.folder, lambda workspace: workspace.create_sign_in()).secret
        else:
            with self.client(actor, *scopes) as client:
                secret = answered(client.post("/api/sign-ins"))["secret"]
        signed = context.request.post(f"{self.url}/api/sign-in", data={"token": secret}, headers={"Origin": self.url})
        assert signed.ok, signed.text()
        told = signed.json()
        key = json.dumps(told["page_key"])
        context.add_init_script(
            f"if (self.origin === {json.dumps(self.url)}) localStorage.setItem('quire-page-key', {key})"
        )
        return told.get("token", "")

    def open(self, page: Page, log: str) -> Page:
        """Show a notebook, and wait until its cells are there."""
        page.goto(f"{self.url}/notebooks/{log}")
        page.wait_for_selector("[data-cell], [data-empty]")
        return page


class Complaints:
    """What a page's console and scripts complained about: exceptions, and what its policy forbade."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("pageerror", lambda error: self.found.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type == "error" and "Content Security Policy" in message.text and "/frame" not in url:
            self.found.append(f"{url}: {message.text}")


def answered(response: httpx.Response) -> Any:
    """Return what the server answered, which is not a fault."""
    assert response.is_success, (response.status_code, response.text)
    return response.json() if response.content else None


@contextmanager
def chromium(*flags: str) -> Generator[Browser]:
    """Start the system's Chromium, without a window. While it runs, the tests of its thread run no loop of their own."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as play:
        browser = launch(play.chromium, *flags)
        try:
            yield browser
        finally:
            browser.close()


def launch(kind: BrowserType, *flags: str) -> Browser:
    """Start one more Chromium: a process of its own, that can be closed while others go on."""
    path = chromium_path()
    assert path is not None, "`make test` installs Chromium"
    return kind.launch(executable_path=path, args=["--no-sandbox", *flags])
