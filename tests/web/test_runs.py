"""The page of runs: columns of their own types, each filter and order in the address, what goes on, and two compared."""

from __future__ import annotations

import datetime as dt

import pytest
from playwright.sync_api import Page, expect

from quire.core.ids import ActorId, LogId

from ..run_logs import RunLog
from .app import App
from .axe import serious
from .runs import asked, expect_runs, filter_by, record, row, show

MONTHS = ("2026-08", "2026-09", "2026-10", "2026-11")


@pytest.fixture(scope="module", autouse=True)
def recorded(app: App) -> None:
    """Runs of a file that no notebook is bound to, by two people and a schedule."""
    runs = [
        RunLog(
            log=LogId(f"train-{number}"),
            minute=number,
            parameters={"month": month, "depth": (3, 20, 100, 7)[number], "fast": number % 2 == 0},
            results={"accuracy": 0.5 + number / 10, "day": dt.date(2026, 3, number + 1)},
            seconds=10 - number,
        )
        for number, month in enumerate(MONTHS)
    ]
    runs += [
        RunLog(
            log=LogId("broken"), minute=10, parameters={"depth": "deep"}, status="error", actor=ActorId("human:grace")
        ),
        RunLog(
            log=LogId("nightly"),
            minute=11,
            name="report",
            path="reports/report.py",
            actor=ActorId("schedule:nightly"),
            on_behalf_of=ActorId("human:grace"),
        ),
    ]
    record(app, runs)


ALL = ("nightly", "broken", "train-3", "train-2", "train-1", "train-0")


def test_runs_are_filtered_sorted_and_shared_by_their_address(app: App, page: Page) -> None:
    show(app, page, "?source=train.py")
    expect_runs(page, *ALL[1:])
    expect(page.get_by_text("5 runs", exact=True)).to_be_visible()
    first = row(page, "train-3")
    expect(first).to_contain_text("succeeded")
    expect(first.locator("[data-value='result.accuracy']")).to_have_text("0.8")
    expect(first.locator("[data-value='result.accuracy']")).to_have_attribute("data-number", "true")
    expect(first.locator("[data-value='result.day']")).to_have_text("2026-03-04")
    expect(row(page, "broken")).to_contain_text("KeyError: region")

    filter_by(page, "result.accuracy > 0.55", enter=True)
    expect_runs(page, "train-3", "train-2", "train-1")
    page.get_by_role("button", name="depth", exact=True).click()
    expect_runs(page, "train-3", "train-1", "train-2")
    expect(page.get_by_role("columnheader", name="depth")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="depth", exact=True).click()
    expect_runs(page, "train-2", "train-1", "train-3")
    assert asked(page) == {"source": ["train.py"], "where": ["result.accuracy > 0.55"], "sort": ["-param.depth"]}
    page.reload()
    expect_runs(page, "train-2", "train-1", "train-3")
    page.go_back()
    expect_runs(page, "train-3", "train-1", "train-2")
    page.get_by_role("button", name="Remove filter result.accuracy > 0.55").click()
    expect_runs(page, "train-0", "train-3", "train-1", "train-2", "broken")
    assert serious(page) == []


