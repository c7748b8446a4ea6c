"""A run waits for a workspace that is away: each request for so long at most, and it is told once."""

from __future__ import annotations

import asyncio

import pytest

from quire.actors.runtime.retry import OutageTooLong, OutageWait
from quire.core.errors import Unavailable


class Desk:
    """Takes what is small; what is large only once there is room."""

    def __init__(self) -> None:
        self.has_room = False

    async def small(self) -> str:
        return "small"

    async def large(self) -> str:
        if not self.has_room:
            raise Unavailable("The disk is full.")
        return "large"


async def test_a_request_that_never_succeeds_ends_the_wait_though_others_do() -> None:
    told: list[str] = []
    desk, wait = Desk(), OutageWait(0.5, told.append)
    waiting = asyncio.ensure_future(wait.patiently(desk.large))
    while not waiting.done():
        assert await wait.patiently(desk.small) == "small"
        await asyncio.sleep(0)
    with pytest.raises(OutageTooLong, match=r"It was waited for, 0.5 s \(--wait\)"):
        await waiting
    assert told == ["The disk is full. The run waits for it, 0.5 s at most (--wait)"]


async def test_it_is_told_once_that_several_wait_and_once_that_the_last_has_its_answer() -> None:
    told: list[str] = []
    is_told = asyncio.Event()

    def tell(message: str) -> None:
        told.append(message)
        is_told.set()

    desk, wait = Desk(), OutageWait(60, tell)
    waiting = [asyncio.ensure_future(wait.patiently(desk.large)) for _ in range(3)]
    await is_told.wait()
    desk.has_room = True
    assert await asyncio.gather(*waiting) == ["large"] * 3
    assert [message.partition(" ")[2][:9] for message in told] == ["disk is f", "workspace"]
