"""The page of runs while it changes: pages of many, a real run followed, cancelled and run again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from quire.core.ids import LogId

from ..run_logs import RunLog
from .app import App, answered
from .runs import record, row, show


@pytest.mark.slow
def test_a_real_run_is_followed_cancelled_and_run_again_with_other_parameters(app: App, page: Page) -> None:
    """Demo: new runs do not move what one reads; progress, cancel with a reason, and the form with what was given."""
    gate = app.folder / "go"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.05)"
    record_result = "from quire.kernel import result\nresult('doubled', steps * 2)"
    log = app.notebook("steps", "steps = 3", wait, record_result)
    tagged = app.read(log)["order"][0]
    with app.client() as client:
        event = {"type": "cell_tagged", "cell": tagged, "tags": ["parameters"]}
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": "tags", "event": event}]}))
        record(app, [RunLog(log=LogId("earlier"))])
        show(app, page)
        before = page.locator("[data-row]").count()
        run = answered(client.post("/api/runs", json={"notebook": log, "parameters": {"steps": 4}}))["run"]
    expect(page.get_by_text("1 new run")).to_be_visible()
    expect(page.locator("[data-row]")).to_have_count(before)
    page.get_by_role("button", name="Show", exact=True).click()
    going = row(page, run)
    expect(going).to_contain_text("2 of 4 cells")
    expect(going).to_contain_text("import pathlib")
    going.get_by_role("button", name="Cancel steps").click()
    page.get_by_label("Why (optional)").fill("wrong month")
    page.get_by_role("button", name="Cancel the run").click()
    expect(going).to_contain_text("cancelled")
    with app.client() as client:
        entries = answered(client.get(f"/api/logs/{run}/events?types=run_cancel_requested"))["entries"]
    assert [entry["event"]["why"] for entry in entries] == ["wrong month"]

    gate.touch()
    going.get_by_role("button", name="More for steps").click()
    page.get_by_role("menuitem", name="Run again…").click()
    form = page.get_by_role("form", name="Run again with parameters")
    expect(form.get_by_label("steps")).to_have_value("4")
    form.get_by_label("steps").fill("6")
    form.get_by_role("button", name="Start a run").click()
    expect(page.get_by_text("The run has begun.")).to_be_visible()
    again = page.locator("[data-row]").first
    expect(again.locator("[data-value='result.doubled']")).to_have_text("12")
    expect(again).to_contain_text("succeeded")

    app.open(page, log)
    page.locator("nav[aria-label=Panels]").get_by_role("button", name="Parameters").click()
    page.get_by_role("link", name="All runs of this notebook").click()
    expect(page).to_have_url(f"{app.url}/runs?notebook={log}")
    expect(page.locator("[data-row]")).to_have_count(2)
    expect(page.get_by_text("notebook steps")).to_be_visible()


@pytest.mark.slow
def test_pages_are_read_one_after_the_other(app: App, page: Page) -> None:
    record(
        app,
        [
            RunLog(log=LogId(f"many-{number:03}"), name="many", path="many.py", minute=100 + number)
            for number in range(120)
        ],
    )
    show(app, page, "?source=many.py")
    expect(page.get_by_text("120 runs")).to_be_visible()
    page.locator("[data-row]").last.scroll_into_view_if_needed()
    expect(page.locator("[data-row]")).to_have_count(100)
    page.locator("[data-row]").last.scroll_into_view_if_needed()
    expect(page.locator("[data-row]")).to_have_count(120)
    logs = page.locator("[data-row]").evaluate_all("rows => rows.map((row) => row.dataset.run)")
    assert logs == [f"many-{number:03}" for number in reversed(range(120))]
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
