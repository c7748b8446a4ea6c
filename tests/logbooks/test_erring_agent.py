"""An agent that errs: the hundred runs of docs/how-to/logbooks.md, in short."""

from __future__ import annotations

import pytest

from .erring_agent import run_many


@pytest.mark.slow
async def test_each_deviation_and_failure_of_an_agent_that_errs_is_in_its_record() -> None:
    did, missed = await run_many(4, 1)
    assert missed == []
    assert did.total() == 16
