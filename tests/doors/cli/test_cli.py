"""The command line, as a person types it, on real files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quire.connection import connect
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import CellId, CommentId, LogId
from quire.doors.cli.main import VERBS
from quire.workspace.clock import new_id

from ...command import ME, QUIRE, as_json, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a workspace in it, and a notebook with a secret."""

    async def make() -> None:
        workspace = await connect(tmp_path)
        events = (
            e.NotebookCreated(name="sales"),
            e.CellAdded(cell=CellId("load1111"), after=None, source="key = 'sk-12345'\n", name="load"),
            e.CommentAdded(comment=CommentId("c1"), text="\x1b]0;owned\x07is sk-12345 right?"),
        )
        await workspace.submit(LogId("01SALES"), [Draft(id=new_id(), event=event) for event in events])
        await workspace.close()

    asyncio.run(make())
    return tmp_path


def test_init_makes_a_workspace_that_git_ignores_and_twice_changes_nothing(tmp_path: Path) -> None:
    first, second = run("init", at=tmp_path), run("init", at=tmp_path)
    assert (first.returncode, second.returncode) == (0, 0)
    assert [path.name for path in (tmp_path / ".quire").glob("quire.db*")] == ["quire.db"], (
        "nothing is left lying about"
    )
    assert (tmp_path / ".quire").stat().st_mode & 0o077 == 0
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_a_workspace_is_found_upwards_or_made_beside_git(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    assert "sales" in run("show", "sales", at=below).stdout
    project = tmp_path_factory.mktemp("project")
    (project / ".git").mkdir()
    (project / "src").mkdir()
    assert as_json("sql", "select * from notebooks", at=project / "src") == []
    assert (project / ".quire").is_dir()
    assert not (project / "src" / ".quire").exists()


def test_log_prints_one_line_per_event_and_no_escape_sequence_of_others(folder: Path) -> None:
    done = run("log", "sales", at=folder)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert ME in lines[0]
    assert "notebook_created" in lines[0]
    assert "\x1b" not in done.stdout
    assert [entry["seq"] for entry in as_json("log", "sales", "--since", "1", at=folder)] == [2, 3]
    assert [entry["seq"] for entry in as_json("log", "sales", "-n", "1", at=folder)] == [3]


def test_show_prints_a_notebook_as_it_is_and_as_it_was(folder: Path) -> None:
    assert "key = 'sk-12345'" in run("show", "sales", "--view", "source", at=folder).stdout
    assert "load1111" in run("show", "01SAL", at=folder).stdout
    assert as_json("show", "sales", "--seq", "1", at=folder)["notebook"].get("cells", {}) == {}


def test_sql_answers_in_a_table_in_json_and_in_csv(folder: Path) -> None:
    query = "select cell, name from cells"
    assert "load1111" in run("sql", query, at=folder).stdout
    assert as_json("sql", query, at=folder) == [{"cell": "load1111", "name": "load"}]
    assert run("sql", query, "--csv", at=folder).stdout == "cell,name\nload1111,load\n"
    refused = run("sql", "delete from events", at=folder)
    assert refused.returncode == 3
    assert "only reads" in refused.stderr


def test_verify_finds_what_somebody_changed_in_the_database(folder: Path) -> None:
    import sqlite3

    assert run("verify", at=folder).returncode == 0
    heads = folder / "heads.json"
    heads.write_text(run("verify", "--json", at=folder).stdout)
    assert run("verify", "--against", heads, at=folder).returncode == 0
    database = sqlite3.connect(folder / ".quire" / "quire.db")
    database.execute("update events set actor = 'human:eve' where seq = 2")
    database.commit()
    found = run("verify", at=folder)
    assert found.returncode == 1
    assert "event 2 is not what was recorded" in found.stdout
    assert as_json_of(run("verify", "--json", at=folder))["flaws"][0]["seq"] == 2
    database.execute("delete from events where seq = 3")
    database.execute("update events set actor = ? where seq = 2", (ME,))
    database.execute("update logs set seq = 2, hash = (select hash from events where seq = 2)")
    database.commit()
    run("verify", "--repair", at=folder)  # the index still told of it: it is a cache, and made anew
    assert run("verify", at=folder).returncode == 0, (
        "a chain cannot prove that its end was not cut off together with the head"
    )
    database.close()
    assert run("verify", "--against", heads, at=folder).returncode == 1, "but heads noted elsewhere can"


def as_json_of(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def test_redact_masks_a_secret_everywhere_also_on_disk(folder: Path) -> None:
    done = run("redact", "sales", "--secret", "--why", "leaked", at=folder, stdin="sk-12345\n")
    assert done.returncode == 0, done.stderr
    for path in (folder / ".quire").glob("quire.db*"):
        assert b"sk-12345" not in path.read_bytes()
    assert "sk-12345" not in run("show", "sales", "--view", "full", at=folder).stdout
    assert "redacted" in run("log", "sales", at=folder).stdout
    assert run("verify", at=folder).returncode == 0
    assert run("redact", "sales", "--secret", "--why", "again", at=folder, stdin="sk-12345\n").returncode == 2
    assert run("redact", "sales", "--seq", "2", "--why", "all of it", at=folder).returncode == 0
    assert run("redact", "sales", "--why", "neither", at=folder).returncode == 2


def test_archive_puts_away_and_takes_out(folder: Path) -> None:
    assert as_json("archive", "sales", at=folder)["archived"] is True
    assert as_json("sql", "select archived from notebooks", at=folder) == [{"archived": 1}]
    assert as_json("archive", "sales", "--undo", at=folder)["archived"] is False


def test_a_bundle_goes_from_one_workspace_to_another(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    bundle = folder / "sales.quire"
    assert as_json("export", "sales", bundle, at=folder)["events"] == 3
    assert run("export", "sales", bundle, at=folder).returncode == 3, "an existing file is not replaced"
    assert run("export", "sales", bundle, "--force", at=folder).returncode == 0
    assert run("export", "sales", bundle, "--force", "--comments", at=folder).returncode == 2, "it always has them"
    assert run("export", "sales", folder / "sales.html", "--comments", at=folder).returncode == 0
    assert run("export", "sales", folder / "sales.zip", at=folder).returncode == 2
    assert run("export", "sales", folder / "no" / "x.quire", at=folder).returncode == 2
    there = tmp_path_factory.mktemp("there")
    assert as_json("import", bundle, at=there)["name"] == "sales"
    assert f"imported:{ME}" in run("log", "sales", at=there).stdout
    assert run("import", bundle, at=there).returncode == 3
    broken = there / "broken.quire"
    broken.write_bytes(bundle.read_bytes()[:100])
    done = run("import", broken, at=there)
    assert done.returncode == 2
    assert "Nothing was imported" in done.stderr
    assert "Traceback" not in done.stderr


def test_errors_name_the_thing_and_the_next_step_without_a_traceback(folder: Path) -> None:
    missing = run("show", "sale", at=folder)
    assert missing.returncode == 2
    assert "Nearest: sales" in missing.stderr
    assert run("shwo", at=folder).returncode == 2
    assert "Did you mean show" in run("shwo", at=folder).stderr
    told = run("show", "sale", "--json", at=folder)
    assert json.loads(told.stdout)["error"]["kind"] == "NotFound"
    elsewhere = run("log", "sales", "--at", folder / "nowhere", at=folder)
    assert elsewhere.returncode == 2
    assert run("log", "sales", "--at", "gopher://x", at=folder).returncode == 2
    (folder / ".quire" / "quire.db").write_bytes(b"garbage" * 1000)
    garbage = run("log", "sales", at=folder)
    assert garbage.returncode == 4
    assert "not a database" in garbage.stderr
    assert all("Traceback" not in done.stderr for done in (missing, told, elsewhere, garbage))


def test_a_token_decides_who_acts(folder: Path) -> None:
    """Rule 3."""

    async def token() -> str:
        workspace = await connect(folder)
        made = await workspace.create_token(e.ActorId("agent:claude"), ["read", "edit"])
        await workspace.close()
        return made.secret

    secret = asyncio.run(token())
    assert run("archive", "sales", at=folder, env={"QUIRE_TOKEN": secret}).returncode == 0
    assert "agent:claude" in run("log", "sales", "-n", "1", at=folder).stdout
    refused = run("redact", "sales", "--seq", "2", "--why", "x", at=folder, env={"QUIRE_TOKEN": secret})
    assert refused.returncode == 3
    wrong = run("archive", "sales", at=folder, env={"QUIRE_TOKEN": "quire_wrong"})
    assert wrong.returncode == 3
    assert "quire_wrong" not in wrong.stderr


def test_a_reader_that_leaves_early_causes_no_complaint(folder: Path) -> None:
    command = f"{QUIRE} log sales | head -n 0; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_an_output_that_takes_no_more_is_told(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([QUIRE, "log", "sales"], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4
    assert done.stderr == "quire: The output cannot be used: No space left on device.\n"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["log", "sales", "--since", "99999999999999999999"], 2),
        (["show", "sales", "--seq", "-1"], 2),
        (["sql", "--limit", "99999999999", "select 1"], 2),
        (["log", "sales", "--bogus"], 2),
        (["init", "/proc/nowhere"], 4),
    ],
)
def test_what_makes_no_sense_is_told_in_words_and_in_json(folder: Path, arguments: list[str], status: int) -> None:
    done = run(*arguments, "--json", at=folder)
    assert done.returncode == status
    assert json.loads(done.stdout)["error"]["message"] in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_gone_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"cd gone && rmdir ../gone && {QUIRE} runs list"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "quire: The folder that you are in is gone. Go to another.\n")


