"""The page of a review: what changed, what is said about it, and the answer."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.core.text import source_hash
from quire.workspace.clock import new_id

from ..doors.cli.cli_folder import QuickFolder
from .app import App, answered
from .axe import serious
from .node import needs_packages

pytestmark = needs_packages
SERVE_FLAGS = ()  # with the folder's files

PATH = "sales.py"
BEFORE = """\
# %% [markdown]
# # Sales

# %% name="load"
rows = read("sales.csv")
top = 5

# %% name="show"
print(rows[:top])
"""
AFTER = BEFORE.replace("top = 5", "top = 10").replace("print(rows[:top])", "print(sorted(rows)[:top])")


def git(folder: Path, *arguments: str) -> None:
    """Call git as somebody without settings."""
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def branch(app: App, request: pytest.FixtureRequest) -> str:
    """A branch that changes a notebook of `main`, in a repository around the workspace's folder."""
    name = request.node.name[5:40]
    if not (app.folder / ".git").exists():
        git(app.folder, "init", "-q", "-b", "main")
        (app.folder / PATH).write_text(BEFORE)
        git(app.folder, "add", PATH)
        git(app.folder, "commit", "-qm", "one")
    git(app.folder, "checkout", "-qB", name, "main")
    commit(app.folder, AFTER)
    return name


def commit(folder: Path, text: str) -> None:
    """Commit another version of the notebook."""
    (folder / PATH).write_text(text)
    git(folder, "commit", "-qam", "next")


def review_of(app: App, subject: dict[str, Any], actor: str = "human:ada") -> str:
    """Open a review over HTTP, and return its log."""
    with app.client(actor) as client:
        return answered(client.post("/api/reviews", json={"subject": subject}))["log"]


def of_branch(app: App, head: str) -> str:
    """The review of the branch."""
    return review_of(app, {"kind": "revisions", "path": PATH, "base": "main", "head": head})


def show(app: App, page: Page, log: str) -> Locator:
    """Open a review's page, and return its changes once they are there."""
    page.goto(f"{app.url}/reviews/{log}")
    expect(page.locator("[data-review][aria-busy=false]")).to_have_count(1)
    return page.locator("[data-change]")


def folded(app: App, log: str) -> Any:
    """The review's log as the server folds it."""
    with app.client() as client:
        return answered(client.get(f"/api/notebooks/{log}"))


def proposed(app: App, log: str, *sources: tuple[str, str], actor: str = "agent:codex") -> str:
    """Propose other texts of cells, as an agent, and return the proposal."""
    now = app.read(log)
    changes = [
        {
            "type": "source_edited",
            "cell": cell,
            "base_hash": source_hash(now["cells"][cell].get("source", "")),
            "text": text,
        }
        for cell, text in sources
    ]
    id = new_id()
    event = {"type": "proposal_made", "proposal": id, "why": "clearer", "changes": changes}
    with app.client(actor, "read", "edit") as client:
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": new_id(), "event": event}]}))
    return id


# ---- Two revisions


def test_changes_are_walked_looked_at_and_discussed_by_keys_alone(app: App, page: Page, branch: str) -> None:
    log = of_branch(app, branch)
    changes = show(app, page, log)
    expect(page.get_by_role("status").first).to_contain_text("2 changed of 3 cells · 0 of 2 looked at")
    expect(changes).to_have_count(2)
    page.keyboard.press("j")
    expect(changes.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(changes.nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("v")
    expect(changes.nth(0).get_by_label("Looked at")).to_be_checked()
    expect(changes.nth(0).get_by_role("table")).to_have_count(0)
    expect(page.get_by_role("status").first).to_contain_text("1 of 2 looked at")
    page.keyboard.press("j")
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Comment on line 1, before")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="Comment on line 1, after")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Comment on line 1, after")).to_be_focused()
    page.keyboard.type("Why sorted?")
    page.keyboard.press("Control+Enter")
    thread = changes.nth(1).locator("[data-thread]")
    expect(thread).to_contain_text("Why sorted?")
    thread.get_by_role("button", name="Reply").click()
    page.keyboard.type("Because.")
    page.keyboard.press("Control+Enter")
    expect(thread).to_contain_text("Because.")
    # It is all in the log, and there after the page is loaded again.
    changes = show(app, page, log)
    expect(changes.nth(0).get_by_role("table")).to_have_count(0)
    expect(changes.nth(1).get_by_role("table").locator("[data-thread]")).to_contain_text("Why sorted?")
    thread = changes.nth(1).locator("[data-thread]")
    thread.get_by_role("button", name="Resolve").click()
    expect(thread).to_contain_text("resolved by")
    now = folded(app, log)
    (first, _) = now["comments"].values()
    assert (first["line"], first["source_hash"]) == (1, source_hash("print(sorted(rows)[:top])"))
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Looked at, or look again")
    expect(keys).to_contain_text("Ask for a change")


