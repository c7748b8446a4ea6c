"""`quire runs prune`, and what `verify` and `doctor` tell of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from quire.core.ids import LogId
from quire.stores.sqlite.sqlite_store import SqliteStore

from ...command import QUIRE, as_json, run
from ...run_logs import RunLog, run_append
from ...terminal import OnTerminal

FIRST, SECOND = "01M7GFVPH9AAAAAAAAAAAAAAAA", "01M7GG2K4TBBBBBBBBBBBBBBBB"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A workspace with two runs of January 2026."""
    assert run("init", at=tmp_path).returncode == 0
    asyncio.run(_fill(tmp_path / ".quire" / "quire.db"))
    return tmp_path


async def _fill(path: Path) -> None:
    store = SqliteStore(path)
    for number, log in enumerate((FIRST, SECOND)):
        await store.append([run_append(RunLog(log=LogId(log), name=f"sales {number}", minute=number))])
    await store.close()


def test_old_runs_are_listed_removed_and_told_of(made: Path) -> None:
    heads = made / "heads.json"
    heads.write_text(json.dumps(as_json("verify", at=made)))
    dry = run("runs", "prune", "--older-than", "30d", "--keep-last", "1", "--dry-run", at=made)
    assert dry.returncode == 0
    assert FIRST in dry.stdout and f"stays  {SECOND}" in dry.stdout
    assert "1 run from before" in dry.stderr and "Nothing was removed" in dry.stderr
    assert as_json("runs", "prune", "--older-than", "30d", "--dry-run", at=made)["done"] is None
    assert len(as_json("runs", "list", at=made)) == 2
    done = as_json("runs", "prune", "--older-than", "30d", "--keep-last", "1", at=made)
    assert [each["log"] for each in done["plan"]["runs"]] == [FIRST]
    assert (done["done"]["removed"], done["done"]["stayed"]) == (1, [])
    assert [each["run"] for each in as_json("runs", "list", at=made)] == [SECOND]
    verified = run("verify", at=made)
    assert verified.returncode == 0
    assert f"gone   {FIRST}  sales 0" in verified.stdout
    assert as_json("verify", "--against", heads, at=made)["pruned"][0]["log"] == FIRST
    noted = json.loads(heads.read_text())
    (line,) = [each for each in noted["logs"] if each["log"] == FIRST]
    line["head"]["hash"] = "0" * 64
    heads.write_text(json.dumps(noted))
    assert run("verify", "--against", heads, at=made).returncode == 1
    shown = run("runs", "show", FIRST, at=made)
    assert shown.returncode == 2 and "was pruned at" in shown.stderr
    doctor = run("doctor", at=made).stdout
    assert "0 notebooks, 1 run, 1 pruned" in doctor
    assert "1 run older than 30d" in doctor
    assert "spool 0 bytes" in doctor


def test_the_age_comes_from_a_flag_or_from_settings(made: Path) -> None:
    assert run("runs", "prune", at=made).returncode == 2
    assert run("runs", "prune", "--older-than", "soon", at=made).returncode == 2
    (made / "quire.toml").write_text('[runs]\nkeep = "30d"\nkeep_last = 1\n')
    plan = as_json("runs", "prune", "--dry-run", at=made)["plan"]
    assert [each["log"] for each in plan["runs"]] == [FIRST]
    assert len(as_json("runs", "prune", "--dry-run", "--keep-last", "0", at=made)["plan"]["runs"]) == 2
    for wrong in ('keep = "soon"', "keep = 30", "keep_last = -1", 'kept = "1d"'):
        (made / "quire.toml").write_text(f"[runs]\n{wrong}\n")
        refused = run("runs", "prune", "--older-than", "30d", at=made)
        assert refused.returncode == 2 and "[runs]" in refused.stderr
        assert "[runs]" in run("doctor", at=made).stdout


def test_on_a_terminal_it_asks_and_no_keeps_everything(made: Path) -> None:
    with OnTerminal(QUIRE, "runs", "prune", "--older-than", "30d", at=made) as terminal:
        terminal.until(lambda screen: "Remove 2 runs for good?" in screen)
        terminal.type("n\n")
        assert terminal.end() != 0
    assert len(as_json("runs", "list", at=made)) == 2
    with OnTerminal(QUIRE, "runs", "prune", "--older-than", "30d", "--yes", at=made) as terminal:
        assert terminal.end() == 0
    assert as_json("runs", "list", at=made) == []


def test_a_pruned_run_that_is_there_again_is_a_fault(made: Path) -> None:
    """Rule 4: whoever owns the file can put its rows back, and the workspace's log says that they were removed."""
    before = (made / ".quire" / "quire.db").read_bytes()
    assert run("runs", "prune", "--older-than", "30d", at=made).returncode == 0
    (made / "before.db").write_bytes(before)
    with contextlib.closing(sqlite3.connect(made / ".quire" / "quire.db")) as connection:
        connection.execute("ATTACH ? AS before", (str(made / "before.db"),))
        columns = ", ".join(row[1] for row in connection.execute("PRAGMA table_info(events)") if row[1] != "position")
        connection.execute(
            f"INSERT INTO events ({columns}) SELECT {columns} FROM before.events WHERE log = ?", (FIRST,)
        )
        connection.execute("INSERT INTO logs SELECT * FROM before.logs WHERE log = ?", (FIRST,))
        connection.commit()
    verified = run("verify", FIRST, at=made)
    assert verified.returncode == 1
    assert "is there again" in verified.stdout
