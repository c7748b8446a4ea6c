"""Schedules in the browser: added by a form, run at once, looked at, paused, by somebody who never opens a terminal."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .app import PATIENCE, App
from .axe import serious

NOTEBOOK = """\
# %% tags=["parameters"]
run_id = ""
last = 0.0
# %%
from quire.kernel import result
result("health_score", 0.5 + last)
"""


def test_a_schedule_is_added_run_and_paused_without_a_terminal(app: App, page: Page) -> None:
    (app.folder / "fleet.py").write_text(NOTEBOOK)
    page.goto(app.url)
    page.get_by_role("link", name="Schedules").click()
    page.get_by_role("button", name="New schedule").click()
    page.keyboard.type("fleet.py")
    page.get_by_label("When").fill("0 0 30 2 *")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("no month has such a day")
    page.get_by_label("When").fill("30 6 * * *")
    page.get_by_label("Time zone").fill("Europe/Zurich")
    page.get_by_label("Parameters").fill("run_id = {{date}}\nlast = {{previous.results.health_score or 0.0}}")
    page.get_by_label("Output").fill("runs/fleet_{{run_number}}.ipynb")
    page.get_by_role("button", name="Add", exact=True).click()
    item = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="fleet", exact=True))
    expect(item).to_contain_text("30 6 * * * Europe/Zurich")
    expect(item).to_contain_text("Next: ")

    marks = item.get_by_role("list", name="Last runs of fleet").get_by_role("link", name="ok")
    for count in (1, 2):
        item.get_by_role("button", name="Run now").press("Enter")
        expect(marks).to_have_count(count, timeout=PATIENCE)
    assert (app.folder / "runs" / "fleet_2.ipynb").exists()
    item.get_by_role("button", name="History").click()
    expect(item.get_by_role("list", name="Runs of fleet", exact=True).get_by_role("listitem")).to_have_count(2)
    expect(item.get_by_role("img", name="health_score: 2 runs, from 0.5 to 1, last 1")).to_be_visible()

    for width, scheme in ((1200, "light"), (400, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"it is wider than {width}"
    item.get_by_role("button", name="Pause").click()
    expect(item).to_contain_text("Paused")
    item.get_by_role("button", name="Resume").click()
    expect(item).to_contain_text("Next: ")
    item.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Nothing runs by the clock yet")).to_be_visible()
    assert serious(page) == []
