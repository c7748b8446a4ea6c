"""Many notebooks in one folder, under git, and the verbs that people use."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ...fork_server import verb
from .mirror_desk import PATIENCE, Desk, until

ROOT = Path(__file__).parents[3]
QUIRE = (sys.executable, "-c", "from quire.doors.cli.main import main; main()")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def quire(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return verb(*words, cwd=folder, timeout_seconds=PATIENCE)


async def test_a_branch_that_changes_many_files_at_once_and_takes_a_folder_away_is_followed(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    endings = ("py", "md", "ipynb")
    desks = [Desk(tmp_path, f"deep/er/n{number}.{endings[number % 3]}") for number in range(6)]
    for desk in desks:
        desk.workspace = desks[0].workspace
        await desk.write("a = 1", "b = 2")
    await desks[0].start(every=True)
    for desk in desks:
        await desk.agree("a = 1", "b = 2")
    (tmp_path / ".gitignore").write_text(".*\n")
    (tmp_path / "kept.txt").write_text("so that the branch without them has something\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "kept.txt")
    git(tmp_path, "commit", "-q", "-m", "empty")
    git(tmp_path, "branch", "without")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "notebooks")
    git(tmp_path, "checkout", "-q", "-b", "other")
    for desk in desks:
        desk.rewrite("a = 1", "b = 20")
        await desk.agree("a = 1", "b = 20")
    git(tmp_path, "commit", "-q", "-a", "-m", "other")
    git(tmp_path, "checkout", "-q", "main")
    for desk in desks:
        await desk.agree("a = 1", "b = 2")
    git(tmp_path, "checkout", "-q", "without")
    assert not (tmp_path / "deep").exists()
    for desk in desks:
        await desks[0].hear(f"{desk.path} is gone")
    git(tmp_path, "checkout", "-q", "other")
    for desk in desks:
        await desk.agree("a = 1", "b = 20")
        assert (await desk.notebook()).conflicts == {}
    await desks[0].close()


async def test_a_folder_that_was_made_anew_is_watched_again(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    desk = Desk(tmp_path, "sub/sales.py")
    await desk.write("a = 1")
    await desk.start()
    text = desk.text_with("a = 10")
    shutil.rmtree(tmp_path / "sub")
    await desk.hear("is gone")
    (tmp_path / "sub").mkdir()
    desk.save(text)
    await desk.agree("a = 10")
    desk.rewrite("a = 100")
    await desk.agree("a = 100")
    await desk.close()


async def test_where_the_system_says_nothing_the_mirror_looks_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    desk = Desk(tmp_path)
    await desk.write("a = 1")
    await desk.start()
    desk.rewrite("a = 10")
    await desk.agree("a = 10")
    await desk.close()


async def test_the_verbs_bind_mirror_and_let_go(tmp_path: Path) -> None:
    file = tmp_path / "sales.py"
    file.write_text("# %%\na = 1\n")
    assert quire(tmp_path, "init").returncode == 0
    assert quire(tmp_path, "import", "sales.py").returncode == 0
    bound = quire(tmp_path, "bind", "sales", "sales.py", "--json")
    assert json.loads(bound.stdout)["path"] == "sales.py"
    process = await asyncio.create_subprocess_exec(
        *QUIRE, "mirror", "--all", "--json", cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    first = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    assert json.loads(first) == {"ready": True, "folder": str(tmp_path)}
    file.write_text("# %%\na = 2\n")

    async def shown() -> object:
        return "a = 2" in quire(tmp_path, "show", "sales").stdout

    await until(shown, True)
    os.kill(process.pid, signal.SIGINT)
    await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 130
    assert quire(tmp_path, "bind", "sales", "--off").returncode == 0
    assert json.loads(quire(tmp_path, "log", "sales", "--json").stdout)[-1]["event"] == {
        "type": "file_bound",
        "path": None,
    }


def test_a_file_has_one_notebook_and_lies_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "sales.py").write_text("# %%\na = 1\n")
    (tmp_path / "out.py").write_text("x = 1\n")
    quire(folder, "init")
    for name in ("one", "two"):
        assert quire(folder, "import", "sales.py", "--name", name).returncode == 0
    assert quire(folder, "bind", "one", "sales.py").returncode == 0
    answers = {
        ("bind", "two", "sales.py"): (3, "is bound to 'one' already"),
        ("bind", "two", "../out.py"): (2, "does not lie inside"),
        ("bind", "two", ".quire/x.py"): (2, "not a place for notebooks"),
        ("bind", "two", "page.html"): (2, "cannot be read back"),
        ("bind", "two"): (2, "Name the file"),
        ("mirror",): (2, "Name the notebooks"),
        ("mirror", "nobody"): (2, "There is no notebook"),
    }
    for words, (status, told) in answers.items():
        answer = quire(folder, *words)
        assert (answer.returncode, told in answer.stderr) == (status, True), answer.stderr
