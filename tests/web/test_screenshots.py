"""Every page and state of the app, looked at: each shows what its name says, and none complains.

`make screenshots` keeps the pictures that docs and README show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from quire.workspace.clock import new_id

from ..journeys.owner import new_token
from ..journeys.server import Folder
from .app import EVERYTHING, App, answered
from .camera import Camera, Look, pictures_folder
from .node import needs_packages
from .notebook import Book

pytestmark = [needs_packages, pytest.mark.slow]

SERVE_FLAGS = ()
"""With the mirror: home shows the files of notebooks."""

SALES = """\
# %% [markdown]
# # Sales by region
#
# What sold **where** in one month, and through which channel. Revenue is $r = \\sum_i p_i n_i$ over all orders $i$.

# %% name="inputs" tags=["parameters"]
month = "2026-10"  # as YYYY-MM
top = 3  # how many rows to list

# %% name="orders"
import pandas as pd

regions = ["Basel", "Bern", "Chur", "Geneva", "Lugano", "Zug"]
orders = pd.DataFrame(
    {"region": region, "channel": channel, "count": 40 + 37 * i % 91, "revenue": 3.5 + 61 * (i + j) % 47}
    for i, region in enumerate(regions)
    for j, channel in enumerate(["shop", "web"])
)
orders.sort_values("revenue", ascending=False).head(top)

# %% name="chart"
from IPython.display import display

chart = {
    "data": {"values": orders.to_dict("records")},
    "mark": {"type": "bar", "tooltip": True},
    "encoding": {"y": {"field": "region"}, "x": {"field": "revenue", "type": "quantitative"}},
}
display({"application/vnd.vegalite.v5+json": chart}, raw=True)

# %% [markdown]
# ## What to do about it

# %% name="best"
from quire.kernel import result

result("best", orders.groupby("region").revenue.sum().idxmax())
"""

STATES = (
    "rows = {'north': 12, 'south': 30}\nprint(len(rows), 'regions')",
    "total = sum(rows.values())\ntotal",
    "def share(region):\n    return rows[region] / total\n\nshare('east')",
    "print('not reached')",
    "import time\n\nfor minute in range(3):\n    print('minute', minute, flush=True)\n    time.sleep(60)",
    "print('after that')",
)


@dataclass
class Desk:
    """What is on the server, who works there, and the page that is looked at: ada's."""

    app: App
    page: Page
    camera: Camera
    ada: httpx.Client
    codex: httpx.Client
    sales: str

    def notebook(self, name: str, *cells: str) -> str:
        """Make a notebook of code, and return its log."""
        wanted = {"name": name, "cells": [{"kind": "code", "source": source} for source in cells]}
        return answered(self.ada.post("/api/notebooks", json=wanted))["log"]

    def read(self, log: str) -> Any:
        """Return a notebook as the server has it now."""
        return answered(self.ada.get(f"/api/notebooks/{log}"))

    def record(self, log: str, *events: dict[str, Any], by: httpx.Client | None = None) -> None:
        """Record events in a log."""
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered((by or self.ada).post(f"/api/logs/{log}/events", json={"drafts": drafts}))

    def replaced(self, log: str, number: int, old: str, new: str) -> dict[str, Any]:
        """Return the event that writes a text in the place of another in a cell."""
        now = self.read(log)
        cell = now["order"][number]
        at = now["cells"][cell]["source"].index(old)
        return {"type": "source_edited", "cell": cell, "base": now["seq"], "edit": [[at, len(old), new]]}

    def panel(self, name: str) -> Locator:
        """Open a panel by its button, and return it."""
        self.page.locator("nav[aria-label=Panels]").get_by_role("button", name=name).click()
        made = self.page.locator("[data-rail-panel]")
        expect(made).to_be_visible()
        return made

    def close_panel(self) -> None:
        """Close the panel that is open, so that the next notebook opens without it."""
        self.page.locator("[data-rail-panel]").get_by_role("button", name="Close").click()


