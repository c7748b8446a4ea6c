"""Plain functions for agent frameworks: files in, plain values out, nothing replaced that somebody else wrote."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import quire
from quire.connection import connect_store
from quire.core.text import source_hash
from quire.formats import registry
from quire.formats.starter_notebook import MOST_STEPS, drafted, slug, title_of
from quire.verbs.agent_functions import MOST_TASK
from quire.verbs.answers.answer import Here
from quire.verbs.resolve import opened
from quire.workspace.identity import identities

TASK = "Rank cities by sales. Only those of one month.\n\n1. load the sales\n2) rank the cities\n- keep the best"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("QUIRE_URL", "QUIRE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def path() -> str:
    return quire.notebook_create(TASK)["path"]


def sources(path: str) -> dict[str, str]:
    cells = registry.read(Path(path).read_text(), path).cells
    return {cell.name: cell.source for cell in cells if cell.name is not None}


# ---- Making


def test_a_notebook_is_drafted_from_a_task(folder: Path) -> None:
    made = quire.notebook_create(TASK)
    assert made["path"] == "rank-cities-by-sales.py"
    assert [cell["name"] for cell in made["cells"] if cell["name"]] == [
        "task",
        "parameters",
        "step-1",
        "step-2",
        "step-3",
        "results",
    ]
    text = Path(made["path"]).read_text()
    assert (
        text.startswith('# %% [markdown] name="task"\n# # Rank cities by sales\n') and "## 2. rank the cities" in text
    )
    assert 'tags=["parameters"]' in text and "from quire.kernel import result" in text
    assert {cell["name"]: cell["hash"] for cell in made["cells"]}["step-1"] == source_hash("# load the sales")
    json.dumps(made)


def test_it_lies_in_the_folder_for_notebooks_and_replaces_nothing(folder: Path) -> None:
    (folder / "notebooks").mkdir()
    paths = [quire.notebook_create("Sum it up.")["path"] for _ in range(3)]
    assert paths == ["notebooks/sum-it-up.py", "notebooks/sum-it-up-2.py", "notebooks/sum-it-up-3.py"]
    (folder / "mine.py").write_text("mine\n")
    with pytest.raises(quire.Conflict):
        quire.notebook_create(TASK, "mine.py")
    assert (folder / "mine.py").read_text() == "mine\n"
    assert quire.notebook_create(TASK, "deep/er/new.ipynb")["path"] == "deep/er/new.ipynb"
    assert not (folder / ".quire").exists()


def test_two_who_make_one_at_the_same_time_get_two(folder: Path) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(quire.notebook_create("Same")["path"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8 and all(sources(path)["task"] for path in made)


@pytest.mark.parametrize("task", ["", "  \n", "x" * (MOST_TASK + 1), "\0", "a\ud800", 7, None])
def test_a_task_that_is_none_makes_nothing(folder: Path, task: Any) -> None:
    with pytest.raises(quire.BadInput):
        quire.notebook_create(task)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", ["new.txt", "new", "", "a\0.py", 7, b"new.py", "/proc/new.py"])
def test_a_place_that_is_none_is_told(folder: Path, path: Any) -> None:
    with pytest.raises(quire.BadInput):
        quire.notebook_create(TASK, path)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("task", "title", "name"),
    [
        ("# Sales: Q3!\nmore", "Sales: Q3", "sales-q3"),
        ("Größe & Übermaß 東京", "Größe & Übermaß 東京", "größe-übermaß-東京"),
        ("../../etc/passwd", "../../etc/passwd", "etc-passwd"),
        ("...", "Untitled", "untitled"),
        ("word " * 60, ("word " * 60)[:79] + "…", "-".join(["word"] * 10)),
    ],
)
def test_a_title_is_the_first_sentence_and_a_name_has_no_path_in_it(task: str, title: str, name: str) -> None:
    assert title_of(task) == title and slug(title_of(task)) == name


def test_a_task_that_looks_like_a_file_stays_text_and_a_long_list_ends() -> None:
    task = '# %% [markdown]\n"""\n# %%\nimport os\n' + "- step\n" * (MOST_STEPS + 10)
    sheet = drafted(task)
    again = registry.read(registry.write(sheet, "new.py"), "new.py")
    assert [cell.source for cell in again.cells] == [cell.source for cell in sheet.cells]
    assert sum(cell.kind == "code" for cell in again.cells) == MOST_STEPS + 2


# ---- Editing


