"""Files that are written whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quire.core.errors import NotFound
from quire.disk import writing


def test_a_folder_that_goes_while_a_file_is_written_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with pytest.raises(NotFound, match="there is no folder"), writing(folder / "a.ipynb") as file:
        file.write(b"{}")
        shutil.rmtree(folder)


def test_what_fails_halfway_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), writing(path) as file:
        file.write(b"after")
        raise ZeroDivisionError
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.ipynb", "before")]
