"""What the tests of this folder begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .repository import THREE, Repo, notebook


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home and a repository in which quire is installed and one notebook is committed."""
    place = tmp_path_factory.mktemp("a place's name")
    (place / "home").mkdir()
    (place / "it is 100%").mkdir()
    repo = Repo(place / "it is 100%", place / "home")
    repo.git("init", "--quiet", "--initial-branch", "main")
    repo.install(generate=False)
    repo.commit(a=notebook(*THREE, runs=1))
    return place


@pytest.fixture
def repo(ready: Path, tmp_path: Path) -> Repo:
    """A copy of it, for one test."""
    shutil.copytree(ready, tmp_path / "copy")
    return Repo(tmp_path / "copy" / "it is 100%", tmp_path / "copy" / "home")


@pytest.fixture
def bare(tmp_path: Path) -> Repo:
    """A repository that has never heard of quire."""
    (tmp_path / "home").mkdir()
    (tmp_path / "bare").mkdir()
    repo = Repo(tmp_path / "bare", tmp_path / "home")
    repo.git("init", "--quiet", "--initial-branch", "main")
    return repo
