"""A server whose settings say how long runs are kept removes older ones by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quire.core.ids import LogId
from quire.stores.sqlite.sqlite_store import SqliteStore

from ..run_logs import RunLog, run_append
from .faulty_notebook import wait_until
from .server import Folder

OLD, LAST = "01M7GFVPH9AAAAAAAAAAAAAAAA", "01M7GG2K4TBBBBBBBBBBBBBBBB"


async def _fill(path: Path) -> None:
    store = SqliteStore(path)
    for number, log in enumerate((OLD, LAST)):
        await store.append([run_append(RunLog(log=LogId(log), name="sales", minute=number))])
    await store.close()


def test_a_server_removes_runs_that_are_older_than_its_settings_say(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder = Folder(tmp_path)
    request.addfinalizer(folder.close)
    folder.quire("init")
    asyncio.run(_fill(tmp_path / ".quire" / "quire.db"))
    (tmp_path / "quire.toml").write_text('[runs]\nkeep = "30d"\nkeep_last = 1\n')
    server = folder.start("--look-every", "0.2")
    wait_until(lambda: "Removed 1 runs older than 30d" in folder.printed, "the old run is not removed")
    assert server.end() == 0
    assert [run["run"] for run in folder.quire("runs", "list", "--json")] == [LAST]
    (told,) = folder.quire("verify", "--json")["pruned"]
    assert told["log"] == OLD
    assert "system:quire" in folder.quire("log", "workspace").stdout
    folder.verify()
