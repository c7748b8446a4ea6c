"""The reading view: what people see who do not edit, and runs that they start where the owner lets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.core.ids import ActorId, LogId
from quire.workspace.local import LocalWorkspace

from ..journeys.owner import owned
from .app import App, answered

CELLS = (
    ("markdown", "# Sales of a month\n\nWhich cities sold **most**."),
    "top = 2  # how many cities",
    "ranked = ['Basel', 'Bern', 'Chur'][:top]\nprint('first:', *ranked)",
    "from quire.kernel import result\n\nresult('cities', len(ranked))",
)


@pytest.fixture
def log(app: App) -> str:
    """A notebook of ada with parameters, in which vera is a viewer and grace an editor."""
    made = app.notebook("Sales", *CELLS)
    with app.client() as client:
        second = answered(client.get(f"/api/notebooks/{made}"))["order"][1]
        tagged = {"type": "cell_tagged", "cell": second, "tags": ["parameters"]}
        answered(client.post(f"/api/logs/{made}/events", json={"drafts": [{"id": f"tag-{made}", "event": tagged}]}))
        for name, role in (("ada", "owner"), ("grace", "editor"), ("vera", "viewer")):
            answered(client.post("/api/roles", json={"actor": f"human:{name}", "role": role, "notebook": made}))
    return made


def allow(app: App, log: str, *, allowed: bool = True) -> None:
    """Let readers start runs of a notebook, as its owner does."""
    with app.client() as client:
        answered(client.post(f"/api/notebooks/{log}/run-policy", json={"viewers_may_run": allowed}))


@pytest.fixture
def viewer(app: App) -> Iterator[Page]:
    """A page of vera, whose token only reads."""
    context = app.context("human:vera", "read")
    yield context.new_page()
    context.close()


def read(app: App, page: Page, log: str) -> Locator:
    """Open the reading view, and wait until it is there."""
    page.goto(f"{app.url}/read/{log}")
    shown = page.locator(f"[data-reading='{log}']")
    expect(shown).to_be_visible()
    return shown


def test_a_viewer_runs_a_notebook_with_other_parameters_where_the_owner_lets_them(
    app: App, viewer: Page, log: str
) -> None:
    allow(app, log)
    read(app, viewer, log)
    form = viewer.get_by_role("form", name="Run with parameters")
    form.get_by_label("top").fill("3")
    form.get_by_role("button", name="Run with these values").click()
    expect(viewer.locator("[data-run=success]")).to_be_visible()
    run = viewer.url.rpartition("/")[2]
    assert run != log
    expect(viewer.get_by_role("table", name="Results")).to_have_text("cities3")
    shown = viewer.locator(f"[data-reading='{run}']")
    expect(shown).to_contain_text("Which cities sold most.")
    expect(shown.locator("[data-outputs]").first).to_contain_text("first: Basel Bern Chur")
    expect(viewer.locator("[data-source]")).to_have_count(0)
    expect(form.get_by_label("top")).to_have_value("3")
    found = app.read(run)["run"]
    assert (found["by"], found["parameters"], found["policy"]) == (
        "human:vera",
        {"top": 3},
        {"run_with_parameters": "allowed"},
    )
    assert found["source"]["notebook"] == log


@pytest.mark.slow
def test_without_that_a_viewer_reads_and_is_offered_no_run(app: App, viewer: Page, log: str) -> None:
    shown = read(app, viewer, log)
    expect(shown).to_contain_text("Which cities sold most.")
    viewer.get_by_role("button", name="Show code").click()
    expect(viewer.locator("[data-source]").first).to_contain_text("top = 2")
    expect(viewer.get_by_role("form")).to_have_count(0)
    expect(viewer.get_by_label("Viewers may start runs")).to_have_count(0)
    with app.client("human:vera", "read") as client:
        assert client.post("/api/runs", json={"notebook": log}).status_code == 403


@pytest.mark.slow
def test_the_owner_switches_it_on_and_off_and_an_editor_cannot(app: App, viewer: Page, log: str) -> None:
    context = app.context("human:ada", "read", "edit", "run", "admin")
    page = context.new_page()
    read(app, page, log)
    switch = page.get_by_label("Viewers may start runs")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    read(app, viewer, log)
    expect(viewer.get_by_role("form", name="Run with parameters")).to_be_visible()
    switch.click()
    expect(switch).not_to_be_checked()
    viewer.get_by_role("button", name="Run with these values").click()
    expect(viewer.get_by_role("alert")).to_contain_text("human:vera may not")
    context.close()
    editor = app.context("human:grace", "read", "edit", "run", "admin")
    other = editor.new_page()
    read(app, other, log)
    expect(other.get_by_role("form", name="Run with parameters")).to_be_visible()
    expect(other.get_by_label("Viewers may start runs")).to_have_count(0)
    editor.close()
    with app.client("human:grace", "read", "edit", "run", "admin") as client:
        wanted = {"viewers_may_run": True}
        assert client.post(f"/api/notebooks/{log}/run-policy", json=wanted).status_code == 403


@pytest.mark.slow
def test_what_a_viewer_gives_is_checked_by_name_and_type_and_nothing_else_is_open_to_them(app: App, log: str) -> None:
    allow(app, log)
    other = app.notebook("other", "x = 1")
    with app.client("human:vera", "read") as client:

        def start(notebook: str, **parameters: Any) -> tuple[int, str]:
            answer = client.post("/api/runs", json={"notebook": notebook, "parameters": parameters})
            return answer.status_code, answer.json().get("error", {}).get("message", "")

        status, said = start(log, ranked="evil")
        assert (status, "has no parameter 'ranked'" in said) == (422, True)
        status, said = start(log, top="many")
        assert (status, "top" in said) == (422, True)
        assert start(other)[0] == 403
        cell = app.read(log)["order"][2]
        assert client.post(f"/api/notebooks/{log}/executions", json={"cells": [{"cell": cell}]}).status_code == 403
        assert client.post(f"/api/notebooks/{log}/scratch", json={"source": "1"}).status_code == 403
        assert client.post(f"/api/logs/{log}/runtimes/start", json={}).status_code == 403
        status, _ = start(log, top=1)
        assert status == 200
    agent = owned(
        app.folder,
        lambda workspace: _agent(workspace, log),
    )
    with app.client() as client:
        client.headers["Authorization"] = f"Bearer {agent}"
        assert client.post("/api/runs", json={"notebook": log}).status_code == 403


async def _agent(workspace: LocalWorkspace, log: str) -> str:
    """The secret of an agent of vera that only reads."""
    made = await workspace.create_token(
        ActorId("agent:helper"), ["read"], on_behalf_of=ActorId("human:vera"), notebooks=[LogId(log)]
    )
    return made.secret


@pytest.mark.slow
def test_a_viewer_sees_a_run_go_on_and_stops_it(app: App) -> None:
    log = app.notebook("slow", "print('begun', flush=True)", "import time\ntime.sleep(600)", "print('never')")
    # Somebody who starts no other run: whoever may only read has three at most, and other tests leave some.
    with app.client() as client:
        for name, role in (("ada", "owner"), ("vic", "viewer")):
            answered(client.post("/api/roles", json={"actor": f"human:{name}", "role": role, "notebook": log}))
    allow(app, log)
    context = app.context("human:vic", "read")
    viewer = context.new_page()
    read(app, viewer, log)
    viewer.get_by_role("button", name="Run it").click()
    expect(viewer.locator("[data-run=running]")).to_be_visible()
    expect(viewer.locator("[data-outputs]").first).to_contain_text("begun")
    expect(viewer.get_by_role("status").first).to_contain_text("Running: 1 of 3 cells")
    viewer.get_by_role("button", name="Stop").click()
    expect(viewer.locator("[data-run=cancelled]")).to_be_visible()
    context.close()


@pytest.mark.slow
def test_it_follows_the_notebook_and_says_when_outputs_are_older_than_the_code(
    app: App, page: Page, viewer: Page
) -> None:
    log = app.notebook("live", ("markdown", "Before"), "print('one')")
    shown = read(app, viewer, log)
    expect(shown).to_contain_text("Before")
    app.open(page, log)
    page.locator("[data-cell]").nth(1).locator("> div").first.click()
    page.keyboard.press("Control+Enter")
    expect(shown.locator("[data-outputs]")).to_contain_text("one")
    expect(shown.get_by_text("changed since")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator("[data-edited] .cm-content")).to_be_focused()
    page.keyboard.type("# new\n")
    page.keyboard.press("Escape")
    expect(shown).to_contain_text("The notebook was changed since some of these outputs were made.")


@pytest.mark.slow
def test_it_says_what_is_missing(app: App, viewer: Page) -> None:
    read(app, viewer, app.notebook("empty"))
    expect(viewer.locator("main")).to_contain_text("There is nothing to read yet")
    read(app, viewer, app.notebook("code", "x = 1"))
    viewer.get_by_role("main").get_by_role("button", name="Show code").click()
    expect(viewer.locator("[data-source]")).to_contain_text("x = 1")
    viewer.goto(f"{app.url}/read/nothing-here")
    expect(viewer.locator("main")).to_contain_text("notebook")
