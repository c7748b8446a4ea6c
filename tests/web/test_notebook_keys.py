"""Every key of the table of actions does what its title says. The table is read from the `?` sheet, so none is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from playwright.sync_api import Page, expect

from .app import App
from .notebook import Book

pytestmark = pytest.mark.slow

Check: TypeAlias = Callable[[Book], None]
START = ("one", "two\ntwo and a half", "three")


def sources(*wanted: str) -> Check:
    return lambda book: book.until_sources(*wanted)


def at(number: int) -> Check:
    return lambda book: book.is_at(number)


def kind(wanted: str) -> Check:
    return lambda book: book.until(lambda: book.field(1, "kind") or "code", wanted)


def selects(*numbers: int) -> Check:
    def check(book: Book) -> None:
        for number in range(3):
            wanted = "true" if number in numbers else None
            row = book.cell(number)
            if wanted:
                expect(row).to_have_attribute("data-selected", wanted)
            else:
                expect(row).not_to_have_attribute("data-selected", "true")

    return check


def dialog(name: str) -> Check:
    return lambda book: expect(book.page.get_by_role("dialog", name=name)).to_be_visible()


def says(text: str) -> Check:
    return lambda book: expect(book.page.get_by_role("status", name="Messages")).to_contain_text(text)


def edits(number: int) -> Check:
    def check(book: Book) -> None:
        book.is_at(number)
        expect(book.editor).to_be_focused()

    return check


def runs(*numbers: int) -> Check:
    def check(book: Book) -> None:
        for number in numbers:
            book.has_state(number, "error")  # words are no Python

    return check


def both(*checks: Check) -> Check:
    def check(book: Book) -> None:
        for one in checks:
            one(book)

    return check


def folded(part: str) -> Check:
    def check(book: Book) -> None:
        def said() -> object:
            metadata: dict[str, dict[str, object]] = book.read()[1].get("metadata", {})
            return metadata.get("jupyter", {}).get(f"{part}_hidden")

        book.until(said, True)

    return check


HEADING = "# two\ntwo and a half"
# Name of the action, then for each of its keys what was done before, the keys, and what is so afterwards. The second cell has
# the focus before.
COMMANDS: dict[str, list[tuple[tuple[str, ...], tuple[str, ...], Check]]] = {
    "go.edit": [((), ("Enter",), edits(1))],
    "go.leave": [(("Enter",), ("Escape",), at(1))],
    "go.deselect": [(("Shift+ArrowDown",), ("Escape",), selects())],
    "go.up": [((), (key,), at(0)) for key in ("k", "ArrowUp")],
    "go.down": [((), (key,), at(2)) for key in ("j", "ArrowDown")],
    "go.extend_up": [((), (key,), selects(0, 1)) for key in ("Shift+ArrowUp", "Shift+K")],
    "go.extend_down": [((), (key,), selects(1, 2)) for key in ("Shift+ArrowDown", "Shift+J")],
    "go.first": [((), (key,), at(0)) for key in ("Home", "Control+ArrowUp")],
    "go.last": [((), (key,), at(2)) for key in ("End", "Control+ArrowDown")],
    "go.select_all": [((), ("Control+a",), selects(0, 1, 2))],
    "go.edit_above": [(("Enter", "Control+Home"), ("ArrowUp",), edits(0))],
    "go.edit_below": [(("Enter", "Control+End"), ("ArrowDown",), edits(2))],
    "run.cell": [
        ((), ("Control+Enter",), both(at(1), runs(1))),
        (("Enter",), ("Control+Enter",), both(at(1), runs(1))),
    ],
    "run.advance": [((), ("Shift+Enter",), both(at(2), runs(1))), (("Enter",), ("Shift+Enter",), both(at(2), runs(1)))],
    "run.insert": [((), ("Alt+Enter",), both(edits(2), runs(1), sources(START[0], START[1], "", START[2])))],
    "run.stale": [((), ("Shift+R",), runs(0))],
    "run.interrupt": [((), ("i", "i"), says("Nothing runs."))],
    "run.restart": [((), ("0", "0"), dialog("Restart the kernel?"))],
    "cell.above": [((), ("a",), both(at(1), sources(START[0], "", *START[1:])))],
    "cell.below": [((), ("b",), both(at(2), sources(*START[:2], "", START[2])))],
    "cell.code": [(("m",), ("y",), kind("code"))],
    "cell.markdown": [((), ("m",), kind("markdown"))],
    "cell.sql": [((), ("q",), kind("sql"))],
    "cell.raw": [((), ("r",), kind("raw"))],
    **{
        f"cell.heading_{level}": [
            ((), (str(level),), both(kind("markdown"), sources("one", "#" * level + " " + START[1], "three")))
        ]
        for level in range(1, 7)
    },
    "cell.remove": [((), ("d", "d"), sources("one", "three")), ((), ("Delete",), sources("one", "three"))],
    "cell.cut": [((), ("x",), both(sources("one", "three"), says("Cut 1 cell.")))],
    "cell.copy": [((), ("c",), says("Copied 1 cell."))],
    "cell.paste": [(("c",), ("v",), both(at(2), sources(*START[:2], START[1], START[2])))],
    "cell.paste_above": [(("c",), ("Shift+V",), both(at(1), sources("one", START[1], START[1], "three")))],
    "cell.duplicate": [((), ("Shift+D",), sources("one", START[1], START[1], "three"))],
    "cell.move_up": [((), ("Alt+ArrowUp",), both(at(0), sources(START[1], "one", "three")))],
    "cell.move_down": [((), ("Alt+ArrowDown",), both(at(2), sources("one", "three", START[1])))],
    "cell.split": [
        (("Enter", "Control+Home", "ArrowDown"), ("Control+Shift+-",), sources("one", "two", "two and a half", "three"))
    ],
    "cell.merge": [((), ("Shift+M",), sources("one", START[1] + "\n\nthree"))],
    "cell.name": [((), ("F2",), dialog("Name of the cell"))],
    "cell.tags": [((), ("t",), dialog("Tags"))],
    "cell.fold_output": [((), ("o",), folded("outputs"))],
    "cell.fold_source": [((), ("Shift+O",), folded("source"))],
    "cell.menu": [((), (".",), lambda book: expect(book.page.get_by_role("menu", name="Cell")).to_be_visible())],
    "edit.undo": [(("d", "d"), ("z",), sources(*START))],
    "edit.redo": [(("d", "d", "z"), ("Shift+Z",), sources("one", "three"))],
    "view.palette": [((), (key,), dialog("Find an action")) for key in ("Control+k", "Control+Shift+P")],
    "view.keys": [((), ("?",), dialog("Keys"))],
    "notebook.keep": [((), ("Control+s",), says("there is nothing to save"))],
}


def test_every_action_with_keys_is_tested(app: App, page: Page) -> None:
    book = Book.of(app, page, *START)
    book.press("?")
    rows = page.locator("[data-action]")
    expect(rows.first).to_be_visible()
    found: list[tuple[str, int, str]] = rows.evaluate_all(
        "(rows) => rows.map((row) => [row.dataset.action, row.querySelectorAll('dd > *').length,"
        " row.closest('section').querySelector('h3').textContent])"
    )
    # What panels bring is tested with each panel.
    ours = {name: keys for name, keys, group in found if group != "Panels" and not name.startswith("editor.")}
    assert set(ours) == set(COMMANDS)
    assert [name for name, keys in ours.items() if len({pressed for _, pressed, _ in COMMANDS[name]}) < keys] == []


@pytest.mark.parametrize("group", sorted({name.partition(".")[0] for name in COMMANDS}))
def test_a_key_does_what_its_action_says(app: App, page: Page, group: str) -> None:
    """Each time in a notebook of its own, which is opened anew in one profile."""
    for name, before, keys, check in [
        (name, *case) for name, cases in COMMANDS.items() if name.partition(".")[0] == group for case in cases
    ]:
        print(name, *before, *keys)  # noqa: T201 - shown when it fails
        book = Book.of(app, page, *START, name=f"{name} by {' '.join((*before, *keys))}")
        book.go(1)
        for key in before:
            book.press(key)
            if key == "Enter":
                expect(book.editor).to_be_focused()
        book.press(*keys)
        check(book)
