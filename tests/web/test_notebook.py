"""A person works in a notebook: edits, runs, moves, undoes, answers. What the page shows is what the log has."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from .app import App
from .notebook import Book


def test_cells_are_edited_and_run_with_the_keys_people_know(app: App, page: Page) -> None:
    book = Book.of(app, page, "x = 20", "print(x + 1)", name="Keys")
    book.is_at(0)
    mode = page.locator("[data-mode]")
    expect(mode).to_have_text(re.compile("Command"))
    book.press("Enter")
    expect(book.editor).to_be_focused()
    expect(mode).to_have_text(re.compile("Edit"))
    page.keyboard.type("0")
    book.press("Shift+Enter")
    book.is_at(1)
    expect(mode).to_have_text(re.compile("Command"))
    book.press("Control+Enter")
    expect(book.outputs(1)).to_contain_text("201")
    book.has_state(0, "ok")
    expect(book.foot(1)).to_have_text(re.compile(r"you · just now · .+ m?s"))
    book.press("Shift+Enter")
    expect(book.cells).to_have_count(3)
    expect(book.editor).to_be_focused()
    page.keyboard.type("x / 0")
    book.press("Shift+Enter")
    book.has_state(2, "error")
    expect(book.outputs(2)).to_contain_text("ZeroDivisionError")
    expect(book.cell(2).locator("mark")).to_have_text("x / 0")
    book.until(lambda: book.sources()[:3], ["x = 200", "print(x + 1)", "x / 0"])


def test_after_a_failure_the_rest_is_skipped_and_says_why(app: App, page: Page) -> None:
    book = Book.of(app, page, "a = 1", "raise KeyError('region')", "print('never')", "print('nor this')")
    book.go(1)
    book.press("F2")
    page.get_by_label("Name", exact=True).fill("load")
    page.keyboard.press("Enter")
    expect(book.cell(1).locator("[data-name]")).to_have_text("load")
    page.get_by_label("More ways to run").click()
    page.get_by_role("menuitem", name="Run all", exact=True).click()
    book.has_state(1, "error")
    for number in (2, 3):
        book.has_state(number, "skipped")
    expect(book.foot(2)).to_contain_text("skipped: needs load, which failed")
    expect(book.foot(3)).to_contain_text("skipped: needs cell 3")


def test_stale_cells_say_why_and_are_run_together(app: App, page: Page) -> None:
    book = Book.of(app, page, "x = 1", "y = x + 1", "print(y)")
    book.press("Shift+Enter", "Shift+Enter", "Control+Enter")
    expect(book.outputs(2)).to_contain_text("2")
    book.edit(0, "x = 10")
    expect(book.cell(0)).to_have_attribute("data-stale", "true")
    expect(book.foot(0)).to_contain_text("stale: changed since it ran")
    expect(book.foot(1)).to_contain_text("stale: cell 1 changed since")
    book.cell(2).get_by_role("button", name="Run stale").click()
    expect(book.outputs(2)).to_contain_text("11")
    expect(page.locator("[data-stale]")).to_have_count(0)


def test_cells_are_cut_moved_split_merged_and_each_goes_back(app: App, page: Page) -> None:
    book = Book.of(app, page, "one", "two\nthree", "four")
    start = ("one", "two\nthree", "four")
    book.press("x")
    book.until_sources(*start[1:])
    expect(page.get_by_text("Cut 1 cell.")).to_be_visible()
    book.press("v")
    book.until_sources("two\nthree", "one", "four")
    book.press("Alt+ArrowDown")
    book.until_sources("two\nthree", "four", "one")
    book.go(0)
    book.press("Enter", "Control+Home", "ArrowDown", "Control+Shift+-")
    book.until_sources("two", "three", "four", "one")
    book.press("Escape")
    book.is_at(1)
    book.press("Shift+ArrowDown", "Shift+M")
    book.until_sources("two", "three\n\nfour", "one")
    for wanted in (
        ("two", "three", "four", "one"),
        ("two\nthree", "four", "one"),
        ("two\nthree", "one", "four"),
        ("two\nthree", "four"),
        start,
    ):
        book.press("z")
        book.until_sources(*wanted)
    ids = [cell["id"] for cell in book.read()]
    book.go(0)
    book.press("Shift+ArrowDown", "d", "d")
    page.get_by_role("button", name="Undo", exact=True).last.click()
    book.until_sources(*start)
    assert [cell["id"] for cell in book.read()] == ids


def test_input_is_answered_in_place_by_who_ran_it_and_a_password_is_hidden(
    app: App, page: Page, second_page: Page
) -> None:
    book = Book.of(app, page, "print('got', input('Month? '))", "import getpass\nlen(getpass.getpass('Secret: '))")
    other = Book(app, second_page, book.log)
    book.press("Control+Enter")
    field = book.cell(0).get_by_label("Month?")
    expect(field).to_be_focused()
    expect(other.cell(0).get_by_label("Month?")).to_be_visible()
    expect(other.cell(0).get_by_label("Month?")).not_to_be_focused()
    page.keyboard.type("May")
    page.keyboard.press("Enter")
    expect(book.outputs(0)).to_contain_text("got May")
    expect(field).to_have_count(0)
    book.go(1)
    book.press("Control+Enter")
    secret = book.cell(1).get_by_label("Secret:")
    expect(secret).to_be_focused()
    expect(secret).to_have_attribute("type", "password")
    page.keyboard.type("hunter2")
    page.keyboard.press("Enter")
    expect(book.outputs(1)).to_contain_text("7")
    assert "hunter2" not in str(app.read(book.log))


def test_a_click_puts_the_cursor_where_it_was_and_text_is_typed_there(app: App, page: Page) -> None:
    text = "# Title\n\n```python\nimport os\n```\n\n```unknown\nimport os\n```\n\nSome *text*."
    book = Book.of(app, page, "abcdef\nghijkl", ("markdown", text))
    # Code in a text has the colours of cells.
    expect(book.cell(1).locator("pre code .hl-keyword")).to_have_text(["import"])
    expect(book.cell(1).locator("pre code")).to_have_text(["import os\n", "import os\n"])
    box = book.cell(0).locator("[data-source] code").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 300, box["y"] + 12)
    expect(book.editor).to_be_focused()
    page.keyboard.type("X")
    page.keyboard.press("Escape")
    book.until_sources("abcdefX\nghijkl", text)
    book.cell(1).locator("[data-source]").dblclick()
    expect(book.editor).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" More.")
    book.press("Shift+Enter")
    expect(book.cell(1).locator("[data-source]")).to_contain_text("More.")
    expect(book.cell(1).locator(".cm-content")).to_have_count(0)


def test_palette_keys_and_menus_are_of_one_table(app: App, page: Page) -> None:
    book = Book.of(app, page, "1", "2")
    book.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("Remove")
    expect(sheet).to_contain_text("Split at the cursor")
    book.press("Escape")
    expect(sheet).to_have_count(0)
    book.is_at(0)
    book.press("Control+k")
    page.get_by_role("combobox").fill("duplic")
    book.press("Enter")
    book.until_sources("1", "1", "2")
    book.press(".")
    page.get_by_role("menuitem", name="Make it Markdown").click()
    book.until(lambda: book.field(1, "kind"), "markdown")


LONG = """
import pathlib, time
for number in range(500):
    print("line", number, flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("the end")
"""


def test_a_cell_goes_on_while_no_browser_is_open_and_the_next_one_sees_all_of_it(app: App) -> None:
    """Rule 11: work outlives its watchers."""
    log = app.notebook("long", LONG)
    first = app.context()
    book = Book(app, first.new_page(), log)
    book.press("Control+Enter")
    book.has_state(0, "running")
    expect(book.outputs(0)).to_contain_text("line")
    first.close()
    second = app.context()
    book = Book(app, second.new_page(), log)
    book.has_state(0, "running")
    expect(book.outputs(0)).to_contain_text("line 499")
    (app.folder / "go").touch()
    book.has_state(0, "ok")
    expect(book.outputs(0)).to_contain_text("line 0")
    expect(book.outputs(0)).to_contain_text("the end")
    (execution,) = [cell["execution"] for cell in book.read()]
    printed = "".join(output["head"] + output.get("tail", "") for output in execution["outputs"])
    assert printed == "".join(f"line {number}\n" for number in range(500)) + "the end\n"
    second.close()


@pytest.mark.slow
def test_what_is_typed_before_the_palette_is_loaded_is_typed_into_it(app: App, page: Page) -> None:
    book = Book.of(app, page, "1", "2")
    book.go(0)
    held: list[Route] = []
    page.route("**/Palette-*.js", lambda route: held.append(route))
    book.press("Control+k")
    page.keyboard.type("run all")
    book.until(lambda: len(held), 1)
    held[0].continue_()
    expect(page.get_by_role("combobox")).to_have_value("run all")
    assert book.sources() == ["1", "2"], "no letter was taken for a key of cells"
    book.press("Enter")
    book.has_state(1, "ok")
