"""Home, settings and the page that says how to sign in: with the mouse, by keys alone, narrow, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from quire.workspace.clock import new_id

from ..journeys.owner import new_token, owned
from ..journeys.server import Folder
from .app import App, answered
from .axe import serious

SERVE_FLAGS: tuple[str, ...] = ()
"""With the mirror: files that are dropped stay beside their notebooks."""

DROP = """([name, text]) => {
    const files = new DataTransfer()
    files.items.add(new File([text], name))
    for (const kind of ["dragenter", "dragover", "drop"])
        document.querySelector("main").dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: files }))
}"""


@pytest.fixture(scope="module")
def sales(app: App) -> str:
    """A notebook that everybody finds."""
    return app.notebook("sales", "total = 10312", ("markdown", "# Revenue by region"))


def row(page: Page, name: str) -> Locator:
    return page.locator("[data-row]").filter(has=page.get_by_role("link", name=name, exact=True))


def home(app: App, page: Page) -> Page:
    page.goto(app.url)
    expect(page.get_by_role("heading", name="Notebooks")).to_be_visible()
    return page


def names(page: Page) -> list[str]:
    return page.locator("section[aria-labelledby=notebooks] [data-row] a").all_inner_texts()


# ---- Signing in


def test_an_address_signs_a_browser_in_once_and_leaves_no_token_in_the_history(app: App) -> None:
    secret = owned(app.folder, lambda workspace: workspace.create_sign_in()).secret
    context = app.browser.new_context()
    page = context.new_page()
    page.goto(f"{app.url}/#sign-in={secret}")
    expect(page.get_by_role("link", name="settings")).to_be_visible()
    assert "sign-in" not in page.url
    page.reload()
    expect(page.get_by_role("link", name="settings")).to_be_visible()
    page.goto("about:blank")
    page.goto(f"{app.url}/#sign-in={secret}")
    # Signed in already, so that is no reason to leave home.
    expect(page.get_by_role("link", name="settings")).to_be_visible()
    context.close()


def test_an_address_can_lead_to_a_notebook(app: App, sales: str) -> None:
    secret = owned(app.folder, lambda workspace: workspace.create_sign_in()).secret
    context = app.browser.new_context()
    page = context.new_page()
    page.goto(f"{app.url}/#sign-in={secret}&notebook={sales}")
    expect(page.locator("[data-cell]").first).to_be_visible()
    assert page.url == f"{app.url}/notebooks/{sales}"
    context.close()


def test_a_browser_without_a_token_is_told_what_to_type(app: App) -> None:
    context = app.browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(app.url)
    expect(page.get_by_role("heading", name="Sign this browser in")).to_be_visible()
    expect(page.get_by_text("quire open", exact=True)).to_be_visible()
    assert serious(page) == []
    page.goto("about:blank")
    page.goto(f"{app.url}/#sign-in=quire_wrong")
    expect(page.get_by_role("alert")).to_be_visible()
    context.close()


# ---- Notebooks


@pytest.fixture
def empty(built: Path, browser: Browser, tmp_path: Path) -> Iterator[App]:
    """A workspace of its own, with nothing in it."""
    made = App(tmp_path, browser, "--no-mirror")
    yield made
    made.close()


def test_an_empty_home_has_three_ways_to_begin_and_a_key_for_the_first(empty: App) -> None:
    page = empty.context().new_page()
    page.goto(empty.url)
    for name in ("New notebook", "Open from the folder", "Choose a file…"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
    assert serious(page) == []
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/notebooks/"))
    home(empty, page)
    expect(row(page, "Untitled")).to_contain_text("1 cell")
    expect(row(page, "Untitled")).to_contain_text("you")


def test_rows_are_walked_by_arrows_and_opened_by_enter(app: App, page: Page, sales: str) -> None:
    home(app, page)
    expect(row(page, "sales")).to_be_visible()
    wanted = names(page).index("sales") + 1
    for _ in range(wanted):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="sales", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{app.url}/notebooks/{sales}")


def test_a_notebook_is_renamed_by_keys_alone(app: App, page: Page) -> None:
    app.notebook("to be renamed", "1")
    home(app, page)
    page.get_by_role("link", name="to be renamed").focus()
    page.keyboard.press(".")
    expect(page.get_by_role("menuitem", name="Rename…")).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    field = page.get_by_role("textbox", name="Name")
    expect(field).to_be_focused()
    field.fill("renamed")
    page.keyboard.press("Enter")
    expect(row(page, "renamed")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_notebook_is_duplicated_and_archived_and_taken_out_again(app: App, page: Page) -> None:
    app.notebook("kept", "1", "2")
    home(app, page)
    choose(page, "kept", "Duplicate")
    expect(row(page, "kept copy")).to_contain_text("2 cells")
    choose(page, "kept copy", "Archive")
    expect(row(page, "kept copy")).to_have_count(0)
    page.get_by_role("status", name="Messages").get_by_role("button", name="Undo").last.click()
    expect(row(page, "kept copy")).to_be_visible()
    choose(page, "kept copy", "Archive")
    page.get_by_role("button", name="Archived (1)").click()
    choose(page, "kept copy", "Take out of the archive")
    expect(page.get_by_role("button", name="Archived (1)")).to_have_count(0)
    expect(row(page, "kept copy")).to_be_visible()


def choose(page: Page, name: str, item: str) -> None:
    page.get_by_role("button", name=f"More for {name}", exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def test_home_shows_what_others_do_as_they_do_it(app: App, page: Page, second_page: Page, sales: str) -> None:
    app.open(second_page, sales)
    home(app, page)
    expect(row(page, "sales").get_by_text("here now: grace")).to_be_attached()
    app.notebook("made meanwhile", "1", actor="human:grace")
    expect(row(page, "made meanwhile")).to_contain_text("grace")
    with app.client("human:grace") as client:
        rename = {"id": new_id(), "event": {"type": "notebook_renamed", "name": "sales"}}
        answered(client.post(f"/api/logs/{sales}/events", json={"drafts": [rename]}))
    expect(row(page, "sales")).to_contain_text("grace renamed it")


def test_home_begins_with_what_waits_for_you(app: App, page: Page) -> None:
    log = app.notebook("reviewed", "month = 10")
    secret = new_token(app.folder, "agent:codex", "read", "edit", behalf="human:ada", asks=("edit",))
    with httpx.Client(base_url=app.url, headers={"Authorization": f"Bearer {secret}"}) as codex:
        now = answered(codex.get(f"/api/notebooks/{log}"))
        edit = {"type": "source_edited", "cell": now["order"][0], "base": now["seq"], "edit": [[8, 2, "11"]]}
        answered(codex.post(f"/api/logs/{log}/events", json={"drafts": [{"id": new_id(), "event": edit}]}))
    home(app, page)
    expect(page.get_by_role("region", name="Waits for you")).to_contain_text("codex for ada proposes")
    assert page.title().startswith("(1) ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/notebooks/{log}"))


@pytest.mark.slow
def test_runs_are_shown_with_parameters_and_results(app: App, page: Page) -> None:
    source = '# %% tags=["parameters"]\ntop = 5\n\n# %%\nfrom quire.kernel import result\nresult("twice", 2 * top)\n'
    (app.folder / "ranked.py").write_text(source, encoding="utf-8")
    Folder(app.folder).quire("run", "ranked.py", "ranked.ipynb", "-p", "top", "7")
    home(app, page)
    run = page.locator("[data-row][data-status=success]")
    expect(run).to_contain_text("top=7")
    expect(run).to_contain_text("twice=14")
    page.get_by_role("link", name="All runs").click()
    expect(page).to_have_url(f"{app.url}/runs")
    run.get_by_role("link").click()
    expect(page.locator("[data-cell]").first).to_be_visible()


def test_the_filter_finds_names_and_what_cells_say(app: App, page: Page, sales: str) -> None:
    home(app, page)
    page.keyboard.press("/")
    page.keyboard.type("sales")
    expect(row(page, "sales")).to_be_visible()
    assert set(names(page)) == {"sales"}
    page.keyboard.press("Control+a")
    page.keyboard.type("revenue")
    hits = page.get_by_role("region", name="In notebooks")
    hit = hits.locator("[data-row]").filter(has_text="# Revenue by region")
    expect(hit.locator("mark")).to_have_text("Revenue")
    page.keyboard.press("ArrowDown")
    expect(hits.get_by_role("link", name="sales", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hit.get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/notebooks/{sales}#cell="))


def test_what_is_found_is_folded_by_notebook_and_runs_are_told_apart(app: App) -> None:
    log = app.notebook("harvest", *(f"bushels_{number} = {number}" for number in range(6)))
    runs = [made_run(app, log, "harvest", "print(bushels)") for _ in range(6)]
    context = app.context(color_scheme="dark", viewport={"width": 400, "height": 800})
    page = home(app, context.new_page())
    page.keyboard.press("/")
    page.keyboard.type("bushels")
    notebooks = page.get_by_role("region", name="In notebooks")
    expect(notebooks.locator("[data-group=notebook]")).to_have_count(1)
    expect(notebooks.locator("[data-kind=hit]")).to_have_count(4)
    notebooks.get_by_role("button", name="2 more in this notebook").click()
    expect(notebooks.locator("[data-kind=hit]")).to_have_count(6)
    found = page.get_by_role("region", name="In runs")
    expect(found.locator("[data-group=run]")).to_have_count(5)
    found.get_by_role("button", name="1 more run").click()
    expect(found.locator("[data-group=run]")).to_have_count(6)
    newest = found.locator("[data-group=run]").first
    expect(newest).to_contain_text(re.compile("Run of harvest.*queued · just now"))
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    newest.get_by_role("link", name="Run of harvest").click()
    expect(page).to_have_url(f"{app.url}/runs/{runs[-1]}")
    expect(page.locator("[data-cell]")).to_have_count(1)
    context.close()


def made_run(app: App, notebook: str, name: str, source: str) -> str:
    """Record a run that waits for a runtime, and return its log."""
    log, of = new_id(), {"notebook": notebook, "seq": 1}
    events = [
        {"type": "run_requested", "name": name, "source": of},
        {"type": "cell_added", "cell": new_id(), "after": None, "source": source},
    ]
    with app.client() as client:
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))
    return log


# ---- Files


def test_a_dropped_file_becomes_a_notebook_and_a_second_of_its_name_asks(app: App, page: Page) -> None:
    home(app, page)
    page.evaluate(DROP, ["dropped.py", "# %%\nprint('dropped')\n"])
    expect(row(page, "dropped")).to_contain_text("1 cell")
    page.evaluate(DROP, ["dropped.py", "# %%\n1\n\n# %%\n2\n"])
    expect(page.get_by_role("dialog", name="There is a notebook of that name")).to_be_visible()
    page.keyboard.press("Enter")
    expect(row(page, "dropped 2")).to_contain_text("2 cells")
    page.evaluate(DROP, ["data.csv", "a,b"])
    expect(page.get_by_text("data.csv is no notebook")).to_be_visible()


def test_a_file_of_the_folder_is_opened_by_keys(app: App, page: Page) -> None:
    (app.folder / "reports").mkdir(exist_ok=True)
    (app.folder / "reports" / "weekly.py").write_text("# %%\n1\n", encoding="utf-8")
    home(app, page)
    page.keyboard.press("o")
    page.keyboard.type("weekly")
    expect(page.get_by_role("list", name="Files").get_by_role("button")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/notebooks/"))
    home(app, page)
    expect(row(page, "weekly")).to_contain_text("reports/weekly.py")
    expect(page.get_by_role("heading", name="reports/")).to_be_visible()


# ---- Settings


def test_a_token_is_made_that_asks_first_is_shown_once_and_revoked(app: App, page: Page) -> None:
    page.goto(f"{app.url}/settings")
    page.get_by_role("button", name="New token…").click()
    page.keyboard.type("hal")
    expect(page.get_by_role("checkbox", name="Asks first")).to_be_checked()
    page.keyboard.press("Enter")
    secret = page.locator("[data-secret]").inner_text()
    assert secret.startswith("quire_")
    page.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_text(secret)).to_have_count(0)
    token = page.get_by_role("listitem").filter(has_text="hal for")
    expect(token).to_contain_text("asks before it may edit, run cells")
    token.get_by_role("button", name="Revoke…").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(token).to_have_count(0)


def test_a_theme_is_kept_and_is_there_before_anything_is_painted(app: App, page: Page) -> None:
    page.goto(f"{app.url}/settings")
    page.get_by_role("radio", name="Dark").check()
    assert background(page) == background_of(app, "dark")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("radio", name="As the system").check()
    assert background(page) != background_of(app, "dark")


def background(page: Page) -> Any:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def background_of(app: App, scheme: Any) -> Any:
    context = app.browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(app.url)
    found = background(page)
    context.close()
    return found


def test_who_signs_out_sees_how_to_sign_in(app: App, page: Page) -> None:
    page.goto(f"{app.url}/settings")
    expect(page.get_by_role("table").first).to_contain_text("Cell below")
    page.locator("[data-browser=this]").get_by_role("button", name="Sign out…").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("heading", name="Sign this browser in")).to_be_visible()


# ---- What is wrong between page and server


def test_a_line_says_when_the_server_is_away_and_goes_when_it_is_back(app: App, page: Page, sales: str) -> None:
    home(app, page)
    expect(row(page, "sales")).to_be_visible()
    app.stop()
    try:
        bar = page.get_by_role("status").filter(has_text="The server does not answer.")
        expect(bar).to_contain_text("What you typed is kept.")
        expect(row(page, "sales")).to_be_visible()
    finally:
        app.start()
    page.evaluate("dispatchEvent(new Event('online'))")  # or it would wait for a while before it tries again
    expect(bar).to_have_count(0)


def test_a_line_says_when_the_token_was_revoked(app: App, sales: str) -> None:
    context = app.context("human:grace", "read", "edit")
    page = home(app, context.new_page())
    expect(row(page, "sales")).to_be_visible()
    # One line says it, also when the list is read again.
    with (
        page.expect_response(lambda answer: "/api/overview" in answer.url and answer.status == 401),
        app.client() as client,
    ):
        for token in answered(client.get("/api/tokens")):
            if token["allows"]["actor"] == "human:grace" and token["state"] == "valid":
                answered(client.post(f"/api/tokens/{token['token']}/revoke"))
    expect(page.get_by_role("alert")).to_contain_text("Signed out")
    expect(page.get_by_role("alert")).to_contain_text("quire open")
    expect(row(page, "sales")).to_be_visible()
    context.close()


# ---- For everybody


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 400)])
def test_nothing_serious_is_found_by_axe(app: App, scheme: Any, width: int, sales: str) -> None:
    context = app.context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = home(app, context.new_page())
    expect(row(page, "sales")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="More for sales", exact=True).click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="More for sales", exact=True)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert serious(page) == []
    page.goto(f"{app.url}/settings")
    expect(page.get_by_role("heading", name="You", exact=True)).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
