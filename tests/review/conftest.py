"""A clone with a notebook, a bare remote, and a stand-in forge in front of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .clone import Clone, prepared
from .forge_server import GiteaStandIn, served


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare remote and a clone of it, to be copied by each test."""
    return prepared(tmp_path_factory.mktemp("template"))


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "place", symlinks=True)
    return tmp_path / "place"


@pytest.fixture
def gitea(place: Path) -> Iterator[GiteaStandIn]:
    with served(GiteaStandIn(place / "remote.git")) as made:
        assert isinstance(made, GiteaStandIn)
        yield made


@pytest.fixture
def clone(place: Path, gitea: GiteaStandIn) -> Clone:
    """A clone whose remote is on the forge."""
    made = Clone(place / "clone", place / "home")
    made.connect(gitea)
    return made
