"""Where a server is, as its file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.core.errors import Unavailable
from quire.workspace import server_file
from quire.workspace.log.process_id import this_process
from quire.workspace.server_file import Whereabouts

TOLD = Whereabouts(
    url="http://127.0.0.1:1",
    address="http://127.0.0.1:1",
    port=1,
    pid=1,
    process=this_process(),
    version="1",
    started_at="2026-11-18T10:00:00Z",
)


def test_it_is_written_whole_and_taken_away_by_who_wrote_it(tmp_path: Path) -> None:
    server_file.write(tmp_path, TOLD)
    assert server_file.read(tmp_path) == TOLD
    assert [path.name for path in tmp_path.iterdir()] == [server_file.FILE]
    server_file.remove(tmp_path, TOLD)
    assert server_file.read(tmp_path) is None


def test_a_disk_that_does_not_take_it_is_told_with_the_file(tmp_path: Path) -> None:
    """The server that starts there says so, and ends: not that its output is at fault."""
    (tmp_path / server_file.FILE).mkdir()
    with pytest.raises(Unavailable, match=rf"{server_file.FILE} cannot be written: "):
        server_file.write(tmp_path, TOLD)
    assert [path.name for path in tmp_path.iterdir()] == [server_file.FILE]
