"""Typing into cells: alone and together, with the keys and characters that people use, and with a kernel's help."""

from __future__ import annotations

import random
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .app import App, answered
from .editor_actions import edit, editor, paste, shown, until_recorded, until_shown, until_true

FOX = "\N{FOX FACE}"
TEXT_BEFORE = """(caret) => {
  const range = document.createRange()
  range.setStart(caret.closest('.cm-line'), 0)
  range.setEndBefore(caret)
  return range.toString()
}"""
INVISIBLE = "a\u200b = 1  # \u202e ⟨"


def test_two_people_type_into_one_cell_and_end_with_the_same_text(app: App, page: Page, second_page: Page) -> None:
    log = app.notebook("together", f"# {FOX}\nx = 1")
    for each in (page, second_page):
        edit(app.open(each, log))
    second_page.keyboard.press("Control+Home")
    for number in range(8):
        page.keyboard.type(f" + {number}")
        second_page.keyboard.type("abc" if number % 2 else FOX)
    paste(page, f"\r\ny = '{FOX}'\r\n")
    second_page.keyboard.press("Enter")
    first = "".join("abc" if number % 2 else FOX for number in range(8))
    text = f"{first}\n# {FOX}\nx = 1{''.join(f' + {number}' for number in range(8))}\ny = '{FOX}'\n"
    for each in (page, second_page):
        until_shown(each, text)
    until_recorded(app, log, text)


def test_the_others_name_and_selection_are_shown_where_they_are(app: App, page: Page, second_page: Page) -> None:
    log = app.notebook("names", f"{FOX} one\ntwo")
    for each in (page, second_page):
        edit(app.open(each, log))
    second_page.keyboard.press("Home")
    second_page.keyboard.press("Shift+End")
    expect(page.locator(".cm-peerSelection")).to_have_text("two")
    expect(page.locator(".cm-peerCaret")).to_have_attribute("data-name", "grace")
    expect(page.locator(".cm-peerName")).to_have_text("grace")
    # The name is there for two seconds, then again while the mouse is over the caret.
    expect(page.locator(".cm-peerName")).to_have_count(0)
    box = page.locator(".cm-peerCaret").bounding_box()
    assert box is not None
    page.mouse.move(box["x"], box["y"] + box["height"] / 2)
    expect(page.locator(".cm-peerName")).to_have_text("grace")
    second_page.keyboard.press("End")
    second_page.keyboard.type("!?")
    caret = page.locator(".cm-peerCaret")
    until_true(lambda: caret.evaluate(TEXT_BEFORE) == "two!?", lambda: caret.evaluate(TEXT_BEFORE))
    second_page.keyboard.press("Escape")
    expect(page.locator(".cm-peerCaret")).to_have_count(0)


def play(app: App, page: Page, second_page: Page, seed: int) -> None:
    """Let two people type, undo and redo by chance: what one wrote is never undone by the other."""
    chance = random.Random(seed)
    log = app.notebook(f"undo {seed}", "")
    people = {"a": page, "X": second_page}
    for each in people.values():
        edit(app.open(each, log))
    for letter, each in people.items():
        each.keyboard.type(letter)
    until_both(people, {"a": 1, "X": 1})
    counts = {"a": 1, "X": 1}
    for _ in range(6):
        letter = chance.choice("aX")
        keyboard = people[letter].keyboard
        for _ in range(chance.randrange(4)):
            keyboard.press(chance.choice(["ArrowLeft", "ArrowRight", "Home", "End"]))
        if chance.random() < 0.6:
            typed = letter * chance.randrange(1, 4)
            keyboard.type(typed)
            counts[letter] += len(typed)
        else:
            keyboard.press(chance.choice(["Control+z", "Control+z", "Control+y"]))
            counts[letter] = shown(people[letter]).count(letter)
        until_both(people, counts)
    texts = {shown(each) for each in people.values()}
    assert len(texts) == 1, texts
    until_recorded(app, log, *texts)


def until_both(people: dict[str, Page], counts: dict[str, int]) -> None:
    """Wait until both see as many letters of each."""
    for each in people.values():
        until_true(lambda page=each: counted(page) == counts, lambda page=each: (shown(page), counts))


def counted(page: Page) -> dict[str, int]:
    text = shown(page)
    return {letter: text.count(letter) for letter in "aX"}


def test_undo_is_of_ones_own_typing_alone(app: App, page: Page, second_page: Page) -> None:
    play(app, page, second_page, 0)


