"""Every state of a cell has its mark, its word and its reason; and what may not be done says why."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .app import App, answered
from .notebook import Book

pytestmark = pytest.mark.slow

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Give files to what is pasted into, or dropped on.
GIVE = """([kind, selector, name, media, data]) => {
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
  const transfer = new DataTransfer()
  transfer.items.add(new File([bytes], name, { type: media }))
  const target = selector ? document.querySelector(selector) : document.activeElement
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true })
  target.dispatchEvent(event)
}"""


def test_a_long_cell_tells_its_time_the_queue_its_places_and_all_of_it_stops(app: App, page: Page) -> None:
    book = Book.of(app, page, "import time\ntime.sleep(5)", "1", "2", "3")
    book.press("Shift+Enter", "Shift+Enter", "Shift+Enter")
    book.has_state(0, "running")
    expect(book.foot(0)).to_contain_text(re.compile(r"running [1-5] s"))
    expect(book.foot(1)).to_contain_text("queued, next, after cell 1")
    expect(book.foot(2)).to_contain_text("queued, 2nd, after cell 2")
    book.cell(2).get_by_role("button", name="Cancel").first.click()
    book.has_state(2, "cancelled")
    expect(book.foot(2)).to_contain_text("cancelled")
    book.has_state(0, "ok")
    book.has_state(1, "ok")
    book.edit(0, "import time\ntime.sleep(60)")
    book.go(0)
    book.press("Control+Enter")
    expect(book.foot(0)).to_contain_text(re.compile(r"running \d+ s, last time 5\.\d s"))
    page.reload()  # this page has not seen the last time
    expect(book.foot(0)).to_contain_text(re.compile(r"running \d+ s, last time 5\.\d s"))
    book.is_at(0)
    book.press("i", "i")
    book.has_state(0, "cancelled")
    expect(book.foot(0)).to_contain_text("interrupted by you")


def test_a_restart_asks_first_and_then_all_names_are_gone(app: App, page: Page) -> None:
    book = Book.of(app, page, "x = 1", "x")
    book.press("Shift+Enter", "Control+Enter")
    book.has_state(1, "ok")
    book.press("0", "0")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    book.press("0", "0")
    page.get_by_role("dialog").get_by_role("button", name="Restart").click()
    book.until(lambda: any(runtime.get("restarts") for runtime in app.read(book.log)["runtimes"].values()), True)
    book.press("Control+Enter")
    book.has_state(1, "error")
    expect(book.outputs(1)).to_contain_text("NameError")


def test_a_dead_kernel_says_so(app: App, page: Page) -> None:
    book = Book.of(app, page, "import os\nos._exit(1)")
    book.press("Control+Enter")
    book.has_state(0, "dead_kernel")
    expect(book.foot(0)).to_contain_text("the kernel died")


def test_outputs_that_came_with_a_file_say_from_where(app: App, page: Page) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "from afar"}
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "abcd1234",
        "metadata": {},
        "source": "1",
        "execution_count": 7,
        "outputs": [output],
    }
    file: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    with app.client() as client:
        made = answered(client.post("/api/imports", params={"format": "ipynb", "name": "taken"}, json=file))
    book = Book(app, page, made["log"])
    expect(book.outputs(0)).to_contain_text("from afar")
    expect(book.foot(0)).to_have_text(re.compile("from "))
    expect(book.cell(0)).to_contain_text("7")


def test_a_refusal_stands_at_its_cell_with_the_reason_until_it_is_dismissed(app: App, page: Page) -> None:
    book = Book.of(app, page, "x = 1", "y = 2")
    book.press("F2")
    page.get_by_label("Name", exact=True).fill("a\u202eb")
    page.keyboard.press("Enter")
    refusal = book.cell(0).get_by_role("alert")
    expect(refusal).to_contain_text("Not named. A cell's name is 1 to 200 visible characters")
    refusal.get_by_role("button", name="Dismiss").click()
    expect(refusal).to_have_count(0)
    book.press("z")
    expect(page.get_by_text("Nothing to undo.")).to_be_visible()


def test_who_may_only_read_reads_and_folds_for_themselves(app: App, page: Page) -> None:
    log = app.notebook("closed", "print(1)")
    with app.client() as client:
        cell = app.read(log)["order"][0]
        answered(client.post(f"/api/notebooks/{log}/executions", json={"cells": [{"cell": cell}]}))
    context = app.context("human:vera", "read")
    reader = context.new_page()
    book = Book(app, reader, log)
    expect(reader.get_by_text("You may read this notebook, not change it.")).to_be_visible()
    book.has_state(0, "ok")
    book.press("Enter", "x", "d", "d", "a")
    expect(book.cells).to_have_count(1)
    expect(book.editor).to_have_count(0)
    book.press("Escape", "o")
    expect(book.outputs(0)).to_contain_text("1 output folded")
    assert book.read()[0].get("metadata") is None
    context.close()


def test_an_sql_cell_names_its_result(app: App, page: Page) -> None:
    book = Book.of(app, page, ("sql", "select 1 as a"), ("code", "1"))
    book.cell(0).get_by_role("button", name="name the result").click()
    page.get_by_label("Name", exact=True).fill("by_city")
    page.keyboard.press("Enter")
    expect(book.cell(0).locator("[data-name]")).to_have_text("→ by_city")
    book.until(lambda: book.field(0, "name"), "by_city")


def test_pasted_images_become_attachments_of_text(app: App, page: Page) -> None:
    book = Book.of(app, page, ("markdown", "# A picture"), "1")
    book.go(0)
    page.evaluate(GIVE, ["paste", None, "my plot.png", "image/png", PIXEL])
    expect(book.cell(0).locator("img")).to_be_visible()
    book.until(lambda: book.sources()[0], "# A picture\n![my-plot](attachment:my-plot.png)\n")
    book.press("Enter")
    expect(book.editor).to_be_focused()
    page.evaluate(GIVE, ["paste", None, "my plot.png", "image/png", PIXEL])
    book.until(lambda: "attachment:my-plot-2.png" in book.sources()[0], True)
    book.press("Escape")


def test_undo_never_takes_back_what_somebody_else_did(app: App, page: Page, second_page: Page) -> None:
    book = Book.of(app, page, "one", "two")
    other = Book(app, second_page, book.log)
    book.press("b")
    book.until_sources("one", "", "two")
    expect(other.cells).to_have_count(3)
    other.edit(1, "hers")
    book.until_sources("one", "hers", "two")
    book.press("z")
    expect(page.get_by_text("Not undone: it has been changed since.")).to_be_visible()
    book.until_sources("one", "hers", "two")


def test_the_focus_stays_in_its_place_when_somebody_removes_the_cell(app: App, page: Page, second_page: Page) -> None:
    book = Book.of(app, page, "one", "two", "three")
    other = Book(app, second_page, book.log)
    book.press("j")
    other.go(1)
    other.press("d", "d")
    expect(book.cells).to_have_count(2)
    book.is_at(1)
    expect(page.get_by_label(re.compile("^grace is here"))).to_be_visible()


def test_cells_are_dragged_by_their_gutters(app: App, page: Page) -> None:
    book = Book.of(app, page, "one", "two", "three", "four")
    book.go(0)
    book.press("Shift+ArrowDown")
    gutter = book.cell(0).locator("> div").first
    gutter.drag_to(book.cell(2).locator("> div").first, target_position={"x": 10, "y": 25})
    book.until_sources("three", "one", "two", "four")
    book.press("z")
    book.until_sources("one", "two", "three", "four")


def test_a_cell_is_added_with_the_pointer_where_it_is_wanted(app: App, page: Page) -> None:
    book = Book.of(app, page, "one", "two")
    book.cell(0).hover()
    book.cell(0).get_by_role("button", name="Add a cell below").click()
    expect(book.editor).to_be_focused()
    page.keyboard.type("between")
    book.press("Escape")
    book.until_sources("one", "between", "two")


def test_how_a_run_ended_is_read_out_and_a_reload_comes_back_to_the_cell(app: App, page: Page) -> None:
    book = Book.of(app, page, *["1 / 0"] * 40)
    book.press("End", "Control+Enter")
    expect(page.locator("[data-announced]")).to_have_text("cell 40: error, ZeroDivisionError: division by zero")
    book.until(lambda: page.evaluate("history.state?.cell") == book.read()[39]["id"], True)
    page.reload()
    book.is_at(39)
    expect(book.cell(39)).to_be_in_viewport()