@pytest.fixture(scope="module")
def desk(app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A workspace in which ada works with an agent, codex, and grace comes by."""
    (app.folder / "sales.py").write_text(SALES, encoding="utf-8")
    context = app.context("human:ada", *EVERYTHING)
    page = context.new_page()
    camera = Camera(page, pictures_folder(tmp_path_factory.mktemp("screenshots")).resolve())
    codex_token = new_token(app.folder, "agent:codex", "read", "edit", "run", behalf="human:ada", asks=("edit",))
    codex_rights = {"Authorization": f"Bearer {codex_token}"}
    with app.client() as ada, httpx.Client(base_url=app.url, headers=codex_rights, timeout=60) as codex:
        sales = answered(ada.post("/api/files", json={"path": "sales.py"}))["log"]
        yield Desk(app, page, camera, ada, codex, sales)
    context.close()


# ---- A notebook


def a_notebook_to_read_with_a_table_and_a_chart_in_a_frame(desk: Desk) -> None:
    book = Book(desk.app, desk.page, desk.sales)
    book.go(0)
    book.press(*["Shift+Enter"] * 5)
    expect(book.outputs(2).locator("tbody tr")).to_have_count(3)
    book.has_state(3, "ok")
    last = desk.read(desk.sales)["order"][5]
    answered(desk.codex.post(f"/api/notebooks/{desk.sales}/executions", json={"cells": [{"cell": last}]}))
    expect(book.outputs(5)).to_contain_text("best")
    expect(book.foot(5)).to_contain_text("codex for you")
    book.press("Home")
    expect(desk.page.get_by_text("python · idle")).to_be_visible()
    label = book.outputs(3).frame_locator("iframe").get_by_text("Lugano")

    def is_drawn(look: Look) -> None:
        expect(label).to_have_css("fill", "rgb(255, 255, 255)" if look == "dark" else "rgb(0, 0, 0)")

    desk.camera.take("notebook", "dark", "narrow", ready=is_drawn)
    book.press("End")
    desk.camera.take("notebook-chart", "dark", ready=is_drawn)


def what_is_typed_is_completed_by_the_kernel_and_seen_by_others(desk: Desk) -> None:
    book = Book(desk.app, desk.page, desk.sales)
    book.go(4)
    book.press("b", "Enter")
    expect(book.editor).to_be_focused()
    desk.page.keyboard.type("by_region = orders.")
    book.press("Tab")
    expect(desk.page.get_by_role("listbox")).to_contain_text("agg")
    desk.page.keyboard.type("grou")
    expect(desk.page.get_by_role("listbox")).to_contain_text("groupby")
    desk.camera.take("notebook-editing", "dark")
    book.press("Enter")
    desk.page.keyboard.type('("region")')
    with desk.app.context("human:grace", "read", "edit", "run") as context:
        other = Book(desk.app, context.new_page(), desk.sales)
        other.go(5)
        other.press("Enter")
        other.page.keyboard.type("[['count', 'revenue']].sum()")
        other.press("Shift+Home")
        expect(book.editor).to_contain_text("sum()")
        expect(desk.page.get_by_label(re.compile("^grace is here"))).to_be_visible()
        desk.camera.take("notebook-together", "dark")
        people = desk.panel("People")
        expect(people).to_contain_text("grace")
        desk.camera.take("panel-people")
        desk.close_panel()
    book.go(5)
    book.press("d", "d")
    expect(desk.page.get_by_text("Removed 1 cell.")).to_be_visible()
    desk.camera.take("notebook-removed")


def every_state_of_a_cell_at_once(desk: Desk) -> None:
    book = Book(desk.app, desk.page, desk.notebook("States of cells", *STATES))
    book.press("Shift+Enter", "Shift+Enter")
    book.has_state(1, "ok")
    book.press("Shift+ArrowDown", "Control+Enter")
    book.has_state(3, "skipped")
    book.go(4)
    book.press("Shift+Enter", "Control+Enter")
    book.edit(0, STATES[0].replace("30", "31"))
    for number, state in ((2, "error"), (3, "skipped"), (4, "running"), (5, "queued")):
        book.has_state(number, state)
    expect(book.cell(1)).to_have_attribute("data-stale", "true")
    expect(book.cell(2).locator("mark")).to_have_text("share('east')")
    expect(book.foot(4)).to_contain_text("running")
    desk.camera.take("notebook-states", "dark", "narrow")
    book.press("0", "0")
    expect(desk.page.get_by_role("dialog", name="Restart the kernel?")).to_be_visible()
    desk.camera.take("notebook-restart")
    book.press("Escape")
    book.press("i", "i")
    book.has_state(4, "cancelled")
    expect(book.foot(4)).to_contain_text("interrupted by you")
    desk.camera.take("notebook-interrupted")


def long_output_a_host_that_a_frame_wanted_and_a_question(desk: Desk) -> None:
    far = "from IPython.display import HTML\nHTML('<p>A map.</p><img src=https://tiles.example.org/1.png>')"
    cells = ("for n in range(400):\n    print('line', n)", far, "month = input('Month? ')")
    book = Book(desk.app, desk.page, desk.notebook("Kinds of output", *cells))
    book.press("Shift+Enter", "Shift+Enter", "Control+Enter")
    expect(book.outputs(0)).to_contain_text("400 lines")
    expect(book.outputs(1)).to_contain_text("wanted tiles.example.org")
    expect(book.cell(2).get_by_label("Month?")).to_be_visible()
    desk.camera.take("notebook-outputs", "dark")
    book.cell(2).get_by_label("Month?").scroll_into_view_if_needed()
    desk.camera.take("notebook-input", "narrow")
    # It goes on asking: home says so.


# ---- Over a notebook, and beside it


def the_palette_the_keys_and_the_menu_of_a_cell(desk: Desk) -> None:
    book = Book(desk.app, desk.page, desk.sales)
    page = desk.page
    book.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("run")
    expect(page.get_by_role("option", name=re.compile("Run stale"))).to_be_visible()
    desk.camera.take("palette", "dark", "narrow")
    book.press("Escape", "?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Run and go on")
    desk.camera.take("keys", "dark", "narrow")
    book.press("Escape")
    book.go(2)
    book.press(".")
    expect(page.get_by_role("menuitem", name="Duplicate")).to_be_visible()
    desk.camera.take("cell-menu")
    book.press("Escape")


def the_panels_of_a_notebook(desk: Desk) -> None:
    page = desk.page
    with desk.app.client("human:grace", "read", "edit") as grace:
        desk.record(desk.sales, desk.replaced(desk.sales, 2, "head(top)", "head(top + 1)"), by=grace)
    book = Book(desk.app, page, desk.sales)
    outline = desk.panel("Outline")
    expect(outline.get_by_role("button", name="What to do about it")).to_be_visible()
    desk.camera.take("panel-outline")
    book.press("Control+f")
    page.get_by_role("textbox", name="Find").fill("revenue")
    expect(page.get_by_role("search").get_by_role("status")).to_contain_text("found")
    desk.camera.take("panel-find", "narrow")
    book.go(2)
    past = desk.panel("History of a cell")
    past.get_by_role("listitem").last.get_by_role("button").first.click()
    past.get_by_role("button", name="Compare with now").click()
    expect(past.get_by_role("group", name="What restoring it would change")).to_contain_text("head(top)")
    desk.camera.take("panel-history", "dark", "narrow")
    runtime = desk.panel("Runtime")
    expect(runtime.get_by_role("status")).to_contain_text("Idle")
    runtime.get_by_role("button", name="List variables").click()
    expect(runtime.get_by_role("table", name="Data")).to_contain_text("orders")
    desk.camera.take("panel-runtime", "dark", "narrow")
    files = desk.panel("Files")
    expect(files).to_contain_text("sales.py")
    desk.camera.take("panel-files")
    desk.close_panel()


def parameters_start_a_run(desk: Desk) -> None:
    page = desk.page
    desk.app.open(page, desk.sales)
    form = desk.panel("Parameters")
    form.get_by_label("top").fill("five")
    form.get_by_role("button", name="Start a run").click()
    expect(form.get_by_text("This wants a whole number")).to_be_visible()
    desk.camera.take("panel-parameters-wrong")
    form.get_by_label("top").fill("2")
    form.get_by_role("button", name="Start a run").click()
    last = page.get_by_role("region", name="Last run")
    expect(last.get_by_role("status")).to_contain_text("Finished")
    desk.camera.take("panel-parameters", "dark", "narrow")
    last.get_by_role("link", name="Open the run").click()
    expect(page).to_have_url(re.compile("/runs/"))
    expect(page.locator("[data-outputs]").last).to_contain_text("Chur")
    desk.close_panel()
    desk.camera.take("run")


def a_conflict_with_the_file_shows_both_sides(desk: Desk) -> None:
    log = desk.notebook("Forecast", "rate = 0.03\nyears = 10", "print(rate * years)")
    cell = desk.read(log)["order"][0]
    sides = {"base": "rate = 0.02\nyears = 10", "ours": "rate = 0.03\nyears = 10", "theirs": "rate = 0.025\nyears = 10"}
    raised = {"type": "conflict_raised", "conflict": "k1", "cell": cell, **sides}
    desk.record(log, {"type": "file_bound", "path": "forecast.py"}, raised)
    desk.app.open(desk.page, log)
    panel = desk.panel("History of a cell, 1")
    expect(panel.get_by_role("group", name="The file said")).to_contain_text("0.025")
    expect(panel).to_contain_text("Written by")
    desk.camera.take("conflict", "dark", "narrow")
    desk.close_panel()


def an_empty_notebook_and_one_that_is_not_there(desk: Desk) -> None:
    desk.app.open(desk.page, desk.notebook("Empty"))
    expect(desk.page.get_by_text("An empty notebook.")).to_be_visible()
    desk.camera.take("notebook-empty")
    desk.page.goto(f"{desk.app.url}/notebooks/01JZZZZZZZZZZZZZZZZZZZZZZZ")
    expect(desk.page.get_by_text("There is no notebook at")).to_be_visible()
    desk.camera.take("notebook-not-there", is_offline=True)


# ---- Home, runs and settings


def home_with_notebooks_runs_and_what_waits(desk: Desk) -> None:
    app, page = desk.app, desk.page
    desk.record(desk.sales, desk.replaced(desk.sales, 1, "top = 3", "top = 4"), by=desk.codex)
    Folder(app.folder).quire("run", "sales.py", "runs/{month}.ipynb", "-p", "month", "2026-11", "-p", "top", "2")
    page.goto(app.url)
    waiting = page.get_by_role("region", name="Waits for you")
    expect(waiting).to_contain_text("codex for you proposes")
    expect(waiting).to_contain_text("Month?")
    expect(page.locator("[data-row][data-status=success]").first).to_contain_text("month=2026-11")
    desk.camera.take("home", "dark", "narrow")
    page.keyboard.press("/")
    page.keyboard.type("revenue")
    expect(page.locator("section[aria-labelledby=hits] [data-row]").first).to_be_visible()
    desk.camera.take("home-search")
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    expect(page.get_by_role("dialog")).to_be_visible()
    desk.camera.take("home-open")
    page.goto(f"{app.url}/runs")
    expect(page.locator("[data-row][data-status=success]").first).to_be_visible()
    desk.camera.take("runs", "narrow")


def settings_with_tokens(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.app.url}/settings")
    expect(page.get_by_role("listitem").filter(has_text="codex for").first).to_be_visible()
    desk.camera.take("settings", "dark", "narrow")
    page.get_by_role("button", name="New token…").click()
    page.keyboard.type("claude")
    expect(page.get_by_role("checkbox", name="Asks first")).to_be_checked()
    desk.camera.take("settings-token")
    page.keyboard.press("Enter")
    secret = page.locator("[data-secret]")
    expect(secret).to_contain_text("quire_")
    # Pictures are kept: a secret is in none.
    page.get_by_role("dialog").locator("pre").evaluate_all(
        "(all) => { for (const it of all) it.textContent = it.textContent.replaceAll(/quire_[\\w-]+/g, 'quire_3t…') }"
    )
    desk.camera.take("settings-secret")
    page.get_by_role("button", name="I have kept it").click()


def a_browser_that_is_not_signed_in(desk: Desk) -> None:
    context = desk.app.browser.new_context()
    page = context.new_page()
    page.goto(desk.app.url)
    expect(page.get_by_role("heading", name="Sign this browser in")).to_be_visible()
    Camera(page, desk.camera.folder).take("sign-in", "dark", "narrow", is_offline=True)
    context.close()


def a_server_that_is_away(desk: Desk) -> None:
    book = Book(desk.app, desk.page, desk.sales)
    # Tests' browsers have no service worker, which keeps the parts of the app that are loaded when the page is idle.
    book.edit(1, 'month = "2026-12"')
    desk.page.wait_for_load_state("networkidle")
    desk.app.stop()
    try:
        expect(desk.page.get_by_text("The server does not answer.")).to_be_visible()
        expect(desk.page.get_by_role("button", name="Runtime: python · not connected")).to_be_visible()
        book.edit(1, 'month = "2027-01"')
        desk.camera.take("server-away", "dark", "narrow", is_offline=True)
    finally:
        desk.app.start()


STORY = (
    a_notebook_to_read_with_a_table_and_a_chart_in_a_frame,
    what_is_typed_is_completed_by_the_kernel_and_seen_by_others,
    every_state_of_a_cell_at_once,
    long_output_a_host_that_a_frame_wanted_and_a_question,
    the_palette_the_keys_and_the_menu_of_a_cell,
    the_panels_of_a_notebook,
    parameters_start_a_run,
    a_conflict_with_the_file_shows_both_sides,
    an_empty_notebook_and_one_that_is_not_there,
    home_with_notebooks_runs_and_what_waits,
    settings_with_tokens,
    a_browser_that_is_not_signed_in,
    a_server_that_is_away,
)


def test_every_page_and_state_shows_what_its_name_says(desk: Desk) -> None:
    """One test, since each part goes on where the one before it ended."""
    for part in STORY:
        part(desk)