@pytest.mark.slow
def test_undo_is_of_ones_own_typing_alone_however_it_comes(app: App, page: Page, second_page: Page) -> None:
    for seed in range(1, 5):
        play(app, page, second_page, seed)


@pytest.mark.torture
def test_undo_is_of_ones_own_typing_alone_in_many_ways(app: App, page: Page, second_page: Page) -> None:
    for seed in range(5, 60):
        play(app, page, second_page, seed)


def test_undo_goes_on_in_a_cell_that_was_left(app: App, page: Page, second_page: Page) -> None:
    log = app.notebook("left", "one", "two")
    app.open(page, log)
    edit(page)
    page.keyboard.type(" mine")
    until_recorded(app, log, "one mine", "two")
    edit(page, 1)
    edit(app.open(second_page, log))
    second_page.keyboard.press("Control+Home")
    second_page.keyboard.type("theirs ")
    until_recorded(app, log, "theirs one mine", "two")
    expect(page.locator("[data-cell] pre").first).to_have_text("theirs one mine")
    edit(page)
    page.keyboard.press("Control+z")
    until_shown(page, "theirs one")
    until_recorded(app, log, "theirs one", "two")


def test_text_composed_with_an_input_method_is_not_broken_off_by_others(
    app: App, page: Page, second_page: Page
) -> None:
    log = app.notebook("composed", "x = ''")
    for each in (page, second_page):
        edit(app.open(each, log))
    page.keyboard.press("ArrowLeft")
    typist: Any = page.context.new_cdp_session(page)
    typist.send("Input.imeSetComposition", {"text": "か", "selectionStart": 1, "selectionEnd": 1})
    typist.send("Input.imeSetComposition", {"text": "かん", "selectionStart": 2, "selectionEnd": 2})
    until_shown(second_page, "x = 'かん'")
    second_page.keyboard.press("Home")
    second_page.keyboard.type("theirs = ")
    until_recorded(app, log, "theirs = x = 'かん'")
    typist.send("Input.imeSetComposition", {"text": "かんじ", "selectionStart": 3, "selectionEnd": 3})
    assert shown(page) == "x = 'かんじ'", "the composition goes on as if nobody else were there"
    typist.send("Input.insertText", {"text": "漢字"})
    for each in (page, second_page):
        until_shown(each, "theirs = x = '漢字'")
    until_recorded(app, log, "theirs = x = '漢字'")


def test_the_text_stands_where_it_stood_when_the_editor_opens(app: App, page: Page) -> None:
    source = f"def f(x):\n\treturn '{'long ' * 60}'\n\n{INVISIBLE}\n"
    log = app.notebook("still", source, "last")
    app.open(page, log)
    places = (
        "(element) => { const { x, y, width, height } = element.getBoundingClientRect(); return [x, y, width, height] }"
    )
    before = page.locator("[data-cell] pre code").first.evaluate(places)
    assert page.locator("[data-cell] pre code").first.text_content() == source.replace("\u200b", "⟨U+200B⟩").replace(
        "\u202e", "⟨U+202E⟩"
    ).replace("⟨\n", "⟨U+27E8⟩\n")
    edit(page)
    assert editor(page).evaluate(places) == before
    assert "a⟨U+200B⟩ = 1  # ⟨U+202E⟩ ⟨U+27E8⟩" in shown(page)
    # A click puts the cursor where it was; what is typed leaves the characters as they are.
    page.keyboard.type("z")
    until_recorded(app, log, source + "z", "last")


def test_the_line_that_failed_is_marked_until_the_source_changes(app: App, page: Page) -> None:
    log = app.notebook("failed", "x = 1\n1 / 0  # here\ny = 2")
    app.open(page, log)
    edit(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-cell]")).to_have_attribute("data-state", "error")
    expect(page.locator("[data-cell] pre mark")).to_have_text("1 / 0  # here")
    edit(page)
    expect(page.locator(".cm-errorLine")).to_have_text("1 / 0  # here")
    page.keyboard.type("0")
    expect(page.locator(".cm-errorLine")).to_have_count(0)


def test_tab_indents_in_the_editor_and_leaves_after_escape(app: App, page: Page) -> None:
    log = app.notebook("keys", "if x:\n", "two")
    app.open(page, log)
    edit(page)
    page.keyboard.press("Tab")
    page.keyboard.type("y = 'a")
    page.keyboard.press("Control+/")
    until_shown(page, "if x:\n    # y = 'a'")
    page.keyboard.press("Control+/")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Tab")
    until_shown(page, "    if x:\n        y = 'a'")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Escape")
    is_in_editor = "document.activeElement.closest('.cm-editor') !== null"
    until_true(lambda: not page.evaluate(is_in_editor), lambda: page.evaluate("document.activeElement.outerHTML"))
    before = page.evaluate("document.activeElement.outerHTML")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.outerHTML") != before
    assert not page.evaluate(is_in_editor)
    until_recorded(app, log, "if x:\n    y = 'a'", "two")