def test_a_cell_is_edited_by_name_by_id_or_by_index_with_its_hash(path: str) -> None:
    made = quire.notebook_edit(path, "step-1", "rows = [3, 1, 2]")
    assert made["path"] == path and made["cell"]["hash"] == source_hash("rows = [3, 1, 2]")
    made = quire.notebook_edit(path, made["cell"]["id"], "rows = [3]")
    cells = registry.read(Path(path).read_text(), path).cells
    index = next(number for number, cell in enumerate(cells) if cell.name == "step-1")
    made = quire.notebook_edit(path, index, "rows = []", made["cell"]["hash"][:8])
    made = quire.notebook_edit(path, str(index), "rows = [1]", f"#{made['cell']['hash'][:8]}")
    assert sources(path)["step-1"] == "rows = [1]" and sources(path)["step-2"] == "# rank the cities"


@pytest.mark.parametrize("ending", [".py", ".md", ".ipynb"])
def test_all_else_in_the_file_keeps_its_bytes(ending: str) -> None:
    path = quire.notebook_create(TASK, f"new{ending}")["path"]
    before = Path(path).read_text()
    quire.notebook_edit(path, "step-1", "rows = [3, 1, 2]")
    assert Path(path).read_text() == before.replace("# load the sales", "rows = [3, 1, 2]")


def test_a_hash_of_another_source_is_refused_with_the_source_and_the_difference(path: str) -> None:
    """Rule 8."""
    with pytest.raises(quire.Refused) as caught:
        quire.notebook_edit(path, "step-1", "rows = []", source_hash("something else"))
    details = caught.value.details
    assert details["source"] == "# load the sales" and details["difference"].endswith("-# load the sales\n+rows = []")
    made = quire.notebook_edit(path, "step-1", "rows = []", details["source_hash"])
    assert made["cell"]["name"] == "step-1"


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        (("step-1", "x = = 1"), "BadInput", "line 1, column 5"),
        (("step-9", "x = 1"), "NotFound", "step-"),
        (("zzzzzzzzz", "x = 1"), "NotFound", "task"),
        ((3, "x = 1"), "BadInput", "base_hash"),
        (("3", "x = 1"), "BadInput", "base_hash"),
        ((99, "x = 1", "abcdef"), "NotFound", "0 to 9"),
        ((10**30, "x = 1", "abcdef"), "NotFound", "0 to 9"),
        ((-1, "x = 1", "abcdef"), "NotFound", "Nearest"),
        (("step-1", "x" * 10_000_000), "BadInput", "1,000,000"),
        (("step-1", "x = '\0'"), "BadInput", "NUL"),
        (("step-1", "x = 1", "abc"), "BadInput", "base_hash"),
        (("step-1", "x = 1", "not a hash"), "BadInput", "base_hash"),
        (("step-1", "x = 1", 7), "BadInput", "base_hash"),
        (("step-1", 7), "BadInput", "new_source"),
        ((None, "x = 1"), "BadInput", "cell"),
        ((True, "x = 1"), "BadInput", "cell"),
        ((["step-1"], "x = 1"), "BadInput", "cell"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(path: str, arguments: Any, kind: str, said: str) -> None:
    before = Path(path).read_bytes()
    with pytest.raises(quire.QuireError) as caught:
        quire.notebook_edit(path, *arguments)
    assert type(caught.value).__name__ == kind and said in str(caught.value) and len(str(caught.value)) < 1000
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("path", ["nowhere.py", "no/where.py", ".", "page.html", "odd.xyz", 7, ""])
def test_a_file_that_is_none_is_told(folder: Path, path: Any) -> None:
    (folder / "page.html").write_text("<p>")
    (folder / "odd.xyz").write_text("x")
    with pytest.raises((quire.BadInput, quire.NotFound)):
        quire.notebook_edit(path, "step-1", "x = 1")


def test_edits_of_one_file_at_the_same_time_are_all_there(folder: Path) -> None:
    task = "Many\n" + "\n".join(f"- s{number}" for number in range(1, 13))
    path = quire.notebook_create(task)["path"]
    threads = [
        threading.Thread(target=quire.notebook_edit, args=(path, f"step-{number}", f"x = {number}"))
        for number in range(1, 13)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sources(path)[f"step-{number}"] for number in range(1, 13)] == [f"x = {number}" for number in range(1, 13)]


# ---- A file that is bound to a notebook


def test_a_bound_file_is_edited_by_way_of_its_notebook_and_both_say_the_same(folder: Path, path: str) -> None:
    """Rule 13."""
    log = _bound(folder, path)
    # What somebody wrote into the file meanwhile is not lost, and the notebook learns of it.
    Path(path).write_text(Path(path).read_text().replace("# rank the cities", "ranked = sorted(rows)"))
    made = quire.notebook_edit(path, "step-1", "rows = [2, 1]", source_hash("# load the sales")[:8])
    assert made["notebook"] == log and made["cell"]["hash"] == source_hash("rows = [2, 1]")
    assert sources(path)["step-1"] == "rows = [2, 1]" and sources(path)["step-2"] == "ranked = sorted(rows)"
    known = asyncio.run(_sources(folder, log))
    assert known["step-1"] == "rows = [2, 1]" and known["step-2"] == "ranked = sorted(rows)"
    with pytest.raises(quire.Refused) as caught:
        quire.notebook_edit(path, "step-1", "rows = []", source_hash("# load the sales")[:8])
    assert "-# load the sales" in caught.value.details["difference"]
    assert sources(path)["step-1"] == "rows = [2, 1]"


def test_an_edit_that_has_to_be_asked_for_is_proposed(folder: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _bound(folder, path)
    monkeypatch.setenv("QUIRE_TOKEN", asyncio.run(_asking(folder)))
    made = quire.notebook_edit(path, "step-1", "rows = [2, 1]")
    assert made["proposal"] and sources(path)["step-1"] == "# load the sales"
    monkeypatch.delenv("QUIRE_TOKEN")
    assert asyncio.run(_sources(folder, log))["step-1"] == "# load the sales"


def _bound(folder: Path, path: str) -> str:
    async def bound() -> str:
        workspace = await connect_store(folder)
        try:
            return await opened(Here(workspace=workspace, folder=folder), path)
        finally:
            await workspace.close()

    return asyncio.run(bound())


async def _sources(folder: Path, log: Any) -> dict[str | None, str]:
    workspace = await connect_store(folder)
    try:
        return {cell.name: cell.source for cell in (await workspace.read(log)).live_cells}
    finally:
        await workspace.close()


async def _asking(folder: Path) -> str:
    workspace = await connect_store(folder)
    try:
        agent = identities.agent("claude").actor
        return (await workspace.create_token(agent, ["read", "edit"], asks=["edit"])).secret
    finally:
        await workspace.close()


# ---- Executing


def test_a_notebook_is_executed_and_a_cell_that_fails_is_a_status(path: str) -> None:
    quire.notebook_edit(path, "parameters", "top = 1  # how many")
    quire.notebook_edit(path, "step-1", "rows = [3, 1, 2][:top]")
    quire.notebook_edit(path, "results", 'from quire.kernel import result\n\nresult("rows", rows)\n1 / len(rows)')
    outcome = quire.notebook_execute(path, {"top": 2}, timeout=120)
    assert outcome["status"] == "success" and outcome["scraps"] == {"rows": [3, 1]}, outcome
    outcome = quire.notebook_execute(path, {"top": 0})
    assert outcome["status"] == "error" and outcome["failed_cell"]["ename"] == "ZeroDivisionError"
    json.dumps(outcome)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.py",), "nowhere.py"),
        ((7,), "path"),
        (("x.py", ["top"]), "parameters"),
        (("x.py", {1: 2}), "parameters"),
        (("x.py", None, -1), "timeout"),
        (("x.py", None, "soon"), "timeout"),
        (("x.py", None, float("nan")), "timeout"),
    ],
)
def test_what_cannot_be_executed_is_told(folder: Path, arguments: Any, said: str) -> None:
    (folder / "x.py").write_text("# %%\nx = 1\n")
    with pytest.raises((quire.BadInput, quire.NotFound), match=re.escape(said)):
        quire.notebook_execute(*arguments)


