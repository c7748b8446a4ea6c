"""The conversation with a kernel: ask, and hear everything it says until it is done.

One request runs at a time; what belongs to others (a thread that still prints for an earlier
cell) comes in between, under its own parent. A request has ended when both its reply and the
word that the kernel is idle have come: not before, so nothing is lost, and not later.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from typing import Any

from ...core.errors import Conflict, Unavailable
from ...core.values import Json
from .channels import Channels
from .ends import Ended
from .kernels import Kernel
from .messages import Message
from .wire import Heard

SHUTDOWN_SECONDS = 1.0
"""How long a kernel that is told to end may take. ipykernel may hang then; it is killed."""
ASK_AGAIN_SECONDS = 0.1
"""How long to wait for the first word on outputs before asking once more: a kernel drops what nobody heard."""
LAST_WORDS_SECONDS = 2.0
"""How long to wait for the end of what a dead kernel had sent."""
MOST_HELD = 8_000_000
"""Bytes of messages that wait here for whoever takes them; after that they wait in the kernel."""


class KernelDied(Unavailable):
    """The kernel's process is gone, or began anew: what cells had defined is lost."""

    def __init__(self, message: str, ended: Ended) -> None:
        super().__init__(message)
        self.ended = ended


class Request:
    """The messages of one execution, as they come; the last is its `execute_reply`.

    Taking them may be cut off by a timeout and gone on with later: nothing is lost. A message
    whose `parent_id` is not this `id` belongs to somebody else.
    """

    def __init__(self, client: KernelClient, id: str) -> None:
        self.id = id
        self._client = client
        self._reply: Message | None = None
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

    def __aiter__(self) -> Request:
        return self

    async def __anext__(self) -> Message:
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

    async def _next(self) -> Message:
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
        return self._client.take_now() or Message(type="execute_reply", content=_NO_REPLY, parent_id=self.id)

    async def _late(self) -> Message | None:
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

    def _note(self, message: Message) -> bool:
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

    def owns(self, message: Message) -> bool:
        """Whether a status is about this request."""
        return message.parent_id in (self.id, self._later)


_NO_REPLY: dict[str, Json] = {
    "status": "error",
    "ename": "NoReply",
    "evalue": "The kernel did not say how the cell ended.",
    "traceback": [],
}


