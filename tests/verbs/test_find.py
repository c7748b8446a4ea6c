"""Finding notebooks, runs, cells and files; and which one is meant by a name."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from quire.core import events as e
from quire.core.errors import BadInput, NotFound
from quire.core.events import Draft, RunSource, Stream
from quire.core.ids import ActorId, CellId, ExecutionId, LogId
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.store import Store
from quire.verbs.answers.answer import Here
from quire.verbs.arguments import FindArguments
from quire.verbs.find import find, notebook_named, opened, readable
from quire.verbs.notebook_walk import notebook_files
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .live_notebook import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUN = LogId("01RUN00000000000000000000A")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nb(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """A workspace with a notebook, a run of the same name, and files."""
    folder = tmp_path_factory.mktemp("nb")
    for path, text in {
        "notebooks/report.py": '# %% name="load"\nrows = [1]\n',
        "notebooks/story.md": "---\ntitle: a story\n---\n\ntext\n",
        "other.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
        "module.py": "x = 1\n",
        "README.md": "# read\n",
        ".venv/hidden.ipynb": "{}",
        "node_modules/deep/theirs.ipynb": "{}",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    async with served(folder, "sales", with_kernel=False) as made:
        await made.add(load1="rows = read()", total2="total = sum(rows)  # 100%_'x'")
        shown = (Stream(name="stdout", head="the answer is Basel\n"),)
        hash = source_hash("rows = read()")
        execution = ExecutionId(new_id())
        await made.say(e.OutputsImported(execution=execution, cell=CellId("load1"), source_hash=hash, outputs=shown))
        asked = e.RunRequested(name="sales", source=RunSource(notebook=made.log, seq=1))
        await made.owner.submit(RUN, [Draft(id=new_id(), event=asked)])
        yield made


async def reader(nb: Served, **more: object) -> Here:
    """Somebody who may only read, and nothing but the notebook."""
    token = await nb.owner.create_token(
        ActorId("agent:a"), ["read"], notebooks=[nb.log], on_behalf_of=nb.owner.identity.actor
    )
    return Here(workspace=await nb.owner.bearer(token.secret), folder=nb.folder)


async def test_without_a_query_all_that_there_is_is_listed(nb: Served) -> None:
    answer = await find(nb.here, FindArguments())
    assert answer.text.split("\n") == [
        f"notebook sales [{nb.log[:10]}…] cursor {(await nb.read()).seq}",
        next(line for line in answer.text.split("\n") if line.startswith(f"run sales [{RUN}] queued 20")),
        *(
            f"file {path} (not open yet: read, edit or run it by its path)"
            for path in ("other.ipynb", "notebooks/report.py", "notebooks/story.md")
        ),
    ]
    assert answer.facts["runs"] == [{"id": RUN, "name": "sales", "status": "queued"}]


@pytest.mark.parametrize(
    ("query", "cells"),
    [
        ("sum TOTAL", ["total2"]),
        ("answer basel", ["load1"]),
        ("rows", ["load1", "total2"]),
        ("100%_'x'", ["total2"]),
        ("100%z", []),
        ("x' OR '1'='1", []),
        ("\\", []),
    ],
)
async def test_cells_are_found_by_words_in_their_source_and_in_what_they_showed(
    nb: Served, query: str, cells: list[str]
) -> None:
    """The same for who may query the workspace and for who may not."""
    for here in (nb.here, await reader(nb)):
        answer = await find(here, FindArguments(query=query, kind="cell"))
        assert [each["cell"] for each in answer.facts.get("cells", [])] == cells
    if cells == ["total2"]:
        assert answer.text.startswith(f"cell tota total2-cell in sales [{nb.log[:10]}…] never_run · total = sum(rows)")


async def test_a_cell_is_found_with_the_line_that_it_showed(nb: Served) -> None:
    """So that there is nothing to read any more, where that was the question."""
    for here in (nb.here, await reader(nb)):
        answer = await find(here, FindArguments(query="answer basel", kind="cell"))
        assert answer.text.endswith("· rows = read() → the answer is Basel")


@pytest.mark.asyncio(loop_scope="function")
async def test_words_are_found_alike_in_every_store(store: Store) -> None:
    owner = LocalWorkspace(store, MemoryBlobs())
    log = LogId(new_id())
    source = "Total = 100 * it's_here  # \\back 50%!"
    added = e.CellAdded(cell=CellId("aaaa1111"), after=None, source=source, name="Sum")
    bound = e.FileBound(path="a/sales.py")
    events = (e.NotebookCreated(name="sales"), added, bound)
    await owner.submit(log, [Draft(id=new_id(), event=each) for each in events])
    here = Here(workspace=owner)
    for query in ("total", "SUM 100", "it's_here", "\\back", "50%!"):
        assert [each["cell"] for each in (await find(here, FindArguments(query=query))).facts["cells"]] == ["aaaa1111"]
    for query in ("its here", "it'szhere", "50_!", "total other"):
        assert (await find(here, FindArguments(query=query))).facts == {}
    assert "a/sales.py" in (await find(here, FindArguments(query="sales", kind="notebook"))).text


async def test_who_may_read_one_notebook_finds_nothing_else(nb: Served) -> None:
    answer = await find(await reader(nb), FindArguments())
    assert sorted(answer.facts) == ["notebooks", "runs"], "its runs are a part of it, files are none of theirs"


async def test_nothing_found_comes_with_the_nearest_names(nb: Served) -> None:
    assert (await find(nb.here, FindArguments(query="salse"))).text == "Nothing has 'salse'. Nearest names: sales."
    with pytest.raises(BadInput, match="at most 300"):
        await find(nb.here, FindArguments(query="x" * 301))


async def test_what_is_past_the_limit_is_counted(nb: Served) -> None:
    answer = await find(nb.here, FindArguments(kind="file", limit=1))
    assert answer.text.split("\n")[1] == "… 2 more files: narrow the query, or raise limit"


async def test_a_folder_of_very_many_files_is_walked_for_a_while(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("many")
    for number in range(70):
        (folder / f"d{number:02}").mkdir()
        for each in range(100):
            (folder / f"d{number:02}" / f"{each}.txt").touch()
    (folder / "a.ipynb").touch()
    (folder / "d69" / "z.ipynb").touch()
    (folder / "round").symlink_to(folder)
    assert list(notebook_files(folder)) == ["a.ipynb"]


# ---- Names


async def test_a_notebook_comes_before_its_runs_of_the_same_name(nb: Served) -> None:
    assert (await notebook_named(nb.here, "sales")).log == nb.log
    assert (await notebook_named(nb.here, RUN)).log == RUN
    assert (await notebook_named(nb.here, nb.log[:20])).log == nb.log


async def test_a_file_is_read_as_it_is_and_opened_once(nb: Served) -> None:
    log, notebook = await readable(nb.here, "notebooks/report.py")
    assert log is None and [cell.source for cell in notebook.live_cells] == ["rows = [1]"]
    made = await opened(nb.here, "notebooks/report.py")
    assert await opened(nb.here, "./notebooks/../notebooks/report.py") == made == await opened(nb.here, "report")
    assert (await readable(nb.here, str(nb.folder / "notebooks" / "report.py")))[0] == made
    found = await find(nb.here, FindArguments(query="report", kind="notebook"))
    assert "notebooks/report.py" in found.text
    assert (await find(nb.here, FindArguments(query="report", kind="file"))).facts == {}


@pytest.mark.parametrize(
    "name", ["../x.py", "/etc/passwd", "/etc/x.py", "nowhere.py", ".git/x.py", "x\x00.py", "a" * 400 + ".py", "%", "."]
)
async def test_what_is_nowhere_or_elsewhere_is_not_found(nb: Served, name: str) -> None:
    with pytest.raises(NotFound):
        await opened(nb.here, name)


async def test_the_nearest_name_is_told(nb: Served) -> None:
    with pytest.raises(NotFound, match=r"no notebook, run or file 'slaes'\. Nearest: sales"):
        await notebook_named(nb.here, "slaes")


async def test_who_may_only_read_reads_no_files(nb: Served) -> None:
    """What is in the logs is theirs to read; files are for those who could bind a notebook to them."""
    token = await nb.owner.create_token(ActorId("human:eve"), ["read"])
    eve = Here(workspace=await nb.owner.bearer(token.secret), folder=nb.folder)
    assert (await readable(eve, "sales"))[0] == nb.log
    with pytest.raises(NotFound):
        await readable(eve, "other.ipynb")
    assert "files" not in (await find(eve, FindArguments())).facts
