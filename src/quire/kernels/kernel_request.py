"""One request to a kernel, and all that it says until it is done.

One runs at a time; what belongs to others (a thread that still prints for an earlier cell) comes
in between, under its own parent. A request has ended when both its reply and the word that the
kernel is idle have come: not before, so nothing is lost, and not later.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ..core.errors import Unavailable
from ..core.values import Json
from ..outputs.display_events import KernelMessage
from .process.exit_status import ProcessExit

if TYPE_CHECKING:
    from .kernel_client import KernelClient

LAST_WORDS_SECONDS = 2.0
"""How long to wait for the end of what a dead kernel had sent."""


class KernelDied(Unavailable):
    """The kernel's process is gone, or began anew: what cells had defined is lost."""

    def __init__(self, message: str, ended: ProcessExit) -> None:
        super().__init__(message)
        self.ended = ended


class KernelRequest:
    """The messages of one execution, as they come; the last is its `execute_reply`.

    Taking them may be cut off by a timeout and gone on with later: nothing is lost. A message
    whose `parent_id` is not this `id` belongs to somebody else.
    """

    def __init__(self, client: KernelClient, id: str) -> None:
        self.id = id
        self._client = client
        self._reply: KernelMessage | None = None
        self._is_idle = False
        self.done = False
        self._later: str | None = None
        """A question that was asked after the end, of a kernel that may still be sending."""
        self._until: float | None = None
        self._asking: asyncio.Task[object] | None = None
        self._is_settled = client.kernel.spec.is_ours

    @property
    def has_come(self) -> bool:
        """Whether a message is there to be taken without waiting."""
        return self._client.has_held

    def __aiter__(self) -> KernelRequest:
        return self

    async def __anext__(self) -> KernelMessage:
        try:
            while not self.done:
                if self._reply is not None and self._is_idle:
                    if self._is_settled:
                        self.done = True
                        self._client.finish(self)
                        return self._reply
                    message = await self._late()
                    if message is None:
                        continue
                else:
                    message = await self._next()
                if not self._note(message):
                    return message
        except KernelDied:
            self._client.finish(self)
            raise
        raise StopAsyncIteration

    async def _next(self) -> KernelMessage:
        if not self._is_idle:
            return await self._client.take()
        # Only the reply is still to come. Some kernels fail to send one: it cannot come after a later one.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._patience()):
                return await self._client.take()
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._client.info())
            # Or asyncio would complain of a kernel that died meanwhile, which is told elsewhere.
            self._asking.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._asking)
        return self._client.take_now() or KernelMessage(type="execute_reply", content=_NO_REPLY, parent_id=self.id)

    async def _late(self) -> KernelMessage | None:
        """Another message of a kernel that says it is idle before it has sent all: Deno does, now and then.

        It is asked something else; what came before it is idle again belongs to the cell.
        """
        self._later = self._later or self._client.ask_later()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._patience()):
                return await self._client.take()
        self._is_settled = True
        return None

    def _patience(self) -> float:
        """Until when the last words are waited for. Whoever is cut off and goes on does not begin anew."""
        if self._until is None:
            self._until = asyncio.get_running_loop().time() + LAST_WORDS_SECONDS
        return self._until

    def _note(self, message: KernelMessage) -> bool:
        """Learn how far the execution is. True for the reply: it is kept for the end."""
        if message.parent_id == self.id:
            if message.type == "execute_reply":
                self._reply, self._until = message, None
                return True
            if message.type == "status":
                self._is_idle |= message.content.get("execution_state") == "idle"
        elif message.type == "status" and message.parent_id == self._later:
            self._is_settled |= message.content.get("execution_state") == "idle"
            return True
        return False

    def owns(self, message: KernelMessage) -> bool:
        """Whether a status or a reply is about this request."""
        return message.parent_id in (self.id, self._later)


_NO_REPLY: dict[str, Json] = {
    "status": "error",
    "ename": "NoReply",
    "evalue": "The kernel did not say how the cell ended.",
    "traceback": [],
}
