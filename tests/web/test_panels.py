"""The panels beside the cells: find and replace, parameters, runtime, history, outline, people, files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from quire.core.text import source_hash
from quire.workspace.clock import new_id

from .app import App, answered
from .axe import serious

SERVE_FLAGS = ()
"""With the mirror: files that are dropped land beside their notebooks."""


def rail(page: Page, name: str) -> Locator:
    """Open a panel by its button, and return it."""
    page.locator("nav[aria-label=Panels]").get_by_role("button", name=name).click()
    panel = page.locator("[data-rail-panel]")
    expect(panel).to_be_visible()
    return panel


def cell(page: Page, number: int) -> Locator:
    """A cell by its place, from 0."""
    return page.locator("[data-cell]").nth(number)


def record(app: App, log: str, *events: dict[str, Any], actor: str = "human:ada") -> None:
    """Record events in a log."""
    with app.client(actor) as client:
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))


def edit(app: App, log: str, number: int, text: str, actor: str = "human:ada") -> None:
    """Write another text into a cell."""
    now = app.read(log)
    id = now["order"][number]
    before = now["cells"][id].get("source", "")
    event = {"type": "source_edited", "cell": id, "base": now["seq"], "edit": [[0, len(before), text]]}
    record(app, log, event, actor=actor)


# ---- Find and replace


def test_a_text_is_found_in_sources_and_outputs_and_replaced_everywhere_at_once(app: App, page: Page) -> None:
    log = app.notebook("find", "top = 5", ("markdown", "The top rows"), "stop = top + 1  # 🦊 top")
    first = app.read(log)["order"][0]
    printed = {"kind": "stream", "name": "stdout", "head": "one\n\u001b[31mTop\u001b[0m of all"}
    imported = {"type": "outputs_imported", "execution": new_id(), "cell": first, "outputs": [printed]}
    record(app, log, imported | {"source_hash": source_hash("top = 5")})
    app.open(page, log)
    page.keyboard.press("Control+f")
    field = page.get_by_role("textbox", name="Find")
    expect(field).to_be_focused()
    field.fill("top")
    panel = page.get_by_role("search")
    expect(panel.get_by_role("status")).to_have_text("6 found")
    panel.get_by_role("button", name="Whole word").click()
    expect(panel.get_by_role("status")).to_have_text("5 found")
    field.press("Enter")
    expect(panel.get_by_role("status")).to_have_text("1 of 5")
    field.press("Shift+Enter")
    expect(panel.get_by_role("status")).to_have_text("5 of 5")
    expect(field).to_be_focused()

    panel.get_by_role("button", name="Replace").first.click()
    panel.get_by_role("textbox", name="Replace with").fill("most")
    panel.get_by_role("button", name="Replace", exact=True).last.click()
    expect(cell(page, 2)).to_contain_text("stop = top + 1  # 🦊 most")
    panel.get_by_role("button", name="All", exact=True).click()
    expect(panel.get_by_role("status")).to_have_text("1 found")  # an output is what was printed
    expect(cell(page, 0)).to_contain_text("most = 5")
    expect(cell(page, 2)).to_contain_text("stop = most + 1  # 🦊 most")

    page.get_by_role("button", name="Undo").last.click()
    expect(cell(page, 0)).to_contain_text("top = 5")
    expect(cell(page, 2)).to_contain_text("stop = top + 1  # 🦊 most")
    page.keyboard.press("Escape")
    cell(page, 2).locator("> div").first.click()
    page.keyboard.press("z")  # what the line undid is not undone again: this is the one before
    expect(cell(page, 2)).to_contain_text("stop = top + 1  # 🦊 top")
    page.keyboard.press("z")
    expect(page.get_by_text("Nothing to undo.")).to_be_visible()


def test_keys_that_come_before_the_panels_are_kept_for_them(app: App, page: Page) -> None:
    log = app.notebook("early", "top = 5", "stop = 6")
    held: list[Route] | None = []

    def hold(route: Route) -> None:
        if held is None:
            route.continue_()
        else:
            held.append(route)

    def release() -> None:
        nonlocal held
        routes, held = held or [], None
        assert routes, "The panels were loaded before the keys."
        for route in routes:
            route.continue_()

    page.route(re.compile(r"/assets/(panel|FindPanel)-.*\.js"), hold)
    app.open(page, log)
    page.keyboard.press("Control+f")
    page.keyboard.type("dd")  # which would remove a cell
    release()
    field = page.get_by_role("textbox", name="Find")
    expect(field).to_be_focused()
    expect(field).to_have_value("dd")
    field.press("Escape")

    held = []
    app.open(page, log)
    page.keyboard.press("Control+k")
    page.keyboard.type("outline")
    release()
    expect(page.get_by_role("combobox")).to_have_value("outline")
    page.keyboard.press("Enter")
    expect(page.locator("[data-rail-panel=outline]")).to_be_focused()
    expect(page.locator("[data-cell]")).to_have_count(2)


@pytest.mark.slow
def test_the_second_ctrl_f_is_the_browsers_own_and_one_in_an_editor_comes_back_to_the_field(
    app: App, page: Page
) -> None:
    app.open(page, app.notebook("keys", "top = 5"))
    page.keyboard.press("Control+f")
    field = page.get_by_role("textbox", name="Find")
    expect(field).to_be_focused()
    page.evaluate(
        "addEventListener('keydown', (event) => setTimeout(() => {"
        "document.documentElement.dataset.left = String(!event.defaultPrevented) }), true)"
    )
    page.keyboard.press("Control+f")
    expect(page.locator("html")).to_have_attribute("data-left", "true")
    expect(field).to_be_focused()
    cell(page, 0).locator("[data-source]").click()
    expect(cell(page, 0).locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+f")
    expect(page.locator("html")).to_have_attribute("data-left", "false")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-rail-panel]")).to_have_count(0)


def test_the_outline_lists_headings_and_names_and_leads_to_them(app: App, page: Page) -> None:
    log = app.notebook("outline", ("markdown", "# Sales\n\ntext"), "x = 1", ("markdown", "## Show *it*"), "x")
    second = app.read(log)["order"][1]
    record(app, log, {"type": "cell_named", "cell": second, "name": "load"})
    app.open(page, log)
    outline = rail(page, "Outline").get_by_role("navigation", name="Outline")
    expect(outline.get_by_role("button")).to_have_text(["Sales", "load", "Show it"])
    outline.get_by_role("button", name="Show it").click()
    expect(cell(page, 2)).to_have_attribute("aria-current", "true")
    expect(outline.get_by_role("button", name="Show it")).to_have_attribute("aria-current", "location")
    outline.get_by_role("button", name="Show it").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(cell(page, 1)).to_have_attribute("aria-current", "true")


# ---- Parameters


def test_the_form_of_parameters_checks_its_fields_and_starts_a_run(app: App, page: Page) -> None:
    source = "from typing import Literal\n\ntop = 5  # how many\nmonth: str\n"
    source += 'region: Literal["north", "south"] = "north"'
    log = app.notebook("sales", source, "print(month, top * 2, region)")
    first = app.read(log)["order"][0]
    record(app, log, {"type": "cell_tagged", "cell": first, "tags": ["parameters"]})
    app.open(page, log)
    cell(page, 0).get_by_role("button", name="Run with parameters…").click()
    form = page.get_by_role("form", name="Run with parameters")
    expect(form.get_by_label("top")).to_have_value("5")
    form.get_by_label("top").fill("five")
    form.get_by_role("button", name="Start a run").click()
    expect(form.get_by_text("This wants a whole number, such as 5.")).to_be_visible()
    expect(form.get_by_text("It needs a value.")).to_be_visible()
    expect(form.get_by_label("top")).to_be_focused()
    with app.client() as client:
        assert answered(client.get("/api/runs")) == []

    form.get_by_label("top").fill("7")
    form.get_by_label("month").fill("2026-10")
    form.get_by_label("region").select_option("south")
    form.get_by_role("button", name="Start a run").click()
    last = page.get_by_role("region", name="Last run")
    expect(last.get_by_role("status")).to_contain_text("Finished")
    last.get_by_role("link", name="Open the run").click()
    expect(page).to_have_url(re.compile(r"/runs/"))
    expect(page.locator("[data-outputs]").last).to_contain_text("2026-10 14 south")


# ---- History


def test_an_earlier_version_of_a_cell_is_shown_and_restored(app: App, page: Page) -> None:
    log = app.notebook("versions", "x = 1\ny = 2")
    edit(app, log, 0, "x = 1\ny = 3", actor="human:grace")
    app.open(page, log)
    panel = rail(page, "History of a cell")
    expect(panel).to_contain_text("Written by")
    versions = panel.get_by_role("listitem")
    expect(versions).to_have_count(2)
    expect(versions.first).to_contain_text("grace")
    versions.last.get_by_role("button").first.click()
    versions.last.get_by_role("button", name="Compare with now").click()
    expect(panel.get_by_role("group", name="What restoring it would change")).to_contain_text("y = 2")
    versions.last.get_by_role("button", name="Restore").click()
    expect(cell(page, 0)).to_contain_text("y = 2")
    expect(versions).to_have_count(3)
    expect(versions.first).to_contain_text("now")
    assert app.sources(log) == ["x = 1\ny = 2"]
    now = app.read(log)
    hers = {"type": "source_edited", "cell": now["order"][0], "base": now["seq"], "edit": [[0, 0, "# grace\n"]]}
    record(app, log, hers, actor="human:grace")
    expect(cell(page, 0)).to_contain_text("# grace")
    cell(page, 0).locator("> div").first.click()
    page.keyboard.press("z")
    expect(cell(page, 0)).to_contain_text("y = 3")
    expect(cell(page, 0)).to_contain_text("# grace")


@pytest.mark.slow
def test_a_conflict_with_the_file_shows_both_sides_and_the_answer_ends_it(app: App, page: Page) -> None:
    log = app.notebook("conflict", "x = 1", "y = 1")
    id = app.read(log)["order"][0]
    app.open(page, log)
    conflict = {"type": "conflict_raised", "cell": id, "base": "x = 0", "ours": "x = 1", "theirs": "x = 2"}
    record(app, log, {"type": "file_bound", "path": "conflict.py"}, conflict | {"conflict": "k1"})
    expect(page.locator("[data-announced]")).to_have_text("In conflict with the file: cell 1")
    expect(page.locator("[data-conflict]")).to_have_text(re.compile("Conflict conflict.py has another text here."))
    expect(page.get_by_role("listitem", name="Code cell, in conflict with the file")).to_have_count(1)
    cell(page, 1).locator("> div").first.click()
    cell(page, 0).get_by_role("button", name="Show both sides").click()
    expect(cell(page, 0)).to_have_attribute("aria-current", "true")
    panel = page.locator("[data-rail-panel=history]")
    expect(panel).to_be_focused()
    expect(panel.get_by_role("group", name="The file said")).to_contain_text("x = 2")
    panel.get_by_role("button", name="Take the file's").click()
    expect(cell(page, 0)).to_contain_text("x = 2")
    expect(panel.get_by_role("group", name="The file said")).to_have_count(0)
    expect(page.locator("[data-conflict]")).to_have_count(0)
    assert "conflicts" not in app.read(log)


# ---- Runtime


@pytest.mark.slow
def test_variables_are_listed_and_lead_to_their_cells_and_the_kernel_restarts(app: App, page: Page) -> None:
    log = app.notebook("variables", "rows = [1, 2, 3]\ndef double(x):\n    return 2 * x", "1")
    app.open(page, log)
    panel = rail(page, "Runtime")
    expect(panel).to_contain_text("No runtime")
    expect(panel.get_by_label("Run with")).to_be_visible()
    panel.get_by_role("button", name="Start", exact=True).click()
    expect(panel.get_by_role("status")).to_contain_text("Idle")
    cell(page, 0).focus()
    page.keyboard.press("Shift+Enter")
    expect(cell(page, 0)).to_have_attribute("data-state", "ok")
    panel.get_by_role("button", name="List variables").click()
    data = panel.get_by_role("table", name="Data")
    expect(data.get_by_role("row", name=re.compile("rows"))).to_contain_text("3 items")
    expect(panel.get_by_role("table", name="Functions and classes")).to_contain_text("double")
    cell(page, 1).focus()
    data.get_by_role("button", name="rows").click()
    expect(cell(page, 0)).to_have_attribute("aria-current", "true")
    panel.get_by_role("button", name="Restart").click()
    page.get_by_role("dialog").get_by_role("button", name="Restart").click()
    expect(panel).to_contain_text("once")
    panel.get_by_role("button", name="List variables").click()
    expect(panel).to_contain_text("No cell has defined anything")
    panel.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(panel).to_contain_text("No runtime")


# ---- People


@pytest.mark.slow
def test_others_are_named_with_where_they_are_and_can_be_followed(app: App, page: Page, second_page: Page) -> None:
    log = app.notebook("people", *[f"x{number} = 1" for number in range(60)])
    last = app.read(log)["order"][-1]
    record(app, log, {"type": "cell_named", "cell": last, "name": "result"})
    app.open(page, log)
    app.open(second_page, log)
    panel = rail(page, "People")
    expect(panel).to_contain_text("grace")
    panel.get_by_role("button", name="Follow").click()
    expect(panel.get_by_role("button", name="Following")).to_be_visible()
    second_page.keyboard.press("Escape")
    second_page.keyboard.press("Control+End")
    second_page.locator("[data-cell]").last.focus()
    second_page.locator("[data-cell]").last.click(position={"x": 20, "y": 4})
    expect(panel).to_contain_text("reading result")
    expect(page.locator("[data-cell]").last).to_be_in_viewport()
    page.mouse.move(300, 300)
    page.mouse.wheel(0, -300)
    expect(panel.get_by_role("button", name="Follow", exact=True)).to_be_visible()
    second_page.close()
    expect(panel).to_contain_text("Nobody else")


# ---- Files

DROP = """([name, text]) => {
  const data = new DataTransfer()
  data.items.add(new File([text], name))
  for (const type of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
}"""


@pytest.mark.slow
def test_a_dropped_file_lands_beside_the_notebook_and_never_over_another(app: App, page: Page) -> None:
    log = app.notebook("drop", "1")
    app.open(page, log)
    rail(page, "Files")
    page.evaluate(DROP, ["sales.csv", "a,b\n1,2\n"])
    expect(page.get_by_text("sales.csv is at sales.csv.")).to_be_visible()
    assert (app.folder / "sales.csv").read_text() == "a,b\n1,2\n"
    page.evaluate(DROP, ["sales.csv", "other"])
    expect(page.get_by_text("sales.csv is at sales 2.csv.")).to_be_visible()
    assert (app.folder / "sales.csv").read_text() == "a,b\n1,2\n"
    page.get_by_role("button", name="Insert code to read it").first.click()
    expect(cell(page, 1)).to_contain_text('sales = pd.read_csv("sales.csv")')


@pytest.mark.slow
def test_panels_without_room_for_a_button_are_in_a_menu(app: App, page: Page) -> None:
    app.open(page, app.notebook("What sold in October", "x = 41"))
    buttons = page.locator("nav[aria-label=Panels] button:visible")
    more = page.get_by_role("button", name="More panels")
    expect(buttons).to_have_count(10)
    expect(more).to_have_count(0)
    page.set_viewport_size({"width": 900, "height": 800})
    expect(more).to_be_visible()
    name = page.get_by_role("textbox", name="Name of the notebook")
    assert name.evaluate("(field) => field.scrollWidth <= field.clientWidth"), (
        "it is not cut off for the sake of buttons"
    )
    expect(buttons.get_by_label("Files")).to_have_count(0)
    more.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menu", name="More panels")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("menuitem", name="Files").focus()
    page.keyboard.press("Enter")
    files = page.locator("[data-rail-panel=files]")
    expect(files).to_be_focused()
    expect(page.locator("nav[aria-label=Panels] button[aria-pressed=true]:visible")).to_have_attribute(
        "aria-label", "Files"
    )
    page.keyboard.press("Escape")
    expect(files).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(more).to_have_count(0)
    expect(buttons).to_have_count(10)


@pytest.mark.slow
def test_a_notebook_is_downloaded_in_every_format(app: App, page: Page) -> None:
    log = app.notebook("export", "x = 41")
    app.open(page, log)
    panel = rail(page, "Files")
    pages = panel.get_by_role("button", name="Web page")
    expect(pages).to_have_count(1)
    record(app, log, {"type": "comment_added", "comment": "c1", "cell": app.read(log)["order"][0], "text": "why 41?"})
    expect(pages).to_have_count(2)
    for title, ending, part in (
        ("Jupyter", "ipynb", '"cell_type"'),
        ("Python", "py", "x = 41"),
        ("Markdown", "md", "x = 41"),
        ("Web page .html, to read anywhere", "html", "<html"),
        ("Web page .html, with comments", "html", "why 41?"),
        ("Quire", "quire", ""),
    ):
        with page.expect_download() as download:
            panel.get_by_role("button", name=title).click()
        assert download.value.suggested_filename.endswith(f".{ending}")
        saved = Path(download.value.path()).read_bytes()
        assert part.encode() in saved
        if ending == "html":
            assert (b"why 41?" in saved) == title.endswith("comments")


# ---- All of them


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_panel(app: App, scheme: str) -> None:
    log = app.notebook(f"axe {scheme}", ("markdown", "# Sales"), "top = 5\nfast = True", "rows = [1]\nprint('top')")
    order = app.read(log)["order"]
    record(app, log, {"type": "cell_tagged", "cell": order[1], "tags": ["parameters"]})
    edit(app, log, 2, "rows = [1, 2]\nprint('top')", actor="human:grace")
    context = app.context(color_scheme=scheme)
    page = app.open(context.new_page(), log)
    for key in ("ArrowDown", "ArrowDown", "Control+Enter"):
        page.keyboard.press(key)
    expect(cell(page, 2)).to_have_attribute("data-state", "ok")
    for name in ("Outline", "Find", "Parameters", "Runtime", "History of a cell", "People", "Files"):
        panel = rail(page, name)
        if name == "Find":
            panel.get_by_role("textbox", name="Find").fill("top")
            panel.get_by_role("button", name="Replace").first.click()
            expect(panel.get_by_role("status")).to_have_text("3 found")
        elif name == "Parameters":
            panel.get_by_label("top").fill("five")
            panel.get_by_role("button", name="Start a run").click()
            expect(panel.get_by_role("alert")).to_be_visible()
        elif name == "Runtime":
            panel.get_by_role("button", name="List variables").click()
            expect(panel.get_by_role("table")).to_be_visible()
        elif name == "History of a cell":
            panel.get_by_role("listitem").first.get_by_role("button").click()
            expect(panel.get_by_role("group")).to_be_visible()
        assert serious(page) == [], name
    context.close()


# ---- Size


@pytest.mark.slow
def test_a_thousand_cells_are_searched_and_the_last_match_is_brought_into_view(app: App, page: Page) -> None:
    log = app.notebook("many", *[f"value_{number} = {number}\n" * 10 for number in range(1000)])
    app.open(page, log)
    page.keyboard.press("Control+f")
    field = page.get_by_role("textbox", name="Find")
    field.press_sequentially("value_999")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("10 found")
    field.press("Enter")
    expect(page.locator("[data-cell]").last).to_be_in_viewport()
