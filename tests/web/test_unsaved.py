"""Nothing can be saved: people are told why, go on, and everything is recorded once when it works again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from quire.core.events import Scope

from ..journeys.database import OwnPostgres, token_on
from ..journeys.faulty_notebook import DEADLINE_SECONDS
from .app import EVERYTHING, App
from .editor_actions import edit, until_recorded

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.usefixtures("built")
def test_what_is_done_while_the_disk_is_full_is_told_and_recorded_once_when_there_is_room(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=16m small "$0" && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path)]
    done = subprocess.run(
        [*alone, sys.executable, "-m", "tests.web.fill_disk", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * DEADLINE_SECONDS,
    )
    assert done.stdout.splitlines()[-1:] == ["recorded"], (done.stdout, done.stderr)


class DatabaseApp(App):
    """A server on a database, which a test may stop."""

    def token(self, actor: str = "human:ada", *scopes: Scope) -> str:
        return token_on(self._home, "--actor", actor, "--scope", ",".join(scopes or EVERYTHING))


@pytest.fixture
def postgres() -> Iterator[OwnPostgres]:
    server = OwnPostgres()
    yield server
    server.close()


@pytest.mark.slow
@pytest.mark.usefixtures("built")
def test_what_is_typed_while_the_database_is_away_is_told_and_recorded_once_when_it_is_back(
    postgres: OwnPostgres, browser: Browser, tmp_path: Path
) -> None:
    url, here = postgres.database("typing"), tmp_path / "here"
    here.mkdir()
    app = DatabaseApp(here, browser, "--no-mirror", environ={"QUIRE_URL": url, "QUIRE_BLOBS": str(tmp_path / "blobs")})
    try:
        log = app.notebook("away", "x = 40")
        context = app.context("human:ada")
        page = app.open(context.new_page(), log)
        told = page.get_by_text("Nothing can be saved right now: the database of the server is not available.")
        edit(page)
        postgres.stop()
        page.keyboard.type(" + 1")
        expect(told).to_be_visible()
        page.keyboard.type(" + 1")
        # Also a page that is loaded now, which cannot even connect.
        page.reload()
        expect(told).to_be_visible()
        expect(page.locator("[data-cell] [data-source]")).to_have_text("x = 40 + 1 + 1")
        postgres.start()
        until_recorded(app, log, "x = 40 + 1 + 1")
        expect(told).to_have_count(0)
        context.close()
    finally:
        app.close()
