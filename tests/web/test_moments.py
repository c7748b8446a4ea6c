"""The notebook as it was at any event, restored as edits, and two moments compared."""

from __future__ import annotations

import json
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.core.text import source_hash
from quire.workspace.clock import new_id

from ..doors.cli.cli_folder import QuickFolder
from .app import PATIENCE, App, answered
from .node import NODE, WEB
from .notebook import Book


def record(app: App, log: str, *events: dict[str, Any], actor: str = "human:ada") -> None:
    """Record events in a log."""
    with app.client(actor) as client:
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))


def live(app: App, log: str, seq: int | None = None) -> list[dict[str, Any]]:
    """The cells that are not removed, as they are or were."""
    with app.client() as client:
        now = answered(client.get(f"/api/notebooks/{log}", params={} if seq is None else {"seq": seq}))
    cells: list[dict[str, Any]] = [now["cells"][id] for id in now["order"]]
    return [cell for cell in cells if not cell.get("removed")]


def written(cells: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """What restoring brings back of cells."""
    return [
        (cell["id"], cell.get("kind", "code"), cell.get("source", ""), cell.get("name"), tuple(cell.get("tags", ())))
        for cell in cells
    ]


def text_edit(now: dict[str, Any], cell: str, text: str) -> dict[str, Any]:
    """The event that gives a cell another text."""
    before = now["cells"][cell].get("source", "")
    return {"type": "source_edited", "cell": cell, "base": now["seq"], "edit": [[0, len(before), text]]}


def shown(cell: str, source: str, text: str) -> dict[str, Any]:
    """The event by which a cell shows a text."""
    output = {"kind": "stream", "name": "stdout", "head": text}
    return {
        "type": "outputs_imported",
        "execution": new_id(),
        "cell": cell,
        "source_hash": source_hash(source),
        "outputs": [output],
    }


def at(app: App, page: Page, log: str, seq: int) -> Locator:
    """Show a moment, and wait until it is there."""
    page.goto(f"{app.url}/notebooks/{log}?at={seq}")
    return moment(page, seq)


def moment(page: Page, seq: int) -> Locator:
    """The cells of a moment, once they are shown."""
    cells = page.locator(f"[data-moment='{seq}'][aria-busy=false]")
    expect(cells).to_have_count(1)
    return cells


@pytest.fixture
def changed(app: App) -> tuple[str, int]:
    """A notebook that was changed since event 4: a text, an added, a removed and a moved cell, a name, tags, a kind."""
    log = app.notebook("Sales", ("markdown", "# Sales"), "x = 1", "print(x)")
    now = app.read(log)
    top, first, second = now["order"]
    record(
        app,
        log,
        text_edit(now, first, "x = 2\ny = 3"),
        {"type": "cell_named", "cell": first, "name": "load"},
        {"type": "cell_tagged", "cell": first, "tags": ["slow"]},
        {"type": "cell_added", "cell": "extra", "after": first, "kind": "code", "source": "extra = True"},
        {"type": "cell_moved", "cell": second, "after": None},
        {"type": "cell_removed", "cell": top},
    )
    return log, 4


# ---- A moment


def test_all_cells_are_restored_as_one_act_of_ordinary_edits(app: App, page: Page, changed: tuple[str, int]) -> None:
    log, seq = changed
    then = live(app, log, seq)
    cells = at(app, page, log, seq)
    expect(page.get_by_role("region", name="Moment")).to_contain_text("As it was at event 4")
    expect(page.get_by_role("region", name="Moment")).to_contain_text("by ada")
    expect(cells.locator("[data-cell]")).to_have_count(3)
    expect(cells).to_contain_text("1 cell was added since.")
    page.get_by_role("button", name="Restore all").click()
    page.wait_for_url(f"**/notebooks/{log}")
    expect(page.locator("[data-cell]")).to_have_count(3)
    expect(page.get_by_text("Restored the cells of event 4.")).to_be_visible()
    book = Book(app, page, log)
    book.until(lambda: written(live(app, log)), written(then))
    entries = history(app, log, 10)
    assert len({entry["at"] for entry in entries}) == 1
    assert {entry["event"]["type"] for entry in entries} >= {
        "cell_removed",
        "cell_added",
        "cell_moved",
        "source_edited",
    }
    verified(app, log)


def history(app: App, log: str, since: int) -> list[dict[str, Any]]:
    """The entries of a log after a number."""
    with app.client() as client:
        return answered(client.get(f"/api/logs/{log}/events", params={"since": since}))["entries"]


def verified(app: App, log: str) -> None:
    """Expect `quire verify` to find nothing wrong with a log."""
    quire(app, "verify", log)


def quire(app: App, *words: str) -> Any:
    """Call a verb in the app's folder, beside the loop of the browser."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(QuickFolder(app.folder).quire, *words).result()


@pytest.mark.slow
def test_a_restore_is_taken_back_with_z_and_comes_again_with_shift_z(
    app: App, page: Page, changed: tuple[str, int]
) -> None:
    log, seq = changed
    before, then = live(app, log), live(app, log, seq)
    at(app, page, log, seq)
    page.get_by_role("button", name="Restore all").click()
    page.wait_for_url(f"**/notebooks/{log}")
    expect(page.locator("[data-cell]")).to_have_count(3)
    wait_until(page, lambda: written(live(app, log)) == written(then))
    page.locator("[data-cell]").first.locator("> div").first.click()
    page.keyboard.press("z")
    wait_until(page, lambda: written(live(app, log)) == written(before))
    page.keyboard.press("Shift+Z")
    wait_until(page, lambda: written(live(app, log)) == written(then))
    verified(app, log)


def wait_until(page: Page, ask: Any) -> None:
    """Wait until something is so on the server."""
    for _ in range(PATIENCE // 50):
        if ask():
            return
        page.wait_for_timeout(50)
    raise AssertionError("It never came to that.")


@pytest.mark.slow
def test_one_cell_is_restored_and_the_others_stay_as_they_are(app: App, page: Page, changed: tuple[str, int]) -> None:
    log, seq = changed
    before, then = live(app, log), live(app, log, seq)
    cells = at(app, page, log, seq)
    first = then[1]["id"]
    row = cells.locator(f"[data-cell='{first}']")
    expect(row).to_have_attribute("data-since", "changed")
    row.get_by_role("button", name="Restore this cell").click()
    expect(row).to_have_attribute("data-since", "same")
    expect(row.get_by_role("button", name="Restore this cell")).to_have_count(0)
    gone = cells.locator(f"[data-cell='{then[0]['id']}']")
    expect(gone).to_have_attribute("data-since", "removed")
    wait_until(page, lambda: dict_of(live(app, log))[first] == dict_of(then)[first])
    others = [cell for cell in written(live(app, log)) if cell[0] != first]
    assert others == [cell for cell in written(before) if cell[0] != first]
    gone.get_by_role("button", name="Restore this cell").click()
    expect(gone).to_have_attribute("data-since", "same")
    wait_until(page, lambda: then[0]["id"] in dict_of(live(app, log)))
    page.locator("main").focus()
    page.keyboard.press("z")
    expect(gone).to_have_attribute("data-since", "removed")
    verified(app, log)


def dict_of(cells: list[dict[str, Any]]) -> dict[object, tuple[object, ...]]:
    """What restoring brings back, by cell."""
    return {cell[0]: cell for cell in written(cells)}


@pytest.mark.slow
def test_arrows_go_by_event_and_with_shift_by_act_and_the_address_follows(
    app: App, page: Page, changed: tuple[str, int]
) -> None:
    log, _ = changed
    app.open(page, log)
    page.keyboard.press("Alt+t")
    page.wait_for_url("**?at=10")
    moment(page, 10)
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**?at=9")
    moment(page, 9)
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_url("**?at=4")
    moment(page, 4)
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_url("**?at=10")
    slider = page.get_by_role("slider", name="Event")
    slider.fill("6")
    page.wait_for_url("**?at=6")
    expect(slider).to_have_attribute("aria-valuetext", "Event 6 of 10")
    expect(moment(page, 6).locator("[data-name]")).to_have_text("load")
    page.go_back()
    page.wait_for_url(f"**/notebooks/{log}")
    expect(page.get_by_role("slider")).to_have_count(0)
    page.go_forward()
    moment(page, 6)
    page.get_by_role("link", name="Now", exact=True).click()
    page.wait_for_url(f"**/notebooks/{log}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"),
    [("99", "There is no event 99."), ("0", "There is no event 0."), ("soon", "“soon” is not the number of an event.")],
)
def test_a_number_that_is_no_event_is_told_with_a_way_on(
    app: App, page: Page, changed: tuple[str, int], text: str, told: str
) -> None:
    log, _ = changed
    page.goto(f"{app.url}/notebooks/{log}?at={text}")
    expect(page.locator("main")).to_contain_text(f"{told} This log has events 1 to 10.")
    page.get_by_role("link", name="Event 10").click()
    moment(page, 10)


@pytest.mark.slow
def test_who_may_not_edit_looks_at_the_past_and_restores_nothing(app: App, changed: tuple[str, int]) -> None:
    log, seq = changed
    context = app.context("human:vera", "read")
    page = context.new_page()
    cells = at(app, page, log, seq)
    expect(cells.locator("[data-since=changed]")).to_have_count(1)
    expect(page.get_by_role("button", name="Restore")).to_have_count(0)
    expect(page.get_by_role("link", name="Compare with now")).to_be_visible()
    context.close()


# ---- What the page shows is what the log says


def drawn_log(app: App, seed: int, length: int) -> str:
    """A notebook with drawn edits, outputs and moves."""
    chance = random.Random(seed)
    log = app.notebook("drawn", "a = 1", ("markdown", "# Title"), "b = 2")
    names = iter(f"c{number}" for number in range(length))
    for _ in range(length):
        now = app.read(log)
        alive = [id for id in now["order"] if not now["cells"][id].get("removed")]
        cell = chance.choice(alive)
        source = now["cells"][cell].get("source", "")
        runs = now["cells"][cell].get("kind", "code") == "code"
        after = chance.choice([None, *(id for id in now["order"] if id != cell)])
        choices: list[dict[str, Any]] = [
            {"type": "cell_added", "cell": next(names), "after": after, "source": f"v{now['seq']} = 'é'"},
            text_edit(now, cell, f"{source[:40]}\nx{now['seq']} = {chance.random()}"),
            {"type": "cell_moved", "cell": cell, "after": after},
            {"type": "cell_named", "cell": cell, "name": f"name {now['seq']}"},
            {"type": "cell_tagged", "cell": cell, "tags": [f"t{now['seq']}"]},
            *([shown(cell, source, f"printed at {now['seq']}\n")] if runs else []),
            *([{"type": "cell_removed", "cell": cell}] if len(alive) > 3 else []),
        ]
        record(app, log, chance.choice(choices))
    return log


@pytest.mark.slow
def test_what_is_shown_at_any_number_is_what_quire_show_says(app: App, page: Page) -> None:
    """100 numbers in the browser's fold and over HTTP, 10 of them as drawn on the page."""
    log = drawn_log(app, 16, 230)
    chance = random.Random(4)
    head = app.read(log)["seq"]
    numbers = [chance.randint(1, head) for _ in range(100)]
    entries = history(app, log, 0)
    folded = in_typescript_of([entries[:number] for number in numbers])
    with app.client() as client:
        for number, by_app in zip(numbers, folded, strict=True):
            said = show(app, log, number)
            over_http = answered(client.get(f"/api/notebooks/{log}", params={"seq": number}))
            assert by_app == said
            assert over_http == said["notebook"]
    for number in numbers[:10]:
        assert as_drawn(at(app, page, log, number)) == as_said(show(app, log, number)["notebook"])


def in_typescript_of(logs: list[list[dict[str, Any]]]) -> list[dict[str, object]]:
    """What the web app's fold makes of entries as the server sends them."""
    lines = "".join(f"{json.dumps(log)}\n" for log in logs)
    done = subprocess.run(
        [NODE, WEB / "tools" / "fold_logs.ts"], input=lines, capture_output=True, text=True, timeout=120, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def show(app: App, log: str, seq: int) -> dict[str, Any]:
    """What `quire show --seq N --json` prints, without its log."""
    said = quire(app, "show", log, "--seq", str(seq), "--json")
    return {"notebook": said["notebook"], "stale": said["stale"]}


def as_drawn(cells: Locator) -> list[dict[str, Any]]:
    """The cells as a page draws them."""
    return cells.locator("[data-cell]").evaluate_all(
        """rows => rows.map(row => ({
            id: row.dataset.cell,
            kind: row.dataset.kind,
            state: row.dataset.state ?? null,
            name: row.querySelector('[data-name]')?.textContent ?? null,
            tags: row.querySelector('[data-tags]')?.textContent ?? null,
            source: row.querySelector('[data-source] pre')?.textContent ?? null,
            printed: row.querySelector('[data-outputs]')?.textContent.includes('printed at')
                ? row.querySelector('[data-outputs]').textContent.match(/printed at \\d+/)[0] : null,
        }))"""
    )


def as_said(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The same from `quire show`."""
    found: list[dict[str, Any]] = []
    for id in notebook["order"]:
        cell = notebook["cells"][id]
        if cell.get("removed"):
            continue
        kind = cell.get("kind", "code")
        execution = cell.get("execution")
        is_code = kind == "code"
        found.append(
            {
                "id": id,
                "kind": kind,
                "state": (execution["state"] if execution else "never_run") if is_code else None,
                "name": cell.get("name"),
                "tags": ", ".join(cell["tags"]) if cell.get("tags") else None,
                "source": cell.get("source", "") if is_code else None,
                "printed": execution["outputs"][0]["head"].strip() if is_code and execution else None,
            }
        )
    return found


# ---- Two moments


@pytest.mark.slow
def test_two_moments_are_compared_by_the_servers_rows_with_outputs_of_both(
    app: App, page: Page, changed: tuple[str, int]
) -> None:
    log, seq = changed
    now = app.read(log)
    last = next(id for id in now["order"] if now["cells"][id].get("source") == "print(x)")
    record(app, log, shown(last, "print(x)", "one line\n"))
    at(app, page, log, seq)
    page.get_by_role("link", name="Compare with now").click()
    page.wait_for_url(f"**/compare?from={seq}")
    rows = page.locator("[data-diff-rows]")
    expect(page.locator("main").get_by_role("status")).to_contain_text(
        "1 changed, 1 added, 1 removed, 1 moved of 4 cells"
    )
    with app.client() as client:
        found = answered(client.get("/api/diff", params={"a": f"{log}@{seq}", "b": log}))
    wanted = [(row["cell"], row["state"]) for row in found["rows"] if row["state"] != "same"]
    drawn = rows.locator("[data-change]").evaluate_all("all => all.map(row => [row.dataset.cell, row.dataset.state])")
    assert [tuple(row) for row in drawn] == wanted
    changed_row = rows.locator("[data-state=changed]")
    expect(changed_row.locator("mark")).to_have_text(["1", "2"])
    moved = rows.locator("[data-state=moved]")
    expect(moved).to_contain_text("moved from 3, changed")
    expect(moved.locator("[data-side=old]")).to_contain_text("Nothing.")
    expect(moved.locator("[data-side=new]")).to_contain_text("one line")

    page.keyboard.press("j")
    expect(rows.locator("[data-change]").first).to_be_focused()
    page.keyboard.press("j")
    expect(rows.locator("[data-change]").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(rows.locator("[data-change]").first).to_be_focused()

    form = page.get_by_role("form", name="To event")
    form.get_by_role("spinbutton").fill("6")
    form.get_by_role("spinbutton").press("Enter")
    page.wait_for_url(f"**/compare?from={seq}&to=6")
    expect(page.locator("main").get_by_role("status")).to_contain_text("1 changed of 3 cells")
    rows.get_by_role("button", name="1 cell is the same").last.click()
    expect(rows).to_contain_text("print(x)")
    form.get_by_role("spinbutton").fill("999")
    form.get_by_role("spinbutton").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("has the numbers 1 to 11, so not 999")
    page.goto(f"{app.url}/notebooks/{log}/compare?from=4&to=4")
    expect(page.locator("main")).to_contain_text("Both moments have the same cells and outputs")
