"""What tests in a browser share: the built app and Chromium, a server per module, a page per test.

A module that wants the server started otherwise says so: `SERVE_FLAGS = ("--no-mirror", "--memory", "2GB")`. Without it,
files that notebooks are bound to are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page

from quire.core.events import Scope

from .app import App, Complaints, build_app, chromium
from .node import WEB


@pytest.fixture(scope="session")
def built() -> Path:
    """The app's files, built from the sources as they are."""
    if not (WEB / "node_modules").is_dir():
        pytest.skip("web/node_modules is not there: run `make web`")
    return build_app()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all modules: each test has profiles of its own."""
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def app(
    request: pytest.FixtureRequest, built: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """A server in a fresh folder, with the app."""
    module = cast("Any", request).module
    flags: tuple[str, ...] = getattr(module, "SERVE_FLAGS", ("--no-mirror",))
    made = App(tmp_path_factory.mktemp("app"), browser, *flags)
    yield made
    made.close()


@pytest.fixture
def page(app: App) -> Iterator[Page]:
    """A page of a fresh browser profile that is signed in as the owner of the folder."""
    yield from _watched_page(app)


@pytest.fixture
def second_page(app: App) -> Iterator[Page]:
    """The same for a second person: human:grace, who may read, edit and run."""
    yield from _watched_page(app, "human:grace", "read", "edit", "run")


def _watched_page(app: App, actor: str | None = None, *scopes: Scope) -> Iterator[Page]:
    context = app.context(actor, *scopes)
    made = context.new_page()
    complaints = Complaints(made)
    yield made
    context.close()
    assert complaints.found == []