@pytest.mark.slow
def test_each_filter_is_chosen_from_what_occurs(app: App, page: Page) -> None:
    show(app, page)
    expect_runs(page, *ALL)
    filter_by(page, "2026-1 ADA")
    expect_runs(page, "train-3", "train-2")
    assert asked(page) == {"text": ["2026-1 ADA"]}
    page.keyboard.press("Escape")
    expect_runs(page, *ALL)

    page.get_by_role("button", name="Outcome", exact=True).first.click()
    page.get_by_role("menuitemcheckbox", name="error").click()
    expect_runs(page, "broken")
    assert asked(page) == {"status": ["error"]}
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear", exact=True).click()

    page.get_by_role("button", name="Source", exact=True).click()
    page.get_by_role("menuitemcheckbox", name="reports/report.py (1)").click()
    expect_runs(page, "nightly")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove filter reports/report.py").click()

    page.get_by_role("button", name="Who", exact=True).first.click()
    page.get_by_role("menuitemcheckbox", name="grace").click()
    expect_runs(page, "nightly", "broken")
    page.keyboard.press("Escape")
    expect(row(page, "nightly")).to_contain_text("nightly for grace")
    page.get_by_role("button", name="Clear", exact=True).click()

    page.get_by_role("button", name="When", exact=True).first.click()
    page.get_by_label("From", exact=True).fill("2025-12-31")
    page.get_by_label("To", exact=True).fill("2026-01-02")
    page.get_by_role("dialog").get_by_role("button", name="Filter").click()
    expect_runs(page, *ALL)
    assert asked(page) == {"since": ["2025-12-31"], "until": ["2026-01-02"]}
    page.get_by_role("button", name="When", exact=True).first.click()
    page.get_by_role("button", name="Last hour").click()
    expect(page.get_by_text("No run meets these filters")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect_runs(page, *ALL)

    page.get_by_role("button", name="Value", exact=True).click()
    form = page.get_by_role("form", name="Filter by a value")
    form.get_by_label("Parameter or result").select_option("param.month")
    form.get_by_label("Comparison").select_option("<")
    form.get_by_label("Value").fill("2026-10")
    form.get_by_role("button", name="Filter").click()
    expect_runs(page, "train-1", "train-0")
    assert asked(page) == {"where": ["param.month < 2026-10"]}
    page.go_back()
    expect_runs(page, *ALL)


@pytest.mark.slow
def test_what_cannot_be_read_is_said_in_one_line(app: App, page: Page) -> None:
    page.goto(f"{app.url}/runs?where=accuracy+is+high")
    expect(page.get_by_role("alert")).to_contain_text("Condition 'accuracy is high' cannot be read.")
    page.get_by_role("button", name="Remove filter accuracy is high").click()
    expect_runs(page, *ALL)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.slow
def test_columns_are_chosen_and_remembered_by_the_browser(app: App, page: Page) -> None:
    show(app, page, "?source=train.py")
    expect(page.get_by_role("columnheader", name="month")).to_be_visible()
    expect(page.get_by_role("columnheader", name="accuracy")).to_contain_text("from 0.5 to 0.8")
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="month").uncheck()
    page.get_by_role("checkbox", name="Who").uncheck()
    expect(page.get_by_role("columnheader", name="month")).to_have_count(0)
    page.reload()
    expect_runs(page, *ALL[1:])
    expect(page.get_by_role("columnheader", name="month")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="Who")).to_have_count(0)
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("button", name="Show what varies").click()
    expect(page.get_by_role("columnheader", name="month")).to_be_visible()


@pytest.mark.slow
def test_a_table_is_used_with_keys_alone(app: App, page: Page) -> None:
    show(app, page, "?source=train.py")
    expect_runs(page, *ALL[1:])
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("train")
    expect_runs(page, *ALL[1:])
    page.keyboard.press("ArrowDown")
    expect(row(page, "broken").get_by_role("link")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.get_by_text("One run is selected")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.get_by_text("Two runs are selected.")).to_be_visible()
    assert serious(page) == []
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Two runs")).to_be_visible()
    assert asked(page) == {"a": ["train-2"], "b": ["train-3"]}, "the older one is a"
    page.go_back()
    expect_runs(page, *ALL[1:])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{app.url}/runs/broken")


@pytest.mark.slow
def test_two_runs_are_compared_with_how_far_they_are_apart(app: App, page: Page) -> None:
    page.goto(f"{app.url}/runs/compare?a=train-0&b=train-3")
    expect(page.get_by_text("3 parameters and 2 results differ; the code is the same.")).to_be_visible()
    results = page.get_by_role("table", name="Results")
    expect(results.locator("[data-pair=accuracy] td")).to_have_text(["0.5", "0.8", "+0.3", "+60 %"])
    expect(page.get_by_role("table", name="Parameters").locator("[data-pair=month] td")).to_have_text(
        ["2026-08", "2026-11"]
    )
    expect(page.get_by_role("table", name="Timing")).to_contain_text("In all")
    expect(page.get_by_text("No cell differs")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("link", name="Swap a and b").click()
    expect(results.locator("[data-pair=accuracy] td")).to_have_text(
        ["0.8", "0.5", "\N{MINUS SIGN}0.3", "\N{MINUS SIGN}37.5 %"]
    )
    page.goto(f"{app.url}/runs/compare?a=train-0&b=nothing")
    expect(page.get_by_role("heading", name="These cannot be compared")).to_be_visible()


@pytest.mark.slow
def test_a_narrow_page_scrolls_the_table_and_keeps_the_names(app: App, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    show(app, page)
    expect_runs(page, *ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("region", name="Table of runs").evaluate("table => table.scrollTo({ left: 10000 })")
    box = row(page, "nightly").get_by_role("link").bounding_box()
    assert box is not None
    assert 0 <= box["x"] < 200
    assert serious(page) == []


@pytest.mark.slow
def test_a_run_of_a_file_that_no_notebook_has_says_what_to_type(app: App, page: Page) -> None:
    show(app, page, "?source=train.py")
    row(page, "train-2").get_by_role("button", name="More for train").click()
    page.get_by_role("menuitem", name="Run again…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("No notebook is bound to train.py")
    expect(dialog).to_contain_text("quire run train.py -p month=2026-10 -p depth=100 -p fast=true")
