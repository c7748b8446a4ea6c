"""What several tests of runtimes stand on."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from .killable_runtimes import House


@pytest.fixture
def own_folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels leave their folders where no other test looks."""
    # Not in pytest's own folder: its path is long, and paths of sockets are short.
    with tempfile.TemporaryDirectory(prefix="q") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    """A workspace whose runtimes are killed."""
    house = await House.made(tmp_path)
    try:
        yield house
    finally:
        await house.close()