def test_a_group_of_verbs_alone_is_wrong_usage_and_lists_them_once(folder: Path) -> None:
    done = run("runs", at=folder)
    assert done.returncode == 2
    assert done.stderr.count("Usage:") == 1 and "quire:" not in done.stderr
    assert "diff" in done.stderr


def test_bytes_that_are_no_text_are_told(folder: Path) -> None:
    for command in ([QUIRE, "log", b"\xff"], ["env", b"QUIRE_TOKEN=\xff", QUIRE, "log", "sales"]):
        done = subprocess.run(command, cwd=folder, capture_output=True)
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr


def test_the_environment_does_not_say_who_signs(folder: Path) -> None:
    """Rule 3: whoever owns the files is the user of the operating system, whatever LOGNAME says."""
    run("archive", "sales", at=folder, env={"LOGNAME": "mallory", "USER": "mallory"})
    assert ME in run("log", "sales", "-n", "1", at=folder).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str, tmp_path: Path) -> None:
    done = run("completion", shell, at=tmp_path)
    assert done.returncode == 0
    assert "_QUIRE_COMPLETE" in done.stdout


def test_completion_offers_verbs_and_notebooks(folder: Path) -> None:
    env = {"_QUIRE_COMPLETE": "bash_complete", "COMP_WORDS": "quire sho", "COMP_CWORD": "1"}
    assert "show" in run(at=folder, env=env).stdout
    env = {"_QUIRE_COMPLETE": "bash_complete", "COMP_WORDS": "quire show sa", "COMP_CWORD": "2"}
    assert "sales" in run(at=folder, env=env).stdout


def test_every_verb_explains_itself_with_an_example(tmp_path: Path) -> None:
    told = {verb: run(verb, "--help", at=tmp_path) for verb in VERBS}
    assert {verb: done.stderr for verb, done in told.items() if done.returncode != 0} == {}
    before_options = {verb: done.stdout.split("Options:")[0].split("\n", 1)[1] for verb, done in told.items()}
    assert [verb for verb, text in before_options.items() if f"quire {verb}" not in text] == []
    assert list(tmp_path.iterdir()) == [], "help makes nothing"


def test_help_and_version_import_no_store(tmp_path: Path) -> None:
    """Hot paths never import what they do not use."""
    code = """
import sys
from quire.doors.cli.main import main
sys.argv = ["quire", "--help"]
try:
    main()
except SystemExit:
    print([name for name in ("sqlite3", "asyncio", "quire.connection", "asyncpg", "obstore") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"
