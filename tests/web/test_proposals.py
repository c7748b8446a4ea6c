"""Proposals on the page: seen at the cell and in a list, answered in whole or in part, and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.core.text import source_hash

from .agents import Codex
from .app import App, answered
from .notebook import Book
from .test_panels import rail, record

Open = Callable[..., tuple[Book, Codex]]


@pytest.fixture
def opened(app: App, page: Page) -> Iterator[Open]:
    """Open a notebook with these cells, and have an agent in it."""
    agents: list[Codex] = []

    def make(*cells: str, name: str = "sales") -> tuple[Book, Codex]:
        book = Book.of(app, page, *cells, name=name)
        agents.append(Codex(app, book.log))
        return book, agents[-1]

    yield make
    for agent in agents:
        agent.close()


def card(page: Page, proposal: str) -> Locator:
    """The card of a proposal."""
    return page.locator(f'[data-proposal="{proposal}"]')


def at_cell(page: Page, proposal: str) -> Locator:
    """What a proposal shows at cells."""
    return page.locator(f'[data-proposal-line="{proposal}"]')


def panel(page: Page) -> Locator:
    """Open the panel."""
    return rail(page, "Proposals")


# ---- Answers


def test_a_proposal_is_seen_at_its_cells_accepted_as_a_whole_and_undone_as_one(page: Page, opened: Open) -> None:
    book, codex = opened("rows = [3, 1, 2]", "print(rows)")
    first = codex.cell(0)
    new = {"type": "cell_added", "cell": "aaaa0001", "after": first, "source": "rows.sort()"}
    proposal = codex.propose("largest first", codex.text(0, "rows = [3, 1, 2, 9]"), new)
    expect(page).to_have_title("(1) sales · Quire")
    expect(book.cell(0)).to_contain_text("codex, for you, wants to change 1 cell and add 1 · largest first")
    expect(book.cell(0).get_by_role("group", name=re.compile("would change here")).locator("mark")).to_have_text(
        [", 9"]
    )
    expect(page.locator("[data-new-cell]")).to_contain_text("rows.sort()")
    expect(page.get_by_role("button", name="Proposals, 1")).to_be_visible()
    asked = panel(page)
    expect(asked.get_by_role("checkbox")).to_have_count(2)
    asked.get_by_role("button", name="Accept", exact=True).click()
    book.until_sources("rows = [3, 1, 2, 9]", "rows.sort()", "print(rows)")
    expect(page).to_have_title("sales · Quire")
    expect(asked).to_contain_text("No proposal waits")
    page.get_by_label("Messages").get_by_role("button", name="Undo").click()
    book.until_sources("rows = [3, 1, 2]", "print(rows)")
    assert codex.state(proposal)["state"] == "accepted", "undo opens nothing again"


@pytest.mark.slow
def test_a_part_is_left_out_with_what_builds_on_it(page: Page, opened: Open) -> None:
    book, codex = opened("x = 1", "y = 1")
    added = "z = '\u202etxt'"
    new = {"type": "cell_added", "cell": "aaaa0002", "after": None, "source": added}
    effect = {"kind": "run_cell", "execution": "e1", "cell": "aaaa0002", "source_hash": source_hash(added)}
    proposal = codex.propose("all of it", codex.text(0, "x = 2"), codex.text(1, "y = 2"), new, effects=[effect])
    asked = card(page, proposal)
    panel(page)
    expect(asked).to_contain_text("codex, for you, wants to change 2 cells, add 1 and run 1")
    expect(asked.get_by_role("group", name="Run the new cell: what would run")).to_have_text("z = '⟨U+202E⟩txt'")
    expect(page.locator("[data-new-cell]")).to_contain_text("⟨U+202E⟩")
    expect(asked).to_contain_text(f"sha256 {source_hash(added)[:12]}")
    expect(asked.locator("[data-part='3']")).to_contain_text("Chosen together with: Add a code cell at the top.")
    asked.get_by_role("checkbox", name="Change cell 1").uncheck()
    asked.get_by_role("checkbox", name="Add a code cell at the top").uncheck()
    expect(asked.get_by_role("checkbox", name="Run the new cell")).not_to_be_checked()
    expect(page.locator("[data-new-cell]")).to_contain_text("left out")
    asked.get_by_role("checkbox", name="Run the new cell").check()
    expect(asked.get_by_role("checkbox", name="Add a code cell at the top")).to_be_checked()
    asked.get_by_role("checkbox", name="Add a code cell at the top").uncheck()
    asked.get_by_role("button", name="Accept chosen (1 of 4)").click()
    book.until_sources("x = 1", "y = 2")
    expect(asked).to_have_count(0)


@pytest.mark.slow
def test_a_cell_that_somebody_edits_meanwhile_keeps_that_edit(app: App, page: Page, opened: Open) -> None:
    book, codex = opened("x = 1\nprint(x)", "y = 1")
    proposal = codex.propose(
        "two", codex.text(0, "x = 2\nprint(x)"), {"type": "cell_moved", "cell": codex.cell(1), "after": None}
    )
    panel(page)
    expect(card(page, proposal)).to_contain_text("Move cell 2 to the top")
    now = app.read(book.log)
    record(
        app,
        book.log,
        {"type": "source_edited", "cell": codex.cell(0), "base": now["seq"], "edit": [[0, 0, "# grace\n"]]},
        actor="human:grace",
    )
    expect(card(page, proposal)).to_contain_text("Carried over grace's edit.")
    difference = book.cell(0).get_by_role("group", name=re.compile("would change here"))
    expect(difference).to_contain_text("# grace")
    expect(at_cell(page, proposal).first).to_contain_text("Carried over grace's edit")
    card(page, proposal).get_by_role("button", name="Accept", exact=True).click()
    book.until_sources("y = 1", "# grace\nx = 2\nprint(x)")
    page.keyboard.press("Escape")
    book.go(1)
    book.press("z")
    book.until_sources("# grace\nx = 1\nprint(x)", "y = 1")


@pytest.mark.slow
def test_an_effect_whose_code_moved_on_is_void_and_says_between_what(app: App, page: Page, opened: Open) -> None:
    book, codex = opened("x = 1")
    cell = codex.cell(0)
    proposal = codex.ask(codex.text(0, "x = 2"), codex.run(cell, "x = 2"))
    panel(page)
    expect(card(page, proposal).locator("header")).to_contain_text("codex gave no reason")
    expect(at_cell(page, proposal).first).to_contain_text("wants to change 1 cell and run 1 · codex gave no reason")
    expect(card(page, proposal).get_by_role("group", name="Run cell 1: what would run")).to_have_text("x = 2")
    typed = {"type": "source_edited", "cell": cell, "base": app.read(book.log)["seq"], "edit": [[5, 0, "  # why"]]}
    record(app, book.log, typed, actor="human:grace")
    void = card(page, proposal).locator("[data-void]")
    expect(void).to_contain_text("Void: the code moved on")
    expect(void.get_by_role("checkbox")).to_be_disabled()
    expect(void.get_by_role("checkbox")).not_to_be_checked()
    between = void.get_by_role("group", name="Between what was proposed to run and what would be there now")
    expect(between.locator("[data-kind=removed] code")).to_have_text("x = 2")
    card(page, proposal).get_by_role("button", name="Accept chosen (1 of 2)").click()
    book.until(lambda: codex.state(proposal)["state"], "accepted")
    assert "execution" not in app.read(book.log)["cells"][cell], "nothing ran"


@pytest.mark.slow
def test_what_is_all_about_one_cell_is_answered_there_and_the_rest_is_reviewed_first(page: Page, opened: Open) -> None:
    book, codex = opened("x = 1", "y = 1")
    one = codex.propose("one cell", codex.text(0, "x = 2"))
    two = codex.propose("two cells", codex.text(0, "x = 3"), codex.text(1, "y = 3"))
    expect(at_cell(page, two).first.get_by_role("button")).to_have_text(["Review"])
    at_cell(page, one).get_by_role("button", name="Accept").click()
    book.until_sources("x = 2", "y = 1")
    expect(page.locator("[data-rail-panel]")).to_have_count(0)
    at_cell(page, two).first.get_by_role("button", name="Review").click()
    expect(card(page, two)).to_be_focused()
    expect(card(page, two).locator("[data-part='0']")).to_contain_text("Cannot be applied any more")
    card(page, two).get_by_role("button", name="Accept chosen (1 of 2)").click()
    book.until_sources("x = 2", "y = 3")


@pytest.mark.slow
def test_a_change_of_a_cell_that_is_gone_says_so(app: App, page: Page, opened: Open) -> None:
    book, codex = opened("x = 1", "y = 1")
    proposal = codex.propose("both", codex.text(0, "x = 2"), codex.text(1, "y = 2"))
    record(app, book.log, {"type": "cell_removed", "cell": codex.cell(0)}, actor="human:grace")
    panel(page)
    expect(card(page, proposal).locator("[data-part='0']")).to_contain_text("Cannot be applied any more")
    card(page, proposal).get_by_role("button", name="Accept chosen (1 of 2)").click()
    book.until_sources("y = 2")


@pytest.mark.slow
def test_decided_elsewhere_stays_until_it_is_looked_at(app: App, page: Page, opened: Open) -> None:
    book, codex = opened("x = 1")
    accepted = codex.propose("one", codex.text(0, "x = 2"))
    declined = codex.propose("two", codex.text(0, "x = 3"))
    withdrawn = codex.propose("three", codex.text(0, "x = 4"))
    panel(page)
    expect(page.get_by_role("article")).to_have_count(3)
    with app.client("human:grace", "read", "edit", "approve") as grace:
        at = f"/api/notebooks/{book.log}/proposals"
        answered(grace.post(f"{at}/{declined}/decline", json={"why": "x is used below"}))
        answered(grace.post(f"{at}/{accepted}/accept", json={}))
    codex.withdraw(withdrawn)
    expect(card(page, accepted)).to_contain_text("Accepted by grace, just now")
    expect(card(page, declined)).to_contain_text("Declined by grace, just now: “x is used below”")
    expect(card(page, withdrawn)).to_contain_text("Withdrawn by codex, just now")
    page.reload()
    expect(card(page, declined)).to_contain_text("Declined by grace")
    expect(card(page, declined)).to_contain_text("two")
    for proposal in (accepted, declined, withdrawn):
        card(page, proposal).get_by_role("button", name="Dismiss").click()
        expect(card(page, proposal)).to_have_count(0)
    page.reload()
    expect(page.locator("[data-rail-panel]")).to_contain_text("No proposal waits")


@pytest.mark.slow
def test_one_that_nobody_answers_expires_and_says_so(app: App, page: Page, opened: Open) -> None:
    _, codex = opened("x = 1")
    proposal = codex.propose("soon", codex.text(0, "x = 2"), expires_at="2020-01-01T00:00:00.000000Z")
    panel(page)
    expect(card(page, proposal)).to_contain_text("xpired: nobody answered in time")
    expect(card(page, proposal)).to_have_attribute("data-state", "expired")


@pytest.mark.slow
def test_a_proposal_survives_a_reload_and_is_the_same_for_everybody(
    page: Page, second_page: Page, opened: Open, app: App
) -> None:
    book, codex = opened("x = 1")
    first = codex.propose("one", codex.text(0, "x = 2"))
    second = codex.propose("two", codex.text(0, "x = 3"))
    page.reload()
    panel(page)
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("article").first).to_contain_text("one")
    app.open(second_page, book.log)
    panel(second_page)
    for proposal in (first, second):
        expect(card(second_page, proposal)).to_contain_text(
            "Only a person with the right to approve can accept or decline"
        )
        expect(card(second_page, proposal).get_by_role("button", name="Accept")).to_have_count(0)
    expect(second_page).to_have_title("sales · Quire")
    # Undo of one's own act cannot answer anything.
    page.keyboard.press("Escape")
    book.go(0)
    book.press("b", "Escape", "z")
    book.until_sources("x = 1")
    assert [codex.state(each)["state"] for each in (first, second)] == ["open", "open"]


# ---- Keys


def test_with_keys_alone_one_goes_to_a_proposal_leaves_a_part_out_and_answers(page: Page, opened: Open) -> None:
    book, codex = opened("x = 1", "y = 1")
    first = codex.propose("one", codex.text(0, "x = 2"), codex.text(1, "y = 2"))
    second = codex.propose("two", codex.text(0, "x = 3"))
    expect(page.get_by_role("button", name="Proposals, 2")).to_be_visible()
    book.press("Alt+p")
    expect(card(page, first)).to_be_focused()
    book.press("Alt+p")
    expect(card(page, second)).to_be_focused()
    book.press("Alt+Shift+p")
    expect(card(page, first)).to_be_focused()
    book.press("ArrowDown", "Space")
    expect(card(page, first).get_by_role("checkbox").first).not_to_be_checked()
    book.press("y")
    book.until_sources("x = 1", "y = 2")
    expect(card(page, second)).to_be_focused()
    book.press("n")
    expect(page.get_by_role("textbox", name="A word for codex")).to_be_focused()
    page.keyboard.type("x stays")
    book.press("Enter")
    book.until(lambda: codex.state(second)["state"], "declined")
    assert codex.state(second)["decided_why"] == "x stays"
    assert book.sources() == ["x = 1", "y = 2"]


@pytest.mark.slow
def test_the_keys_of_proposals_are_in_the_sheet_and_in_the_palette(page: Page, opened: Open) -> None:
    book, codex = opened("x = 1")
    proposal = codex.propose("one", codex.text(0, "x = 2"))
    expect(book.cell(0)).to_contain_text("codex, for you, wants to change 1 cell")
    book.press("?")
    sheet = page.get_by_role("dialog")
    for action, keys in (("next", "P"), ("accept", "Y"), ("decline", "N"), ("tick", "Space")):
        expect(sheet.locator(f"[data-action='proposals.{action}']")).to_contain_text(keys)
    book.press("Escape")
    book.press("Enter")
    expect(book.editor).to_be_focused()
    book.press("Alt+p")
    expect(card(page, proposal)).to_be_focused()
    book.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("accept it")
    expect(page.get_by_role("option")).to_have_text([re.compile("On a proposal: accept it")])
    book.press("Enter")
    book.until_sources("x = 2")


# ---- Notices


@pytest.mark.slow
def test_home_and_the_header_lead_to_the_proposal(app: App, page: Page, opened: Open) -> None:
    book, codex = opened("x = 1", name="leads")
    proposal = codex.propose("come here", codex.text(0, "x = 2"))
    page.get_by_role("button", name="Waiting (1)").click()
    page.get_by_role("menuitem", name="codex proposes: come here").click()
    expect(card(page, proposal)).to_be_focused()
    page.goto(app.url)
    page.get_by_role("link", name="come here").click()
    expect(card(page, proposal)).to_be_focused()
    assert page.url.endswith(f"/notebooks/{book.log}#proposal={proposal}")


OBSERVE = """
globalThis.notices = []
const Shown = globalThis.Notification
globalThis.Notification = class extends Shown {
  constructor(title, options) {
    super(title, options)
    notices.push([title, options.body])
  }
}
"""
"""Notes down each notification that the browser is asked to show."""


@pytest.mark.slow
def test_a_hidden_page_notifies_once_somebody_wants_it(app: App, page: Page) -> None:
    context = app.context(permissions=["notifications"])
    hidden = context.new_page()
    hidden.add_init_script(OBSERVE)
    book = Book.of(app, hidden, "x = 1", name="notify")
    codex = Codex(app, book.log)
    codex.propose("while it is seen", codex.text(0, "x = 2"))
    asked = panel(hidden)
    asked.get_by_role("button", name="Notify me").click()
    expect(asked.get_by_role("button", name="Notifying you")).to_have_attribute("aria-pressed", "true")
    # Without a window, Chromium calls no page hidden, whatever tab is in front.
    hidden.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    codex.propose("while nobody looks", codex.text(0, "x = 3"))
    book.until(lambda: hidden.evaluate("notices.length"), 1)
    assert hidden.evaluate("notices") == [
        ["notify · Quire", "codex, for you, wants to change 1 cell: while nobody looks"]
    ]
    expect(hidden).to_have_title("(2) notify · Quire")
    codex.close()
    context.close()


# ---- Everybody
