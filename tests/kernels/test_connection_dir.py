"""Folders of kernels come and go, and several look after one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from quire.kernels.process.connection_dir import remove


def test_several_who_remove_one_folder_are_not_in_each_others_way(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(500):
            folder = tmp_path / str(number)
            folder.mkdir()
            (folder / "about.json").touch()
            list(pool.map(remove, [folder] * 8))
            assert not folder.exists()
