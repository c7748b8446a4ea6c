"""What people hold in Python: the same in a folder and at a server, blocking and awaited, with a real kernel."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.doors.python.cell_outcome import ExecutionOutcome
from quire.doors.python.live_notebook import LiveNotebook
from quire.doors.python.live_workspace import LiveWorkspace
from quire.workspace.identity import identities

from ...journeys.live_runtimes import end_runtimes
from ...journeys.owner import new_token
from ...journeys.server import Folder

ROOT = Path(__file__).parents[3]
PATIENCE = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Folder]:
    made = Folder(tmp_path_factory.mktemp("python"))
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(folder: Folder) -> str:
    """The address of a real server on the folder."""
    return folder.start().url


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's credentials are around."""
    for name in ("QUIRE_TOKEN", "QUIRE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["folder", "server"])
def workspace(
    request: pytest.FixtureRequest, nobody: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Generator[LiveWorkspace]:
    if request.param == "folder":
        with quire.connect(tmp_path) as opened:
            yield opened
        end_runtimes(tmp_path)
        return
    folder: Folder = request.getfixturevalue("folder")
    url: str = request.getfixturevalue("server")
    monkeypatch.setenv("QUIRE_TOKEN", folder.token("read", "edit", "run", "approve"))
    with quire.connect(url) as opened:
        yield opened


@pytest.fixture
def notebook(workspace: LiveWorkspace, request: pytest.FixtureRequest) -> LiveNotebook:
    return workspace.create_notebook(request.node.name)


def html(outcome: ExecutionOutcome) -> str:
    """What Jupyter shows."""
    return vars(type(outcome))["_repr_html_"](outcome)


def test_a_notebook_is_made_changed_and_run(workspace: LiveWorkspace, notebook: LiveNotebook) -> None:
    greet = notebook.add_cell("print('hello')", name="greet")
    assert greet.edit("print('hello, choir')") is None
    outcome = greet.run()
    assert (outcome.state, outcome.text, outcome.is_ok) == ("ok", "hello, choir\n", True)
    assert (greet.state, greet.source, greet.author) == ("ok", "print('hello, choir')", workspace.actor)
    assert greet.outputs() == [{"output_type": "stream", "name": "stdout", "text": "hello, choir\n"}]
    assert notebook.outputs("greet") == outcome.outputs
    # What one cell defines the next one finds, and whatever stands on a change is run.
    first = notebook.add_cell("x = 20", after="top")
    last = notebook.add_cell("x + 22", name="last")
    assert [cell.id for cell in notebook] == [first.id, greet.id, last.id] and len(notebook) == 3
    assert notebook.run().text == "42\n"
    first.edit("x = 0")
    assert last.is_stale
    outcome = notebook.run()
    assert [cell.name for cell in outcome.cells] == [None, "last"] and outcome.text == "22\n"
    assert notebook.execute("x, 'no cell'").text == "(0, 'no cell')\n"
    again = workspace.notebook(notebook.id)
    assert again.cells == notebook.cells and "greet" in again and again[-1] == last
    assert notebook.name in [info.name for info in workspace.notebooks()]


def test_a_cell_that_fails_is_an_outcome_unless_it_is_to_be_checked(notebook: LiveNotebook) -> None:
    notebook.add_cell("1 / 0", name="wrong")
    notebook.add_cell("print('never')", name="after")
    outcome = notebook.run("all")
    assert notebook.run("wrong").state == notebook.run(notebook["wrong"]).state == "error"
    assert (outcome.state, outcome.is_ok) == ("error", False)
    assert repr(outcome) == "<ExecutionOutcome error in cell wrong: ZeroDivisionError: division by zero>"
    assert "ZeroDivisionError" in str(outcome) and "\x1b" not in str(outcome)
    assert "ZeroDivisionError" in html(outcome) and "<pre" in html(outcome)
    wrong, after = outcome.cells
    assert outcome.failed == wrong and (after.state, after.outputs) == ("skipped", [])
    with pytest.raises(quire.RunFailed, match="in cell wrong: ZeroDivisionError") as raised:
        notebook["wrong"].run(check=True)
    assert (raised.value.ename, raised.value.evalue) == ("ZeroDivisionError", "division by zero")


def test_a_wrong_name_is_answered_with_the_nearest(workspace: LiveWorkspace, notebook: LiveNotebook) -> None:
    notebook.add_cell("1", name="greet")
    with pytest.raises(quire.NotFound, match="Nearest: greet"):
        notebook["gret"]
    with pytest.raises(quire.NotFound, match=re.escape(notebook.name)):
        workspace.notebook(notebook.name[:-1] + "?")


def test_an_edit_of_what_somebody_changed_is_refused_with_the_difference(
    workspace: LiveWorkspace, notebook: LiveNotebook
) -> None:
    cell = notebook.add_cell("x = 1", name="x")
    other = workspace.notebook(notebook.id)
    other["x"].edit("x = 2")
    with pytest.raises(quire.Refused) as refused:
        cell.edit("x = 3")
    assert refused.value.details["source"] == "x = 2"
    notebook.refresh()
    cell.edit("x = 3")
    assert notebook["x"].source == "x = 3"


def test_cells_are_moved_renamed_tagged_commented_and_removed(notebook: LiveNotebook) -> None:
    first, second = notebook.add_cell("1", name="first"), notebook.add_cell("# words", kind="markdown")
    second.move("top")
    second.rename("words")
    second.tag("a", "b")
    second.tag(remove=["a"])
    assert [(cell.name, cell.kind, cell.tags) for cell in notebook] == [
        ("words", "markdown", ("b",)),
        ("first", "code", ()),
    ]
    first.comment("why 1?")
    notebook.comment("well done")
    assert [(thread.cell, thread.first.text) for thread in notebook.comments] == [
        (first.id, "why 1?"),
        (None, "well done"),
    ]
    first.remove()
    assert first.state == "removed" and "first" not in notebook


def test_what_happens_is_followed(workspace: LiveWorkspace, notebook: LiveNotebook) -> None:
    told = notebook.follow(since=0)
    assert type(next(told).event).__name__ == "NotebookCreated"
    workspace.notebook(notebook.id).add_cell("1", name="new")
    entry = next(told)
    assert (type(entry.event).__name__, entry.actor) == ("CellAdded", workspace.actor)
    assert "new" in notebook, "it was read again on the way"


def test_a_cell_is_waited_for_as_long_as_somebody_wants(notebook: LiveNotebook) -> None:
    cell = notebook.add_cell("import time\nprint('begun')\nwhile True:\n    time.sleep(0.01)")
    outcome = cell.run(timeout_seconds=0)
    assert outcome.state in ("queued", "running") and not outcome.is_ok and outcome.failed is None
    for entry in notebook.follow(since=0):
        if type(entry.event).__name__ == "StreamAppended":
            break
    notebook.interrupt()
    for entry in notebook.follow(since=0):
        if type(entry.event).__name__ == "ExecutionFinished":
            break
    assert cell.state == "cancelled"
    notebook.execute("x = 1", check=True)
    notebook.restart()
    assert "NameError" in notebook.execute("x").text


def test_pictures_and_large_texts_come_whole(notebook: LiveNotebook) -> None:
    code = "from IPython.display import Image, display\ndisplay(Image(data=b'\\x89PNG' + bytes(5000), format='png'))\nprint('y' * 300_000)"
    outcome = notebook.add_cell(code).run(check=True)
    picture, text = outcome.outputs
    assert picture["data"]["image/png"].startswith("iVBO") and len(text["text"]) == 300_001
    assert "<img" in html(outcome)


async def test_the_same_is_awaited(nobody: None, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE), quire.connect_async(tmp_path) as workspace:
        notebook = await workspace.create_notebook("hello")
        cell = await notebook.add_cell("print('hello')", name="greet")
        assert (await cell.run(check=True)).text == "hello\n"
        assert notebook["greet"].state == "ok"
        async for entry in notebook.follow(since=0):
            assert entry.seq == 1
            break
    other = await quire.connect_async(tmp_path)
    assert [info.name for info in await other.notebooks()] == ["hello"]
    await other.close()
    end_runtimes(tmp_path)


async def test_it_blocks_also_where_a_loop_runs(nobody: None, tmp_path: Path) -> None:
    """As in Jupyter."""
    with quire.connect(tmp_path) as workspace:
        assert workspace.create_notebook("hello").name == "hello"
        assert workspace.query("SELECT name FROM notebooks").rows == (("hello",),)


def test_many_threads_hold_one_workspace(nobody: None, tmp_path: Path) -> None:
    with quire.connect(tmp_path) as workspace:
        notebook = workspace.create_notebook("hello")
        threads = [threading.Thread(target=lambda: workspace.notebook(notebook.id).add_cell("1")) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        notebook.refresh()
        assert len(notebook) == 8


def test_a_name_with_an_ending_makes_the_file_too(nobody: None, tmp_path: Path) -> None:
    with quire.connect(tmp_path) as workspace:
        notebook = workspace.create_notebook("sales.py")
        notebook.add_cell("x = 1")
        assert (tmp_path / "sales.py").exists() and workspace.notebook("sales.py").id == notebook.id


def test_who_has_to_ask_proposes(nobody: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with quire.connect(tmp_path) as workspace:
        notebook = workspace.create_notebook("hello")
        notebook.add_cell("x = 1", name="x")
    secret = new_token(tmp_path, "agent:claude", "read", "edit", "run", behalf="human:ada", asks=("edit", "run"))
    monkeypatch.setenv("QUIRE_TOKEN", secret)
    with quire.connect(tmp_path) as workspace:
        notebook = workspace.notebook("hello")
        assert workspace.actor == identities.agent("claude").actor
        assert notebook["x"].edit("x = 2") and notebook["x"].source == "x = 1"
        with pytest.raises(quire.Refused, match="proposed"):
            notebook.add_cell("y = 1")
        outcome = notebook.run()
        assert (outcome.state, outcome.cells) == ("proposed", ()) and str(outcome.proposal) in repr(outcome)


def test_a_process_that_closes_nothing_ends(nobody: None, tmp_path: Path) -> None:
    code = "import quire; n = quire.connect('.').create_notebook('hello'); told = n.follow(0); print(next(told).actor, n.name)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "hello" in done.stdout and done.stderr == ""


def test_help_says_what_a_method_takes(nobody: None, tmp_path: Path) -> None:
    with quire.connect(tmp_path) as workspace:
        notebook = workspace.create_notebook("hello")
        assert "source" in inspect.signature(notebook.add_cell).parameters
        assert (inspect.getdoc(notebook.run) or "").startswith("Run cells")


def test_the_page_on_it_says_what_works(nobody: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how-to" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 7
    known: dict[str, Any] = {}
    try:
        for block in blocks:
            exec(compile(block, "python.md", "exec"), known)
    finally:
        end_runtimes(tmp_path)