# ---- For models


def test_every_function_has_a_schema_of_its_own_arguments_and_an_example_that_fits(folder: Path) -> None:
    found = quire.agent_functions()
    names = ["notebook_create", "notebook_edit", "notebook_execute", "notebook_commit", "notebook_pr"]
    assert [each["name"] for each in found] == names
    for each in found:
        assert each["function"] is getattr(quire, each["name"])
        schema: Any = each["parameters"]
        arguments = inspect.signature(each["function"]).parameters
        assert list(schema["properties"]) == list(arguments)
        assert schema["required"] == [name for name, one in arguments.items() if one.default is one.empty]
        jsonschema.Draft202012Validator.check_schema(schema)
        example = json.loads(each["description"].partition("Example: ")[2])
        jsonschema.validate(example, schema)
        assert len(each["description"]) < 1000
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**example, "colour": "red"}, schema)
    made = found[0]["function"](**json.loads(found[0]["description"].partition("Example: ")[2]))
    assert made["path"] == "rank-cities-by-sales.py"


def test_the_page_on_them_says_what_works(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "agent-functions.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 7
    known: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "agent-functions.md", "exec"), known)
    assert sources(known["path"])["step-1"] == "sales = {'Bern': 13, 'Chur': 7}"
    assert [tool["function"]["name"] for tool in known["openai_tools"]] == [
        tool["name"] for tool in known["anthropic_tools"]
    ]
