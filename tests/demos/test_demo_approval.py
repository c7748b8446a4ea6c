"""An agent is asked in a comment, proposes a cell, and a person decides: accepted, both see the plot; declined, nothing runs."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from ..doors.mcp.agents import Agent, over_http, pictures_of, text_of
from ..journeys.faulty_notebook import DEADLINE_SECONDS
from ..journeys.owner import imported, new_token
from ..web.app import App
from ..web.node import needs_packages
from ..web.notebook import Book
from .film import Film, film

pytestmark = [needs_packages, pytest.mark.slow]

COLUMN = "net_chf"
TABLE = f"month,{COLUMN}\n1,120.5\n2,80.25\n3,210.0\n4,155.5\n"
NOTEBOOK = """\
# %% [markdown]
# # Sales

# %% name="load"
import matplotlib.pyplot as plt
import pandas as pd

frame = pd.read_csv("sales.csv")
frame
"""
QUESTION = "@codex please plot the amounts by month"


@pytest.fixture(scope="module")
def log(app: App) -> str:
    (app.folder / "sales.csv").write_text(TABLE)
    (app.folder / "sales.py").write_text(NOTEBOOK)
    return imported(app.folder, "sales.py")


@pytest.fixture(scope="module")
def codex(app: App) -> Iterator[Agent]:
    """An agent of ada's over /mcp, with the official client. It asks before it edits or runs."""
    secret = new_token(app.folder, "agent:codex", "read", "edit", "run", behalf="human:ada", asks=("edit", "run"))
    with over_http(app.url, secret) as agent:
        yield agent


def ask(page: Page, cell: Locator, text: str) -> None:
    """Comment on a cell, as a person does."""
    cell.click(position={"x": 20, "y": 4})
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+C")
    expect(page.get_by_role("textbox", name=re.compile("^Comment on "))).to_be_focused()
    page.keyboard.type(text, delay=20)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-thread]").first).to_contain_text(text)


def begun(app: App, log: str) -> int:
    """How often anything began in a kernel."""
    with app.client() as client:
        found: dict[str, Any] = client.get(f"/api/logs/{log}/events", params={"types": "execution_started"}).json()
    return len(found["entries"])


def test_a_plot_is_asked_for_proposed_accepted_and_seen_by_both(app: App, log: str, codex: Agent) -> None:
    context = app.context("human:ada")
    book = Book(app, context.new_page(), log)
    page = book.page
    with film("4-approval") as shown:
        shown.show(page)
        shown.tell(page, "Ada has a table, and asks an agent about it: in a comment on the cell.", 1.5)
        book.go(1)
        book.press("Control+Enter")
        book.has_state(1, "ok")
        codex.told("read", notebook=log)
        waits = codex.begin("wait", notebook=log, comment=True, seconds=25)
        ask(page, book.cell(1), QUESTION)
        assert "comment to you" in text_of(waits.result(DEADLINE_SECONDS))
        shown.tell(page, "Codex, over the Model Context Protocol, reads the comment and what the cell showed.")
        assert QUESTION in codex.told("read", notebook=log, budget=1500)
        read = codex.told("read", notebook=log, cells=["load"], budget=1000)
        # A name that is in no source: it is in what the cell showed.
        columns = re.findall(r"\b[a-z]+_[a-z]+\b", read.partition("frame 4 × 2")[2])
        assert columns[0] == COLUMN and COLUMN not in NOTEBOOK
        _accept_plot(app, book, codex, columns[0], shown)
        _decline_second(app, book, codex, shown)
    context.close()


def _accept_plot(app: App, book: Book, codex: Agent, column: str, shown: Film) -> None:
    page, before = book.page, begun(app, book.log)
    source = f'frame.plot(x="month", y="{column}", kind="bar")\nplt.title("{column} by month");'
    insert = {"op": "insert", "after": "load", "source": source, "name": "plot"}
    proposal = codex.facts("edit", notebook=book.log, edits=[insert], run="changed")["proposal"]
    expect(page.get_by_role("button", name="Proposals, 1")).to_be_visible()
    page.keyboard.press("Alt+P")
    card = page.locator(f'[data-proposal="{proposal}"]')
    for line in source.splitlines():
        expect(card).to_contain_text(line)
    shown.tell(page, "It may not act by itself: it proposes. The card shows the code, before anything runs.", 3)
    shown.take(page, "approval")
    assert begun(app, book.log) == before, "nothing runs"
    waits = codex.begin("wait", notebook=book.log, proposal=proposal, seconds=25)
    card.get_by_role("button", name="Accept", exact=True).click()
    assert "accepted" in text_of(waits.result(DEADLINE_SECONDS))
    book.has_state(2, "ok")
    expect(book.outputs(2).locator("img")).to_be_visible()
    expect(book.foot(2)).to_contain_text("you")
    page.keyboard.press("Escape")
    book.outputs(2).scroll_into_view_if_needed()
    shown.tell(page, "Ada accepts. Only now the cell is there, and runs.", 2.5)
    plotted = codex.told("read", notebook=book.log, cells=["plot"])
    (handle,) = re.findall(r'image/png.*?output\(of="([^"]+)"\)', plotted)
    (picture,) = pictures_of(codex.call("output", notebook=book.log, of=handle))
    with Image.open(io.BytesIO(b64decode(picture.data))) as image:
        assert image.format == "PNG" and image.width > 100
    (comment,) = app.read(book.log)["comments"]
    codex.told("control", notebook=book.log, action="comment", id=comment, text="Done: month 3 was the best.")
    expect(page.locator("[data-thread]").first).to_contain_text("month 3 was the best")
    shown.tell(page, "Codex looks at the plot as an image, and answers in the same comment.", 2.5)


def _decline_second(app: App, book: Book, codex: Agent, shown: Film) -> None:
    page, before = book.page, begun(app, book.log)
    insert = {"op": "insert", "after": "end", "source": "import shutil\nshutil.rmtree('old')", "name": "clean"}
    proposal = codex.facts("edit", notebook=book.log, edits=[insert], run="changed")["proposal"]
    expect(page.get_by_role("button", name="Proposals, 1")).to_be_visible()
    page.keyboard.press("Alt+P")
    card = page.locator(f'[data-proposal="{proposal}"]')
    expect(card).to_contain_text("shutil.rmtree")
    shown.tell(page, "A second proposal: Ada declines it, with a word.", 2)
    page.keyboard.press("n")
    page.keyboard.type("we keep the old files")
    page.keyboard.press("Enter")
    shown.rest(page, 1)
    waited = codex.told("wait", notebook=book.log, proposal=proposal, seconds=25)
    assert "declined" in waited and "we keep the old files" in waited
    assert begun(app, book.log) == before, "nothing runs"
    assert [cell.get("name") for cell in book.read()] == [None, "load", "plot"]
    shown.tell(page, "Nothing ran, nothing changed, and the agent reads why.", 2.5)
