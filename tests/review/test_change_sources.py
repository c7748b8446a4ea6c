"""What a name means when it is proposed: a file, a proposal, a notebook, or a run that was fixed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from quire.connection import connect
from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.events import Scope
from quire.review.pull_requests.change_sources import ChangeSource, gather
from quire.verbs.answers.answer import Here
from quire.verbs.arguments import ProposeArguments
from quire.verbs.proposals.propose import propose
from quire.workspace.identity.identities import agent

from .clone import LOWER, PATH, Clone

BOOK = "notebooks/fleet.ipynb"


def gathered(clone: Clone, *names: str) -> ChangeSource:
    async def found() -> ChangeSource:
        workspace = await connect(clone.top)
        try:
            return await gather(workspace, clone.top, clone.top, list(names))
        finally:
            await workspace.close()

    return asyncio.run(found())


def changed(clone: Clone, notebook: str, cell: str, source: str, **env: str) -> Any:
    """Change a cell, and return what the verb says."""
    return call(clone, "edit", notebook, cell, "--file", str(clone.write("cell.txt", source)), **env)


def said(source: ChangeSource, path: str = PATH) -> str:
    return (source.files[path] or b"").decode()


def call(clone: Clone, *arguments: str, **env: str) -> Any:
    done = clone.call(*arguments, "--json", **env)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def inside(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Clone:
    clone.enter(monkeypatch)
    clone.call("init")
    return clone


@pytest.fixture
def live(inside: Clone) -> Clone:
    """A clone whose notebook is one of the workspace, bound to its file."""
    inside.call("import", PATH)
    assert inside.call("bind", "fleet", PATH).returncode == 0
    return inside


def test_files_are_those_that_changed_and_what_is_generated_from_them(inside: Clone) -> None:
    inside.edit()
    inside.write("notebooks/new.py", "# %%\nx = 1\n")
    inside.write("notebooks/module.py", "x = 1\n")
    inside.write("runs/fleet.ipynb", "{}")
    found = gathered(inside)
    assert sorted(found.files) == [BOOK, PATH, "notebooks/new.ipynb", "notebooks/new.py"]
    assert found.notebooks == ("notebooks/fleet.py", "notebooks/new.py")
    assert LOWER[1] in said(found, BOOK)


def test_an_ipynb_that_has_a_script_brings_the_script_and_no_outputs(inside: Clone) -> None:
    book = json.loads((inside.top / BOOK).read_text())
    for cell in book["cells"]:
        cell["source"] = "".join(cell["source"]).replace(*LOWER)
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "shown"}]
    book["metadata"]["papermill"] = {"input_path": str(inside.top / BOOK)}
    inside.write(BOOK, json.dumps(book))
    found = gathered(inside)
    assert LOWER[1] in said(found)
    assert "shown" not in said(found, BOOK) and str(inside.top) not in said(found, BOOK)


def test_a_file_that_was_removed_goes_with_its_ipynb(inside: Clone) -> None:
    (inside.top / PATH).unlink()
    assert (gathered(inside, PATH)).files == {PATH: None, BOOK: None}


def test_a_live_notebook_is_proposed_as_the_file_that_it_is_bound_to(live: Clone) -> None:
    changed(live, "fleet", "settings", LOWER[1])
    # The file has not been told yet: no mirror runs.
    found = gathered(live, "fleet")
    assert (found.kind, found.notebooks) == ("notebook", (PATH,))
    assert said(found) == (live.top / PATH).read_text().replace(*LOWER)


def test_a_proposal_is_proposed_as_it_would_be_after_a_yes(live: Clone) -> None:
    words = ("--actor", "claude", "--kind", "agent", "--scope", "read,edit", "--ask", "edit")
    secret = call(live, "token", "new", *words)["secret"]
    asked = changed(live, "fleet", "settings", LOWER[1], QUIRE_TOKEN=secret)
    found = gathered(live, asked["proposal"])
    assert (found.kind, found.by) == ("proposal", "agent:claude")
    assert LOWER[1] in said(found) and LOWER[1] in said(found, BOOK)
    assert LOWER[0] in (live.top / PATH).read_text()


def test_a_fixed_run_is_proposed_as_its_source_with_its_parameters(inside: Clone) -> None:
    inside.edit('result("share"', 'raise SystemError\nresult("share"')
    run = call(inside, "run", PATH, "-p", "threshold=0.5")["run"]
    broken = (inside.top / PATH).read_text().partition('name="score"\n')[2]
    changed(inside, run, "score", broken.replace("raise SystemError\n", "").rstrip())
    found = gathered(inside, run)
    assert (found.kind, found.parameters) == ("run", {"threshold": 0.5})
    assert "raise SystemError" not in said(found)
    assert "injected" not in said(found)


def test_what_a_logbook_made_is_proposed_with_the_file_of_its_run_and_only_as_the_run_left_it(inside: Clone) -> None:
    text = "---\nparameters: {}\nproduct: [src/*.py]\n---\n\n## Make\n\n```python\nimport pathlib\n"
    text += "pathlib.Path('src').mkdir(exist_ok=True)\npathlib.Path('src/made.py').write_text('one = 1\\n')\n```\n"
    (inside.top / "logbooks" / "templates").mkdir(parents=True)
    inside.write("logbooks/templates/make.md", text)
    ran = call(inside, "logbook", "run", "make", "--request", "Make it, please.")
    source = gathered(inside, ran["outcome"]["run"])
    assert set(source.files) == {"src/made.py", ran["file"]}
    assert source.files["src/made.py"] == b"one = 1\n"
    assert source.why.startswith("Make it, please.") and source.subject == "make" and source.notebooks == ()
    inside.write("src/made.py", "one = 2\n")
    with pytest.raises(Refused, match="no longer as run"):
        gathered(inside, ran["outcome"]["run"])


@pytest.mark.parametrize(
    ("asks", "may_start", "wanted", "said"),
    [
        (("run",), True, {}, "has to ask before it may run"),
        ((), False, {}, "No pull request can be made from here"),
        ((), True, {"run": "changed"}, "Leave `run` out"),
    ],
)
def test_an_agent_makes_no_pull_request_where_it_may_not(
    live: Clone, asks: tuple[Scope, ...], may_start: bool, wanted: dict[str, Any], said: str
) -> None:
    async def proposed() -> None:
        workspace = await connect(live.top, agent("claude", asks))
        here = Here(workspace=workspace, folder=live.top, may_start=may_start)
        try:
            await propose(here, ProposeArguments(notebook="fleet", why="x", pull_request=True, **wanted))
        finally:
            await workspace.close()

    with pytest.raises(QuireError, match=said):
        asyncio.run(proposed())


def test_what_is_nothing_is_told(inside: Clone) -> None:
    with pytest.raises(NotFound, match="is no file, notebook, run or proposal"):
        gathered(inside, "nothing-of-the-kind")
    with pytest.raises(BadInput, match="is no file of the repository"):
        gathered(inside, PATH, "nothing-of-the-kind")