def test_a_comment_on_a_line_moves_away_with_its_version_and_says_so(app: App, page: Page, branch: str) -> None:
    log = of_branch(app, branch)
    changes = show(app, page, log)
    changes.nth(1).get_by_role("button", name="Comment on line 1, after").click()
    page.keyboard.type("This line.")
    page.keyboard.press("Control+Enter")
    expect(changes.nth(1).get_by_role("table").locator("[data-thread]")).to_have_count(1)
    changes.nth(1).get_by_label("Looked at").click()
    expect(changes.nth(1).get_by_label("Looked at")).to_be_checked()
    commit(app.folder, AFTER.replace("print(sorted", "print(list"))
    changes = show(app, page, log)
    expect(changes.nth(1).get_by_label("Looked at")).not_to_be_checked()
    expect(changes.nth(1).get_by_role("table").locator("[data-thread]")).to_have_count(0)
    expect(changes.nth(1).locator("[data-thread]")).to_contain_text("This line.")
    expect(changes.nth(1)).to_contain_text("Made on an older version: line 1")


def test_a_review_is_clean_in_every_look(app: App, page: Page, branch: str) -> None:
    log = of_branch(app, branch)
    changes = show(app, page, log)
    changes.first.get_by_role("button", name="Comment on the cell").click()
    page.keyboard.type("Looks right.")
    page.keyboard.press("Control+Enter")
    expect(changes.first.locator("[data-thread]")).to_have_count(1)
    found: list[str] = []
    for scheme, width in (("light", 1280), ("dark", 400)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        found += serious(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            f"{width}: it is wider than the window"
        )
    assert found == []


def test_diff_opens_the_review_that_the_page_shows(app: App, branch: str) -> None:
    git(app.folder, "checkout", "-q", "main")
    with ThreadPoolExecutor(1) as pool:
        words = ("diff", f"main...{branch}", PATH, "--review", "--json")
        told = pool.submit(QuickFolder(app.folder).quire, *words).result()
        wrong = pool.submit(QuickFolder(app.folder).quire, "diff", "main", PATH, "--review", status=2).result()
    assert told["review"] == of_branch(app, branch)
    assert told["url"].startswith(f"{app.url}/reviews/{told['review']}#sign-in=")
    assert "quire diff main...HEAD" in wrong.stderr
    context = app.browser.new_context()
    page = context.new_page()
    page.goto(told["url"])
    expect(page.locator("[data-change]")).to_have_count(2)
    assert page.url == f"{app.url}/reviews/{told['review']}"
    context.close()


def test_a_branch_is_walked_from_notebook_to_notebook(app: App, page: Page, branch: str) -> None:
    for name, text in (("a.py", "# %%\nprint(1)\n"), ("z.py", "# %%\nprint(unknown)\n")):
        (app.folder / name).write_text(text)
        git(app.folder, "add", name)
    git(app.folder, "commit", "-qm", "more")
    whole = review_of(app, {"kind": "revisions", "path": "", "base": "main", "head": branch})
    files = show(app, page, whole)
    expect(page.get_by_role("status").first).to_contain_text("3 notebooks · 0 answered")
    expect(files).to_have_text(["a.py", PATH, "z.py"])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    beside = page.get_by_role("navigation", name="Notebooks of the branch")
    expect(beside).to_contain_text("Notebook 1 of 3")
    expect(page.locator("[data-change]")).to_have_count(1)
    page.keyboard.press("y")
    expect(page.get_by_role("region", name="Answer")).to_contain_text("accepted it")
    # After its last change comes the next notebook, and back again; F and B skip one.
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(beside).to_contain_text("Notebook 2 of 3")
    expect(page.locator("[data-change]")).to_have_count(2)
    page.keyboard.press("f")
    expect(beside).to_contain_text("Notebook 3 of 3")
    checks = page.get_by_role("region", name="Checks")
    expect(checks).to_contain_text("Names are defined before they are used: failed, cell 1, line 1: unknown is used")
    expect(checks).to_contain_text("Runs from top to bottom: not known, no run of this commit is recorded here")
    page.keyboard.press("b")
    expect(beside).to_contain_text("Notebook 2 of 3")
    page.keyboard.press("u")
    expect(page.get_by_role("status").first).to_contain_text("3 notebooks · 1 answered")
    expect(page.get_by_role("list", name="Notebooks").get_by_role("listitem").first).to_contain_text("accepted")
    found: list[str] = []
    for scheme, width in (("light", 1280), ("dark", 400)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        found += serious(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{width}: wider than the window"
    assert found == []


def test_of_many_changes_the_first_come_first_and_the_last_can_be_reached(app: App, page: Page, branch: str) -> None:
    cells = [f"# %%\nvalue = {number}\n" for number in range(60)]
    git(app.folder, "checkout", "-q", "main")
    (app.folder / "many.py").write_text("\n".join(cells))
    git(app.folder, "add", "many.py")
    git(app.folder, "commit", "-qm", "many")
    git(app.folder, "checkout", "-qb", f"{branch}-many")
    (app.folder / "many.py").write_text("\n".join(cells).replace("value", "other"))
    git(app.folder, "commit", "-qam", "all of them")
    subject = {"kind": "revisions", "path": "many.py", "base": "main", "head": f"{branch}-many"}
    changes = show(app, page, review_of(app, subject))
    expect(page.get_by_role("status").first).to_contain_text("60 changed of 60 cells")
    expect(changes).to_have_count(60)
    expect(changes.last).to_contain_text("other = 59")


def test_diff_opens_the_review_of_a_branch_by_its_name(app: App, branch: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(QuickFolder(app.folder).quire, "diff", "main...HEAD", "--review", "--json").result()
    assert told["review"] == review_of(app, {"kind": "revisions", "path": "", "base": "main", "head": branch})


# ---- Proposals


@pytest.fixture
def asked(app: App) -> Iterator[tuple[str, str]]:
    """A notebook, and the review of an agent's proposal to change two of its cells."""
    log = app.notebook("Sales", "x = 1", "print(x)")
    first, second = app.read(log)["order"]
    proposal = proposed(app, log, (first, "x = 10"), (second, "print(x, x)"))
    yield log, review_of(app, {"kind": "proposal", "log": log, "proposal": proposal})


def test_some_of_a_proposal_is_accepted(app: App, page: Page, asked: tuple[str, str]) -> None:
    log, review = asked
    page.goto(app.url)
    page.get_by_role("region", name="Reviews").get_by_role("link").first.click()
    changes = page.locator("[data-change]")
    expect(changes).to_have_count(2)
    expect(page.locator("main")).to_contain_text("Proposed by codex")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Accept chosen (1 of 2)")).to_be_visible()
    page.keyboard.press("y")
    expect(page.get_by_role("region", name="Answer")).to_contain_text("accepted it")
    assert app.sources(log) == ["x = 1", "print(x, x)"]
    expect(page.locator("main")).to_contain_text("The proposal was accepted.")
    assert folded(app, review)["review"]["answer"] == "accepted"


def test_a_change_is_asked_for_where_the_agent_reads_it(app: App, page: Page, asked: tuple[str, str]) -> None:
    log, review = asked
    show(app, page, review)
    page.keyboard.press("m")
    expect(page.get_by_label("What is to be changed?")).to_be_focused()
    page.keyboard.type("Call it total.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("region", name="Answer")).to_contain_text("asked for a change")
    (said,) = app.read(log)["comments"].values()
    assert said["text"].startswith("@agent:codex Call it total.")
    assert app.sources(log) == ["x = 1", "print(x)"]


def test_a_decline_keeps_its_reason_and_whoever_may_only_read_answers_nothing(
    app: App, page: Page, asked: tuple[str, str]
) -> None:
    log, review = asked
    reader = app.context("human:vic", "read")
    other = reader.new_page()
    show(app, other, review)
    expect(other.get_by_role("button", name="Accept")).to_be_disabled()
    expect(other.get_by_role("button", name="Comment on the cell")).to_have_count(0)
    reader.close()
    show(app, page, review)
    page.get_by_role("button", name="Decline…").click()
    page.keyboard.type("too broad")
    page.get_by_role("button", name="Decline", exact=True).click()
    expect(page.get_by_role("region", name="Answer")).to_contain_text("too broad")
    (proposal,) = app.read(log)["proposals"].values()
    assert (proposal["state"], proposal["decided_why"]) == ("declined", "too broad")


def test_what_is_no_review_says_so(app: App, page: Page) -> None:
    log = app.notebook("Plain", "1")
    page.goto(f"{app.url}/reviews/{log}")
    expect(page.get_by_role("heading", name="This is no review")).to_be_visible()
    page.goto(f"{app.url}/reviews/review-nothing")
    expect(page.get_by_role("heading", name="There is no such review")).to_be_visible()
