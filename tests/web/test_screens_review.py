"""The page of a review, looked at: two revisions with outputs and comments, a proposal, a run that was changed, and home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from quire.core.text import source_hash
from quire.workspace.clock import new_id

from .app import App, answered
from .camera import Camera, pictures_folder
from .node import needs_packages
from .test_review import git, proposed, review_of, show

pytestmark = [needs_packages, pytest.mark.slow]
SERVE_FLAGS = ()
PATH = "notebooks/forecast.ipynb"
_BARS = "<svg xmlns='http://www.w3.org/2000/svg' width='320' height='120'>{}</svg>"


def _picture(*heights: int) -> str:
    bars = (
        f"<rect x='{20 + 50 * at}' y='{110 - height}' width='36' height='{height}' fill='steelblue'/>"
        for at, height in enumerate(heights)
    )
    return _BARS.format("".join(bars))


def _cell(id: str, source: str, *outputs: dict[str, Any], kind: str = "code") -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": id, "metadata": {}, "source": source}
    return made if kind == "markdown" else made | {"execution_count": 1, "outputs": list(outputs)}


def _printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _shown(**data: Any) -> dict[str, Any]:
    media = {name.replace("_", "/").replace("svg", "svg+xml"): value for name, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": media}


def _result(name: str, value: float) -> dict[str, Any]:
    scrap = {"name": name, "data": value, "encoder": "json", "version": 1}
    media = {"application/scrapbook.scrap.json+json": scrap}
    return {"output_type": "display_data", "metadata": {"scrapbook": {"name": name, "data": True}}, "data": media}


def _forecast(months: int, level: float, *bars: int, more: bool = False) -> str:
    lines = "\n".join(f"weight_{n} = {n}" for n in range(12))
    cells = [
        _cell("intro", "# Forecast\n\nWhat sells next month, from the orders of the last two years.", kind="markdown"),
        _cell("load", "orders = read('orders.csv')\norders.head()", _printed("24 months\n")),
        _cell("level", f"{lines}\nmonths = {months}\nlevel = sum(orders[-months:]) / months", _printed(f"{level}\n")),
        *([_cell("check", "assert level > 0, 'no orders'")] if more else []),
        _cell("plot", "plot(orders)", _shown(image_svg=_picture(*bars)), _result("level", level)),
    ]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1)


def _branches(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    (folder / PATH).parent.mkdir()
    for branch, text in (
        ("main", _forecast(12, 98.4, 60, 82, 98, 90)),
        ("shorter-window", _forecast(6, 104.1, 60, 82, 98, 104, more=True)),
    ):
        git(folder, "checkout", "-qB", branch)
        (folder / PATH).write_text(text)
        (folder / "notebooks/orders.py").write_text(f"# %%\nmonths = {12 if branch == 'main' else 6}\nprint(months)\n")
        git(folder, "add", "notebooks")
        git(folder, "commit", "-qm", branch)


def _say(app: App, log: str, actor: str, *events: dict[str, Any]) -> None:
    with app.client(actor, "read", "edit") as client:
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))


def test_the_page_of_a_review_in_every_look(app: App, page: Page, tmp_path: Path) -> None:
    camera = Camera(page, pictures_folder(tmp_path))
    _branches(app.folder)
    subject = {"kind": "revisions", "path": PATH, "base": "main", "head": "shorter-window"}
    with app.client("human:grace") as client:
        sent = {"subject": subject, "name": "A shorter window for the level"}
        log = answered(client.post("/api/reviews", json=sent))["log"]
        rows = answered(client.get(f"/api/reviews/{log}"))["rows"]
    source = next(row["new"]["source"] for row in rows if row["cell"] == "level")
    on_line = {"cell": "level", "line": 13, "source_hash": source_hash(source)}
    _say(
        app,
        log,
        "human:grace",
        {"type": "comment_added", "comment": "c1", "text": "Six months hide the summer.", **on_line},
    )
    _say(
        app,
        log,
        "human:bob",
        {"type": "comment_added", "comment": "c2", "text": "It is what sales asked for.", "reply_to": "c1"},
    )
    _say(
        app,
        log,
        "human:bob",
        {"type": "comment_added", "comment": "c3", "text": "The picture is clearer now.", "cell": "plot"},
    )
    changes = show(app, page, log)
    expect(changes).to_have_count(3)
    page.keyboard.press("j")
    expect(changes.first).to_be_focused()
    expect(changes.last.locator("iframe, img, svg").first).to_be_attached()
    camera.study("review")
    checks = page.get_by_role("region", name="Checks")
    expect(checks).to_contain_text("1 failed, 3 passed, 1 not known")
    page.get_by_role("main").evaluate("document.scrollingElement.scrollTop = 0")
    camera.study("review-checks")
    page.get_by_role("button", name="Ask for a change").click()
    camera.study("review-change")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    camera.study("review-keys")
    page.keyboard.press("Escape")

    notebook = app.notebook("Sales", "rows = read('sales.csv')\ntop = 5", "print(rows[:top])")
    first, second = app.read(notebook)["order"]
    asked = proposed(
        app, notebook, (first, "rows = read('sales.csv')\ntop = 10"), (second, "print(sorted(rows)[:top])")
    )
    of_proposal = review_of(app, {"kind": "proposal", "log": notebook, "proposal": asked})
    show(app, page, of_proposal)
    camera.study("review-proposal")
    page.goto(app.url)
    expect(page.get_by_role("region", name="Reviews").get_by_role("listitem")).to_have_count(2)
    camera.study("review-home")
    whole = review_of(app, {**subject, "path": ""})
    show(app, page, whole)
    camera.study("review-branch")
    same = review_of(app, {**subject, "head": "main"})
    show(app, page, same)
    expect(page.locator("main")).to_contain_text("Nothing differs")
    camera.study("review-same")
    assert camera.faults == []
    page.goto(f"{app.url}/reviews/review-nothing")
    expect(page.get_by_role("heading", name="There is no such review")).to_be_visible()
    camera.take("review-none", "dark", "narrow", is_offline=True)
