"""What all tests share: real stores, and hypothesis settings that are the same everywhere."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from quire.stores.memory import MemoryStore
from quire.stores.sqlite import SqliteStore
from quire.stores.store import Store

# Fixed seeds: a test that fails in CI fails here too. `make torture` looks further and at random.
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("torture", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("torture" if os.environ.get("QUIRE_TORTURE") else "fixed")

OpenStore: TypeAlias = Callable[[], Awaitable[Store]]
"""Opens the store of a test; again for a second handle on the same place, as another process would."""


@pytest.fixture(params=["memory", "sqlite"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenStore]:
    """Every kind of store, empty."""
    opened: list[Store] = []
    memory = MemoryStore()

    async def open_one() -> Store:
        store: Store = memory if request.param == "memory" else SqliteStore(tmp_path / "quire.db")
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """One handle on an empty store."""
    return await open_store()
