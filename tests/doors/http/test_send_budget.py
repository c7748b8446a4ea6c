"""The room for frames of one server: in order, given back, and made by whoever takes too long."""

from __future__ import annotations

import asyncio

import pytest

from quire.doors.http.server import send_budget
from quire.doors.http.server.send_budget import SendBudget
from quire.workspace.subscriptions.log_channel import FRAME_BYTES


class Full:
    """A connection whose client takes nothing."""

    def __init__(self, budget: SendBudget, held: int) -> None:
        self.held_bytes, self._budget = held, budget
        budget.hold(self)

    def cut_off(self) -> None:
        self.held_bytes = 0
        self._budget.let_go(self)


@pytest.fixture(autouse=True)
def room_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send_budget, "MOST_HELD_BYTES", 2 * FRAME_BYTES)


async def waiting(budget: SendBudget, count: int) -> list[asyncio.Task[None]]:
    tasks = [asyncio.ensure_future(budget.reserve()) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


async def test_room_is_given_in_order_and_to_nobody_who_went_away() -> None:
    budget = SendBudget()
    for each in await waiting(budget, 2):
        await each
    first, gone, last = await waiting(budget, 3)
    gone.cancel()
    budget.release()
    assert await first is None and not last.done()
    granted = budget.held_bytes
    budget.release()
    last.cancel()  # in the moment in which it has got its turn
    await asyncio.wait([gone, last])
    assert gone.cancelled() and last.cancelled()
    assert (granted, budget.held_bytes) == (2 * FRAME_BYTES, FRAME_BYTES)


async def test_a_frame_larger_than_all_the_room_goes_out_alone() -> None:
    budget = SendBudget()
    large = Full(budget, 9 * FRAME_BYTES)
    (task,) = await waiting(budget, 1)
    assert not task.done()
    budget.let_go(large)
    await task


async def test_whoever_takes_too_long_makes_room_while_somebody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send_budget, "PRESSED_SECONDS", 0.0)
    budget = SendBudget()
    longest, later = Full(budget, FRAME_BYTES), Full(budget, FRAME_BYTES)
    await asyncio.wait_for(budget.reserve(), 60)
    assert (longest.held_bytes, later.held_bytes) == (0, FRAME_BYTES), "and nobody else is cut off"