def test_a_magic_in_the_first_line_gives_a_cell_its_language(app: App, page: Page) -> None:
    log = app.notebook("magic", "import os", "%%bash\nfor x in a; do echo -- 'y'; done")
    app.open(page, log)
    static = page.locator("[data-cell]").nth(1).locator("pre .hl-keyword")
    assert static.all_text_contents() == ["%%bash", "for", "in", "do", "echo", "done"]
    edit(page)
    expect(page.locator(".cm-content .hl-keyword")).to_have_text(["import"])
    page.keyboard.press("Control+Home")
    page.keyboard.type("%%sql")
    page.keyboard.press("Enter")
    page.keyboard.type("select 1 from t")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-content .hl-keyword")).to_have_text(["%%sql", "select", "from", "import"])
    page.keyboard.press("Control+/")
    until_shown(page, "%%sql\nselect 1 from t\n-- import os")
    until_recorded(app, log, shown(page), "%%bash\nfor x in a; do echo -- 'y'; done")


def test_several_cursors_type_at_once(app: App, page: Page) -> None:
    log = app.notebook("cursors", f"{FOX}a\n{FOX}b\n{FOX}a")
    app.open(page, log)
    edit(page)
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Control+d")
    page.keyboard.type(f"c{FOX}")
    until_shown(page, f"{FOX}c{FOX}\n{FOX}b\n{FOX}c{FOX}")
    # Escape leaves the cursors first, and then the cell.
    page.keyboard.press("Escape")
    page.keyboard.type("!")
    until_recorded(app, log, *[shown(page)])
    assert shown(page).count("!") == 1


def test_a_kernel_completes_inspects_and_gives_signatures(app: App, page: Page) -> None:
    source = f"def increase(amount, by=1):\n    '''Make it more.'''\n    return amount + by\nword = '{FOX}'"
    log = app.notebook("kernel", source, f"'{FOX}', ", "input('Go on? ')", "")
    app.open(page, log)
    edit(page)
    page.keyboard.press("Shift+Enter")
    expect(page.locator("[data-cell]").first).to_have_attribute("data-state", "ok")
    edit(page, 1)
    page.keyboard.type("word.upp")
    popup = page.locator(".cm-tooltip-autocomplete")
    complete(page, "upper")
    page.keyboard.press("Escape")
    expect(popup).to_have_count(0)
    complete(page, "upper")
    accept(page)
    until_shown(page, f"'{FOX}', word.upper")
    page.keyboard.type("(), increase(")
    signature = page.locator(".cm-inspection-signature")
    expect(signature).to_contain_text("increase(amount, by=1)")
    page.keyboard.type("1)")
    expect(signature).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+Tab")
    details = page.locator(".cm-inspection-details")
    expect(details).to_contain_text("Make it more.")
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    expect(editor(page)).to_be_focused()

    # A kernel that is busy completes when it is done, where the cursor still is.
    edit(page, 2)
    page.keyboard.press("Shift+Enter")
    expect(page.locator("[data-cell]").nth(2)).to_contain_text("Go on?")
    edit(page, 3)
    page.keyboard.type("word.low")
    page.keyboard.press("Tab")
    wait = page.locator(".cm-kernelWait")
    expect(wait).to_have_text("The kernel runs cell 3. It completes this when it is done.")
    asks = next(iter(app.read(log)["executions"]))
    with app.client() as client:
        answered(client.post(f"/api/logs/{log}/executions/{asks}/input", json={"answer": "yes"}))
    expect(page.locator(".cm-tooltip-autocomplete [aria-selected]")).to_contain_text("lower")
    expect(wait).to_have_count(0)


def complete(page: Page, wanted: str) -> None:
    """Ask for completions once: a kernel that does not answer in time is asked again by the page."""
    page.keyboard.press("Tab")
    expect(page.locator(".cm-tooltip-autocomplete [aria-selected]")).to_contain_text(wanted)


def accept(page: Page) -> None:
    """Choose the completion. In the first moment after the list opened, the editor takes no choice."""
    popup = page.locator(".cm-tooltip-autocomplete")
    while popup.count():
        page.keyboard.press("Tab")
