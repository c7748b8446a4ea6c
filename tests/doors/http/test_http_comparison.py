"""Two moments are compared as `quire diff` compares files: the same rows in the same order."""

from __future__ import annotations

import json

from quire.core import events as e
from quire.core.diff.diff import diff
from quire.core.events import Draft
from quire.core.ids import CellId, ExecutionId, LogId
from quire.core.text import Splice, source_hash
from quire.doors.transfer import export_notebook
from quire.formats import registry
from quire.formats.diff_view.change_rows import rows
from quire.formats.diff_view.diff_html import render_page
from quire.formats.diff_view.diff_values import diff_rows
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .conftest import As
from .http_clients import ADA, BOB, NOTEBOOK, OTHER, Client, say


def _cell(text: str) -> CellId:
    return CellId(text)


async def _shown(workspace: LocalWorkspace, log: LogId, cell: str, source: str, output: e.Output) -> None:
    event = e.OutputsImported(
        execution=ExecutionId(new_id()), cell=_cell(cell), source_hash=source_hash(source), outputs=(output,), count=1
    )
    await workspace.submit(log, [Draft(id=new_id(), event=event)])


async def test_each_cell_says_what_became_of_it_with_lines_words_and_outputs(
    ada: Client, workspace: LocalWorkspace
) -> None:
    await _shown(workspace, NOTEBOOK, "a2", "print(x)", e.Stream(name="stdout", head="1\n"))
    before = (await workspace.read(NOTEBOOK)).seq
    await say(
        workspace,
        NOTEBOOK,
        e.SourceEdited(cell=_cell("a1"), base=before, edit=(Splice(at=4, remove=1, insert="20"),)),
        e.CellAdded(cell=_cell("b1"), after=_cell("a1"), source="z = x + 1"),
        e.CellNamed(cell=_cell("a2"), name="show"),
    )
    await _shown(workspace, NOTEBOOK, "a2", "print(x)", e.Stream(name="stdout", head="20\n"))
    found = await ada.ask("GET", f"/api/diff?a={NOTEBOOK}@{before}&b={NOTEBOOK}")
    assert [(row["cell"], row["state"]) for row in found["rows"]] == [
        ("a1", "changed"),
        ("b1", "added"),
        ("a2", "changed"),
    ]
    edited, added, shown = found["rows"]
    assert edited["lines"] == [
        {"old": {"sign": "-", "parts": ["x = ", "1", ""]}, "new": {"sign": "+", "parts": ["x = ", "20", ""]}}
    ]
    assert added["old"] is None
    assert added["lines"] == [{"old": None, "new": {"sign": "+", "parts": ["z = x + 1"]}}]
    assert shown["facts"] == [{"path": "name", "old": "", "new": "show"}]
    assert shown["outputs_differ"] is True
    outputs = [shown[side]["execution"]["outputs"][0]["head"] for side in ("old", "new")]
    assert outputs == ["1\n", "20\n"]
    assert (found["a"]["seq"], found["b"]["seq"]) == (before, before + 4)
    assert found["a"]["at"] <= found["b"]["at"]


async def test_the_rows_are_those_of_quire_diff_between_the_exported_moments(
    ada: Client, workspace: LocalWorkspace
) -> None:
    picture = await workspace.put_blob(b"\x89PNG" + bytes(2000), "image/png")
    other = await workspace.put_blob(b"\x89PNG" + bytes(2001), "image/png")
    table = await workspace.put_blob(json.dumps({"rows": list(range(30_000))}).encode(), "application/json")
    shown = {"image/png": picture, "application/json": table}
    await _shown(workspace, NOTEBOOK, "a1", "x = 1", e.Display(blobs=shown))
    await _shown(workspace, NOTEBOOK, "a2", "print(x)", e.Display(blobs={"image/png": picture}))
    before = (await workspace.read(NOTEBOOK)).seq
    await _shown(workspace, NOTEBOOK, "a1", "x = 1", e.Display(blobs=shown | {"image/png": other}))
    await _shown(workspace, NOTEBOOK, "a2", "print(x)", e.Display(blobs={"image/png": picture}))
    await say(
        workspace,
        NOTEBOOK,
        e.CellAdded(cell=_cell("b1"), after=None, kind="markdown", source="# Title\n\ntext"),
        e.CellMoved(cell=_cell("a2"), after=None),
        e.CellTagged(cell=_cell("a2"), tags=("slow",)),
        e.CellAdded(cell=_cell("b2"), after=_cell("a1"), source="q"),
    )
    found = await ada.ask("GET", f"/api/diff?a={NOTEBOOK}@{before}&b={NOTEBOOK}")
    info = await workspace.find(NOTEBOOK)
    texts = [(await export_notebook(workspace, info, "x.ipynb", seq))[0] for seq in (before, None)]
    old, new = (registry.read(text, "x.ipynb") for text in texts)
    of_files = rows(diff(old, new), old, new)
    assert [(row["cell"], row["state"] != "same") for row in found["rows"]] == [
        (row.cell.id, bool(row.operations)) for row in of_files
    ]
    assert {row["cell"]: row["outputs_differ"] for row in found["rows"]} == {
        "a1": True,
        "a2": False,
        "b1": False,
        "b2": False,
    }
    page = render_page(diff(old, new), old, new, ("a", "b"))
    assert page.count('<section class="change') == sum(row["state"] != "same" for row in found["rows"])


async def test_two_logs_are_compared_by_what_their_cells_say(ada: Client, workspace: LocalWorkspace) -> None:
    found = await ada.ask("GET", f"/api/diff?a={NOTEBOOK}&b={OTHER}")
    assert (found["a"]["log"], found["b"]["log"]) == (NOTEBOOK, OTHER)
    assert [row["state"] for row in found["rows"]] == ["changed", "removed"]


async def test_a_moment_that_is_not_there_and_a_log_that_is_closed_are_faults(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    assert "has the numbers 1 to" in await ada.ask("GET", f"/api/diff?a={NOTEBOOK}@999&b={NOTEBOOK}", 422)
    assert "NotFound" in await ada.ask("GET", f"/api/diff?a=nothing&b={NOTEBOOK}", 404)
    assert "BadInput" in await ada.ask("GET", f"/api/diff?a={NOTEBOOK}", 400)
    assert "BadInput" in await ada.ask("GET", f"/api/diff?a={NOTEBOOK}@{'9' * 30}&b={NOTEBOOK}", 400)
    await say(workspace, LogId("workspace"), e.RoleSet(actor=ADA, role="owner", notebook=OTHER))
    bob = await acting_as(BOB, "read")
    assert await bob.ask("GET", f"/api/diff?a={NOTEBOOK}&b={NOTEBOOK}@1")
    for a, b in ((NOTEBOOK, OTHER), (OTHER, NOTEBOOK)):
        assert "Refused" in await bob.ask("GET", f"/api/diff?a={a}&b={b}", 403)


async def test_the_same_moment_has_no_difference(workspace: LocalWorkspace) -> None:
    now = await workspace.read(NOTEBOOK)
    found = diff_rows(now, now)
    assert {row.state for row in found.rows} == {"same"}
    assert found.facts == ()
