"""What all sockets of a server may hold together that clients have not taken yet.

A frame is put together once there is room for it. So a hundred clients that follow one log are fed one after the other and
hold no hundred frames, and none of them is cut off as long as it reads. While somebody waits, clients that take very long
make room: theirs are the connections that are cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Protocol

from ....workspace.subscriptions.log_channel import FRAME_BYTES

MOST_HELD_BYTES = 32 << 20
"""What they may hold together. A frame that is being put together counts as one of usual size."""
PRESSED_SECONDS = 5.0
"""How long a client may take for what it was sent while others wait. Nobody waits much longer than that for somebody else."""
LOOK_SECONDS = 0.1


class FrameHolder(Protocol):
    """A connection that holds what its client has not taken."""

    @property
    def held_bytes(self) -> int:
        """How much that is."""
        ...

    def cut_off(self) -> None:
        """End, and hold nothing."""
        ...


class SendBudget:
    """The room for frames of one server. `reserve` waits for it, in order; `release` follows once the frame is on its way."""

    def __init__(self) -> None:
        self._holding: dict[FrameHolder, float] = {}
        """Whose clients have not taken what they were sent, and since when; first the one that holds for longest."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._reserved = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def held_bytes(self) -> int:
        """What is held, and what soon will be."""
        return sum(each.held_bytes for each in self._holding) + self._reserved * FRAME_BYTES

    @property
    def _is_full(self) -> bool:
        # One frame may go out in any case, however large it is.
        return self.held_bytes + FRAME_BYTES > MOST_HELD_BYTES and bool(self._holding or self._reserved)

    def hold(self, holder: FrameHolder) -> None:
        """This client does not take what it is sent as fast as it comes."""
        self._holding.setdefault(holder, asyncio.get_running_loop().time())

    def let_go(self, holder: FrameHolder) -> None:
        """It has taken it, or is gone."""
        if self._holding.pop(holder, None) is not None:
            self._admit()

    async def reserve(self) -> None:
        """Wait until there is room for one more frame, behind those who waited before."""
        if not self._waiting and not self._is_full:
            self._reserved += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._look_again()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.release()
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(turn)

    def release(self) -> None:
        """The frame is on its way, and held by its connection if it is not taken; or there was none."""
        self._reserved -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and not self._is_full:
            if not (turn := self._waiting.popleft()).cancelled():
                turn.set_result(None)
                self._reserved += 1

    def _look_again(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """What clients take makes room bit by bit; whoever takes too long makes all of theirs."""
        self._timer = None
        self._admit()
        too_long = asyncio.get_running_loop().time() - PRESSED_SECONDS
        for holder, since in list(self._holding.items()):
            if not self._waiting or since > too_long:
                break
            holder.cut_off()
        if self._waiting:
            self._look_again()