class KernelClient:
    """Talks to one kernel, from one event loop."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._channels = Channels(kernel.connection, self._hear, kernel_waits=kernel.spec.is_ours)
        self._held: deque[tuple[Message, int]] = deque()
        self._held_bytes = 0
        self._news = asyncio.Event()
        self._running: Request | None = None
        self._question: Heard | None = None
        self._replies: dict[str, asyncio.Future[Message]] = {}
        self._has_outputs = False
        self._death: KernelDied | None = None
        self._watching = asyncio.ensure_future(self._watch())

    # ---- What comes in

    def _hear(self, heard: Heard) -> None:
        message = heard.message
        self._has_outputs |= message.channel == "iopub"
        if message.channel == "stdin":
            self._question = heard
        waiting = self._replies.pop(message.parent_id or "", None) if message.channel in ("shell", "control") else None
        if waiting is not None:
            if not waiting.done():
                waiting.set_result(message)
        elif not self._is_noise(message):
            self._held.append((message, heard.size))
            self._held_bytes += heard.size
            # Only ever begun here: whoever takes ends it.
            if self._held_bytes > MOST_HELD and not self._channels.is_held:
                self._channels.hold()
        self._news.set()

    def _is_noise(self, message: Message) -> bool:
        """Whether it says nothing but that the kernel is there, or busy with a small question."""
        if message.type == "status":
            return self._running is None or not self._running.owns(message)
        return message.type == "iopub_welcome"

    async def take(self) -> Message:
        """Wait for the next message, whosesoever it is. Raises KernelDied once there can be none."""
        while not self._held:
            self._news.clear()
            if self._death is None:
                await self._news.wait()
            else:
                self._check_alive()
        return self._pop()

    @property
    def has_held(self) -> bool:
        """Whether a message waits here."""
        return bool(self._held)

    def take_now(self) -> Message | None:
        """The next message if it has come already."""
        return self._pop() if self._held else None

    def _pop(self) -> Message:
        message, size = self._held.popleft()
        self._held_bytes -= size
        if self._channels.is_held and self._held_bytes <= MOST_HELD // 2:
            self._channels.go_on()
        return message

    async def _watch(self) -> None:
        """Wait for the end of the kernel; then for its last words, which may still be on their way."""
        ended = asyncio.ensure_future(self.kernel.ended())
        hung_up = asyncio.ensure_future(self._channels.hung_up.wait())
        try:
            await asyncio.wait({ended, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if self._has_outputs:
                await asyncio.wait({ended, hung_up}, timeout=LAST_WORDS_SECONDS)
            # Whoever takes slowly is waited for; a process that holds on to the dead kernel's sockets is not.
            while self._channels.is_held and not hung_up.done():
                await asyncio.wait({hung_up}, timeout=LAST_WORDS_SECONDS)
            self._end(ended.result() if ended.done() else None)
        finally:
            ended.cancel()
            hung_up.cancel()

    def _end(self, ended: Ended | None) -> None:
        why = "began anew, or hung up: what cells had defined is lost" if ended is None else ended.why
        self._death = KernelDied(f"The kernel {why}.", ended or Ended())
        for waiting in self._replies.values():
            if not waiting.done():
                waiting.set_exception(self._death)
        self._news.set()

    def _check_alive(self) -> None:
        if self._death is not None and not self._held:
            raise self._death

    # ---- Beginning and ending

    async def ready(self, timeout_seconds: float) -> dict[str, Json]:
        """Wait until the kernel answers and its outputs arrive; return what it says about itself."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while True:
                    info = await self.info()
                    if await self._hears_outputs():
                        return info
        except TimeoutError:
            said = f"did not answer within {timeout_seconds:g} seconds"
        except KernelDied as died:
            said = died.ended.why
        raise Unavailable(_cannot_start(self.kernel, said))

    async def _hears_outputs(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ASK_AGAIN_SECONDS):
                while not self._has_outputs:
                    self._news.clear()
                    await self._news.wait()
        return self._has_outputs

    async def interrupt(self) -> None:
        """Stop what the kernel does, in the way that it wants to be told."""
        if self.kernel.spec.interrupt_mode == "message":
            self._channels.send("control", "interrupt_request", {})
        else:
            await self.kernel.interrupt()

    async def shutdown(self, grace_seconds: float = SHUTDOWN_SECONDS) -> None:
        """Tell the kernel to end; kill it when it does not within a grace."""
        if self._death is None:
            self._channels.send("control", "shutdown_request", {"restart": False})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_seconds):
                    await self.kernel.ended()
        await self.kernel.kill()

    def close(self) -> None:
        """Let go of the sockets. The kernel goes on."""
        self._watching.cancel()
        self._channels.close()

    # ---- Asking

    def execute(
        self,
        code: str,
        *,
        silent: bool = False,
        store_history: bool = True,
        allow_stdin: bool = False,
        stop_on_error: bool = True,
        expressions: dict[str, str] | None = None,
    ) -> Request:
        """Run `code`, and then evaluate the expressions; the answer is what the kernel says until it is done.

        A kernel that is dead already is told of by the request, as is one that dies on the way.
        """
        if self._running is not None:
            raise Conflict("The kernel runs another cell. Wait for its end, or interrupt it.")
        content: dict[str, Json] = {
            "code": code,
            "silent": silent,
            "store_history": store_history and not silent,
            "user_expressions": expressions or {},
            "allow_stdin": allow_stdin,
            "stop_on_error": stop_on_error,
        }
        self._running = Request(self, self._channels.send("shell", "execute_request", content))
        return self._running

    @property
    def lives(self) -> bool:
        """Whether the kernel is still there."""
        return self._death is None

    @property
    def is_running(self) -> bool:
        """Whether a request has not come to its end."""
        return self._running is not None

    def finish(self, request: Request) -> None:
        """Say that a request is over, or that nobody waits for it any more."""
        if self._running is request:
            self._running = None

    def ask_later(self) -> str:
        """Ask what costs nothing, to learn when the kernel has said all about what came before."""
        id = self._channels.send("shell", "kernel_info_request", {})
        self._replies[id] = asyncio.get_running_loop().create_future()
        return id

    def answer_input(self, text: str) -> None:
        """Answer the last `input_request`."""
        if self._question is None:
            raise Conflict("The kernel asks for no input.")
        self._channels.send("stdin", "input_reply", {"value": text}, parent=self._question.header)
        self._question = None

    async def info(self) -> dict[str, Json]:
        """What the kernel says about itself."""
        return (await self._ask("shell", "kernel_info_request", {})).content

    async def complete(self, code: str, position: int) -> dict[str, Json]:
        """What could stand at `position`, counted in code points."""
        return (await self._ask("shell", "complete_request", {"code": code, "cursor_pos": position})).content

    async def inspect(self, code: str, position: int, detail: int = 0) -> dict[str, Json]:
        """What is known of the name at `position`."""
        content = {"code": code, "cursor_pos": position, "detail_level": detail}
        return (await self._ask("shell", "inspect_request", content)).content

    async def is_complete(self, code: str) -> dict[str, Json]:
        """Whether `code` could run as it is."""
        return (await self._ask("shell", "is_complete_request", {"code": code})).content

    def send_comm(
        self,
        type: str,
        content: dict[str, Json],
        *,
        metadata: dict[str, Json] | None = None,
        buffers: Sequence[bytes] = (),
    ) -> str:
        """Send a comm_open, comm_msg or comm_close: a widget's side in the browser. Return the message's id."""
        return self._channels.send("shell", type, content, metadata=metadata, buffers=buffers)

    async def _ask(self, channel: str, type: str, content: dict[str, Any]) -> Message:
        self._check_alive()
        id = self._channels.send(channel, type, content)
        waiting: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._replies[id] = waiting
        try:
            return await waiting
        finally:
            self._replies.pop(id, None)


async def stop(kernel: Kernel, client: KernelClient, grace_seconds: float = SHUTDOWN_SECONDS) -> None:
    """End a kernel: interrupt what it does, tell it to end, kill it after a grace; leave nothing."""
    try:
        if client.is_running:
            await client.interrupt()
        await client.shutdown(grace_seconds)
    finally:
        client.close()
        await kernel.close()


def _cannot_start(kernel: Kernel, said: str) -> str:
    last = kernel.printed.strip()
    ending = f" It said:\n{last}" if last else ""
    return f"Kernel {kernel.spec.name!r} ({kernel.spec.argv[0]}) cannot start: it {said}.{ending}"
