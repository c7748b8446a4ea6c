"""The conversation with a kernel: ask, and hear everything it says until it is done (kernel_request.py)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import Conflict, Unavailable
from ..core.values import Json
from ..outputs.display_events import KernelMessage
from .kernel_protocol import Kernel
from .kernel_request import LAST_WORDS_SECONDS, KernelDied, KernelRequest
from .process.exit_status import ProcessExit
from .relay.execution_state import Flight
from .transport.jupyter_wire import ReceivedMessage

SHUTDOWN_SECONDS = 1.0
"""How long a kernel that is told to end may take. ipykernel may hang then; it is killed."""
ASK_AGAIN_SECONDS = 0.1
"""How long to wait for the first word on outputs before asking once more: a kernel drops what nobody heard."""
_HUNG_UP = "began anew, or hung up: what cells had defined is lost"
COMMS = ("comm_open", "comm_msg", "comm_close")
MOST_PASSED = 1_000_000
"""Bytes of what widgets said while nothing ran, before a relay is told that it need not keep them."""
MOST_HELD = 8_000_000
"""Bytes of messages that wait here for whoever takes them; after that they wait in the kernel."""


class KernelClient:
    """Talks to one kernel, from one event loop."""

    def __init__(self, kernel: Kernel, flight: Flight | None = None) -> None:
        """With a `flight`, its request is running, and what an earlier process has heard of it comes again."""
        self.kernel = kernel
        self.taken = 0
        """The number of the last message that was taken, where they are counted."""
        self._again_until = flight.last if flight is not None else 0
        self._held: deque[ReceivedMessage] = deque()
        self._held_bytes = 0
        self._news = asyncio.Event()
        self._running: KernelRequest | None = None
        self._question: ReceivedMessage | None = None
        self._replies: dict[str, asyncio.Future[KernelMessage]] = {}
        self._has_outputs = False
        self._death: KernelDied | None = None
        self._why_killed = ""
        self._is_at_rest = False
        """Whether all that was said is recorded, and nothing runs."""
        self._passed_bytes = 0
        self.overhear: Callable[[KernelMessage], None] = _nothing
        """Called with what widgets say, at once, whether a cell runs or not."""
        self._channels = kernel.open(self._hear)
        if self._channels.remembers is not None:
            self.taken = self._channels.remembers.since
            self._running = KernelRequest(self, flight.request) if flight is not None else None
            self._channels.remembers.replay()
        self._watching = asyncio.ensure_future(self._watch())

    # ---- What comes in

    def _hear(self, heard: ReceivedMessage) -> None:
        message = heard.message
        self._has_outputs |= message.channel == "iopub"
        if message.channel == "stdin":
            self._question = heard
        if message.type in COMMS:
            self.overhear(message)
            if self._is_at_rest:
                self._let_pass(heard)
                return
        waiting = self._replies.pop(message.parent_id or "", None) if message.channel in ("shell", "control") else None
        if waiting is not None:
            if not waiting.done():
                waiting.set_result(message)
        elif not self._is_noise(message):
            self._held.append(heard)
            self._held_bytes += heard.size
            # Only ever begun here: whoever takes ends it.
            if self._held_bytes > MOST_HELD and not self._channels.is_held:
                self._channels.hold()
        self._news.set()

    def _let_pass(self, heard: ReceivedMessage) -> None:
        """Keep nothing of what widgets say while no cell runs: nobody takes it, and it would hold the kernel up."""
        if not self._held:  # or the next process would miss what waits here
            self.taken = heard.number
        self._passed_bytes += heard.size
        if self._passed_bytes > MOST_PASSED:
            self.forget()

    def _is_noise(self, message: KernelMessage) -> bool:
        """Whether it says nothing but that the kernel is there, or busy with a small question that nobody waits for."""
        if message.type == "status" or message.channel in ("shell", "control"):
            return self._running is None or not self._running.owns(message)
        return message.type == "iopub_welcome"

    async def take(self) -> KernelMessage:
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

    def take_now(self) -> KernelMessage | None:
        """The next message if it has come already."""
        return self._pop() if self._held else None

    def _pop(self) -> KernelMessage:
        heard = self._held.popleft()
        self._held_bytes -= heard.size
        self.taken = heard.number
        if self._channels.is_held and self._held_bytes <= MOST_HELD // 2:
            self._channels.go_on()
        return heard.message

    async def _watch(self) -> None:
        """Wait for the end of the kernel; then for its last words, which may still be on their way."""
        ended = asyncio.ensure_future(self.kernel.ended())
        hung_up = asyncio.ensure_future(self._channels.hung_up.wait())
        try:
            await asyncio.wait({ended, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if self._has_outputs and not self._channels.cut_off:
                await asyncio.wait({ended, hung_up}, timeout=LAST_WORDS_SECONDS)
            # Whoever takes slowly is waited for; a process that holds on to the dead kernel's sockets is not.
            while self._channels.is_held and not hung_up.done():
                await asyncio.wait({hung_up}, timeout=LAST_WORDS_SECONDS)
            self._end(ended.result() if ended.done() else None)
        finally:
            ended.cancel()
            hung_up.cancel()

    def _end(self, ended: ProcessExit | None) -> None:
        why = self._channels.cut_off or (_HUNG_UP if ended is None else ended.why)
        self._death = KernelDied(f"The kernel {self._why_killed or why}.", ended or ProcessExit())
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

    async def kill(self, why: str) -> None:
        """End it at once. Whoever waits for it is told why, in words that go on from "the kernel"."""
        self._why_killed = why
        await self.kernel.kill()

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
        flight: bytes | None = None,
    ) -> KernelRequest:
        """Run `code`, and then evaluate the expressions; the answer is what the kernel says until it is done.

        A kernel that is dead already is told of by the request, as is one that dies on the way. A `flight` is
        kept beside a kernel that has a relay, with what is said, until `forget`.
        """
        if self._running is not None:
            raise Conflict("The kernel runs another cell. Wait for its end, or interrupt it.")
        self._is_at_rest = False
        content: dict[str, Json] = {
            "code": code,
            "silent": silent,
            "store_history": store_history and not silent,
            "user_expressions": expressions or {},
            "allow_stdin": allow_stdin,
            "stop_on_error": stop_on_error,
        }
        if flight is not None and self._channels.remembers is not None:
            id = self._channels.remembers.begin(content, flight, self.taken)
        else:
            id = self._channels.send("shell", "execute_request", content)
        self._running = KernelRequest(self, id)
        return self._running

    @property
    def running(self) -> KernelRequest | None:
        """The request that has not come to its end."""
        return self._running

    @property
    def goes_through_again(self) -> bool:
        """Whether messages wait that an earlier process has heard or missed."""
        return bool(self._held) and self._held[0].number <= self._again_until

    @property
    def remembers(self) -> bool:
        """Whether what the kernel says is kept beside it for the next process."""
        return self._channels.remembers is not None

    async def mark(self, note: bytes) -> None:
        """Have the next process know of something, whatever becomes of this one."""
        if self._channels.remembers is not None:
            await self._channels.remembers.mark(note)

    def forget(self) -> None:
        """Say that all that was taken is recorded, and nothing runs: no other process has to hear it."""
        self._is_at_rest, self._passed_bytes = True, 0
        # A widget may have spoken between the end of the cell and now. Who listens has heard it.
        while self._held and self._held[0].message.type in COMMS:
            self._pop()
        if self._channels.remembers is not None:
            self._channels.remembers.forget(self.taken)

    @property
    def lives(self) -> bool:
        """Whether the kernel is still there."""
        return self._death is None

    @property
    def is_running(self) -> bool:
        """Whether a request has not come to its end."""
        return self._running is not None

    def finish(self, request: KernelRequest) -> None:
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

    async def _ask(self, channel: str, type: str, content: dict[str, Any]) -> KernelMessage:
        self._check_alive()
        id = self._channels.send(channel, type, content)
        waiting: asyncio.Future[KernelMessage] = asyncio.get_running_loop().create_future()
        self._replies[id] = waiting
        try:
            return await waiting
        finally:
            self._replies.pop(id, None)


def _nothing(message: KernelMessage) -> None:
    """Nobody listens."""


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
